//! The replay store: the `games/` folder of a run, append-only segments of whole games.
//!
//! A segment is a header and blocks; a block is a compressed list of games with its length and
//! checksums, so that a torn end is told from damage and damage costs one block. Games lie in
//! the order of their numbers; numbers may be missing but never repeat.

mod block;
mod error;
mod files;
mod listing;
mod older;
mod report;

pub use error::StoreError;
pub use listing::Listing;
pub use report::{Damage, OpenReport};

use block::{Found, SEGMENT_HEADER_BYTES};
use files::{cut, read_range, segment_files, segment_name, sync_dir, write_at};
use keiko_selfplay::GameRecord;
use report::torn;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Version of the segment format this program writes. Older ones are read, newer ones refused.
/// Version 1 knows neither kinds of starts nor games that a proof or a resignation ended.
pub const FORMAT_VERSION: u32 = 2;

/// A segment that has grown this long is followed by a new one.
const SEGMENT_BYTES: u64 = 64 << 20;

/// Games in one block at most: what one damaged byte can cost, and what is decoded at a time.
const BLOCK_GAMES: usize = 256;

/// An open replay store. One program at a time may hold a run's store.
#[derive(Debug)]
pub struct Store {
    dir: PathBuf,
    segments: Vec<Segment>,
    blocks: Vec<BlockEntry>,
    segment_bytes: u64,
}

/// A segment file and how much of it is sound.
#[derive(Debug)]
struct Segment {
    index: u32,
    path: PathBuf,
    length: u64,
}

/// Where a sound block lies and what it says of itself.
#[derive(Clone, Debug)]
struct BlockEntry {
    /// Index into `Store::segments`.
    segment: usize,
    /// The block with its header, in bytes from the segment's start.
    bytes: Range<u64>,
    games: u32,
    first: u64,
    last: u64,
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
        let mut store =
            Store { dir: dir.to_owned(), segments: Vec::new(), blocks: Vec::new(), segment_bytes };
        let mut report = OpenReport::default();
        let files = segment_files(dir)?;
        let last = files.len().saturating_sub(1);
        for (place, (index, path)) in files.into_iter().enumerate() {
            store.open_segment(index, path, place == last, &mut report)?;
        }
        report.games = store.games();
        Ok((store, report))
    }

    /// Lists a segment's sound blocks; the torn end of the last segment is cut off.
    fn open_segment(
        &mut self,
        index: u32,
        path: PathBuf,
        is_last: bool,
        report: &mut OpenReport,
    ) -> Result<(), StoreError> {
        let bytes = fs::read(&path).map_err(StoreError::io("read", &path))?;
        let newer = |found| StoreError::Newer { path: path.clone(), found };
        let mut sound_end = 0;
        let mut bad: Vec<Damage> = Vec::new();
        for found in block::scan(&bytes) {
            match found {
                Found::Newer(version) => return Err(newer(version)),
                Found::Header => sound_end = SEGMENT_HEADER_BYTES,
                Found::Bad { bytes, games } => bad.push(Damage::new(&path, bytes, games)),
                Found::Block { bytes, header } if self.follows(header.first) => {
                    sound_end = bytes.end;
                    self.blocks.push(BlockEntry::new(self.segments.len(), bytes, header));
                }
                Found::Block { bytes, header } => {
                    bad.push(Damage::new(&path, bytes, Some((header.first, header.last))));
                }
            }
        }
        let length = if is_last { sound_end } else { bytes.len() as u64 };
        if length < bytes.len() as u64 {
            cut(&path, length)?;
            report.torn = torn(&mut bad, length, bytes.len() as u64, &path);
        }
        report.damaged.append(&mut bad);
        self.segments.push(Segment { index, path, length });
        Ok(())
    }

    /// Whether a game of this number may come after all stored ones.
    fn follows(&self, number: u64) -> bool {
        self.last_number().is_none_or(|last| number > last)
    }

    /// Number of games stored.
    pub fn games(&self) -> u64 {
        self.blocks.iter().map(|block| u64::from(block.games)).sum()
    }

    /// Number of the last game stored.
    pub fn last_number(&self) -> Option<u64> {
        self.blocks.last().map(|block| block.last)
    }

    /// Bytes on disk.
    pub fn bytes(&self) -> u64 {
        self.segments.iter().map(|segment| segment.length).sum()
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
        let mut blocks = Vec::new();
        for part in games.chunks(BLOCK_GAMES) {
            let start = bytes.len() as u64;
            let header = block::encode(part, &mut bytes)?;
            blocks.push((start..bytes.len() as u64, header));
        }
        let segment = self.writable_segment()?;
        let length = self.segments[segment].length;
        write_at(&self.segments[segment].path, length, &bytes)?;
        self.segments[segment].length += bytes.len() as u64;
        self.blocks.extend(blocks.into_iter().map(|(bytes, header)| {
            BlockEntry::new(segment, length + bytes.start..length + bytes.end, header)
        }));
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
        let next = match self.segments.last() {
            // A header that never got written, or was cut off with the rest.
            Some(last) if last.length < SEGMENT_HEADER_BYTES => {
                write_at(&last.path, 0, &block::segment_header())?;
                let end = self.segments.len() - 1;
                self.segments[end].length = SEGMENT_HEADER_BYTES;
                return Ok(end);
            }
            Some(last) if last.length < self.segment_bytes => return Ok(self.segments.len() - 1),
            Some(last) => last.index + 1,
            None => 0,
        };
        let path = self.dir.join(segment_name(next));
        write_at(&path, 0, &block::segment_header())?;
        sync_dir(&self.dir)?;
        self.segments.push(Segment { index: next, path, length: SEGMENT_HEADER_BYTES });
        Ok(self.segments.len() - 1)
    }

    /// All games in order of their numbers, one block at a time.
    pub fn read_all(&self) -> impl DoubleEndedIterator<Item = Result<Vec<GameRecord>, StoreError>> {
        self.blocks.iter().map(|block| self.read(block))
    }

    /// The games with this number and above, in order, one block at a time.
    pub fn read_from(
        &self,
        number: u64,
    ) -> impl DoubleEndedIterator<Item = Result<Vec<GameRecord>, StoreError>> {
        let start = self.blocks.partition_point(|block| block.last < number);
        self.blocks[start..].iter().map(move |block| {
            let mut games = self.read(block)?;
            games.retain(|game| game.number >= number);
            Ok(games)
        })
    }

    /// The games with this number and above: on a resume, those the checkpoint does not know
    /// yet. Read them before `truncate_to` drops them; they need not be played again.
    ///
    /// # Errors
    /// When a file cannot be read.
    pub fn games_from(&self, number: u64) -> Result<Vec<GameRecord>, StoreError> {
        let blocks: Result<Vec<_>, _> = self.read_from(number).collect();
        Ok(blocks?.into_iter().flatten().collect())
    }

    fn read(&self, entry: &BlockEntry) -> Result<Vec<GameRecord>, StoreError> {
        let path = &self.segments[entry.segment].path;
        let bytes = read_range(path, &entry.bytes).map_err(StoreError::io("read", path))?;
        block::decode(&bytes).map_err(|reason| StoreError::Decode {
            path: path.clone(),
            offset: entry.bytes.start,
            reason,
        })
    }

    /// Drops every game with this number and above. Whenever it is interrupted, no game below
    /// `number` is lost.
    ///
    /// # Errors
    /// When a file cannot be read or written.
    pub fn truncate_to(&mut self, number: u64) -> Result<(), StoreError> {
        let keep = self.blocks.partition_point(|block| block.first < number);
        let Some(block) = keep.checked_sub(1).map(|at| self.blocks[at].clone()) else {
            return self.truncate_segments(0, SEGMENT_HEADER_BYTES);
        };
        if block.last < number {
            return self.truncate_segments(block.segment, block.bytes.end);
        }
        let mut games = self.read(&block)?;
        games.retain(|game| game.number < number);
        self.truncate_segments(block.segment, block.bytes.end)?;
        self.rewrite_last_block(&block, &games)
    }

    /// Cuts the store after `length` bytes of one segment, the newest files first.
    fn truncate_segments(&mut self, segment: usize, length: u64) -> Result<(), StoreError> {
        while self.segments.len() > segment + 1 {
            let path = &self.segments[self.segments.len() - 1].path;
            fs::remove_file(path).map_err(StoreError::io("remove", path))?;
            self.segments.pop();
            self.blocks.retain(|block| block.segment < self.segments.len());
        }
        sync_dir(&self.dir)?;
        let Some(last) = self.segments.get_mut(segment).filter(|last| last.length > length) else {
            return Ok(());
        };
        cut(&last.path, length)?;
        last.length = length;
        self.blocks.retain(|block| block.segment < segment || block.bytes.end <= length);
        Ok(())
    }

    /// Puts `games` in the place of the store's last block, all or nothing.
    fn rewrite_last_block(
        &mut self,
        block: &BlockEntry,
        games: &[GameRecord],
    ) -> Result<(), StoreError> {
        let path = self.segments[block.segment].path.clone();
        let before = read_range(&path, &(0..block.bytes.start));
        let mut bytes = before.map_err(StoreError::io("read", &path))?;
        let header = block::encode(games, &mut bytes)?;
        let temporary = path.with_extension("tmp");
        write_at(&temporary, 0, &bytes)?;
        fs::rename(&temporary, &path).map_err(StoreError::io("replace", &path))?;
        sync_dir(&self.dir)?;
        let length = bytes.len() as u64;
        self.segments[block.segment].length = length;
        let last = self.blocks.len() - 1;
        self.blocks[last] = BlockEntry::new(block.segment, block.bytes.start..length, header);
        Ok(())
    }
}

impl BlockEntry {
    fn new(segment: usize, bytes: Range<u64>, header: block::BlockHeader) -> BlockEntry {
        let block::BlockHeader { games, first, last, .. } = header;
        BlockEntry { segment, bytes, games, first, last }
    }
}

#[cfg(test)]
mod tests;
