//! What the engine would do at its next open, said before it does. *Files, read-only.*
//!
//! Source: goleveldb as cosmos-db, tm-db and cometbft-db open it (no `StrictManifest`, no `StrictJournal`): `session.go`
//! `recover`, `db.go` `recoverJournal`, `db_util.go` `checkAndCleanFiles`; LevelDB `db/version_set.cc` `Recover`,
//! `db/db_impl.cc` `Recover`. Both replay and remove the journals before goleveldb looks for missing tables.

use std::sync::Arc;

use crate::leveldb::LevelDbStore;
use crate::leveldb::batch::Batch;
use crate::leveldb::journal;
use crate::leveldb::leveldb_store::table_file;
use crate::leveldb::view;
use crate::lsm::file_number;
use crate::lsm::level_run::LevelRun;
use crate::lsm::live_table::LiveTable;
use crate::lsm::memory::MemTable;
use crate::lsm::merge::{Merged, Run, Snapshot, count_keys, leveldb_meaning};
use crate::lsm::salvage::Stop;
use crate::store::{COUNTED_BYTES_MAX, Depth, Prediction};
use crate::{Engine, Reason, ViewError};

/// None if the engine would simply open.
pub(crate) fn predict(store: &LevelDbStore) -> Option<Prediction> {
    let journals = journal::read(&store.place, &store.version, store.engine, |_| Ok(()));
    if journals.checks.untold.iter().any(|reason| !matches!(reason, Reason::Ambiguous(_))) {
        return None;
    }
    let manifest_dropped = store.manifest_report.dropped_by_damage;
    let dropped_bytes = manifest_dropped.saturating_add(journals.dropped_by_damage);
    let open = opens(store);
    if dropped_bytes == 0 && open.is_ok() {
        return None;
    }
    let deleted = if open.is_ok() && manifest_dropped > 0 { store.unreferenced() } else { Vec::new() };
    let (kept_keys, lost_keys) = if open.is_ok() && store.place.depth > Depth::Quick {
        count(store, &deleted, &journals.salvaged).unwrap_or_default()
    } else {
        (None, None)
    };
    let deleted_tables: Vec<String> = deleted.iter().map(|number| table_file(&store.place, *number)).collect();
    let summary = summary(store.engine, &open, dropped_bytes, kept_keys, lost_keys, deleted_tables.len());
    Some(Prediction { open, dropped_bytes, lost_keys, kept_keys, deleted_tables, summary })
}

/// The engine's own error, shortened, if it would not open.
fn opens(store: &LevelDbStore) -> Result<(), String> {
    let go = store.engine == Engine::GoLevelDb;
    let Some(manifest) = store.entry.manifest else {
        let words =
            if go { "database entry point either missing or corrupted" } else { "CURRENT file is missing or corrupt" };
        return Err(words.to_owned());
    };
    if !go && store.manifest_report.dropped_by_damage > 0 {
        return Err("Corruption: checksum mismatch".to_owned());
    }
    if let Some(field) = store.version.missing_field() {
        let name = file_number::manifest(manifest);
        return Err(format!("manifest corrupted (field '{field}'): missing [file={name}]"));
    }
    match store.missing.len() {
        0 => Ok(()),
        _ if go => Err("file missing".to_owned()),
        count => Err(format!("Corruption: {count} missing files")),
    }
}

/// Keys that the engine would still have, and keys that it would lose.
fn count(store: &LevelDbStore, deleted: &[u64], salvaged: &[Vec<u8>]) -> Result<(Option<u64>, Option<u64>), ViewError> {
    let doomed: Vec<LiveTable> = deleted.iter().filter_map(|number| doomed(store, *number)).collect();
    let bytes = store.tables.iter().chain(&doomed).map(|table| table.bytes).sum::<u64>();
    if bytes > COUNTED_BYTES_MAX {
        return Ok((None, None));
    }
    let kept = count_keys(&Merged { runs: store.runs(Snapshot::Engine)?, meaning: leveldb_meaning })?;
    let mut runs = store.runs(Snapshot::Everything)?;
    let reader = Arc::new(view::tables(&store.place));
    for table in &doomed {
        runs.push(Box::new(LevelRun::new(vec![table], Arc::clone(&reader), u64::MAX)) as Box<dyn Run + '_>);
    }
    let mut memory = MemTable::default();
    for record in salvaged {
        // A salvaged record that does not decode adds nothing: the count is "at least".
        let _ = Batch::parse(record)
            .map(|batch| batch.each::<Stop>(|write| Ok(memory.put(write.key, write.trailer, write.value)?)));
    }
    runs.push(Box::new(memory));
    let all = count_keys(&Merged { runs, meaning: leveldb_meaning })?;
    Ok((Some(kept), Some(all.saturating_sub(kept))))
}

/// A table that no MANIFEST names any more: its bounds are unknown, so every key is sought in it.
fn doomed(store: &LevelDbStore, number: u64) -> Option<LiveTable> {
    let bytes = store.place.entry(&table_file(&store.place, number))?.bytes;
    Some(LiveTable::unbounded(number, bytes))
}

fn summary(
    engine: Engine,
    open: &Result<(), String>,
    dropped: u64,
    kept: Option<u64>,
    lost: Option<u64>,
    deleted: usize,
) -> String {
    if let Err(words) = open {
        return format!("{engine} will not open this database: {words}");
    }
    let keys = match (kept, lost) {
        (Some(kept), Some(lost)) if lost > 0 => format!("at least {lost} of {} keys", kept.saturating_add(lost)),
        _ => format!("{dropped} bytes"),
    };
    let tables = if deleted > 0 { format!(", and deletes {deleted} tables") } else { String::new() };
    format!("{engine} opens this database and silently drops {keys}{tables}")
}
