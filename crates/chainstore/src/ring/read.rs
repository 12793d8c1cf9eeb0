//! A ring on disk: its entries, whole ones only. *Files, read-only.*

use std::path::Path;
use std::sync::Arc;

use crate::files::{DataDir, EntryKind};
use crate::meter::Meter;
use crate::read_error::ReadError;
use crate::ring::entry::{RING_SCHEMA, RingEntry};
use crate::ring::identity::{self, FileIdentity};
use crate::{ReadProblem, Silent};

/// The file in an entry's directory that describes it.
pub const ENTRY_NAME: &str = "entry.json";

/// How the name of a half-written entry begins.
pub const UNFINISHED: &str = ".loopbreaker-unfinished-";

/// An entry of some hundred databases with some hundred findings has less.
const ENTRY_BYTES_MAX: u64 = 4 << 20;

/// Entries that are read at most, the newest ones: a guard keeps eight.
const ENTRIES_MAX: usize = 64;

/// A ring, oldest entry first.
#[derive(Debug, Clone, Default)]
pub struct Ring {
    /// Its entries.
    pub slots: Vec<RingSlot>,
    /// Numbers of entries that are not read, because there are too many.
    pub older: Vec<u64>,
    /// Names of half-written entries: a guard was killed at that point.
    pub unfinished: Vec<String>,
    /// The highest number that anything in it has for its name.
    highest: u64,
}

/// One entry's directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RingSlot {
    /// Its number, by its name.
    pub sequence: u64,
    /// What is in it.
    pub state: SlotState,
    /// Whether it is the directory that the guard made, no copy of it; false where that cannot be told.
    pub stayed: bool,
}

/// What is in an entry's directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SlotState {
    /// An entry.
    Entry(Box<RingEntry>),
    /// Something that cannot be read as one; says why.
    Unreadable(String),
}

impl RingSlot {
    /// The entry, if it can be read.
    #[must_use]
    pub fn entry(&self) -> Option<&RingEntry> {
        match &self.state {
            SlotState::Entry(entry) => Some(entry),
            SlotState::Unreadable(_) => None,
        }
    }
}

/// The highest number that an entry can have: a start in each second of thirty years. What has a higher one for its name is
/// nobody's entry.
const SEQUENCE_MAX: u64 = 1_000_000_000;

/// The number in the name of an entry's directory: twelve digits, nothing else, and no more than starts can be.
#[must_use]
pub fn sequence_of(name: &str) -> Option<u64> {
    let is_number = name.len() == 12 && name.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| name.parse().ok()).flatten().filter(|sequence| *sequence <= SEQUENCE_MAX)
}

impl Ring {
    /// Reads a ring. A directory that is not there is an empty one.
    pub fn open(path: &Path) -> Result<Self, ReadError> {
        let dir = match DataDir::open(path, Arc::new(Meter::new(None, Arc::new(Silent)))) {
            Ok(dir) => dir,
            Err(error) if error.problem == ReadProblem::Missing => return Ok(Self::default()),
            Err(error) => return Err(error),
        };
        let (mut numbers, mut ring) = (Vec::new(), Self::default());
        for entry in dir.list()? {
            let Some(name) = entry.name.to_str() else { continue };
            ring.highest = ring.highest.max(sequence_of(name).unwrap_or(0));
            match sequence_of(name) {
                Some(sequence) if entry.kind == EntryKind::Directory => numbers.push((sequence, name.to_owned())),
                _ if name.starts_with(UNFINISHED) => ring.unfinished.push(name.to_owned()),
                _ => {}
            }
        }
        numbers.sort_unstable();
        let skipped = numbers.len().saturating_sub(ENTRIES_MAX);
        ring.older = numbers.drain(..skipped).map(|(sequence, _)| sequence).collect();
        for (sequence, name) in numbers {
            let place = identity::look(&dir, name.as_ref()).map(|seen| seen.identity);
            let state = match read_entry(&dir, &name) {
                Ok(entry) if entry.sequence == sequence => SlotState::Entry(Box::new(entry)),
                Ok(entry) => SlotState::Unreadable(format!("says that it is entry {}", entry.sequence)),
                Err(why) => SlotState::Unreadable(why),
            };
            let mut slot = RingSlot { sequence, state, stayed: false };
            let made = slot.entry().and_then(|entry| entry.place);
            slot.stayed = matches!((made, place), (Some(made), Some(place)) if is_in_place(&made, &place));
            ring.slots.push(slot);
        }
        Ok(ring)
    }

    /// The newest entry that can be read.
    #[must_use]
    pub fn newest(&self) -> Option<(&RingEntry, &RingSlot)> {
        self.slots.iter().rev().find_map(|slot| Some((slot.entry()?, slot)))
    }

    /// The number that the next entry takes.
    #[must_use]
    pub fn next_sequence(&self) -> u64 {
        self.highest.saturating_add(1)
    }
}

/// A directory's inode changes with everything put into it, so only its birth tells.
fn is_in_place(made: &FileIdentity, now: &FileIdentity) -> bool {
    made.inode == now.inode && made.born.is_some() && made.born == now.born
}

/// Only what tells the format.
#[derive(serde::Deserialize)]
struct Head {
    schema: String,
}

fn read_entry(ring: &DataDir, name: &str) -> Result<RingEntry, String> {
    let file = ring.directory(name).and_then(|dir| dir.file(ENTRY_NAME)).map_err(|error| error.to_string())?;
    let bytes = file.read_all(ENTRY_BYTES_MAX).map_err(|error| error.to_string())?;
    let head: Head = serde_json::from_slice(&bytes).map_err(|error| format!("is no entry: {error}"))?;
    if head.schema != RING_SCHEMA {
        return Err(format!("is of a format that this version does not read: {}", head.schema));
    }
    serde_json::from_slice(&bytes).map_err(|error| format!("is no entry: {error}"))
}

/// Which directory that is, as an entry says it of its own.
#[must_use]
pub fn identity_of(ring: &Path, name: &str) -> Option<FileIdentity> {
    let dir = DataDir::open(ring, Arc::new(Meter::new(None, Arc::new(Silent)))).ok()?;
    identity::look(&dir, name.as_ref()).map(|seen| seen.identity)
}
