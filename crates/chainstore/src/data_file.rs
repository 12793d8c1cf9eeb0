//! Reading an open file: whole or by ranges, never mapped, with the device's errors as values.
//!
//! Source of "proven means twice" (design 4): a bad range is read again with its cached pages dropped. The same bytes
//! are damage on disk; other bytes are a sick host.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::disk::Disk;
use crate::meter::Meter;
use crate::read_error::{ReadError, ReadProblem};

/// Pages of the cache, and of most file systems.
pub const PAGE: u64 = PAGE_BYTES as u64;
const PAGE_BYTES: usize = 4096;

/// An open file of a database.
#[derive(Debug)]
pub struct DataFile {
    file: File,
    bytes: u64,
    path: PathBuf,
    meter: Arc<Meter>,
    disk: Arc<dyn Disk>,
}

/// What the second read of a range says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SecondRead {
    /// The same bytes.
    Same,
    /// Other bytes, beginning at this offset of the file: the host's memory, cable or disk is sick.
    Differs(u64),
    /// The second read failed.
    Failed(ReadError),
}

impl DataFile {
    pub(crate) fn new(fd: OwnedFd, bytes: u64, path: PathBuf, meter: Arc<Meter>, disk: Arc<dyn Disk>) -> Self {
        Self { file: File::from(fd), bytes, path, meter, disk }
    }

    /// How long the file was when it was opened.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Where it stands, relative to the inspected directory.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The meter that counts what is read of it.
    #[must_use]
    pub fn meter(&self) -> &Meter {
        &self.meter
    }

    /// Tells the system that the file will be read from front to end.
    pub fn will_read_all(&self) {
        #[cfg(target_os = "linux")]
        let _ = rustix::fs::fadvise(&self.file, 0, None, rustix::fs::Advice::Sequential);
    }

    /// Where stored bytes come next from `offset` on: the file's end if only a hole follows, `offset` itself where the file
    /// system does not say.
    pub(crate) fn next_stored(&self, offset: u64) -> u64 {
        #[cfg(target_os = "linux")]
        match rustix::fs::seek(&self.file, rustix::fs::SeekFrom::Data(offset)) {
            Ok(stored) => return stored.clamp(offset, self.bytes.max(offset)),
            // No bytes are stored from there on.
            Err(rustix::io::Errno::NXIO) => return self.bytes.max(offset),
            Err(_) => {}
        }
        offset
    }

    /// Fills the buffer from `offset`.
    pub fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> Result<(), ReadError> {
        let wanted = buffer.len() as u64;
        let got = self.read_up_to_at(buffer, offset)? as u64;
        if got < wanted {
            return Err(self.error(ReadProblem::Short { offset, wanted, length: offset.saturating_add(got) }));
        }
        Ok(())
    }

    /// Fills as much of the buffer as the file has from `offset`. Where the device fails, it is asked once more: a failure
    /// that does not come again is no damage, and the meter keeps it as a sign of a sick machine.
    pub fn read_up_to_at(&self, buffer: &mut [u8], offset: u64) -> Result<usize, ReadError> {
        let mut done = 0_usize;
        while let Some(rest) = buffer.get_mut(done..).filter(|rest| !rest.is_empty()) {
            let at = offset.saturating_add(done as u64);
            match self.read_or_ask_again(rest, at) {
                Ok(0) => break,
                Ok(count) => {
                    done = done.saturating_add(count);
                    self.meter.count(count as u64);
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(self.error(ReadProblem::io(&error, at))),
            }
        }
        Ok(done)
    }

    fn read_or_ask_again(&self, buffer: &mut [u8], at: u64) -> io::Result<usize> {
        let first = match self.disk.read_at(&self.file, &self.path, buffer, at) {
            Err(error) if ReadProblem::io(&error, at).is_device_error() => error,
            other => return other,
        };
        self.disk.drop_cached(&self.file, at / PAGE * PAGE, at.saturating_add(buffer.len() as u64));
        let second = self.disk.read_at(&self.file, &self.path, buffer, at);
        if second.is_ok() {
            self.meter.note_failure_that_went(self.error(ReadProblem::io(&first, at)));
        }
        second
    }

    /// The whole file, if it is at most `limit` bytes long.
    pub fn read_all(&self, limit: u64) -> Result<Vec<u8>, ReadError> {
        self.read_range(0, self.bytes, limit)
    }

    /// The last bytes of the file, at most `count`; their offset comes with them.
    pub fn read_tail(&self, count: u64) -> Result<(u64, Vec<u8>), ReadError> {
        let start = self.bytes.saturating_sub(count);
        Ok((start, self.read_range(start, self.bytes.saturating_sub(start), count)?))
    }

    /// A range of the file. It must lie inside and be at most `limit` bytes long: nothing is allocated for a length
    /// that the file does not have.
    pub fn read_range(&self, offset: u64, length: u64, limit: u64) -> Result<Vec<u8>, ReadError> {
        if length > limit {
            return Err(self.error(ReadProblem::TooLarge { length, limit }));
        }
        if offset.checked_add(length).is_none_or(|end| end > self.bytes) {
            return Err(self.error(ReadProblem::Short { offset, wanted: length, length: self.bytes }));
        }
        let size = usize::try_from(length).map_err(|_| self.error(ReadProblem::TooLarge { length, limit }))?;
        let mut buffer = vec![0; size];
        self.read_exact_at(&mut buffer, offset)?;
        Ok(buffer)
    }

    /// Reads a range again past the page cache and compares it with what the first read gave.
    #[must_use]
    pub fn read_again(&self, first: &[u8], offset: u64) -> SecondRead {
        let start = offset / PAGE * PAGE;
        let end = offset.saturating_add(first.len() as u64).div_ceil(PAGE).saturating_mul(PAGE);
        self.disk.drop_cached(&self.file, start, end);
        let mut buffer = [0; PAGE_BYTES];
        let mut at = offset;
        for piece in first.chunks(buffer.len()) {
            let Some(second) = buffer.get_mut(..piece.len()) else { continue };
            if let Err(error) = self.read_exact_at(second, at) {
                return SecondRead::Failed(error);
            }
            if let Some(different) = piece.iter().zip(second.iter()).position(|(a, b)| a != b) {
                return SecondRead::Differs(at.saturating_add(different as u64));
            }
            at = at.saturating_add(piece.len() as u64);
        }
        SecondRead::Same
    }

    /// Lets go of all cached pages of the file.
    pub(crate) fn drop_all_cached(&self) {
        self.disk.drop_cached(&self.file, 0, self.bytes.next_multiple_of(PAGE));
    }

    /// Whether a range that reads wrong reads so again: an error where nothing is proven.
    pub(crate) fn prove(&self, first: &[u8], offset: u64) -> Result<(), ReadError> {
        match self.read_again(first, offset) {
            SecondRead::Same => Ok(()),
            SecondRead::Differs(at) => Err(self.error(ReadProblem::Differs { offset: at })),
            SecondRead::Failed(error) => Err(error),
        }
    }

    /// An error about this file.
    #[must_use]
    pub fn error(&self, problem: ReadProblem) -> ReadError {
        ReadError { path: self.path.clone(), problem }
    }
}
