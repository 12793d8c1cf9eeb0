//! The last step before the system: one read at an offset, and letting go of cached pages. *Files, read-only.*
//!
//! An edge of its own, so that a disk can stand in its place that fails, or that gives other bytes each time: what then
//! has to be said is a promise, and promises are tested.

use std::fmt::Debug;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// Whoever gives the bytes of files. Called from several threads.
pub trait Disk: Debug + Send + Sync {
    /// Reads some bytes from `offset`: at least one unless the file ends there or the buffer is empty, at most as many as
    /// the buffer has. `path` is the file's, relative to the inspected directory.
    fn read_at(&self, file: &File, path: &Path, buffer: &mut [u8], offset: u64) -> io::Result<usize>;

    /// Lets go of cached pages, so that the next read of them comes from the device.
    ///
    /// The system drops only clean pages that nobody has mapped; a page that it keeps is compared with itself.
    fn drop_cached(&self, file: &File, start: u64, end: u64);
}

/// The system's own.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemDisk;

impl Disk for SystemDisk {
    fn read_at(&self, file: &File, _path: &Path, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        file.read_at(buffer, offset)
    }

    #[cfg(target_os = "linux")]
    fn drop_cached(&self, file: &File, start: u64, end: u64) {
        let length = std::num::NonZeroU64::new(end.saturating_sub(start));
        let _ = rustix::fs::fadvise(file, start, length, rustix::fs::Advice::DontNeed);
    }

    /// The nearest to it there: from now on the file is read past the cache.
    #[cfg(target_os = "macos")]
    fn drop_cached(&self, file: &File, _start: u64, _end: u64) {
        let _ = rustix::fs::fcntl_nocache(file, true);
    }

    #[cfg(not(any(target_os = "linux", target_os = "macos")))]
    fn drop_cached(&self, _file: &File, _start: u64, _end: u64) {}
}
