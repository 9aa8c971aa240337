//! The bytes of a segment: its header, and blocks found again whatever lies between them.

use super::older::Version1;
use super::{FORMAT_VERSION, StoreError};
use keiko_selfplay::GameRecord;
use std::ops::Range;

const SEGMENT_MAGIC: [u8; 8] = *b"KEIKOSEG";
const BLOCK_MAGIC: [u8; 4] = *b"KBLK";
const COMPRESSION_LEVEL: i32 = 3;

/// Magic, version, checksum of both.
pub(super) const SEGMENT_HEADER_BYTES: u64 = 16;
/// Magic, version, number of games, first and last number, stored and plain length, checksum
/// of the payload, checksum of this header.
pub(super) const BLOCK_HEADER_BYTES: usize = 44;

/// What a block says of itself.
#[derive(Copy, Clone, PartialEq, Debug)]
pub(super) struct BlockHeader {
    pub(super) version: u32,
    pub(super) games: u32,
    pub(super) first: u64,
    pub(super) last: u64,
    stored_length: u32,
    plain_length: u32,
    checksum: u32,
}

/// A stretch of a segment, as `scan` meets it.
pub(super) enum Found {
    /// The segment's header, sound.
    Header,
    /// The segment or a block is of this newer version.
    Newer(u32),
    /// A block whose checksums hold.
    Block {
        /// The block with its header.
        bytes: Range<u64>,
        /// What it says of itself.
        header: BlockHeader,
    },
    /// Bytes that are no sound block.
    Bad {
        /// Where they lie.
        bytes: Range<u64>,
        /// First and last number of the games lost, if known.
        games: Option<(u64, u64)>,
    },
}

/// Reads little-endian numbers from the front of a header.
pub(super) struct Fields<'a>(pub(super) &'a [u8]);

impl Fields<'_> {
    pub(super) fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (field, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*field)
    }

    pub(super) fn u32(&mut self) -> Option<u32> {
        self.take().map(u32::from_le_bytes)
    }

    pub(super) fn u64(&mut self) -> Option<u64> {
        self.take().map(u64::from_le_bytes)
    }
}

impl BlockHeader {
    pub(super) fn to_bytes(self) -> Vec<u8> {
        let mut bytes = BLOCK_MAGIC.to_vec();
        bytes.extend(self.version.to_le_bytes());
        bytes.extend(self.games.to_le_bytes());
        bytes.extend(self.first.to_le_bytes());
        bytes.extend(self.last.to_le_bytes());
        bytes.extend(self.stored_length.to_le_bytes());
        bytes.extend(self.plain_length.to_le_bytes());
        bytes.extend(self.checksum.to_le_bytes());
        bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
        bytes
    }

    /// The header at the front of `bytes`, if there is one and its checksum holds.
    pub(super) fn parse(bytes: &[u8]) -> Option<BlockHeader> {
        let bytes = bytes.get(..BLOCK_HEADER_BYTES)?;
        let (covered, mut checksum) = (bytes.len() - 4, Fields(&bytes[bytes.len() - 4..]));
        let mut fields = Fields(bytes);
        if fields.take()? != BLOCK_MAGIC || checksum.u32()? != crc32fast::hash(&bytes[..covered]) {
            return None;
        }
        Some(BlockHeader {
            version: fields.u32()?,
            games: fields.u32()?,
            first: fields.u64()?,
            last: fields.u64()?,
            stored_length: fields.u32()?,
            plain_length: fields.u32()?,
            checksum: fields.u32()?,
        })
    }

    /// The bytes of a block that begins at `start`.
    pub(super) fn block_at(&self, start: u64) -> Range<u64> {
        start..start + BLOCK_HEADER_BYTES as u64 + u64::from(self.stored_length)
    }

    /// The block's payload, where `bytes` begins with this header; `None` if cut short or damaged.
    fn payload<'a>(&self, bytes: &'a [u8]) -> Option<&'a [u8]> {
        let end = BLOCK_HEADER_BYTES.checked_add(self.stored_length as usize)?;
        let payload = bytes.get(BLOCK_HEADER_BYTES..end)?;
        (crc32fast::hash(payload) == self.checksum).then_some(payload)
    }
}

/// The header a segment begins with.
pub(super) fn segment_header() -> Vec<u8> {
    let mut bytes = SEGMENT_MAGIC.to_vec();
    bytes.extend(FORMAT_VERSION.to_le_bytes());
    bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
    bytes
}

/// The version a segment's header states; `None` if it is cut short or damaged.
fn segment_version(bytes: &[u8]) -> Option<u32> {
    let mut fields = Fields(bytes);
    let is_magic = fields.take()? == SEGMENT_MAGIC;
    let version = fields.u32()?;
    let is_sound = fields.u32()? == crc32fast::hash(&bytes[..12]);
    (is_magic && is_sound).then_some(version)
}

/// Appends the block of `games` to `bytes`. There must be at least one game.
pub(super) fn encode(games: &[GameRecord], bytes: &mut Vec<u8>) -> Result<BlockHeader, StoreError> {
    let first = games.first().map_or(0, |game| game.number);
    let last = games.last().map_or(0, |game| game.number);
    let failed = |reason: String| StoreError::Encode { number: first, reason };
    let plain = postcard::to_stdvec(games).map_err(|error| failed(error.to_string()))?;
    let payload = zstd::bulk::compress(&plain, COMPRESSION_LEVEL)
        .map_err(|error| failed(error.to_string()))?;
    let length = |length: usize| {
        u32::try_from(length).map_err(|_| failed(format!("{length} bytes are too many")))
    };
    let header = BlockHeader {
        version: FORMAT_VERSION,
        games: length(games.len())?,
        first,
        last,
        stored_length: length(payload.len())?,
        plain_length: length(plain.len())?,
        checksum: crc32fast::hash(&payload),
    };
    bytes.extend(header.to_bytes());
    bytes.extend(payload);
    Ok(header)
}

/// The games of the block that `bytes` is, which had this header when the store was opened.
pub(super) fn decode(bytes: &[u8], expected: BlockHeader) -> Result<Vec<GameRecord>, String> {
    let header = BlockHeader::parse(bytes).ok_or("its header is damaged")?;
    if header != expected {
        return Err("another block lies there by now".to_owned());
    }
    let payload = header.payload(bytes).ok_or("its checksum does not hold")?;
    let plain = zstd::bulk::decompress(payload, header.plain_length as usize)
        .map_err(|error| error.to_string())?;
    let read = match header.version {
        1 => postcard::take_from_bytes(&plain).map(|(games, rest): (Vec<Version1>, _)| {
            (games.into_iter().map(GameRecord::from).collect(), rest)
        }),
        _ => postcard::take_from_bytes(&plain),
    };
    let (games, rest): (Vec<GameRecord>, _) = read.map_err(|error| error.to_string())?;
    let ascending = games.windows(2).all(|pair| pair[0].number < pair[1].number);
    let ends = games.first().zip(games.last()).map(|(first, last)| (first.number, last.number));
    let agrees = games.len() == header.games as usize && ends == Some((header.first, header.last));
    if ascending && agrees && rest.is_empty() {
        Ok(games)
    } else {
        Err("its games are not those its header names".to_owned())
    }
}

/// Everything a segment holds, in order.
pub(super) fn scan(bytes: &[u8]) -> Vec<Found> {
    let mut found = Vec::new();
    let header = SEGMENT_HEADER_BYTES as usize;
    let mut at = match segment_version(bytes) {
        Some(version) if version > FORMAT_VERSION => return vec![Found::Newer(version)],
        Some(_) => {
            found.push(Found::Header);
            header
        }
        // Blocks state their version too, so a damaged segment header loses nothing.
        None if bytes.len() > header => {
            found.push(Found::Bad { bytes: 0..header as u64, games: None });
            header
        }
        None => 0,
    };
    while at < bytes.len() {
        let next = scan_block(bytes, at);
        at = match &next {
            Found::Block { bytes, .. } | Found::Bad { bytes, .. } => bytes.end as usize,
            Found::Header | Found::Newer(_) => bytes.len(),
        };
        found.push(next);
    }
    found
}

/// What begins at byte `at` of a segment.
fn scan_block(bytes: &[u8], at: usize) -> Found {
    let here = at as u64;
    let Some(header) = BlockHeader::parse(&bytes[at..]) else {
        return Found::Bad { bytes: here..next_block(bytes, at + 1) as u64, games: None };
    };
    if header.version > FORMAT_VERSION {
        return Found::Newer(header.version);
    }
    match header.payload(&bytes[at..]) {
        Some(_) => Found::Block { bytes: header.block_at(here), header },
        // The length is sound, but a torn write may be followed by a later block all the same.
        None => Found::Bad {
            bytes: here..next_block(bytes, at + BLOCK_HEADER_BYTES) as u64,
            games: Some((header.first, header.last)),
        },
    }
}

/// Where the next sound block header begins; the end of `bytes` if there is none.
fn next_block(bytes: &[u8], from: usize) -> usize {
    let from = from.min(bytes.len());
    let starts = bytes[from..].windows(BLOCK_MAGIC.len()).enumerate();
    starts
        .filter(|(_, window)| *window == BLOCK_MAGIC)
        .map(|(start, _)| from + start)
        .find(|&start| BlockHeader::parse(&bytes[start..]).is_some())
        .unwrap_or(bytes.len())
}
