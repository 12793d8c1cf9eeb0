//! What the engine would do at its next open, said before it does. *Files, read-only.*
//!
//! Source: RocksDB `db/db_impl/db_impl_open.cc` (`Recover`, `RecoverLogFiles`), `db/db_impl/db_impl_files.cc`, with the default
//! options as cosmos-db and cometbft-db open it. Damage in a table's blocks is found only when they are read.

use crate::ViewError;
use crate::lsm::merge::{Merged, Run, Snapshot, count_keys};
use crate::lsm::range_del::Memory;
use crate::lsm::salvage::Stop;
use crate::rocksdb::batch::{Batch, BatchError};
use crate::rocksdb::memory::put;
use crate::rocksdb::names::{self, Name};
use crate::rocksdb::version::Version;
use crate::rocksdb::view::meaning;
use crate::rocksdb::{RocksDbStore, wal};
use crate::store::{COUNTED_BYTES_MAX, Depth, Prediction};

/// None if the engine would simply open.
pub(crate) fn predict(store: &RocksDbStore) -> Option<Prediction> {
    if store.entry.begins_anew {
        return Some(anew(store));
    }
    let wals = wal::read(&store.place, &store.version, |_, _| Ok(()));
    let open = store.refused.clone().map_or(Ok(()), Err);
    let from_manifest = store.manifest_report.dropped_by_damage;
    let dropped_bytes = from_manifest.saturating_add(wals.dropped);
    if dropped_bytes == 0 && open.is_ok() {
        return None;
    }
    let deleted = if open.is_ok() && from_manifest > 0 { store.unreferenced() } else { Vec::new() };
    let deleted_tables: Vec<String> = deleted.into_iter().map(names::table).collect();
    let counted = open.is_ok() && from_manifest == 0 && store.place.depth > Depth::Quick;
    let (kept_keys, lost_keys) = if counted { count(store, &wals.salvaged).unwrap_or_default() } else { (None, None) };
    let tables = if deleted_tables.is_empty() {
        String::new()
    } else {
        format!(", and deletes {} tables", deleted_tables.len())
    };
    let summary = match (&open, kept_keys, lost_keys) {
        (Err(words), ..) => format!("rocksdb will not open this database: {words}"),
        (Ok(()), Some(kept), Some(lost)) if lost > 0 => format!(
            "rocksdb opens this database and silently drops at least {lost} of {} keys",
            kept.saturating_add(lost)
        ),
        (Ok(()), ..) => format!("rocksdb opens this database and silently drops {dropped_bytes} bytes{tables}"),
    };
    Some(Prediction { open, dropped_bytes, lost_keys, kept_keys, deleted_tables, summary })
}

/// Without `CURRENT` the engine begins a new database and deletes every table. If a WAL is there it refuses once, and does the
/// same at the start after that.
fn anew(store: &RocksDbStore) -> Prediction {
    let deleted_tables: Vec<String> = store.tables_there().map(names::table).collect();
    let wal = store.place.entries.iter().find_map(|entry| {
        let name = entry.name.to_str()?;
        matches!(Name::parse(name), Some(Name::Wal(_))).then(|| name.to_owned())
    });
    let open = match &wal {
        Some(wal) => Err(format!("Corruption: While creating a new Db, wal_dir contains existing log file: {wal}")),
        None => Ok(()),
    };
    let when = if open.is_ok() { "" } else { " at the start after that" };
    let (kept_keys, lost_keys) =
        if store.place.depth > Depth::Quick { count_anew(store).unwrap_or_default() } else { (None, None) };
    let lost = match (kept_keys, lost_keys) {
        (Some(kept), Some(lost)) => format!(", and {lost} of {} keys are lost", kept.saturating_add(lost)),
        _ => String::new(),
    };
    let summary = format!(
        "rocksdb finds no CURRENT, begins a new database, and deletes all {} tables{when}{lost}",
        deleted_tables.len()
    );
    Prediction { open, dropped_bytes: 0, lost_keys, kept_keys, deleted_tables, summary }
}

type Counts = (Option<u64>, Option<u64>);

fn count_anew(store: &RocksDbStore) -> Result<Counts, ViewError> {
    if store.live_bytes() > COUNTED_BYTES_MAX {
        return Ok((None, None));
    }
    let wals: Box<dyn Run> = Box::new(store.memory(&Version::default())?.0);
    let kept = count_keys(&Merged { runs: vec![wals], meaning })?;
    let all = count_keys(&Merged { runs: store.runs(Snapshot::Everything)?, meaning })?;
    Ok((Some(kept), Some(all.saturating_sub(kept))))
}

/// Keys that the engine would still have, and keys that it would lose.
fn count(store: &RocksDbStore, salvaged: &[Vec<u8>]) -> Result<Counts, ViewError> {
    if store.live_bytes() > COUNTED_BYTES_MAX {
        return Ok((None, None));
    }
    let kept = count_keys(&Merged { runs: store.runs(Snapshot::Engine)?, meaning })?;
    let mut runs = store.runs(Snapshot::Everything)?;
    let mut memory = Memory::default();
    for record in salvaged {
        // A salvaged record that does not decode adds nothing: the count is "at least".
        let _ = Batch::parse(record).map(|batch| batch.each::<Stop>(|write| Ok(put(&mut memory, write)?)));
    }
    memory.sort();
    runs.push(Box::new(memory));
    let all = count_keys(&Merged { runs, meaning })?;
    Ok((Some(kept), Some(all.saturating_sub(kept))))
}

impl From<BatchError> for Stop {
    fn from(_: BatchError) -> Self {
        Self
    }
}
