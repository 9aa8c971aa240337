//! A store's games as anyone may read them, also while a run appends to it: nothing is written.

use super::files::segment_files;
use super::{OpenReport, Store, StoreError};
use keiko_selfplay::GameRecord;
use std::ops::Range;
use std::path::Path;

/// Where the games of a store lie.
#[derive(Debug)]
pub struct Listing {
    store: Store,
}

impl Listing {
    /// Lists the games in `dir`. An unfinished end of the last segment and damaged blocks are left
    /// out; both are in the report.
    ///
    /// # Errors
    /// When a file cannot be read or was written by a newer program.
    pub fn open(dir: &Path) -> Result<(Listing, OpenReport), StoreError> {
        let (segments, blocks) = (Vec::new(), Vec::new());
        let mut store = Store { dir: dir.to_owned(), segments, blocks, segment_bytes: 0 };
        let mut report = OpenReport::default();
        for (index, path) in segment_files(dir)? {
            // Only the last one's torn end would be cut off.
            store.open_segment(index, path, false, &mut report)?;
        }
        report.games = store.games();
        Ok((Listing { store }, report))
    }

    /// Number of games stored.
    pub fn games(&self) -> u64 {
        self.store.games()
    }

    /// Number of the last game stored.
    pub fn last_number(&self) -> Option<u64> {
        self.store.last_number()
    }

    /// The games with these numbers, in order, one block at a time.
    pub fn read(
        &self,
        numbers: Range<u64>,
    ) -> impl DoubleEndedIterator<Item = Result<Vec<GameRecord>, StoreError>> {
        let start = self.store.blocks.partition_point(|block| block.last < numbers.start);
        let end = self.store.blocks.partition_point(|block| block.first < numbers.end);
        self.store.blocks[start..end.max(start)].iter().map(move |block| {
            let mut games = self.store.read(block)?;
            games.retain(|game| numbers.contains(&game.number));
            Ok(games)
        })
    }
}
