//! What earlier starts of the engine left behind: an older MANIFEST, and a database that was begun anew. *Files, read-only.*
//!
//! Pebble keeps no log of its own. But the MANIFEST before the current one stays until the second start after it, and a new
//! database among the files of an older one begins with numbers that no new database has.

use crate::data_file::DataFile;
use crate::lsm::file_number::{self, manifest as manifest_name};
use crate::pebble::entry::EntryPoint;
use crate::pebble::manifest::{self, Replay, Version};
use crate::pebble::names::Name;
use crate::pebble::options::Options;
use crate::store::Place;
use crate::{Checks, Finding, FindingKind};

/// A new database numbers its first files 1 to 4; some more are left by starts that failed.
const NEW_NUMBERS_MAX: u64 = 8;

/// Edits that only move numbers forward are shorter than this, header included; those of tables are longer.
const NUMBERS_BYTES_MAX: u64 = 40;

/// Looks at what is left of earlier starts.
pub(crate) fn read(
    place: &Place,
    entry: &EntryPoint,
    version: &Version,
    options: &Options,
    live_tables: usize,
) -> Checks {
    let mut checks = Checks::default();
    let Some(current) = entry.manifest else { return checks };
    for number in earlier(place, current) {
        let Ok(file) = place.dir.file(manifest_name(number)) else { continue };
        if let Some(finding) = broken_at_last_start(place, &file, version, current) {
            checks.add(finding);
        }
    }
    if let Some(detail) = begun_anew(place, version, options, live_tables) {
        let path = place.dir.path().join(manifest_name(current));
        checks.add(Finding::new(FindingKind::EngineDroppedData, &place.database, &path, detail));
    }
    checks
}

/// An older MANIFEST that is broken proves something only if the current one begins with just the tables that stood before
/// the break: then the engine read no further. If it begins with others, the older one broke later, and harms nobody.
fn broken_at_last_start(place: &Place, file: &DataFile, version: &Version, current: u64) -> Option<Finding> {
    let Replay { version: older, report, .. } = manifest::replay(place, file);
    let left_out = report.dropped_by_damage;
    if left_out <= NUMBERS_BYTES_MAX || !older.tables.keys().eq(&version.beginning.tables) {
        return None;
    }
    let detail = format!(
        "this MANIFEST was broken when the engine last started: it took what stood before the break for the whole, left \
         out {left_out} bytes, and went on with {}",
        manifest_name(current)
    );
    let finding = Finding::new(FindingKind::EngineDroppedData, &place.database, file.path(), detail);
    Some(match report.checks.findings.iter().find(|found| found.kind == FindingKind::ManifestCorrupt) {
        Some(found) => finding.at(found.offset.unwrap_or(0)).by(found.attribution.clone()),
        None => finding,
    })
}

fn earlier(place: &Place, current: u64) -> Vec<u64> {
    let numbers = place.entries.iter().filter_map(|entry| match Name::parse(entry.name.to_str()?) {
        Some(Name::Manifest(number)) => Some(number),
        _ => None,
    });
    numbers.filter(|number| *number < current).collect()
}

/// Where the engine found no pointer, it began a new database among the files of the one that was there.
fn begun_anew(place: &Place, version: &Version, options: &Options, live_tables: usize) -> Option<String> {
    let first_wal = version.beginning.first_next_file.filter(|next| *next <= NEW_NUMBERS_MAX)?;
    match version.beginning.second_wal {
        // Only the record with which a database begins. Its first WAL has the number that comes next then; while that one
        // is there no WAL was ever done with, and tables are those of a first flush that the MANIFEST does not name yet.
        None if live_tables == 0 && place.entry(&file_number::log(first_wal)).is_none() => {
            let tables = place.entries.iter().filter(|entry| {
                matches!(entry.name.to_str().and_then(Name::parse), Some(Name::Table(number)) if !version.ever_had(number))
            });
            let (tables, are) = match tables.count() {
                0 => return None,
                1 => ("a table".to_owned(), "is"),
                count => (format!("{count} tables"), "are"),
            };
            Some(format!(
                "the MANIFEST is that of a new, empty database, but {tables} of an older one {are} there: at its last start \
                 the engine found no pointer; at its next it deletes what the MANIFEST does not name"
            ))
        }
        // The engine writes OPTIONS at the end of its start. Where those have a higher number, the WAL is of the very start
        // that made this MANIFEST, and that was no new database's; with a lower one, it is of a first flush later on.
        Some(wal) if wal > NEW_NUMBERS_MAX && options.number.is_some_and(|options| options > wal) => Some(format!(
            "the MANIFEST begins as that of a new database, but its first WAL is number {wal}: at its last start the \
             engine found no pointer, began anew and deleted the tables that were there"
        )),
        _ => None,
    }
}
