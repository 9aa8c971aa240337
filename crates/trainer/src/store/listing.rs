//! A store's games as anyone may read them, also while a run appends to it: nothing is written.

use super::block::{self, BlockHeader, Found, SEGMENT_HEADER_BYTES};
use super::files::{read_range, segment_files};
use super::report::torn;
use super::{Damage, FORMAT_VERSION, OpenReport, StoreError, index};
use keiko_selfplay::GameRecord;
use std::fs;
use std::io::ErrorKind;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Where the games of a store lie.
#[derive(Debug)]
pub struct Listing {
    pub(super) segments: Vec<Segment>,
    pub(super) blocks: Vec<BlockEntry>,
}

/// A segment file and how much of it is sound.
#[derive(Debug)]
pub(super) struct Segment {
    pub(super) number: u32,
    pub(super) path: PathBuf,
    pub(super) length: u64,
    /// Whether its blocks are known from its index.
    pub(super) indexed: bool,
    /// Whether some of it cannot be read: it is read, and complained about, at every opening.
    pub(super) damaged: bool,
}

/// Where a sound block lies and what it says of itself.
#[derive(Clone, Debug)]
pub(super) struct BlockEntry {
    /// Index into `Listing::segments`.
    pub(super) segment: usize,
    /// The block with its header, in bytes from the segment's start.
    pub(super) bytes: Range<u64>,
    pub(super) header: BlockHeader,
}

impl Listing {
    /// Lists the games in `dir`. An unfinished end of the last segment and damaged blocks are left
    /// out; both are in the report. Damage in a sealed segment may show only when it is read.
    ///
    /// # Errors
    /// When a file cannot be read or was written by a newer program.
    pub fn open(dir: &Path) -> Result<(Listing, OpenReport), StoreError> {
        let mut listing = Listing { segments: Vec::new(), blocks: Vec::new() };
        let mut report = OpenReport::default();
        let files = segment_files(dir)?;
        let last = files.len().saturating_sub(1);
        for (place, (number, path)) in files.into_iter().enumerate() {
            if !listing.add_indexed(number, &path)? {
                listing.add_scanned(number, path, place == last, &mut report)?;
            }
        }
        report.games = listing.games();
        Ok((listing, report))
    }

    /// Lists a segment's blocks by its index, if it has one that fits.
    fn add_indexed(&mut self, number: u32, path: &Path) -> Result<bool, StoreError> {
        let Some((length, blocks)) = index::read(path) else {
            return Ok(false);
        };
        if fs::metadata(path).map_or(true, |file| file.len() != length) {
            return Ok(false);
        }
        let mut last = self.last_number();
        for (bytes, header) in &blocks {
            if header.version > FORMAT_VERSION {
                return Err(StoreError::Newer { path: path.to_owned(), found: header.version });
            }
            if bytes.end > length || last.is_some_and(|last| header.first <= last) {
                return Ok(false);
            }
            last = Some(header.last);
        }
        let segment = self.segments.len();
        let entry = |(bytes, header)| BlockEntry { segment, bytes, header };
        self.blocks.extend(blocks.into_iter().map(entry));
        let path = path.to_owned();
        self.segments.push(Segment { number, path, length, indexed: true, damaged: false });
        Ok(true)
    }

    /// Lists a segment's sound blocks by reading all of it.
    fn add_scanned(
        &mut self,
        number: u32,
        path: PathBuf,
        is_last: bool,
        report: &mut OpenReport,
    ) -> Result<(), StoreError> {
        let bytes = match fs::read(&path) {
            // A run that goes on has just removed it.
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            read => read.map_err(StoreError::io("read", &path))?,
        };
        let end = bytes.len() as u64;
        let segment = self.segments.len();
        let (mut sound_end, mut bad) = (0, Vec::new());
        for found in block::scan(&bytes) {
            match found {
                Found::Newer(found) => return Err(StoreError::Newer { path, found }),
                Found::Header => sound_end = SEGMENT_HEADER_BYTES,
                Found::Bad { bytes, games } => bad.push(Damage::new(&path, bytes, games)),
                Found::Block { bytes, header } if self.follows(header.first) => {
                    sound_end = bytes.end;
                    self.blocks.push(BlockEntry { segment, bytes, header });
                }
                Found::Block { bytes, header } => {
                    bad.push(Damage::new(&path, bytes, Some((header.first, header.last))));
                }
            }
        }
        let length = if is_last { sound_end } else { end };
        if length < end {
            report.torn = torn(&mut bad, length, end, &path);
        }
        bad.extend(self.cut_off(&path, end));
        let damaged = !bad.is_empty();
        report.damaged.append(&mut bad);
        self.segments.push(Segment { number, path, length, indexed: false, damaged });
        Ok(())
    }

    /// What is missing of the segment that is the next on the list, if it was longer when it was
    /// sealed: no run cuts one that has an index.
    fn cut_off(&self, path: &Path, end: u64) -> Option<Damage> {
        let (length, blocks) = index::read(path).filter(|(length, _)| *length > end)?;
        let (there, lost): (Vec<_>, Vec<_>) =
            blocks.into_iter().partition(|(bytes, _)| bytes.end <= end);
        let here = || self.blocks.iter().filter(|block| block.segment == self.segments.len());
        let is_there =
            |(bytes, header)| here().any(|block| (&block.bytes, &block.header) == (bytes, header));
        // Another file's, if not: or what is damaged is said already.
        let is_its_own = there.iter().map(|(bytes, header)| (bytes, header)).all(is_there);
        let games = lost.first().zip(lost.last()).map(|(a, b)| (a.1.first, b.1.last));
        is_its_own.then(|| Damage::new(path, end..length, games))
    }

    /// Whether a game of this number may come after all stored ones.
    fn follows(&self, number: u64) -> bool {
        self.last_number().is_none_or(|last| number > last)
    }

    /// Number of games stored.
    pub fn games(&self) -> u64 {
        self.blocks.iter().map(|block| u64::from(block.header.games)).sum()
    }

    /// Number of the first game stored.
    pub fn first_number(&self) -> Option<u64> {
        self.blocks.first().map(|block| block.header.first)
    }

    /// Number of the last game stored.
    pub fn last_number(&self) -> Option<u64> {
        self.blocks.last().map(|block| block.header.last)
    }

    /// Bytes on disk, those of indexes not counted.
    pub fn bytes(&self) -> u64 {
        self.segments.iter().map(|segment| segment.length).sum()
    }

    /// The games with these numbers, in order, one block at a time. A block that turns out to be
    /// damaged is an error of its own, `StoreError::Decode`; those behind it can be read.
    pub fn read(
        &self,
        numbers: Range<u64>,
    ) -> impl DoubleEndedIterator<Item = Result<Vec<GameRecord>, StoreError>> {
        let start = self.blocks.partition_point(|block| block.header.last < numbers.start);
        let end = self.blocks.partition_point(|block| block.header.first < numbers.end);
        self.blocks[start..end.max(start)].iter().map(move |block| {
            let mut games = self.read_block(block)?;
            games.retain(|game| numbers.contains(&game.number));
            Ok(games)
        })
    }

    pub(super) fn read_block(&self, entry: &BlockEntry) -> Result<Vec<GameRecord>, StoreError> {
        let path = &self.segments[entry.segment].path;
        let damaged = |reason| {
            let games = Some((entry.header.first, entry.header.last));
            StoreError::Decode { damage: Damage::new(path, entry.bytes.clone(), games), reason }
        };
        let bytes = match read_range(path, &entry.bytes) {
            Err(error) if is_missing(error.kind()) => return Err(damaged(error.to_string())),
            read => read.map_err(StoreError::io("read", path))?,
        };
        block::decode(&bytes, entry.header).map_err(damaged)
    }
}

/// Whether a file is gone, or shorter than it was: removed or cut since the store was opened.
fn is_missing(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::NotFound | ErrorKind::UnexpectedEof)
}
