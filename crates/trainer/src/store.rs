//! The replay store: the `games/` folder of a run, append-only segments of whole games.
//!
//! A segment is a header and blocks; a block is a compressed list of games with its length and
//! checksums, so that a torn end is told from damage and damage costs one block. Games lie in
//! the order of their numbers; numbers may be missing but never repeat. A segment that has grown
//! long enough is sealed: it gets an index and changes no more, until it is removed as a whole.

mod block;
mod error;
mod files;
mod index;
mod listing;
mod older;
mod report;

pub use error::StoreError;
pub use listing::Listing;
pub use report::{Damage, OpenReport};

use block::SEGMENT_HEADER_BYTES;
use files::{cut, read_range, remove, remove_leftovers, replace, segment_name, sync_dir, write_at};
use keiko_selfplay::GameRecord;
use listing::{BlockEntry, Segment};
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Version of the segment format this program writes. Older ones are read, newer ones refused.
/// Version 1 knows neither kinds of starts nor games that a proof or a resignation ended.
pub const FORMAT_VERSION: u32 = 2;

/// A segment that has grown this long is sealed and followed by a new one. It is what is removed at
/// a time, and what is read at most when a run is opened.
const SEGMENT_BYTES: u64 = 8 << 20;

/// Games in one block at most: what one damaged byte can cost, and what is decoded at a time.
const BLOCK_GAMES: usize = 256;

/// An open replay store. One program at a time may hold a run's store.
#[derive(Debug)]
pub struct Store {
    dir: PathBuf,
    listing: Listing,
    segment_bytes: u64,
}

/// What was removed to keep a store within its bound.
#[derive(Copy, Clone, Eq, PartialEq, Debug, Default)]
pub struct Removed {
    /// Segments.
    pub segments: u64,
    /// The games in them.
    pub games: u64,
    /// Their bytes.
    pub bytes: u64,
}

impl Store {
    /// Opens the store in `dir`, which is created if missing. A torn end of the last segment is
    /// cut off; damaged blocks are skipped; both are in the report.
    ///
    /// # Errors
    /// When a file cannot be read or was written by a newer program.
    pub fn open(dir: &Path) -> Result<(Store, OpenReport), StoreError> {
        Store::open_with(dir, SEGMENT_BYTES)
    }

    fn open_with(dir: &Path, segment_bytes: u64) -> Result<(Store, OpenReport), StoreError> {
        fs::create_dir_all(dir).map_err(StoreError::io("create the folder", dir))?;
        let (listing, report) = Listing::open(dir)?;
        remove_leftovers(dir)?;
        if let Some(torn) = &report.torn {
            cut(&torn.path, torn.offset)?;
        }
        // One that does not fit its segment, as was said just now.
        let unfit = listing.segments.iter().filter(|segment| !segment.indexed);
        unfit.map(|it| &it.path).try_for_each(|segment| remove(&index::index_path(segment)))?;
        let mut store = Store { dir: dir.to_owned(), listing, segment_bytes };
        (0..store.listing.segments.len()).for_each(|segment| store.seal(segment));
        Ok((store, report))
    }

    /// Writes the index of a segment that has none, if nothing will be appended to it any more.
    fn seal(&mut self, segment: usize) {
        let is_last = segment + 1 == self.listing.segments.len();
        let Segment { path, length, indexed, damaged, .. } = &self.listing.segments[segment];
        if *indexed || *damaged || (is_last && *length < self.segment_bytes) {
            return;
        }
        let blocks = self.listing.blocks.iter().filter(|block| block.segment == segment);
        // Without one the segment is read when the store is opened, and its index tried again.
        let indexed = index::write(path, *length, blocks).is_ok();
        self.listing.segments[segment].indexed = indexed;
    }

    /// Where the games lie.
    pub fn listing(&self) -> &Listing {
        &self.listing
    }

    /// Number of games stored.
    pub fn games(&self) -> u64 {
        self.listing.games()
    }

    /// Number of the last game stored.
    pub fn last_number(&self) -> Option<u64> {
        self.listing.last_number()
    }

    /// Appends games, which must follow the stored ones in ascending order of their numbers.
    /// They are on the disk when this returns; after an error none of them is in the store.
    ///
    /// # Errors
    /// When the games are out of order or cannot be written.
    pub fn append(&mut self, games: &[GameRecord]) -> Result<(), StoreError> {
        if games.is_empty() {
            return Ok(());
        }
        self.check_order(games)?;
        let mut bytes = Vec::new();
        let mut headers = Vec::new();
        for part in games.chunks(BLOCK_GAMES) {
            headers.push((bytes.len() as u64, block::encode(part, &mut bytes)?));
        }
        let segment = self.writable_segment()?;
        let end = &mut self.listing.segments[segment];
        let before = end.length;
        write_at(&end.path, before, &bytes)?;
        end.length += bytes.len() as u64;
        let entry = |(start, header): (u64, block::BlockHeader)| BlockEntry {
            segment,
            bytes: header.block_at(before + start),
            header,
        };
        self.listing.blocks.extend(headers.into_iter().map(entry));
        self.seal(segment);
        Ok(())
    }

    fn check_order(&self, games: &[GameRecord]) -> Result<(), StoreError> {
        let mut last = self.last_number();
        for game in games {
            match last {
                Some(last) if game.number <= last => {
                    return Err(StoreError::OutOfOrder { number: game.number, last });
                }
                _ => last = Some(game.number),
            }
        }
        Ok(())
    }

    /// Index of the segment to append to; a new one when the last is full.
    fn writable_segment(&mut self) -> Result<usize, StoreError> {
        let segments = &mut self.listing.segments;
        let at = segments.len();
        let number = match segments.last_mut() {
            // A header that never got written, or was cut off with the rest.
            Some(last) if last.length < SEGMENT_HEADER_BYTES => {
                write_at(&last.path, 0, &block::segment_header())?;
                last.length = SEGMENT_HEADER_BYTES;
                return Ok(at - 1);
            }
            Some(last) if last.length < self.segment_bytes && !last.indexed => return Ok(at - 1),
            Some(last) => last.number + 1,
            None => 0,
        };
        let path = self.dir.join(segment_name(number));
        // One that somebody removed may have left its index.
        remove(&index::index_path(&path))?;
        write_at(&path, 0, &block::segment_header())?;
        sync_dir(&self.dir)?;
        let length = SEGMENT_HEADER_BYTES;
        segments.push(Segment { number, path, length, indexed: false, damaged: false });
        Ok(at)
    }

    /// The games with this number and above.
    ///
    /// # Errors
    /// When some of them cannot be read.
    pub fn games_from(&self, number: u64) -> Result<Vec<GameRecord>, StoreError> {
        let blocks: Result<Vec<_>, _> = self.listing.read(number..u64::MAX).collect();
        Ok(blocks?.into_iter().flatten().collect())
    }

    /// Removes the oldest sealed segments until the store has no more than `bytes`, but none with
    /// games of these numbers: what is left may be more.
    ///
    /// # Errors
    /// When a file cannot be removed.
    pub fn shrink(&mut self, bytes: u64, needed: &[Range<u64>]) -> Result<Removed, StoreError> {
        let mut removed = Removed::default();
        let mut segment = 0;
        // The last one is appended to.
        while self.listing.bytes() > bytes && segment + 1 < self.listing.segments.len() {
            if self.is_needed(segment, needed) {
                segment += 1;
                continue;
            }
            removed.segments += 1;
            removed.bytes += self.listing.segments[segment].length;
            removed.games += self.remove_segment(segment)?;
        }
        if removed.segments > 0 {
            sync_dir(&self.dir)?;
        }
        Ok(removed)
    }

    /// Whether a segment has games of these numbers.
    fn is_needed(&self, segment: usize, needed: &[Range<u64>]) -> bool {
        let blocks = self.listing.blocks.iter().filter(|block| block.segment == segment);
        let mut headers = blocks.map(|block| block.header);
        headers.any(|header| {
            needed.iter().any(|range| header.first < range.end && range.start <= header.last)
        })
    }

    /// Removes a segment, its index first: without one it would be read, but never misread. Returns
    /// the number of its games.
    fn remove_segment(&mut self, segment: usize) -> Result<u64, StoreError> {
        let path = &self.listing.segments[segment].path;
        remove(&index::index_path(path))?;
        remove(path)?;
        let before = self.games();
        self.listing.segments.remove(segment);
        self.listing.blocks.retain(|block| block.segment != segment);
        let behind = self.listing.blocks.iter_mut().filter(|block| block.segment > segment);
        behind.for_each(|block| block.segment -= 1);
        Ok(before - self.games())
    }

    /// Drops every game with this number and above. Whenever it is interrupted, no game below
    /// `number` is lost.
    ///
    /// # Errors
    /// When a file cannot be read or written.
    pub fn truncate_to(&mut self, number: u64) -> Result<(), StoreError> {
        let blocks = &self.listing.blocks;
        let keep = blocks.partition_point(|block| block.header.first < number);
        let Some(block) = keep.checked_sub(1).map(|at| blocks[at].clone()) else {
            return self.truncate_segments(0, SEGMENT_HEADER_BYTES);
        };
        if block.header.last < number {
            return self.truncate_segments(block.segment, block.bytes.end);
        }
        let mut games = match self.listing.read_block(&block) {
            // What it held is lost already.
            Err(StoreError::Decode { .. }) => Vec::new(),
            read => read?,
        };
        games.retain(|game| game.number < number);
        if games.is_empty() {
            return self.truncate_segments(block.segment, block.bytes.start);
        }
        self.truncate_segments(block.segment, block.bytes.end)?;
        self.rewrite_last_block(&block, &games)
    }

    /// Cuts the store after `length` bytes of one segment, the newest files first.
    fn truncate_segments(&mut self, segment: usize, length: u64) -> Result<(), StoreError> {
        while self.listing.segments.len() > segment + 1 {
            self.remove_segment(self.listing.segments.len() - 1)?;
        }
        sync_dir(&self.dir)?;
        let segments = &mut self.listing.segments;
        let Some(last) = segments.get_mut(segment).filter(|last| last.length > length) else {
            return Ok(());
        };
        unseal(&self.dir, last)?;
        cut(&last.path, length)?;
        last.length = length;
        let is_kept = |it: &BlockEntry| it.segment < segment || it.bytes.end <= length;
        self.listing.blocks.retain(is_kept);
        Ok(())
    }

    /// Puts `games` in the place of the store's last block, all or nothing.
    fn rewrite_last_block(
        &mut self,
        block: &BlockEntry,
        games: &[GameRecord],
    ) -> Result<(), StoreError> {
        let segment = &mut self.listing.segments[block.segment];
        unseal(&self.dir, segment)?;
        let before = read_range(&segment.path, &(0..block.bytes.start));
        let mut bytes = before.map_err(StoreError::io("read", &segment.path))?;
        let header = block::encode(games, &mut bytes)?;
        replace(&segment.path, &bytes)?;
        segment.length = bytes.len() as u64;
        let bytes = header.block_at(block.bytes.start);
        self.listing.blocks.pop();
        self.listing.blocks.push(BlockEntry { segment: block.segment, bytes, header });
        Ok(())
    }
}

/// Takes a segment's index away, before anything else, so that it can change.
fn unseal(dir: &Path, segment: &mut Segment) -> Result<(), StoreError> {
    if segment.indexed {
        remove(&index::index_path(&segment.path))?;
        sync_dir(dir)?;
        segment.indexed = false;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
