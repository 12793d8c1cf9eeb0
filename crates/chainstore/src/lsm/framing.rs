//! Logs of 32 KiB blocks, cut into chunks that never cross a block: journals and MANIFESTs. *Files, read-only.*
//!
//! Source: LevelDB `db/log_format.h`, goleveldb `leveldb/journal/journal.go`; formats 3. This reader names what stands
//! in each block; what an engine makes of it (which bytes it drops) is said by the engine's own folder.

use crate::data_file::DataFile;
use crate::lsm::at_break::AtBreak;
use crate::lsm::log_end::LogEnd;
use crate::read_error::ReadError;
use crate::{Cut, Part, crc32c, unmask};

/// Bytes of a block.
pub(crate) const BLOCK_BYTES: usize = 32 * 1024;

const CHECKSUM: Part = Part::new("chunk checksum");
const LENGTH: Part = Part::new("chunk length");
const KIND: Part = Part::new("chunk type");
const LOG_NUMBER: Part = Part::new("chunk log number");

/// Which chunk types a log has, how long their headers are, and what its engine does at a break.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Dialect {
    /// The shortest header; fewer bytes at the end of a block are padding.
    pub(crate) shortest: usize,
    /// The longest header; a block's end that is shorter and zero is padding too.
    pub(crate) longest: usize,
    /// The header's length for a type byte; none if the log has no such type.
    pub(crate) header: fn(u8) -> Option<usize>,
    /// Whether a type stands for itself, without being part of a record.
    pub(crate) note: fn(u8) -> bool,
    /// The number that chunks with a longer header carry. Where files are used again, it tells this log's chunks from
    /// those of the log that the file held before.
    pub(crate) log_number: Option<u32>,
    /// Which other number ends the log, whatever the checksum.
    pub(crate) ends_at: LogEnd,
    /// What the engine does at a chunk that it cannot use.
    pub(crate) at_break: AtBreak,
}

/// LevelDB's journals and MANIFESTs, and everyone's MANIFEST: types 1 (full), 2 (first), 3 (middle), 4 (last).
pub(crate) const LEGACY: Dialect = Dialect {
    shortest: LEGACY_HEADER,
    longest: LEGACY_HEADER,
    header: |kind| (1..=4).contains(&kind).then_some(LEGACY_HEADER),
    note: |_| false,
    log_number: None,
    ends_at: LogEnd::OtherNumber,
    at_break: AtBreak::DropsBlock,
};

/// Header bytes of the first four chunk types.
pub(crate) const LEGACY_HEADER: usize = 7;
/// The same with a log number.
pub(crate) const RECYCLABLE_HEADER: usize = 11;

/// The same four types with a log number in their header: 5 to 8.
pub(crate) fn recyclable(log_number: u32, at_break: AtBreak) -> Dialect {
    let header = |kind| match kind {
        1..=4 => Some(LEGACY_HEADER),
        5..=8 => Some(RECYCLABLE_HEADER),
        _ => None,
    };
    Dialect { longest: RECYCLABLE_HEADER, header, log_number: Some(log_number), at_break, ..LEGACY }
}

/// A chunk, or what stands where one should begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Chunk {
    /// Where its header begins in the file.
    pub(crate) offset: u64,
    /// Its type byte.
    pub(crate) kind: u8,
    /// The header's length; the shortest one for an unknown type.
    pub(crate) header: usize,
    /// The log number in its header, if it has one.
    pub(crate) log_number: Option<u32>,
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
    /// A whole chunk of another log, or the mark that an engine puts at a log's end: what follows is an earlier log's.
    LogEnds,
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

/// Where a record's chunks can begin and end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Position {
    Full,
    First,
    Middle,
    Last,
}

impl Chunk {
    /// Which part of its record it is; of use for good chunks alone.
    pub(crate) fn position(&self) -> Position {
        match self.kind.wrapping_sub(1) % 4 {
            0 => Position::Full,
            1 => Position::First,
            2 => Position::Middle,
            _ => Position::Last,
        }
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
    let zero = stored == 0 && length == 0 && kind == 0;
    if zero && bytes.len() < dialect.longest {
        return None;
    }
    let header = (dialect.header)(kind);
    let has_number = header.is_some_and(|header| header > LEGACY_HEADER);
    let log_number = if has_number { cut.u32_le(LOG_NUMBER).ok() } else { None };
    let mut chunk = Chunk {
        offset,
        kind,
        header: header.unwrap_or(dialect.shortest),
        log_number,
        length,
        stored,
        available: bytes.len(),
        state: ChunkState::Good,
    };
    chunk.state = if zero {
        ChunkState::ZeroHeader
    } else if header.is_none() {
        ChunkState::UnknownKind
    } else {
        state(bytes, &chunk, has_number.then_some(dialect.log_number).flatten())
    };
    Some(chunk)
}

fn state(bytes: &[u8], chunk: &Chunk, own: Option<u32>) -> ChunkState {
    let foreign = chunk.log_number.zip(own).is_some_and(|(number, own)| number != own);
    // Pebble closes a log with an empty chunk of the next number, without a checksum (`emitEOFTrailer`).
    let end_mark = chunk.length == 0 && chunk.stored == 0 && chunk.log_number == own.map(|own| own.wrapping_add(1));
    match covered(bytes, chunk) {
        Some(_) if foreign && end_mark => ChunkState::LogEnds,
        None => ChunkState::Overflow,
        Some(covered) => match crc32c(covered) {
            crc if crc != unmask(chunk.stored) => ChunkState::BadChecksum(crc),
            _ if foreign => ChunkState::LogEnds,
            _ => ChunkState::Good,
        },
    }
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

    /// Passes over the whole blocks that come next and that the file system never stored; how many bytes they are, up to
    /// the end of the file. A sparse file of a terabyte would else be read for hours.
    pub(crate) fn skip_hole(&mut self) -> u64 {
        let (from, block) = (self.next, BLOCK_BYTES as u64);
        let data = self.file.next_stored(from);
        let begin = if data < self.file.bytes() { data / block * block } else { data };
        self.next = begin.max(from);
        self.next.saturating_sub(from)
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
/// least a few bytes are no accident. In a log with a number, only a chunk that carries it counts.
pub(crate) fn next_good_chunk(block: &[u8], block_offset: u64, at: usize, dialect: Dialect) -> Option<Chunk> {
    (at.saturating_add(1)..block.len()).find_map(|probe| {
        let kind = *block.get(probe.checked_add(6)?)?;
        (dialect.header)(kind)?;
        chunk_at(block, block_offset, probe, dialect)
            .filter(|chunk| chunk.is_good() && chunk.length > 0 && chunk.log_number == dialect.log_number)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A chunk as an engine writes it.
    fn chunk(kind: u8, log_number: Option<u32>, payload: &[u8]) -> Vec<u8> {
        let number = log_number.map(u32::to_le_bytes);
        let covered = [&[kind][..], number.as_ref().map_or(&[][..], |bytes| &bytes[..]), payload].concat();
        let length = u16::try_from(payload.len()).unwrap();
        [&crate::masked_crc32c(&covered).to_le_bytes()[..], &length.to_le_bytes(), &covered].concat()
    }

    #[test]
    fn a_log_knows_its_own_chunks() {
        let own = recyclable(7, AtBreak::Stops);
        let state = |bytes: &[u8]| chunk_at(bytes, 0, 0, own).map(|chunk| chunk.state);
        assert_eq!(state(&chunk(5, Some(7), b"payload")), Some(ChunkState::Good));
        assert_eq!(state(&chunk(5, Some(4), b"payload")), Some(ChunkState::LogEnds));
        assert_eq!(state(&chunk(1, None, b"payload")), Some(ChunkState::Good));
        assert_eq!(state(&[0, 0, 0, 0, 0, 0, 5, 8, 0, 0, 0]), Some(ChunkState::LogEnds));
        assert!(matches!(state(&[0, 0, 0, 0, 0, 0, 5, 9, 0, 0, 0]), Some(ChunkState::BadChecksum(_))));
        assert_eq!(state(&[0; 10]), None);
        assert_eq!(state(&[0; 11]), Some(ChunkState::ZeroHeader));
        assert_eq!(chunk_at(&[0; 7], 0, 0, LEGACY).map(|chunk| chunk.state), Some(ChunkState::ZeroHeader));
        let block = [&b"garbage"[..], &chunk(5, Some(4), b"old"), &chunk(8, Some(7), b"own")].concat();
        assert_eq!(next_good_chunk(&block, 100, 0, own).map(|chunk| chunk.offset), Some(121));
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..64), at in 0_usize..70) {
            for dialect in [LEGACY, recyclable(5, AtBreak::Stops)] {
                let _ = chunk_at(&bytes, u64::MAX, at, dialect);
                let _ = next_good_chunk(&bytes, u64::MAX, at, dialect);
            }
        }
    }
}
