//! A sealed segment's index, in a file beside it: where its blocks lie and what they say of
//! themselves, so that opening a store need not read its games.

use super::block::{BLOCK_HEADER_BYTES, BlockHeader, Fields};
use super::files::replace;
use super::{BlockEntry, StoreError};
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

const MAGIC: [u8; 8] = *b"KEIKOIDX";

/// Another version than this one is as good as no index: it is made again.
const VERSION: u32 = 1;

/// The index of a segment file.
pub(super) fn index_path(segment: &Path) -> PathBuf {
    segment.with_extension("idx")
}

/// Writes the index of a segment of this length and blocks.
pub(super) fn write<'a>(
    segment: &Path,
    length: u64,
    blocks: impl Iterator<Item = &'a BlockEntry>,
) -> Result<(), StoreError> {
    let mut bytes = MAGIC.to_vec();
    bytes.extend(VERSION.to_le_bytes());
    bytes.extend(length.to_le_bytes());
    for block in blocks {
        bytes.extend(block.bytes.start.to_le_bytes());
        bytes.extend(block.header.to_bytes());
    }
    bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
    replace(&index_path(segment), &bytes)
}

/// Where the blocks of a segment lie, and what they say of themselves.
type Blocks = Vec<(Range<u64>, BlockHeader)>;

/// What a segment's index says of its length and its blocks; `None` if there is no sound one.
pub(super) fn read(segment: &Path) -> Option<(u64, Blocks)> {
    let bytes = fs::read(index_path(segment)).ok()?;
    let (covered, checksum) = bytes.split_at_checked(bytes.len().checked_sub(4)?)?;
    if Fields(checksum).u32()? != crc32fast::hash(covered) {
        return None;
    }
    let mut fields = Fields(covered);
    let is_ours = fields.take()? == MAGIC && fields.u32()? == VERSION;
    let length = fields.u64()?;
    if !is_ours {
        return None;
    }
    let mut blocks = Vec::new();
    while let Some(start) = fields.u64() {
        let header = BlockHeader::parse(&fields.take::<BLOCK_HEADER_BYTES>()?)?;
        blocks.push((header.block_at(start), header));
    }
    Some((length, blocks))
}
