//! The only place that opens files: read-only, without touching access times, never a link out of the directory.
//!
//! Everything is opened relative to the directory that the user named, so that renaming a parent cannot move the reader
//! elsewhere. FIFOs, sockets and devices are refused before they are opened. `O_NOATIME` is dropped where the system
//! refuses it (files of another user).

use std::ffi::OsStr;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

use crate::data_file::DataFile;
use crate::disk::{Disk, SystemDisk};
use crate::file_name::FileName;
use crate::meter::Meter;
use crate::read_error::{ReadError, ReadProblem, problem};

/// What stands under a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EntryKind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    Link,
    /// A FIFO.
    Fifo,
    /// A socket.
    Socket,
    /// A device.
    Device,
    /// Something that this reader has no word for.
    Unknown,
}

impl EntryKind {
    /// Its name in messages.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Directory => "directory",
            Self::Link => "link",
            Self::Fifo => "FIFO",
            Self::Socket => "socket",
            Self::Device => "device",
            Self::Unknown => "thing of unknown kind",
        }
    }
}

/// One name in a directory.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct FileEntry {
    /// Its name.
    pub name: FileName,
    /// What stands under it.
    pub kind: EntryKind,
    /// How long it is.
    pub bytes: u64,
    /// Seconds and nanoseconds of its last change.
    pub changed: (i64, u32),
}

/// A directory below (or at) the inspected one.
#[derive(Debug, Clone)]
pub struct DataDir {
    root: Arc<OwnedFd>,
    directory: Arc<OwnedFd>,
    path: PathBuf,
    meter: Arc<Meter>,
    disk: Arc<dyn Disk>,
}

impl DataDir {
    /// Opens the directory that the user named; it may itself be a link.
    pub fn open(path: &Path, meter: Arc<Meter>) -> Result<Self, ReadError> {
        Self::open_on(path, meter, Arc::new(SystemDisk))
    }

    /// The same on a disk of the caller's choice.
    pub fn open_on(path: &Path, meter: Arc<Meter>, disk: Arc<dyn Disk>) -> Result<Self, ReadError> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let fd = rustix::fs::open(path, flags, Mode::empty()).map_err(|errno| {
            let owner = rustix::fs::stat(path).ok().map(|stat| stat.st_uid);
            ReadError { path: path.to_path_buf(), problem: problem(errno, owner) }
        })?;
        let fd = Arc::new(fd);
        Ok(Self { root: Arc::clone(&fd), directory: fd, path: PathBuf::new(), meter, disk })
    }

    /// Where it stands, relative to the directory that the user named.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The open directory itself.
    pub(crate) fn descriptor(&self) -> std::os::fd::BorrowedFd<'_> {
        self.directory.as_fd()
    }

    /// The meter that counts what is read here.
    #[must_use]
    pub fn meter(&self) -> &Arc<Meter> {
        &self.meter
    }

    /// All names in it, sorted. Names that vanish meanwhile are left out.
    pub fn list(&self) -> Result<Vec<FileEntry>, ReadError> {
        let failed = |errno| ReadError { path: self.path.clone(), problem: problem(errno, None) };
        let mut entries = Vec::new();
        for entry in Dir::read_from(self.directory.as_fd()).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if name == "." || name == ".." {
                continue;
            }
            if let Ok(stat) = rustix::fs::statat(&self.directory, name, AtFlags::SYMLINK_NOFOLLOW) {
                entries.push(describe(name, &stat));
            }
        }
        entries.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        Ok(entries)
    }

    /// Whether the names that are data stand as they stood in an earlier [`list`](Self::list).
    ///
    /// Sums of hashes are compared, so nothing is sought or held: a changed directory passes once in 2^64 times.
    pub(crate) fn is_as(&self, before: &[FileEntry], is_data: impl Fn(&OsStr) -> bool) -> Result<bool, ReadError> {
        let failed = |errno| ReadError { path: self.path.clone(), problem: problem(errno, None) };
        let hash = |entry: &FileEntry| BuildHasherDefault::<DefaultHasher>::default().hash_one(entry);
        let was = before.iter().filter(|entry| is_data(&entry.name)).map(hash).fold(0, u64::wrapping_add);
        let mut is = 0_u64;
        for entry in Dir::read_from(self.directory.as_fd()).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if name == "." || name == ".." || !is_data(name) {
                continue;
            }
            if let Ok(stat) = rustix::fs::statat(&self.directory, name, AtFlags::SYMLINK_NOFOLLOW) {
                is = is.wrapping_add(hash(&describe(name, &stat)));
            }
        }
        Ok(was == is)
    }

    /// What stands under one name.
    pub fn entry(&self, name: impl AsRef<OsStr>) -> Result<FileEntry, ReadError> {
        let name = name.as_ref();
        let stat = rustix::fs::statat(&self.directory, name, AtFlags::SYMLINK_NOFOLLOW)
            .map_err(|errno| self.error(name, problem(errno, None)))?;
        Ok(describe(name, &stat))
    }

    /// A directory in it.
    pub fn directory(&self, name: impl AsRef<OsStr>) -> Result<Self, ReadError> {
        let name = name.as_ref();
        let fd = self.open_at(name, OFlags::RDONLY | OFlags::DIRECTORY)?;
        Ok(Self {
            root: Arc::clone(&self.root),
            directory: Arc::new(fd),
            path: self.path.join(name),
            meter: Arc::clone(&self.meter),
            disk: Arc::clone(&self.disk),
        })
    }

    /// A regular file in it.
    pub fn file(&self, name: impl AsRef<OsStr>) -> Result<DataFile, ReadError> {
        let name = name.as_ref();
        let fd = self.open_at(name, OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY)?;
        self.opened(fd, name)
    }

    /// A file whose entry was listed. It is not asked again what it is before it is opened; afterwards it is.
    pub(crate) fn listed_file(&self, entry: &FileEntry) -> Result<DataFile, ReadError> {
        let name = &*entry.name;
        if entry.kind != EntryKind::File {
            return self.file(name);
        }
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::NOFOLLOW;
        let open = |flags| rustix::fs::openat(&self.directory, name, flags, Mode::empty());
        match quietly(flags, open) {
            Ok(fd) => self.opened(fd, name),
            // Errors are told the long way, with the owner's name.
            Err(_) => self.file(name),
        }
    }

    fn opened(&self, fd: OwnedFd, name: &OsStr) -> Result<DataFile, ReadError> {
        let stat = rustix::fs::fstat(&fd).map_err(|errno| self.error(name, problem(errno, None)))?;
        let entry = describe(name, &stat);
        if entry.kind != EntryKind::File {
            return Err(self.error(name, ReadProblem::NotAFile(entry.kind.name())));
        }
        Ok(DataFile::new(fd, entry.bytes, self.path.join(name), Arc::clone(&self.meter), Arc::clone(&self.disk)))
    }

    fn open_at(&self, name: &OsStr, flags: OFlags) -> Result<OwnedFd, ReadError> {
        let stat = rustix::fs::statat(&self.directory, name, AtFlags::SYMLINK_NOFOLLOW)
            .map_err(|errno| self.error(name, problem(errno, None)))?;
        let denied = |errno| self.error(name, problem(errno, Some(stat.st_uid)));
        let directory_wanted = flags.contains(OFlags::DIRECTORY);
        match describe(name, &stat).kind {
            EntryKind::Link => self.open_link(name, flags),
            EntryKind::File if directory_wanted => Err(self.error(name, ReadProblem::NotADirectory)),
            EntryKind::File | EntryKind::Directory => quietly(flags | OFlags::NOFOLLOW, |flags| {
                rustix::fs::openat(&self.directory, name, flags, Mode::empty())
            })
            .map_err(denied),
            other => Err(self.error(name, ReadProblem::NotAFile(other.name()))),
        }
    }

    /// Elsewhere no kernel can be asked to keep a link inside, so none is followed.
    #[cfg(not(target_os = "linux"))]
    fn open_link(&self, name: &OsStr, _flags: OFlags) -> Result<OwnedFd, ReadError> {
        Err(self.error(name, ReadProblem::LinkOut))
    }

    /// Follows a link as long as it stays beneath the directory that the user named; the kernel sees to that.
    #[cfg(target_os = "linux")]
    fn open_link(&self, name: &OsStr, flags: OFlags) -> Result<OwnedFd, ReadError> {
        let path = self.path.join(name);
        let beneath = rustix::fs::ResolveFlags::BENEATH | rustix::fs::ResolveFlags::NO_MAGICLINKS;
        let open = |flags| rustix::fs::openat2(&self.root, &path, flags, Mode::empty(), beneath);
        let failed = |errno| {
            let problem = match errno {
                Errno::XDEV | Errno::NOSYS | Errno::PERM => ReadProblem::LinkOut,
                other => problem(other, None),
            };
            self.error(name, problem)
        };
        let probe = open(OFlags::PATH | OFlags::CLOEXEC).map_err(failed)?;
        let stat = rustix::fs::fstat(&probe).map_err(failed)?;
        match describe(name, &stat).kind {
            EntryKind::File | EntryKind::Directory => quietly(flags, open).map_err(failed),
            other => Err(self.error(name, ReadProblem::NotAFile(other.name()))),
        }
    }

    fn error(&self, name: &OsStr, problem: ReadProblem) -> ReadError {
        ReadError { path: self.path.join(name), problem }
    }
}

/// Opens without touching the access time, or with, where the system refuses that or has no word for it.
fn quietly(flags: OFlags, open: impl Fn(OFlags) -> Result<OwnedFd, Errno>) -> Result<OwnedFd, Errno> {
    let flags = flags | OFlags::CLOEXEC;
    #[cfg(target_os = "linux")]
    match open(flags | OFlags::NOATIME) {
        Err(Errno::PERM) => {}
        other => return other,
    }
    open(flags)
}

fn describe(name: &OsStr, stat: &Stat) -> FileEntry {
    let kind = match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => EntryKind::File,
        FileType::Directory => EntryKind::Directory,
        FileType::Symlink => EntryKind::Link,
        FileType::Fifo => EntryKind::Fifo,
        FileType::Socket => EntryKind::Socket,
        FileType::CharacterDevice | FileType::BlockDevice => EntryKind::Device,
        FileType::Unknown => EntryKind::Unknown,
    };
    let bytes = u64::try_from(stat.st_size).unwrap_or(0);
    FileEntry {
        name: name.into(),
        kind,
        bytes,
        changed: (stat.st_mtime, u32::try_from(stat.st_mtime_nsec).unwrap_or(0)),
    }
}
