//! Logs of 32 KiB blocks, cut into chunks that never cross a block: journals and MANIFESTs. *Files, read-only.*
//!
//! Source: LevelDB `db/log_format.h`, goleveldb `leveldb/journal/journal.go`; formats 3. This reader names what stands
//! in each block; what an engine makes of it (which bytes it drops) is said by the engine's own folder.

use crate::data_file::DataFile;
use crate::read_error::ReadError;
use crate::{Cut, Part, crc32c, unmask};

/// Bytes of a block.
pub(crate) const BLOCK_BYTES: usize = 32 * 1024;

const CHECKSUM: Part = Part::new("chunk checksum");
const LENGTH: Part = Part::new("chunk length");
const KIND: Part = Part::new("chunk type");

/// Which chunk types a log has, and how long their headers are.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Dialect {
    /// The shortest header; fewer bytes at the end of a block are padding.
    pub(crate) shortest: usize,
    /// The header's length for a type byte; none if the log has no such type.
    pub(crate) header: fn(u8) -> Option<usize>,
}

/// LevelDB's journals and MANIFESTs, and everyone's MANIFEST: types 1 (full), 2 (first), 3 (middle), 4 (last).
pub(crate) const LEGACY: Dialect = Dialect { shortest: 7, header: |kind| (1..=4).contains(&kind).then_some(7) };

/// A chunk, or what stands where one should begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Chunk {
    /// Where its header begins in the file.
    pub(crate) offset: u64,
    /// Its type byte.
    pub(crate) kind: u8,
    /// The header's length; the shortest one for an unknown type.
    pub(crate) header: usize,
    /// Bytes of payload, as the header says.
    pub(crate) length: usize,
    /// The stored checksum, masked.
    pub(crate) stored: u32,
    /// Bytes from the header's first to the end of the block (or of the file).
    pub(crate) available: usize,
    /// What is wrong with it, if anything.
    pub(crate) state: ChunkState,
}

/// What a chunk's header and bytes give.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ChunkState {
    /// Type, length and checksum fit.
    Good,
    /// Checksum, length and type are zero: space that was never written.
    ZeroHeader,
    /// A type that the log does not have.
    UnknownKind,
    /// The length passes the end of the block (or of the file).
    Overflow,
    /// The checksum (plain, computed) does not fit.
    BadChecksum(u32),
}

impl Chunk {
    /// Whether it can be used.
    pub(crate) fn is_good(&self) -> bool {
        self.state == ChunkState::Good
    }

    /// Header and payload together.
    pub(crate) fn total(&self) -> usize {
        self.header.saturating_add(self.length)
    }
}

/// Reads the chunk that begins at `at` in a block; none if fewer bytes than a header are left.
pub(crate) fn chunk_at(block: &[u8], block_offset: u64, at: usize, dialect: Dialect) -> Option<Chunk> {
    let bytes = block.get(at..).filter(|bytes| bytes.len() >= dialect.shortest)?;
    let offset = block_offset.saturating_add(at as u64);
    let mut cut = Cut::new(bytes, offset);
    let stored = cut.u32_le(CHECKSUM).ok()?;
    let length = usize::from(cut.u16_le(LENGTH).ok()?);
    let kind = cut.u8(KIND).ok()?;
    let header = (dialect.header)(kind);
    let mut chunk = Chunk {
        offset,
        kind,
        header: header.unwrap_or(dialect.shortest),
        length,
        stored,
        available: bytes.len(),
        state: ChunkState::Good,
    };
    chunk.state = if stored == 0 && length == 0 && kind == 0 {
        ChunkState::ZeroHeader
    } else if header.is_none() {
        ChunkState::UnknownKind
    } else {
        match covered(bytes, &chunk) {
            None => ChunkState::Overflow,
            Some(covered) => match crc32c(covered) {
                crc if crc == unmask(stored) => ChunkState::Good,
                crc => ChunkState::BadChecksum(crc),
            },
        }
    };
    Some(chunk)
}

/// What a chunk's checksum covers: everything from the type byte on.
pub(crate) fn covered<'a>(from_header: &'a [u8], chunk: &Chunk) -> Option<&'a [u8]> {
    from_header.get(6..chunk.total())
}

/// Goes through a log's blocks, one in memory at a time.
pub(crate) struct Blocks<'a> {
    file: &'a DataFile,
    block: Vec<u8>,
    filled: usize,
    start: u64,
    next: u64,
}

impl<'a> Blocks<'a> {
    pub(crate) fn new(file: &'a DataFile) -> Self {
        Self { file, block: vec![0; BLOCK_BYTES], filled: 0, start: 0, next: 0 }
    }

    /// To the next block; false at the end of the file. A block that the device fails to give is skipped by the next
    /// call.
    pub(crate) fn advance(&mut self) -> Result<bool, ReadError> {
        self.start = self.next;
        self.filled = 0;
        if self.start >= self.file.bytes() {
            return Ok(false);
        }
        self.next = self.start.saturating_add(BLOCK_BYTES as u64);
        self.filled = self.file.read_up_to_at(&mut self.block, self.start)?;
        Ok(self.filled > 0)
    }

    /// The current block's bytes.
    pub(crate) fn bytes(&self) -> &[u8] {
        self.block.get(..self.filled).unwrap_or_default()
    }

    /// Where it begins.
    pub(crate) fn start(&self) -> u64 {
        self.start
    }

    /// Whether it is as long as blocks are; only a log's last one may be shorter.
    pub(crate) fn is_full(&self) -> bool {
        self.filled == BLOCK_BYTES
    }
}

/// The first good chunk after `at` in a block, whatever stands between: bytes that begin with a fitting checksum of at
/// least a few bytes are no accident.
pub(crate) fn next_good_chunk(block: &[u8], block_offset: u64, at: usize, dialect: Dialect) -> Option<Chunk> {
    (at.saturating_add(1)..block.len()).find_map(|probe| {
        let kind = *block.get(probe.checked_add(6)?)?;
        (dialect.header)(kind)?;
        chunk_at(block, block_offset, probe, dialect).filter(|chunk| chunk.is_good() && chunk.length > 0)
    })
}
