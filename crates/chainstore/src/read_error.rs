//! Why something could not be read: the system's numbers in words, with the path. *No files.*

use std::path::PathBuf;

use rustix::io::Errno;

/// Why something could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}: {problem}", .path.display())]
pub struct ReadError {
    /// What was to be read.
    pub path: PathBuf,
    /// What stood against it.
    pub problem: ReadProblem,
}

/// What stands against reading.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReadProblem {
    /// It is not there.
    #[error("no such file or directory")]
    Missing,
    /// Not allowed.
    #[error("permission denied{}", .owner.map(|uid| format!(" (it belongs to user id {uid})")).unwrap_or_default())]
    Denied {
        /// Whose it is.
        owner: Option<u32>,
    },
    /// A link that leads out of the inspected directory (or one whose target cannot be proven to lie inside).
    #[error("a link out of the inspected directory; inspect its target instead")]
    LinkOut,
    /// Links that end nowhere.
    #[error("a loop of links")]
    LinkLoop,
    /// A FIFO, socket, device or directory where a file should be.
    #[error("a {0}, not a file")]
    NotAFile(&'static str),
    /// A file where a directory should be.
    #[error("not a directory")]
    NotADirectory,
    /// The file ends before the bytes do.
    #[error("ends at {length}, {wanted} bytes wanted at {offset}")]
    Short {
        /// Where reading began.
        offset: u64,
        /// How many bytes were wanted.
        wanted: u64,
        /// How long the file is.
        length: u64,
    },
    /// Larger than such a file can sensibly be.
    #[error("{length} bytes, more than the {limit} that are read of such a file")]
    TooLarge {
        /// How long it is.
        length: u64,
        /// The limit.
        limit: u64,
    },
    /// A second read, past the page cache, gave another byte.
    #[error("read a second time, byte {offset} was another: the machine is sick, the file may be right")]
    Differs {
        /// Where, in the file.
        offset: u64,
    },
    /// The system reports an error while reading.
    #[error("{}", std::io::Error::from_raw_os_error(*.errno))]
    Io {
        /// The system's number for it.
        errno: i32,
        /// Where it was reading.
        offset: Option<u64>,
    },
}

impl ReadProblem {
    /// What the system said when it was reading at `offset`.
    pub(crate) fn io(error: &std::io::Error, offset: u64) -> Self {
        Self::Io { errno: error.raw_os_error().unwrap_or(0), offset: Some(offset) }
    }

    /// Whether the device itself failed to give the bytes (`EIO` and its kin), which is evidence of its own.
    #[must_use]
    pub fn is_device_error(&self) -> bool {
        matches!(self, Self::Io { errno, .. }
            if [Errno::IO, Errno::NXIO, Errno::from_raw_os_error(117), Errno::from_raw_os_error(74)]
                .iter().any(|device| device.raw_os_error() == *errno))
    }
}

/// The words for an error number.
pub(crate) fn problem(errno: Errno, owner: Option<u32>) -> ReadProblem {
    match errno {
        Errno::NOENT => ReadProblem::Missing,
        Errno::ACCESS | Errno::PERM => ReadProblem::Denied { owner },
        Errno::LOOP => ReadProblem::LinkLoop,
        Errno::NOTDIR => ReadProblem::NotADirectory,
        other => ReadProblem::Io { errno: other.raw_os_error(), offset: None },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_denied_file_names_whose_it_is() {
        let error = ReadError { path: "state.db/CURRENT".into(), problem: problem(Errno::ACCESS, Some(1025)) };
        assert_eq!(error.to_string(), "state.db/CURRENT: permission denied (it belongs to user id 1025)");
    }

    #[test]
    fn only_the_device_s_own_errors_are_evidence() {
        let io = |errno: Errno| ReadProblem::Io { errno: errno.raw_os_error(), offset: Some(4096) };
        assert!(io(Errno::IO).is_device_error());
        assert!(!io(Errno::MFILE).is_device_error());
        assert!(!ReadProblem::Missing.is_device_error());
        assert!(io(Errno::IO).to_string().starts_with("Input/output error"));
    }
}
