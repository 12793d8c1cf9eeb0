//! What every engine's folder provides: one database directory, taken apart into checks. *Files, read-only.*
//!
//! The inspection opens a [`Store`] per directory (entry point, MANIFEST, sizes), hands its tables to several threads,
//! then asks for journals, traces and a view. `open` is the one place that knows all engines.

use std::sync::Arc;

use diagnosis::DatabaseName;

use crate::files::{DataDir, FileEntry};
use crate::leveldb::LevelDbStore;
use crate::pebble::PebbleStore;
use crate::{Checks, Engine, KeyValues, Reason, ViewError};

/// How much is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Depth {
    /// Entry points, manifests, sizes, footers, heights.
    Quick,
    /// Every checksum.
    #[default]
    Default,
    /// Every checksum, and the order of every key.
    Deep,
}

/// One database directory and what is known of it before it is read.
#[derive(Debug, Clone)]
pub struct Place {
    /// The directory.
    pub dir: DataDir,
    /// Its database's name.
    pub database: DatabaseName,
    /// What stood in it when the inspection began.
    pub entries: Arc<[FileEntry]>,
    /// How much is looked at.
    pub depth: Depth,
}

impl Place {
    /// What stood under a name when the inspection began.
    #[must_use]
    pub fn entry(&self, name: &str) -> Option<&FileEntry> {
        let at = self.entries.binary_search_by(|entry| entry.name.as_os_str().cmp(std::ffi::OsStr::new(name))).ok()?;
        self.entries.get(at)
    }
}

/// One file that is checked by itself, on any thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableRef {
    /// The store's own index of it.
    pub index: u32,
    /// Its name in the directory.
    pub file: String,
    /// How many bytes its check reads.
    pub bytes: u64,
}

/// Buffers that one thread uses again for every table.
#[derive(Debug)]
pub struct Scratch {
    /// A window of the file: small enough that its bytes are still in the processor's cache when they are summed.
    pub window: Vec<u8>,
    /// Unpacked blocks.
    pub unpacked: Vec<u8>,
}

/// Bytes of a window.
pub const WINDOW_BYTES: usize = 256 * 1024;

impl Default for Scratch {
    fn default() -> Self {
        Self { window: vec![0; WINDOW_BYTES], unpacked: Vec::new() }
    }
}

/// Keys are counted for a prediction only in databases up to this size: it means to read every table twice.
pub(crate) const COUNTED_BYTES_MAX: u64 = 256 << 20;

/// What the engine would do at its next open, said before it does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prediction {
    /// Whether the engine would open the database, or the error it would give.
    pub open: Result<(), String>,
    /// Bytes of journals or MANIFEST that it would drop without an error.
    pub dropped_bytes: u64,
    /// Keys that it would lose, where they could be counted.
    pub lost_keys: Option<u64>,
    /// Keys that it would still have, where they could be counted.
    pub kept_keys: Option<u64>,
    /// Tables that hold data and that it would delete.
    pub deleted_tables: Vec<String>,
    /// The same in one sentence.
    pub summary: String,
}

/// One database directory, read by its engine's rules without the engine.
pub trait Store: Send + Sync {
    /// What entry point, MANIFEST and sizes say; found when the store was opened.
    fn entry_checks(&self) -> &Checks;

    /// The tables (and blob files) to be checked, each by itself.
    fn tables(&self) -> Vec<TableRef>;

    /// Checks one of them.
    fn check_table(&self, index: u32, scratch: &mut Scratch) -> Checks;

    /// Checks journals, and the engine's own log for traces of earlier losses.
    fn check_rest(&self, scratch: &mut Scratch) -> Checks;

    /// What the engine would do at its next open, where that can be foreseen and differs from a clean open.
    fn prediction(&self, scratch: &mut Scratch) -> Option<Prediction>;

    /// A view of its records.
    fn view(&self) -> Result<Box<dyn KeyValues + '_>, ViewError>;
}

/// Opens a directory for reading by its engine's rules. *The one place that knows all engines.*
pub fn open(place: Place, engine: Engine) -> Result<Box<dyn Store>, Reason> {
    match engine {
        Engine::GoLevelDb | Engine::LevelDb => Ok(Box::new(LevelDbStore::open(place, engine))),
        Engine::Pebble => Ok(Box::new(PebbleStore::open(place)?)),
        Engine::RocksDb | Engine::Badger | Engine::Bolt | Engine::Sqlite => {
            Err(Reason::Unsupported(format!("{engine} is not read by this version")))
        }
    }
}
