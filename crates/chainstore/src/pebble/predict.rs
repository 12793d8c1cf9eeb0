//! What the engine would do at its next open, said before it does. *Files, read-only.*
//!
//! Source: pebble v1.1 and v2.1 as cosmos-db and cometbft-db open them: `open.go` (`Open`, `checkConsistency`,
//! `replayWAL`), `compaction.go` (`scanObsoleteFiles`). Damage in a table's blocks is found only when they are read; what a
//! compaction then does is said in the finding itself.

use std::sync::Arc;

use crate::ViewError;
use crate::lsm::level_run::LevelRun;
use crate::lsm::live_table::LiveTable;
use crate::lsm::merge::{Merged, Run, Snapshot, count_keys};
use crate::lsm::range_del::Memory;
use crate::lsm::salvage::Stop;
use crate::pebble::batch::Batch;
use crate::pebble::manifest::Version;
use crate::pebble::memory::put;
use crate::pebble::view::{self, meaning};
use crate::pebble::{PebbleStore, names, wal};
use crate::store::{COUNTED_BYTES_MAX, Depth, Prediction};

/// None if the engine would simply open.
pub(crate) fn predict(store: &PebbleStore) -> Option<Prediction> {
    let wals = wal::read(&store.place, &store.version, &store.options, |_| Ok(()));
    if wals.unread().is_some() {
        return None;
    }
    if store.entry.begins_anew && store.refused.is_none() {
        return Some(anew(store));
    }
    let open = store.refused.clone().or(wals.refused).map_or(Ok(()), Err);
    let from_manifest = store.manifest_report.dropped_by_damage;
    let dropped_bytes = from_manifest.saturating_add(wals.dropped_by_damage);
    if dropped_bytes == 0 && open.is_ok() {
        return store.wal_is_gone.then(without_its_wal);
    }
    let deleted = if open.is_ok() && from_manifest > 0 { store.unreferenced() } else { Vec::new() };
    let counted = open.is_ok() && store.place.depth > Depth::Quick;
    let (kept_keys, lost_keys) =
        if counted { count(store, &deleted, &wals.salvaged).unwrap_or_default() } else { (None, None) };
    let deleted_tables: Vec<String> = deleted.into_iter().map(names::table).collect();
    let counts = (kept_keys, lost_keys);
    let summary = match &open {
        Err(words) => format!("pebble will not open this database: {words}"),
        Ok(()) => summary(counts, dropped_bytes, deleted_tables.len()),
    };
    Some(Prediction { open, dropped_bytes, lost_keys, kept_keys, deleted_tables, summary })
}

/// The engine opens with what is left; what the WAL held, nobody can count.
fn without_its_wal() -> Prediction {
    Prediction {
        open: Ok(()),
        dropped_bytes: 0,
        lost_keys: None,
        kept_keys: None,
        deleted_tables: Vec::new(),
        summary: "pebble opens this database without an error and without the newest writes".to_owned(),
    }
}

fn summary(counts: Counts, dropped_bytes: u64, deleted: usize) -> String {
    let lost = match counts {
        (Some(kept), Some(lost)) if lost > 0 => format!("at least {lost} of {} keys", kept.saturating_add(lost)),
        _ => format!("{dropped_bytes} bytes"),
    };
    let tables = if deleted > 0 { format!(", and deletes {deleted} tables") } else { String::new() };
    format!("pebble opens this database and silently drops {lost}{tables}")
}

/// Without a pointer the engine begins a new database, replays every WAL into it, and deletes every table. Pebble v1 panics
/// on the way, and does so at the start after.
fn anew(store: &PebbleStore) -> Prediction {
    let deleted_tables: Vec<String> = store.tables_there().map(names::table).collect();
    let marker_lost = store.entry.format_lost && store.options.by_v2;
    let words = if marker_lost {
        Err("pebble: database written in format major version 1 which is no longer supported".to_owned())
    } else if store.options.by_v2 {
        Ok(())
    } else {
        Err("panic: runtime error: invalid memory address or nil pointer dereference".to_owned())
    };
    let when = if words.is_ok() { "" } else { " at the start after that" };
    let (kept_keys, lost_keys) =
        if store.place.depth > Depth::Quick { count_anew(store).unwrap_or_default() } else { (None, None) };
    let summary = if marker_lost {
        "pebble v2 will not open this database: the marker of its format is gone".to_owned()
    } else {
        let lost = match (kept_keys, lost_keys) {
            (Some(kept), Some(lost)) => format!(", and {lost} of {} keys are lost", kept.saturating_add(lost)),
            _ => String::new(),
        };
        format!(
            "pebble finds no pointer to the MANIFEST, begins a new database, and deletes all {} tables{when}{lost}",
            deleted_tables.len()
        )
    };
    let deleted_tables = if marker_lost { Vec::new() } else { deleted_tables };
    Prediction { open: words, dropped_bytes: 0, lost_keys, kept_keys, deleted_tables, summary }
}

type Counts = (Option<u64>, Option<u64>);

fn count_anew(store: &PebbleStore) -> Result<Counts, ViewError> {
    if store.tables.iter().map(|table| table.bytes).sum::<u64>() > COUNTED_BYTES_MAX {
        return Ok((None, None));
    }
    let wals: Box<dyn Run> = Box::new(store.memory(&Version::default())?.0);
    let kept = count_keys(&Merged { runs: vec![wals], meaning })?;
    let all = count_keys(&Merged { runs: store.runs(Snapshot::Everything)?, meaning })?;
    Ok((Some(kept), Some(all.saturating_sub(kept))))
}

/// Keys that the engine would still have, and keys that it would lose.
fn count(store: &PebbleStore, deleted: &[u64], salvaged: &[Vec<u8>]) -> Result<Counts, ViewError> {
    let doomed: Vec<LiveTable> = deleted
        .iter()
        .filter_map(|number| Some(LiveTable::unbounded(*number, store.place.entry(&names::table(*number))?.bytes)))
        .collect();
    let bytes = store.tables.iter().chain(&doomed).map(|table| table.bytes).sum::<u64>();
    if bytes > COUNTED_BYTES_MAX {
        return Ok((None, None));
    }
    let kept = count_keys(&Merged { runs: store.runs(Snapshot::Engine)?, meaning })?;
    let mut runs = store.runs(Snapshot::Everything)?;
    let reader = Arc::new(view::tables(&store.place));
    for table in &doomed {
        runs.push(Box::new(LevelRun::new(vec![table], Arc::clone(&reader), u64::MAX)) as Box<dyn Run + '_>);
    }
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
