//! What was found wrong with a store, for people.

use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// What opening a store found.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct OpenReport {
    /// Games that can be read.
    pub games: u64,
    /// The end of the last segment: a write that never finished, or is going on. Who opens the store
    /// to append to it cuts it off.
    pub torn: Option<Damage>,
    /// Damaged places within segments. They were skipped and lie there untouched.
    pub damaged: Vec<Damage>,
}

/// A place in a segment file that cannot be read.
#[derive(Clone, PartialEq, Debug)]
pub struct Damage {
    /// The segment file.
    pub path: PathBuf,
    /// Where the damage begins, in bytes.
    pub offset: u64,
    /// How many bytes were skipped or cut off.
    pub bytes: u64,
    /// The first and last number of the games lost, where the block's header could be read.
    pub games: Option<(u64, u64)>,
}

impl Damage {
    pub(super) fn new(path: &Path, bytes: Range<u64>, games: Option<(u64, u64)>) -> Damage {
        let (offset, bytes) = (bytes.start, bytes.end - bytes.start);
        Damage { path: path.to_owned(), offset, bytes, games }
    }
}

impl OpenReport {
    /// Whether nothing was torn or damaged.
    pub fn is_clean(&self) -> bool {
        self.torn.is_none() && self.damaged.is_empty()
    }
}

impl fmt::Display for OpenReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} games", self.games)?;
        if let Some(torn) = &self.torn {
            write!(f, "; an unfinished end: {torn}")?;
        }
        if !self.damaged.is_empty() {
            write!(f, "; {} damaged places skipped:", self.damaged.len())?;
        }
        self.damaged.iter().try_for_each(|damage| write!(f, " {damage};"))
    }
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at byte {}, {} bytes", self.path.display(), self.offset, self.bytes)?;
        match self.games {
            Some((first, last)) => write!(f, ", games {first} to {last}"),
            None => Ok(()),
        }
    }
}

/// Takes the bad places behind `length` out of `bad` and makes the torn end of them.
pub(super) fn torn(bad: &mut Vec<Damage>, length: u64, end: u64, path: &Path) -> Option<Damage> {
    let behind = bad.iter().position(|damage| damage.offset >= length).unwrap_or(bad.len());
    let lost: Vec<_> = bad.drain(behind..).filter_map(|damage| damage.games).collect();
    let first = lost.iter().map(|games| games.0).min();
    let last = lost.iter().map(|games| games.1).max();
    Some(Damage::new(path, length..end, first.zip(last)))
}
