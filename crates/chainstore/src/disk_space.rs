//! How much room is left on a volume. *Files, read-only.*

use crate::files::DataDir;
use crate::read_error::{ReadError, ReadProblem};

/// What a volume has left for those who are not root.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct DiskSpace {
    /// Bytes that are free.
    pub free_bytes: u64,
    /// Bytes in all.
    pub total_bytes: u64,
    /// Files that can still be made; none where the filesystem does not count them.
    pub free_inodes: Option<u64>,
    /// Whether the volume is mounted read-only, as the kernel does it after errors.
    pub read_only: bool,
}

impl DataDir {
    /// How much room is left on the volume of this directory.
    pub fn space(&self) -> Result<DiskSpace, ReadError> {
        let stat = rustix::fs::fstatvfs(self.descriptor()).map_err(|errno| ReadError {
            path: self.path().to_path_buf(),
            problem: ReadProblem::Io { errno: errno.raw_os_error(), offset: None },
        })?;
        Ok(DiskSpace {
            free_bytes: stat.f_bavail.saturating_mul(stat.f_frsize),
            total_bytes: stat.f_blocks.saturating_mul(stat.f_frsize),
            // Btrfs and others make inodes as they need them and report none in all.
            free_inodes: (stat.f_files > 0).then_some(stat.f_favail),
            read_only: stat.f_flag.contains(rustix::fs::StatVfsMountFlags::RDONLY),
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::{DataDir, Meter, Silent};
    use std::sync::Arc;

    #[test]
    fn a_directory_that_can_be_written_has_room() {
        let dir = tempfile::tempdir().unwrap();
        let data = DataDir::open(dir.path(), Arc::new(Meter::new(None, Arc::new(Silent)))).unwrap();
        let space = data.space().unwrap();
        assert!(space.free_bytes > 0 && space.free_bytes <= space.total_bytes && !space.read_only, "{space:?}");
    }
}
