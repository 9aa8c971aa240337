//! What can go wrong with a store.

use super::{Damage, FORMAT_VERSION};
use std::io;
use std::path::{Path, PathBuf};

/// Why the store cannot be opened, read or written.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The file system said no.
    #[error("{path}: cannot {action}: {source}", path = .path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Written by a newer program.
    #[error(
        "{path}: game segment of format version {found}; this program reads up to version \
         {FORMAT_VERSION}: use the newer keiko that wrote it", path = .path.display()
    )]
    Newer {
        /// The segment file.
        path: PathBuf,
        /// Its version.
        found: u32,
    },
    /// A block is not what it was when the store was opened, or not what it says.
    #[error("{damage}: cannot be read: {reason}")]
    Decode {
        /// Where it lies, and what is lost with it.
        damage: Damage,
        /// What is wrong.
        reason: String,
    },
    /// A game could not be written down.
    #[error("game {number} cannot be encoded: {reason}")]
    Encode {
        /// The first game of the block.
        number: u64,
        /// What is wrong.
        reason: String,
    },
    /// Games must come in the order of their numbers, each once.
    #[error("game {number} cannot follow game {last} in the store")]
    OutOfOrder {
        /// The game that was to be appended.
        number: u64,
        /// The last game before it.
        last: u64,
    },
}

impl StoreError {
    pub(super) fn io<'a>(
        action: &'static str,
        path: &'a Path,
    ) -> impl FnOnce(io::Error) -> StoreError + 'a {
        move |source| StoreError::Io { action, path: path.to_owned(), source }
    }
}
