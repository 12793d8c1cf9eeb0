//! What we see and an engine does not: every reason, reviewed. A case that fits none is an error of the run.
//!
//! Sources: goleveldb `leveldb/storage/file_storage.go` (`GetMeta`), `leveldb/db.go` (`recoverJournal`), `leveldb/table/reader.go`
//! (`getFilterBlock`); LevelDB `db/log_reader.cc`, `table/table.cc` (`ReadMeta`), `db/db_impl.cc` (`Recover`); pebble `open.go`
//! (`replayWAL`), `record/record.go` (`ErrInvalidChunk`), `version_set.go` (`load`); RocksDB `db/log_reader.cc`,
//! `include/rocksdb/options.h` (`WALRecoveryMode`).

use chainstore::{Finding, FindingKind as Kind};

use super::{
    damage::{Change, Damage},
    engines::EngineUnderTest as Engine,
};

/// Why an engine says nothing.
pub(super) type Reason = &'static str;

/// The reason for a case that we alone call damage.
pub(super) fn only_we(engine: Engine, finding: &Finding, damage: &Damage) -> Option<Reason> {
    let part = |name: &str| finding.detail.starts_with(name);
    let changed = damage.file.file_name() == finding.file.file_name();
    let name = damage.file.to_string_lossy();
    let manifest = name.starts_with("MANIFEST-");
    let journal_gone = damage.change == Change::Deleted && damage.file.extension().is_some_and(|end| end == "log");
    match (engine, finding.kind) {
        (_, Kind::JournalMissing) if journal_gone => {
            Some("the newest journal is gone: the engine replays those that it finds, and misses none")
        }
        (_, Kind::JournalMissing) if manifest => Some(
            "a MANIFEST that is cut or broken ends in an older state, whose journal is long removed: the engine opens that state",
        ),
        (Engine::GoLevelDb, Kind::BlockChecksum) if part("filter block") => {
            Some("a filter: goleveldb reads on without it")
        }
        (Engine::GoLevelDb, Kind::EntryPointCorrupt | Kind::EntryPointMissing | Kind::ManifestMissing)
            if finding.detail.contains("CURRENT.bak") =>
        {
            Some(
                "CURRENT, or the MANIFEST that it names, is broken or gone: goleveldb goes back to the older one of CURRENT.bak",
            )
        }
        (Engine::GoLevelDb, Kind::EntryPointCorrupt)
            if matches!(damage.change, Change::Flip { offset: 9..=14, bit: 4 }) =>
        {
            Some("a digit of CURRENT became a blank, over which goleveldb's number parser steps")
        }
        (Engine::LevelDb, Kind::BlockChecksum) if part("filter block") || part("metaindex block") => {
            Some("a filter, or the metaindex that leads to it: LevelDB reads on without")
        }
        (Engine::LevelDb, Kind::JournalCorrupt) if part("zeros where a chunk") => {
            Some("zeros in a log: LevelDB takes them for space that was reserved, and skips to the next block")
        }
        (Engine::LevelDb, Kind::JournalCorrupt) if part("a chunk longer than its block") => {
            Some("a length in a log's last block that passes the file's end: LevelDB takes it for a torn end")
        }
        (Engine::GoLevelDb, Kind::RecordsMissing) if manifest => Some(
            "a MANIFEST that is cut ends in an older state, and the journal does not follow on it: goleveldb opens it",
        ),
        (Engine::Pebble1 | Engine::Pebble2, Kind::JournalCorrupt) if changed => {
            Some("a WAL is broken before its end: Pebble takes that for the end, and drops the writes behind it")
        }
        (Engine::Pebble1 | Engine::Pebble2, Kind::ManifestCorrupt) if changed => {
            Some("a MANIFEST is broken before its end: Pebble takes that for the end, and opens an older state")
        }
        (Engine::Pebble1 | Engine::Pebble2, Kind::ManifestIncomplete) if changed => {
            Some("a MANIFEST is cut behind its first record: Pebble opens what is left, without a table")
        }
        (Engine::Pebble1 | Engine::Pebble2, Kind::EngineDroppedData) if manifest || journal_gone => {
            Some("the MANIFEST is left without a table, and tables are there: Pebble opens an empty database")
        }
        (Engine::RocksDb, Kind::JournalCorrupt) if changed => Some(
            "a WAL is broken before its end: RocksDB takes that for the end (kPointInTimeRecovery), and drops what is behind it",
        ),
        (Engine::RocksDb, Kind::ManifestCorrupt) if changed && part("zeros where a chunk") => {
            Some("zeros in a MANIFEST: RocksDB takes them for space that was reserved, and skips to the next block")
        }
        (Engine::RocksDb, Kind::ManifestCorrupt) if changed && part("a chunk longer than its block") => {
            Some("a length in a MANIFEST's last block that passes the file's end: RocksDB takes it for a torn end")
        }
        (Engine::RocksDb, Kind::BlockChecksum) if finding.detail.to_lowercase().contains("filter") => {
            Some("a filter: reading every key needs none, and sst_dump 7.8 does not know the table's format")
        }
        _ => None,
    }
}

/// What could not be told, without names and numbers, so that the same reasons are counted together.
pub(super) fn untold(reasons: &str) -> String {
    let first = reasons.split("; ").next().unwrap_or_default();
    let words = first.split_once(": ").map_or(first, |(_, words)| words);
    let mut plain = String::new();
    for c in words.chars() {
        match c {
            '0'..='9' if plain.ends_with('N') => {}
            '0'..='9' => plain.push('N'),
            c => plain.push(c),
        }
    }
    plain
}

/// What kind of file was changed, and how.
pub(super) fn place(damage: &Damage) -> String {
    let name = damage.file.to_string_lossy();
    let file = match name.split_once(['.', '-']) {
        Some(("MANIFEST", _)) => "a MANIFEST",
        Some(("OPTIONS", _)) => "OPTIONS",
        Some(("marker", _)) => "a marker",
        Some((_, "log")) => "a journal",
        Some((_, "ldb" | "sst")) => "a table",
        Some((_, "blob")) => "a blob file",
        _ if name.starts_with("CURRENT") => "CURRENT or CURRENT.bak",
        _ => "another file",
    };
    let change = match damage.change {
        Change::Flip { .. } => "one bit",
        Change::Noise { .. } => "noise",
        Change::Zeroed { .. } => "zeros",
        Change::Cut { .. } => "cut",
        Change::Deleted => "deleted",
        Change::Misplaced { .. } => "bytes of another place",
    };
    format!("{file}: {change}")
}
