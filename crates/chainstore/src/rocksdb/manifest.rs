//! The MANIFEST: version edits, replayed. *Files, read-only.*
//!
//! Source: RocksDB `db/version_set.cc` (`Recover`), `db/version_edit_handler.cc` (`Iterate`); formats 4. A record that cannot be
//! used keeps the engine from opening; only an end that is torn, and zeros, are passed over.

use crate::data_file::DataFile;
use crate::lsm::at_break::AtBreak;
use crate::lsm::framing::{Dialect, LEGACY};
use crate::lsm::internal_key::InternalKey;
use crate::lsm::live_table;
use crate::lsm::log_checks::{self, LogReport, Role};
use crate::rocksdb::edit::EditError;
use crate::rocksdb::version::{ApplyError, Family, Version};
use crate::store::Place;
use crate::{Finding, FindingKind, Reason};

/// Chunks as everyone's MANIFEST has them, and what RocksDB does at a broken one.
pub(crate) const DIALECT: Dialect = Dialect { at_break: AtBreak::StopsUnlessZero, ..LEGACY };

/// What a MANIFEST gives.
#[derive(Debug, Default)]
pub(crate) struct Replay {
    pub(crate) version: Version,
    pub(crate) report: LogReport,
    /// The engine's error, if it would not open.
    pub(crate) refused: Option<String>,
}

/// Replays a MANIFEST up to the first record that cannot be used.
pub(crate) fn replay(place: &Place, file: &DataFile) -> Replay {
    let mut version = Version::default();
    let mut failed: Option<(u64, ApplyError)> = None;
    let mut report = log_checks::read(place, file, Role::Manifest, DIALECT, |offset, record| {
        if failed.is_none() {
            failed = version.apply(record).err().map(|error| (offset, error));
        }
    });
    let mut refused = None;
    match failed {
        None => {}
        Some((_, ApplyError::Edit(EditError::Newer(what)))) => {
            let path = file.path().display();
            report.checks.add(Reason::Unsupported(format!("{path}: {what} belongs to a newer format")));
        }
        Some((offset, error)) => {
            let detail = format!("the record fits its checksum but is no edit that can be applied: {error}");
            let kind = FindingKind::VersionEditMalformed;
            report.checks.add(Finding::new(kind, &place.database, file.path(), detail).at(offset));
            refused = Some(format!("Corruption: VersionBuilder: {error}"));
        }
    }
    if report.error {
        refused = Some("Corruption: checksum mismatch".to_owned());
    }
    if refused.is_none() && report.checks.untold.is_empty() {
        refused = check(place, file, &version, &mut report);
    }
    let broken = report.dropped_by_damage > 0 || !report.checks.untold.is_empty();
    version.cut_short = refused.is_some() || broken;
    Replay { version, report, refused }
}

/// What cannot be, whatever the checksums say; the engine's error with it.
fn check(place: &Place, file: &DataFile, version: &Version, report: &mut LogReport) -> Option<String> {
    let mut add = |detail: String| {
        let kind = FindingKind::ManifestIncomplete;
        report.checks.add(Finding::new(kind, &place.database, file.path(), detail));
    };
    if let Some(missing) = version.missing_fields() {
        add(format!("{missing}: the engine does not open"));
        return Some(format!("Corruption: {missing}"));
    }
    let mut refused = None;
    for family in version.families.values() {
        for problem in problems(family) {
            refused = refused.or_else(|| Some(format!("Corruption: {problem}")));
            add(problem);
        }
    }
    refused
}

fn problems(family: &Family) -> Vec<String> {
    let name = family.name.escape_ascii();
    let mut problems = Vec::new();
    for new in family.tables.values() {
        let table = &new.table;
        if InternalKey::parse(&table.smallest).is_none() || InternalKey::parse(&table.largest).is_none() {
            problems.push(format!("the bounds of table {} of column family {name} are no keys", table.number));
        }
    }
    if family.is_bytewise() {
        for (left, right) in live_table::overlaps(family.tables.values().map(|new| &new.table)) {
            problems.push(format!("tables {left} and {right} of one level of column family {name} overlap"));
        }
    }
    problems
}
