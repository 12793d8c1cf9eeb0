//! Blocks of a table: handle, trailer, and reading them in file order through one small window. *Files, read-only.*
//!
//! Source: LevelDB `table/format.h`. A stored block is its payload, one type byte and four bytes of checksum over both;
//! a handle's size counts the payload alone.

use crate::checksum::{Crc32c, crc32c};
use crate::data_file::DataFile;
use crate::read_error::{ReadError, ReadProblem};
use crate::{Cut, CutError, Part};

/// Type byte and checksum after each payload.
pub(crate) const TRAILER_BYTES: u64 = 5;

const HANDLE_OFFSET: Part = Part::new("block handle offset");
const HANDLE_SIZE: Part = Part::new("block handle size");

/// Where a block stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Handle {
    pub(crate) offset: u64,
    pub(crate) size: u64,
}

impl Handle {
    /// Two uvarints.
    pub(crate) fn cut(cut: &mut Cut<'_>) -> Result<Self, CutError> {
        Ok(Self { offset: cut.uvarint(HANDLE_OFFSET)?, size: cut.uvarint(HANDLE_SIZE)? })
    }

    /// The offset after its trailer; none if that is no offset at all.
    pub(crate) fn end(self) -> Option<u64> {
        self.offset.checked_add(self.size)?.checked_add(TRAILER_BYTES)
    }

    /// Payload and trailer.
    pub(crate) fn stored_bytes(self) -> u64 {
        self.size.saturating_add(TRAILER_BYTES)
    }

    /// Whether it ends at or before `limit`.
    pub(crate) fn fits(self, limit: u64) -> bool {
        self.end().is_some_and(|end| end <= limit)
    }
}

/// What a block's trailer says and what its bytes give.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Trailer {
    /// How the payload is packed.
    pub(crate) compression: u8,
    /// The stored checksum, masked.
    pub(crate) stored: u32,
    /// The plain CRC-32C of payload and type byte.
    pub(crate) crc: u32,
}

impl Trailer {
    /// Whether a masked CRC-32C fits.
    pub(crate) fn fits_crc(&self) -> bool {
        crate::mask(self.crc) == self.stored
    }

    /// Of a stored block that is wholly in memory.
    pub(crate) fn of(stored_block: &[u8]) -> Option<Self> {
        let (covered, stored) = stored_block.split_last_chunk::<4>()?;
        Some(Self { compression: *covered.last()?, stored: u32::from_le_bytes(*stored), crc: crc32c(covered) })
    }
}

/// A window that moves forward through a file.
pub(crate) struct Window<'a> {
    file: &'a DataFile,
    buffer: &'a mut [u8],
    start: u64,
    filled: usize,
}

impl<'a> Window<'a> {
    pub(crate) fn new(file: &'a DataFile, buffer: &'a mut [u8]) -> Self {
        Self { file, buffer, start: 0, filled: 0 }
    }

    /// Whether a range of this length can be held whole.
    pub(crate) fn holds(&self, length: u64) -> bool {
        length <= self.buffer.len() as u64
    }

    /// A range of the file, not longer than the window. The window moves when the range is not in it.
    pub(crate) fn range(&mut self, offset: u64, length: u64) -> Result<&[u8], ReadError> {
        let inside = offset
            .checked_sub(self.start)
            .filter(|front| front.checked_add(length).is_some_and(|end| end <= self.filled as u64));
        let front = if let Some(front) = inside { front } else { self.refill(offset, length)? };
        let file = self.file;
        let short = || file.error(ReadProblem::Short { offset, wanted: length, length: file.bytes() });
        let front = usize::try_from(front).map_err(|_| short())?;
        let length = usize::try_from(length).map_err(|_| short())?;
        self.buffer.get(front..self.filled).and_then(|bytes| bytes.get(..length)).ok_or_else(short)
    }

    /// Moves the window to begin at `offset`. Where the device fails on the whole window, only the range is read.
    fn refill(&mut self, offset: u64, length: u64) -> Result<u64, ReadError> {
        self.filled = 0;
        self.start = offset;
        let filled = self.file.read_up_to_at(self.buffer, offset).or_else(|_| {
            let short = usize::try_from(length).unwrap_or(usize::MAX).min(self.buffer.len());
            self.file.read_up_to_at(self.buffer.get_mut(..short).unwrap_or_default(), offset)
        })?;
        self.filled = filled;
        Ok(0)
    }

    /// A block's payload, copied if the window cannot hold it.
    pub(crate) fn payload(&mut self, handle: Handle) -> Result<std::borrow::Cow<'_, [u8]>, ReadError> {
        if self.holds(handle.size) {
            return self.range(handle.offset, handle.size).map(Into::into);
        }
        self.file.read_range(handle.offset, handle.size, BLOCK_BYTES_MAX).map(Into::into)
    }

    /// Trailer and checksum of a block of any length; one that is longer than the window is summed in pieces.
    pub(crate) fn trailer(&mut self, handle: Handle) -> Result<Trailer, ReadError> {
        let (file, stored_bytes) = (self.file, handle.stored_bytes());
        let short =
            || file.error(ReadProblem::Short { offset: handle.offset, wanted: stored_bytes, length: file.bytes() });
        if self.holds(stored_bytes) {
            return Trailer::of(self.range(handle.offset, stored_bytes)?).ok_or_else(short);
        }
        let covered_end =
            handle.offset.checked_add(handle.size).and_then(|end| end.checked_add(1)).ok_or_else(short)?;
        let mut sum = Crc32c::default();
        let mut at = handle.offset;
        let mut compression = 0;
        while at < covered_end {
            let piece = covered_end.saturating_sub(at).min(self.buffer.len() as u64);
            let bytes = self.range(at, piece)?;
            sum.add(bytes);
            compression = bytes.last().copied().unwrap_or_default();
            at = at.saturating_add(piece);
        }
        let stored =
            Cut::new(self.range(covered_end, 4)?, covered_end).u32_le(Part::new("block checksum")).unwrap_or_default();
        Ok(Trailer { compression, stored, crc: sum.value() })
    }
}

/// Payloads are unpacked up to this size; engines make blocks of 4 KiB to some hundred.
pub(crate) const BLOCK_BYTES_MAX: u64 = 64 << 20;

/// Snappy's densest element is three bytes for 64, so no honest length is above this multiple of the payload.
const SNAPPY_RATIO_MAX: usize = 22;

/// Why a payload whose checksum fits cannot be unpacked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum UnpackError {
    /// A type byte that the format does not have.
    #[error("unknown compression type {0}")]
    UnknownType(u8),
    /// The packed bytes are wrong.
    #[error("snappy: {0}")]
    Snappy(String),
}

/// Unpacks a payload of type 0 (stored) or 1 (Snappy) into `into`.
pub(crate) fn unpack(payload: &[u8], compression: u8, into: &mut Vec<u8>) -> Result<(), UnpackError> {
    into.clear();
    match compression {
        0 => into.extend_from_slice(payload),
        1 => {
            let snappy = |error: snap::Error| UnpackError::Snappy(error.to_string());
            let length = snap::raw::decompress_len(payload).map_err(snappy)?;
            if length > payload.len().saturating_mul(SNAPPY_RATIO_MAX) {
                return Err(UnpackError::Snappy(format!("{length} bytes from {} are more than can be", payload.len())));
            }
            into.resize(length, 0);
            snap::raw::Decoder::new().decompress(payload, into).map_err(snappy)?;
        }
        other => return Err(UnpackError::UnknownType(other)),
    }
    Ok(())
}
