//! What earlier starts of the engine left behind: an older MANIFEST, and a database that was begun anew. *Files, read-only.*
//!
//! Pebble keeps no log of its own. But the MANIFEST before the current one stays until the second start after it, and a new
//! database among the files of an older one begins with numbers that no new database has.

use crate::lsm::file_number::manifest as manifest_name;
use crate::lsm::log_checks::{self, Role};
use crate::pebble::entry::EntryPoint;
use crate::pebble::manifest::{self, Version};
use crate::pebble::names::Name;
use crate::store::Place;
use crate::{Checks, Finding, FindingKind};

/// A new database numbers its first files 1 to 4; some more are left by starts that failed.
const NEW_NUMBERS_MAX: u64 = 8;

/// Looks at what is left of earlier starts.
pub(crate) fn read(place: &Place, entry: &EntryPoint, version: &Version, live_tables: usize) -> Checks {
    let mut checks = Checks::default();
    let Some(current) = entry.manifest else { return checks };
    for number in earlier(place, current) {
        let Ok(file) = place.dir.file(manifest_name(number)) else { continue };
        let report = log_checks::read(place, &file, Role::Manifest, manifest::DIALECT, |_, _| {});
        if report.dropped_by_damage > 0 {
            let detail = format!(
                "this MANIFEST was broken when the engine last started: it took what stood before the break for the \
                 whole, left out {} bytes, and went on with {}",
                report.dropped_by_damage,
                manifest_name(current)
            );
            let finding = Finding::new(FindingKind::EngineDroppedData, &place.database, file.path(), detail);
            let found = report.checks.findings.iter().find(|found| found.kind == FindingKind::ManifestCorrupt);
            checks.add(match found {
                Some(found) => finding.at(found.offset.unwrap_or(0)).by(found.attribution.clone()),
                None => finding,
            });
        }
    }
    if let Some(detail) = begun_anew(place, version, live_tables) {
        let path = place.dir.path().join(manifest_name(current));
        checks.add(Finding::new(FindingKind::EngineDroppedData, &place.database, &path, detail));
    }
    checks
}

fn earlier(place: &Place, current: u64) -> Vec<u64> {
    let numbers = place.entries.iter().filter_map(|entry| match Name::parse(entry.name.to_str()?) {
        Some(Name::Manifest(number)) => Some(number),
        _ => None,
    });
    numbers.filter(|number| *number < current).collect()
}

/// Where the engine found no pointer, it began a new database among the files of the one that was there.
fn begun_anew(place: &Place, version: &Version, live_tables: usize) -> Option<String> {
    version.beginning.first_next_file.filter(|next| *next <= NEW_NUMBERS_MAX)?;
    match version.beginning.second_wal {
        // Only the record with which a database begins: no table can be there yet.
        None if live_tables == 0 => {
            let tables = place.entries.iter().filter(|entry| {
                matches!(entry.name.to_str().and_then(Name::parse), Some(Name::Table(number)) if !version.ever_had(number))
            });
            let tables = tables.count();
            (tables > 0).then(|| {
                format!(
                    "the MANIFEST is that of a new, empty database, but {tables} tables of an older one are there: at its \
                     last start the engine found no pointer; at its next it deletes them"
                )
            })
        }
        Some(wal) if wal > NEW_NUMBERS_MAX => Some(format!(
            "the MANIFEST begins as that of a new database, but its first WAL is number {wal}: at its last start the \
             engine found no pointer, began anew and deleted the tables that were there"
        )),
        _ => None,
    }
}
