//! The one file that writes, and only below the ring's directory. *No client.*
//!
//! ```text
//! .loopbreaker-unfinished-000012-PID/   being written; a killed guard leaves it, the next one removes it
//!        │  files, entry.json, each synced; then renamed
//!        ▼
//! 000000000012/entry.json               read from now on; written anew beside itself as the checks come further
//! ```

use std::{
    fs::{self, File},
    io::{self, Write},
    path::{Path, PathBuf},
};

use chainstore::ring::{ENTRY_NAME, KeptRange, RingEntry, UNFINISHED, identity_of};

/// Numbers that are tried one after the other, where another guard took the first.
const TRIES: u32 = 64;

/// An entry that is being written, or has been.
pub(super) struct Writer {
    ring: PathBuf,
    entry: PathBuf,
    name: String,
    /// Held as long as this guard is at work, so that no other one takes its half-written entry for a dead one's.
    _lock: Option<File>,
}

impl Writer {
    /// Makes the ring, removes what a killed guard left, and begins an entry.
    pub(super) fn begin(ring: &Path, sequence: u64, unfinished: &[String]) -> io::Result<Self> {
        fs::create_dir_all(ring)?;
        for name in unfinished.iter().filter(|name| !is_at_work(&ring.join(name))) {
            let _ = fs::remove_dir_all(ring.join(name));
        }
        let name = new_directory(ring, &format!("{UNFINISHED}{sequence:012}-{}", std::process::id()))?;
        let entry = ring.join(&name);
        // A file system without locks has one guard at a time.
        let lock = File::open(&entry).ok().filter(|directory| directory.try_lock().is_ok());
        Ok(Self { ring: ring.to_path_buf(), entry, name, _lock: lock })
    }

    /// The entry's directory, as the entry says it of itself.
    pub(super) fn place(&self) -> Option<chainstore::ring::FileIdentity> {
        identity_of(&self.ring, &self.name)
    }

    /// Writes a copy of a part of a file.
    pub(super) fn put(&self, original: &Path, offset: u64, bytes: &[u8]) -> io::Result<KeptRange> {
        let name = original.file_name().ok_or(io::ErrorKind::InvalidInput)?.to_string_lossy();
        let below = original.parent().unwrap_or(Path::new(""));
        let copy = below.join(if offset == 0 { name.into_owned() } else { format!("{name}@{offset}") });
        let path = self.entry.join(&copy);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        write_synced(&path, bytes)?;
        Ok(KeptRange { offset, bytes: bytes.len() as u64, copy: copy.to_string_lossy().into_owned() })
    }

    /// Gives an entry that is described its name: from now on it is read. Where something stands under that name already, another guard's
    /// entry or whatever it is, the entry takes a later number.
    pub(super) fn publish(&mut self, entry: &mut RingEntry) -> io::Result<()> {
        let mut tries = 1..=TRIES;
        loop {
            let name = format!("{:012}", entry.sequence);
            let target = self.ring.join(&name);
            match fs::rename(&self.entry, &target) {
                Ok(()) => {
                    (self.entry, self.name) = (target, name);
                    return sync(&self.ring);
                }
                Err(error) if is_taken(&error) && tries.next().is_some() => {
                    entry.sequence = entry.sequence.saturating_add(1);
                    self.describe(entry)?;
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Bytes that are in it so far.
    pub(super) fn bytes(&self) -> u64 {
        size(&self.entry)
    }

    /// Writes what the entry says, whole or not at all. Where there is no room for it, the largest copies make room: what was
    /// found is worth more.
    pub(super) fn describe(&self, entry: &mut RingEntry) -> io::Result<()> {
        loop {
            match self.write_down(entry) {
                Err(error) if has_no_room(&error) && self.give_up_largest(entry) => {}
                done => return done,
            }
        }
    }

    /// Removes the largest copy; false if there is none.
    fn give_up_largest(&self, entry: &mut RingEntry) -> bool {
        let parts = entry.files.iter().enumerate().flat_map(|(at, file)| file.kept.iter().map(move |part| (at, part)));
        let Some((at, part)) = parts.max_by_key(|(_, part)| part.bytes).map(|(at, part)| (at, part.clone())) else {
            return false;
        };
        let _ = fs::remove_file(self.entry.join(&part.copy));
        entry.left_out.push(format!("{}: {NO_ROOM}", part.copy));
        if let Some(file) = entry.files.get_mut(at) {
            file.kept.retain(|kept| *kept != part);
        }
        entry.files.retain(|file| !file.kept.is_empty());
        true
    }

    fn write_down(&self, entry: &RingEntry) -> io::Result<()> {
        let beside = self.entry.join("entry.json.new");
        write_synced(&beside, &serde_json::to_vec(entry)?)?;
        fs::rename(beside, self.entry.join(ENTRY_NAME))?;
        sync(&self.entry)
    }

    /// Removes an entry that could not be written to its end.
    pub(super) fn abandon(&self) {
        let _ = fs::remove_dir_all(&self.entry);
    }
}

/// Removes one entry.
pub(super) fn remove(ring: &Path, sequence: u64) {
    let _ = fs::remove_dir_all(entry_of(ring, sequence));
}

/// A guard holds the lock of what it writes; the kernel drops it with the process.
fn is_at_work(entry: &Path) -> bool {
    let held = |directory: File| matches!(directory.try_lock(), Err(fs::TryLockError::WouldBlock));
    File::open(entry).is_ok_and(held)
}

/// Makes a directory of that name, or of one that begins so: guards of two containers can have one process id.
fn new_directory(ring: &Path, begin: &str) -> io::Result<String> {
    let mut name = begin.to_owned();
    for turn in 1..=TRIES {
        match fs::create_dir(ring.join(&name)) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => name = format!("{begin}-{turn}"),
            made => return made.map(|()| name),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

fn is_taken(error: &io::Error) -> bool {
    use io::ErrorKind as Kind;
    matches!(error.kind(), Kind::AlreadyExists | Kind::DirectoryNotEmpty | Kind::NotADirectory)
}

/// Where an entry stands.
pub(super) fn entry_of(ring: &Path, sequence: u64) -> PathBuf {
    ring.join(format!("{sequence:012}"))
}

/// Bytes of an entry's files; directories are not entered deeper than an entry has them.
pub(super) fn size(entry: &Path) -> u64 {
    const LEVELS_MAX: usize = 6;
    let mut bytes = 0_u64;
    let mut queue = vec![(entry.to_path_buf(), 0_usize)];
    while let Some((dir, level)) = queue.pop() {
        for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
            match entry.metadata() {
                Ok(what) if what.is_dir() && level < LEVELS_MAX => queue.push((entry.path(), level.saturating_add(1))),
                Ok(what) => bytes = bytes.saturating_add(what.len()),
                Err(_) => {}
            }
        }
    }
    bytes
}

/// Why a copy is not there.
pub(super) const NO_ROOM: &str = "no room on the ring's disk";

/// Whether something smaller may still fit.
pub(super) fn has_no_room(error: &io::Error) -> bool {
    use io::ErrorKind as Kind;
    matches!(error.kind(), Kind::StorageFull | Kind::QuotaExceeded | Kind::FileTooLarge)
}

fn write_synced(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = File::create(path)?;
    let written = file.write_all(bytes).and_then(|()| file.sync_all());
    if written.is_err() {
        let _ = fs::remove_file(path); // A part of it takes room and tells nothing.
    }
    written
}

fn sync(directory: &Path) -> io::Result<()> {
    File::open(directory)?.sync_all()
}

#[cfg(test)]
mod tests {
    use chainstore::{
        DataDir, Meter, Silent,
        ring::{Mark, Ring},
    };

    use super::*;
    use crate::guard::kept;

    fn entry(ring: &Path) -> RingEntry {
        let meter = std::sync::Arc::new(Meter::new(None, std::sync::Arc::new(Silent)));
        let home = DataDir::open(ring, meter).unwrap();
        kept::begin(Ring::open(ring).unwrap().next_sequence(), Mark::default(), Vec::new(), &home)
    }

    /// Each begins while the other is at work, under one number; both are kept.
    #[test]
    fn two_guards_at_once_both_keep_their_entry() {
        let ring = tempfile::tempdir().unwrap();
        let begin = |entry: &RingEntry| {
            let unfinished = Ring::open(ring.path()).unwrap().unfinished;
            Writer::begin(ring.path(), entry.sequence, &unfinished).unwrap()
        };
        let (mut first, mut second) = (entry(ring.path()), entry(ring.path()));
        let (mut writer, mut other) = (begin(&first), begin(&second));
        for (writer, entry) in [(&mut other, &mut second), (&mut writer, &mut first)] {
            writer.put(Path::new("data/state.db/CURRENT"), 0, b"MANIFEST-000001").unwrap();
            writer.describe(entry).unwrap();
            writer.publish(entry).unwrap();
        }
        assert_eq!((second.sequence, first.sequence), (1, 2));
        let ring = Ring::open(ring.path()).unwrap();
        assert_eq!(ring.slots.iter().filter(|slot| slot.entry().is_some()).count(), 2, "{ring:?}");
    }

    #[test]
    fn what_a_killed_guard_left_is_removed() {
        let ring = tempfile::tempdir().unwrap();
        let dead = format!("{UNFINISHED}000000000001-{}", std::process::id());
        fs::create_dir(ring.path().join(&dead)).unwrap();
        fs::write(ring.path().join(&dead).join("x"), "x").unwrap();
        let unfinished = Ring::open(ring.path()).unwrap().unfinished;
        let writer = Writer::begin(ring.path(), 1, &unfinished).unwrap();
        assert!(!writer.entry.join("x").exists());
    }
}
