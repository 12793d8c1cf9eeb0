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

/// An entry that is being written, or has been.
pub(super) struct Writer {
    ring: PathBuf,
    entry: PathBuf,
    name: String,
}

impl Writer {
    /// Makes the ring, removes what a killed guard left, and begins an entry.
    pub(super) fn begin(ring: &Path, sequence: u64, unfinished: &[String]) -> io::Result<Self> {
        fs::create_dir_all(ring)?;
        for name in unfinished {
            let _ = fs::remove_dir_all(ring.join(name));
        }
        let name = format!("{UNFINISHED}{sequence:012}-{}", std::process::id());
        let entry = ring.join(&name);
        fs::create_dir(&entry)?;
        Ok(Self { ring: ring.to_path_buf(), entry, name })
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

    /// Gives the entry its name: from now on it is read.
    pub(super) fn publish(&mut self, entry: &RingEntry) -> io::Result<()> {
        self.describe(entry)?;
        let name = format!("{:012}", entry.sequence);
        let target = self.ring.join(&name);
        fs::rename(&self.entry, &target)?;
        (self.entry, self.name) = (target, name);
        sync(&self.ring)
    }

    /// Writes what the entry says, whole or not at all.
    pub(super) fn describe(&self, entry: &RingEntry) -> io::Result<()> {
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
    let _ = fs::remove_dir_all(ring.join(format!("{sequence:012}")));
}

/// Bytes of an entry's files; directories are not entered deeper than an entry has them.
pub(super) fn size(ring: &Path, sequence: u64) -> u64 {
    const LEVELS_MAX: usize = 6;
    let mut bytes = 0_u64;
    let mut queue = vec![(ring.join(format!("{sequence:012}")), 0_usize)];
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

fn write_synced(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

fn sync(directory: &Path) -> io::Result<()> {
    File::open(directory)?.sync_all()
}
