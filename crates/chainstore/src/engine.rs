//! Which engine wrote a directory, told by its files and never by names of tables or their magic alone.
//!
//! Source: goleveldb `storage/file_storage.go`, pebble `options.go` and `vfs/atomicfs/marker.go`, RocksDB
//! `file/filename.cc`. A Pebble v1 directory of a Cosmos node has RocksDB's magic, `CURRENT` and `.sst` tables: only its
//! OPTIONS file tells.

use std::fmt;

use crate::engine_log::log_writer;
use crate::files::{DataDir, EntryKind, FileEntry};
use crate::pebble::{begins_new_database, is_pebble};

/// A storage engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Engine {
    /// goleveldb, CometBFT's and the SDK's default.
    GoLevelDb,
    /// The C++ LevelDB (`cleveldb`).
    LevelDb,
    /// Pebble (`pebbledb`), v1 or v2.
    Pebble,
    /// RocksDB.
    RocksDb,
    /// Badger; named, not read.
    Badger,
    /// bbolt: one file; named, not read.
    Bolt,
    /// `SQLite`, which IAVL v2 uses; named, not read.
    Sqlite,
    /// memiavl (Cronos, Sei): snapshots of trees and a log of changes; named, not read.
    MemIavl,
}

impl Engine {
    /// Its name in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::GoLevelDb => "goleveldb",
            Self::LevelDb => "leveldb",
            Self::Pebble => "pebble",
            Self::RocksDb => "rocksdb",
            Self::Badger => "badger",
            Self::Bolt => "boltdb",
            Self::Sqlite => "sqlite",
            Self::MemIavl => "memiavl",
        }
    }
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What a directory's files say about who wrote them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Detection {
    /// Engines whose data files are here, each with the file that says so. More than one: a switched backend.
    pub engines: Vec<(Engine, String)>,
    /// Engines that merely tried to open the directory: they left a log, but no data.
    pub visitors: Vec<(Engine, String)>,
}

impl Detection {
    /// The one engine whose data is here.
    #[must_use]
    pub fn sole(&self) -> Option<Engine> {
        match self.engines.as_slice() {
            [(engine, _)] => Some(*engine),
            _ => None,
        }
    }

    fn data(&mut self, engine: Engine, file: &str) {
        if self.engines.iter().all(|(known, _)| *known != engine) {
            self.engines.push((engine, file.to_owned()));
        }
    }

    fn has(&self, engine: Engine) -> bool {
        self.engines.iter().any(|(known, _)| *known == engine)
    }
}

/// Head of a text file that is enough to know its writer; RocksDB's LOG names itself in its first line.
const HEAD_BYTES: u64 = 4096;

/// Reads a directory's names, and the heads of its OPTIONS and LOG.
#[must_use]
pub fn detect(dir: &DataDir, entries: &[FileEntry]) -> Detection {
    let mut found = Detection::default();
    let (mut leveldb_table, mut sorted_table, mut options) = (None, None, None);
    let (mut manifest, mut pointer) = (None, None);
    let mut log = None;
    for entry in entries {
        let Some(name) = entry.name.to_str() else { continue };
        // cronos `memiavl/db.go`: `current` is a link to the newest of the directories `snapshot-<version>`.
        if name == "current" && entry.kind == EntryKind::Link && entries.iter().any(is_tree_snapshot) {
            found.data(Engine::MemIavl, name);
        }
        if entry.kind == EntryKind::Directory {
            continue;
        }
        let extension = name.rsplit_once('.').map(|(_, extension)| extension);
        if name.starts_with("marker.format-version.") || name.starts_with("marker.manifest.") {
            found.data(Engine::Pebble, name);
        } else if name.starts_with("OPTIONS-") {
            match head(dir, name) {
                Some(text) if text.contains("RocksDB option file") => found.data(Engine::RocksDb, name),
                Some(text) if is_pebble(&text) => found.data(Engine::Pebble, name),
                // RocksDB always has IDENTITY or LOG beside it, by which it is known.
                _ => options = options.or(Some(name)),
            }
        } else if name == "IDENTITY" {
            found.data(Engine::RocksDb, name);
        } else if name == "KEYREGISTRY" || extension == Some("vlog") {
            found.data(Engine::Badger, name);
        } else if extension == Some("sqlite") {
            found.data(Engine::Sqlite, name);
        } else if extension == Some("ldb") {
            leveldb_table = leveldb_table.or(Some(name));
        } else if extension == Some("sst") {
            sorted_table = sorted_table.or(Some(name));
        } else if name.starts_with("MANIFEST-") {
            manifest = manifest.or(Some(name));
        } else if name == "CURRENT" {
            pointer = Some(name);
        } else if name == "LOG" || (name == "LOG.old" && log.is_none()) {
            log = Some(name);
        }
    }
    let writer = log.and_then(|name| head(dir, name).map(|text| (name, log_writer(&text))));
    if let Some((name, Some(Engine::RocksDb))) = writer {
        found.data(Engine::RocksDb, name);
    }
    // LevelDB has no OPTIONS; and where there are tables but no LOG, it is not a LevelDB that wrote them.
    // A new database has neither yet; then the beginning of its MANIFEST tells.
    let begun = || manifest.filter(|name| head_bytes(dir, name).is_some_and(|bytes| begins_new_database(&bytes)));
    let unmarked = options.or_else(|| sorted_table.or_else(begun).filter(|_| log.is_none()));
    if let Some(file) = unmarked
        && found.engines.is_empty()
        && leveldb_table.is_none()
    {
        found.data(Engine::Pebble, file);
    }
    leveldb_family(&mut found, leveldb_table, pointer.or(manifest), writer);
    found
}

fn is_tree_snapshot(entry: &FileEntry) -> bool {
    entry.kind == EntryKind::Directory && entry.name.to_str().is_some_and(|name| name.starts_with("snapshot-"))
}

/// Whether the engine's own log says that goleveldb wrote here. Without it, a directory of another LevelDB looks the same.
pub(crate) fn is_surely_goleveldb(dir: &DataDir) -> bool {
    let writer = |name| head(dir, name).and_then(|text| log_writer(&text));
    writer("LOG").or_else(|| writer("LOG.old")) == Some(Engine::GoLevelDb)
}

/// LevelDB has no file of its own but `.ldb` tables; what else has a MANIFEST and no other engine's mark is LevelDB.
fn leveldb_family(
    found: &mut Detection,
    table: Option<&str>,
    manifest: Option<&str>,
    writer: Option<(&str, Option<Engine>)>,
) {
    let log = writer.and_then(|(name, engine)| engine.map(|engine| (name, engine)));
    let family = match log {
        Some((_, engine @ (Engine::LevelDb | Engine::GoLevelDb))) => engine,
        _ => Engine::GoLevelDb,
    };
    let alone = !found.has(Engine::Pebble) && !found.has(Engine::RocksDb) && !found.has(Engine::Badger);
    match (table, manifest) {
        (Some(file), _) => found.data(family, file),
        (None, Some(file)) if alone => found.data(family, file),
        _ => {
            if let Some((file, engine)) = log
                && !found.has(engine)
            {
                found.visitors.push((engine, file.to_owned()));
            }
        }
    }
}

fn head(dir: &DataDir, name: &str) -> Option<String> {
    Some(String::from_utf8_lossy(&head_bytes(dir, name)?).into_owned())
}

fn head_bytes(dir: &DataDir, name: &str) -> Option<Vec<u8>> {
    let file = dir.file(name).ok()?;
    file.read_range(0, file.bytes().min(HEAD_BYTES), HEAD_BYTES).ok()
}

/// What a single file that stands where a database directory should be says about its writer.
#[must_use]
pub fn detect_file(dir: &DataDir, name: &str) -> Option<Engine> {
    let bytes = head_bytes(dir, name)?;
    // bbolt `page.go`: a 16-byte page header, then the meta's magic 0xED0CDAED.
    if bytes.get(16..20) == Some(&[0xed, 0xda, 0x0c, 0xed]) {
        Some(Engine::Bolt)
    } else if bytes.starts_with(b"SQLite format 3\0") {
        Some(Engine::Sqlite)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Meter, Silent};
    use std::sync::Arc;

    fn detected(files: &[(&str, &str)]) -> Detection {
        let home = tempfile::tempdir().unwrap();
        for (name, content) in files {
            std::fs::write(home.path().join(name), content).unwrap();
        }
        let dir = DataDir::open(home.path(), Arc::new(Meter::new(None, Arc::new(Silent)))).unwrap();
        detect(&dir, &dir.list().unwrap())
    }

    #[test]
    fn pebble_v1_looks_like_rocksdb_but_for_its_options() {
        let files = [
            ("CURRENT", "MANIFEST-000001\n"),
            ("000002.sst", ""),
            ("OPTIONS-000003", "[Version]\n  pebble_version=0.1\n"),
        ];
        assert_eq!(detected(&files).sole(), Some(Engine::Pebble));
        let files = [("CURRENT", ""), ("000002.sst", ""), ("OPTIONS-000003", "# This is a RocksDB option file.\n")];
        assert_eq!(detected(&files).sole(), Some(Engine::RocksDb));
    }

    #[test]
    fn pebble_without_its_options() {
        assert_eq!(detected(&[("CURRENT", ""), ("OPTIONS-000003", "")]).sole(), Some(Engine::Pebble));
        assert_eq!(detected(&[("CURRENT", ""), ("000005.sst", "")]).sole(), Some(Engine::Pebble));
        let go = "=============== Nov 30, 2026 (UTC) ===============\n";
        assert_eq!(detected(&[("CURRENT", ""), ("000005.sst", ""), ("LOG", go)]).sole(), Some(Engine::GoLevelDb));
        assert_eq!(detected(&[("IDENTITY", ""), ("OPTIONS-000003", "")]).sole(), Some(Engine::RocksDb));
    }

    #[test]
    fn a_new_database_is_known_by_its_manifest() {
        let comparator = "\x01\x1aleveldb.BytewiseComparator";
        let first = |rest: &str| format!("\x11\x22\x33\x44\x20\x00\x01{comparator}{rest}");
        let row = |rest: &str, more: (&str, &str)| {
            detected(&[("CURRENT", "MANIFEST-000001\n"), ("MANIFEST-000001", &first(rest)), more]).sole()
        };
        assert_eq!(row("\x03\x02\x04\x00", ("LOCK", "")), Some(Engine::Pebble));
        assert_eq!(row("\x02\x00\x03\x02\x04\x00", ("LOCK", "")), Some(Engine::GoLevelDb));
        let go = "=============== Nov 30, 2026 (UTC) ===============\n";
        assert_eq!(row("\x03\x02\x04\x00", ("LOG", go)), Some(Engine::GoLevelDb));
    }

    #[test]
    fn the_two_leveldbs_are_told_by_their_log() {
        let go = "=============== Nov 30, 2026 (UTC) ===============\n10:00:00.000000 log@legend F\n";
        assert_eq!(detected(&[("CURRENT", ""), ("LOG", go)]).sole(), Some(Engine::GoLevelDb));
        let cpp = "2026/11/30-10:00:00.123456 7f Recovering log #3\n";
        assert_eq!(detected(&[("000005.ldb", ""), ("LOG", cpp)]).sole(), Some(Engine::LevelDb));
        assert_eq!(detected(&[("000005.ldb", "")]).sole(), Some(Engine::GoLevelDb));
    }

    #[test]
    fn two_engines_and_a_visitor() {
        let both = detected(&[("000005.ldb", ""), ("marker.format-version.000001.013", "")]);
        assert_eq!((both.sole(), both.engines.len()), (None, 2));
        let go = "=============== Nov 30, 2026 (UTC) ===============\n";
        let visited = detected(&[("marker.format-version.000001.013", ""), ("LOG", go)]);
        assert_eq!(visited.sole(), Some(Engine::Pebble));
        assert_eq!(visited.visitors, [(Engine::GoLevelDb, "LOG".to_owned())]);
    }

    #[test]
    fn nothing_is_no_engine() {
        assert_eq!(detected(&[("LOCK", ""), ("notes.txt", "")]), Detection::default());
        assert_eq!(detected(&[("MANIFEST", ""), ("KEYREGISTRY", "")]).sole(), Some(Engine::Badger));
    }
}
