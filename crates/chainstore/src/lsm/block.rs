//! Blocks of a table: handle, trailer, and reading them in file order through one small window. *Files, read-only.*
//!
//! Source: LevelDB `table/format.h`. A stored block is its payload, one type byte and four bytes of checksum over both;
//! a handle's size counts the payload alone.

use crate::data_file::DataFile;
use crate::lsm::trailer::{Checksum, Sum, Trailer};
use crate::lsm::unpack::BLOCK_BYTES_MAX;
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

/// A window that moves forward through a file.
pub(crate) struct Window<'a> {
    file: &'a DataFile,
    checksum: Checksum,
    buffer: &'a mut [u8],
    start: u64,
    filled: usize,
}

impl<'a> Window<'a> {
    /// `checksum` is how the file's blocks are summed.
    pub(crate) fn new(file: &'a DataFile, buffer: &'a mut [u8], checksum: Checksum) -> Self {
        Self { file, checksum, buffer, start: 0, filled: 0 }
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
            let checksum = self.checksum;
            return Trailer::of(self.range(handle.offset, stored_bytes)?, checksum).ok_or_else(short);
        }
        let covered_end =
            handle.offset.checked_add(handle.size).and_then(|end| end.checked_add(1)).ok_or_else(short)?;
        let mut sum = Sum::new(self.checksum);
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
        Ok(Trailer { compression, stored, computed: sum.value(), checksum: self.checksum })
    }
}
