//! Which file a name stands for, beyond its name: inode and birth. *Files, read-only.*
//!
//! A restore that puts files back beside the ring (tar, rsync, cp) makes new inodes, or old numbers with a new birth; an
//! engine that goes on writing keeps those of its lock, its log and its tables. Size, content and time of change prove
//! nothing: replicas that began from one snapshot have many tables in common.

use std::ffi::OsStr;

use serde::{Deserialize, Serialize};

use crate::files::DataDir;

/// What the file system knows of a file besides its bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileIdentity {
    /// Its inode.
    pub inode: u64,
    /// When the inode was made: seconds and nanoseconds; none where the file system does not keep it.
    #[serde(default)]
    pub born: Option<(i64, u32)>,
    /// When the inode last changed.
    pub altered: (i64, u32),
}

impl FileIdentity {
    /// Whether it is provably the same file. Without births only an untouched inode is.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        self.inode == other.inode
            && match (self.born, other.born) {
                (Some(a), Some(b)) => a == b,
                _ => self.altered == other.altered,
            }
    }
}

/// What stands under a name, seen through the kernel's `statx`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Seen {
    pub(crate) identity: FileIdentity,
    /// Seconds of the content's last change.
    pub(crate) changed: i64,
}

impl Seen {
    /// Whether it was put here by a tool that keeps times: content that is older than the file it stands in.
    pub(crate) fn is_copied_in(&self) -> bool {
        /// Clocks of file systems tick coarsely.
        const SLACK_SECONDS: i64 = 2;
        self.identity.born.is_some_and(|(born, _)| self.changed.saturating_add(SLACK_SECONDS) < born)
    }
}

/// Looks at a name without following links; none where that fails.
#[cfg(target_os = "linux")]
pub(crate) fn look(dir: &DataDir, name: &OsStr) -> Option<Seen> {
    use rustix::fs::{AtFlags, StatxFlags};
    let wanted = StatxFlags::BASIC_STATS | StatxFlags::BTIME;
    let stat = rustix::fs::statx(dir.descriptor(), name, AtFlags::SYMLINK_NOFOLLOW, wanted).ok()?;
    // Some overlays answer the question and say 1970.
    let born = (stat.stx_mask & StatxFlags::BTIME.bits() != 0 && stat.stx_btime.tv_sec > 0)
        .then_some((stat.stx_btime.tv_sec, stat.stx_btime.tv_nsec));
    let altered = (stat.stx_ctime.tv_sec, stat.stx_ctime.tv_nsec);
    Some(Seen { identity: FileIdentity { inode: stat.stx_ino, born, altered }, changed: stat.stx_mtime.tv_sec })
}

/// Elsewhere births are not asked for; the change of the inode must do.
#[cfg(not(target_os = "linux"))]
pub(crate) fn look(dir: &DataDir, name: &OsStr) -> Option<Seen> {
    let stat = rustix::fs::statat(dir.descriptor(), name, rustix::fs::AtFlags::SYMLINK_NOFOLLOW).ok()?;
    let altered = (stat.st_ctime, u32::try_from(stat.st_ctime_nsec).unwrap_or(0));
    let inode = u64::try_from(stat.st_ino).unwrap_or(0);
    Some(Seen { identity: FileIdentity { inode, born: None, altered }, changed: stat.st_mtime })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_that_was_given_again_is_another_file() {
        let first = FileIdentity { inode: 7, born: Some((100, 1)), altered: (100, 1) };
        assert!(first.is_same(&FileIdentity { altered: (900, 0), ..first }));
        assert!(!first.is_same(&FileIdentity { born: Some((200, 1)), ..first }));
        let unborn = FileIdentity { born: None, ..first };
        assert!(unborn.is_same(&unborn) && !unborn.is_same(&FileIdentity { altered: (101, 0), ..unborn }));
    }

    #[test]
    fn content_older_than_its_file_was_copied_in() {
        let seen = |changed, born| Seen { identity: FileIdentity { inode: 1, born, altered: (0, 0) }, changed };
        assert!(seen(100, Some((200, 0))).is_copied_in());
        assert!(!seen(200, Some((200, 0))).is_copied_in() && !seen(100, None).is_copied_in());
    }
}
