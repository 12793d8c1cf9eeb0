//! The MANIFEST: version edits, replayed into the set of live tables. *Files, read-only.*
//!
//! Source: pebble v1.1 `version_set.go` (`load`), `internal/manifest/version_edit.go` (`Accumulate`, `Apply`); formats 4.
//! The engine reads up to the first record that it cannot use and takes what it has by then for the whole: only missing
//! tables show it that something is wrong.

use std::collections::{BTreeMap, BTreeSet};

use crate::data_file::DataFile;
use crate::lsm::framing::{AtBreak, Dialect, LEGACY};
use crate::lsm::internal_key::InternalKey;
use crate::lsm::live_table::{self, LiveTable};
use crate::lsm::log_checks::{self, LogReport, Role};
use crate::pebble::edit::{Edit, EditError};
use crate::store::Place;
use crate::{Finding, FindingKind, Reason};

/// Chunks as everyone's MANIFEST has them; at a broken one Pebble reads no further.
pub(crate) const DIALECT: Dialect = Dialect { at_break: AtBreak::Stops, ..LEGACY };

/// The comparator of every chain's database.
pub(crate) const BYTEWISE: &[u8] = b"leveldb.BytewiseComparator";

/// What a MANIFEST adds up to.
#[derive(Debug, Default)]
pub(crate) struct Version {
    pub(crate) comparator: Option<Vec<u8>>,
    /// WALs from this number on are replayed.
    pub(crate) min_unflushed_wal: u64,
    pub(crate) next_file: Option<u64>,
    pub(crate) last_sequence: u64,
    /// By level and number.
    pub(crate) tables: BTreeMap<(u8, u64), LiveTable>,
    /// Every table that was ever added.
    added: BTreeSet<u64>,
    /// Sequences that a whole table has, as tables made elsewhere and taken in do; no WAL shows them.
    taken_in: BTreeSet<u64>,
    /// How many records were applied, and what the first two said of file numbers.
    records: u64,
    pub(crate) beginning: Beginning,
}

/// What the first two records say: the tables with which the MANIFEST begins, and file numbers, which are small in a new
/// database.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Beginning {
    /// Level and number of each table in the first record: what the engine had when it began this MANIFEST.
    pub(crate) tables: Vec<(u8, u64)>,
    /// The next file number in the first record, if that record has no tables.
    pub(crate) first_next_file: Option<u64>,
    /// The WAL number in the second record; none if there is no second record.
    pub(crate) second_wal: Option<u64>,
}

/// Why an edit that can be read cannot be applied.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
enum ApplyError {
    #[error("{0}")]
    Edit(#[from] EditError),
    /// The engine's own words.
    #[error("file deleted L{0}.{1:06} before it was inserted")]
    DeletedBeforeInserted(u8, u64),
}

impl Version {
    /// Applies one record: deletions, then additions.
    fn apply(&mut self, record: &[u8]) -> Result<(), ApplyError> {
        let edit = Edit::parse(record)?;
        if let Some((level, number)) = edit.deleted.iter().find(|(_, number)| !self.added.contains(number)) {
            return Err(ApplyError::DeletedBeforeInserted(*level, *number));
        }
        match self.records {
            0 => {
                self.beginning.first_next_file = edit.next_file.filter(|_| edit.added.is_empty());
                self.beginning.tables = edit.added.iter().map(|table| (table.level, table.number)).collect();
                self.beginning.tables.sort_unstable();
            }
            1 => self.beginning.second_wal = edit.min_unflushed_wal,
            _ => {}
        }
        self.records = self.records.saturating_add(1);
        let some = |number: Option<u64>| number.filter(|number| *number > 0);
        self.comparator = edit.comparator.or(self.comparator.take());
        self.min_unflushed_wal = some(edit.min_unflushed_wal).unwrap_or(self.min_unflushed_wal);
        self.next_file = some(edit.next_file).or(self.next_file);
        self.last_sequence = some(edit.last_sequence).unwrap_or(self.last_sequence);
        for key in edit.deleted {
            self.tables.remove(&key);
        }
        for table in edit.added {
            self.added.insert(table.number);
            self.taken_in
                .extend(table.sequences.filter(|(lowest, highest)| lowest == highest).map(|(_, highest)| highest));
            self.tables.insert((table.level, table.number), table);
        }
        Ok(())
    }

    /// Whether the engine calls the MANIFEST malformed: neither a WAL nor a next file number.
    pub(crate) fn is_malformed(&self) -> bool {
        self.min_unflushed_wal == 0 && self.next_file.unwrap_or(1) < 2
    }

    /// Whether a gap in the WALs' sequences is that of a table made elsewhere.
    pub(crate) fn took_in(&self, from: u64, to: u64) -> bool {
        from < to && self.taken_in.range(from..to).next().is_some()
    }

    /// Whether a table was live at any time that the MANIFEST tells of.
    pub(crate) fn ever_had(&self, table: u64) -> bool {
        self.added.contains(&table)
    }
}

/// What a replay gave.
#[derive(Debug, Default)]
pub(crate) struct Replay {
    /// What the engine makes of it.
    pub(crate) version: Version,
    pub(crate) report: LogReport,
    /// The engine's error at an edit that it cannot apply: it does not open.
    pub(crate) refused: Option<String>,
}

/// Replays a MANIFEST as Pebble does.
pub(crate) fn replay(place: &Place, file: &DataFile) -> Replay {
    let mut version = Version::default();
    let mut problem = None;
    let mut report = log_checks::read(place, file, Role::Manifest, DIALECT, |offset, record| {
        if problem.is_none() {
            problem = version.apply(record).err().map(|error| (offset, error));
        }
    });
    let refused = problem.as_ref().map(|(_, error)| format!("pebble: corrupt manifest ({error})"));
    match problem {
        None => check(place, file, &version, &mut report),
        Some((_, ApplyError::Edit(error @ EditError::Newer(_)))) => {
            report.checks.add(Reason::Unsupported(format!("{}: {error}", file.path().display())));
        }
        Some((offset, error)) => {
            let detail = format!("the record fits its checksum but is no edit that can be applied: {error}");
            let finding = Finding::new(FindingKind::VersionEditMalformed, &place.database, file.path(), detail);
            report.checks.add(finding.at(offset));
        }
    }
    Replay { version, report, refused }
}

/// What cannot be, whatever the checksums say.
fn check(place: &Place, file: &DataFile, version: &Version, report: &mut LogReport) {
    let mut add = |detail: String| {
        report.checks.add(Finding::new(FindingKind::ManifestIncomplete, &place.database, file.path(), detail));
    };
    if version.is_malformed() {
        add("no WAL and no next file number: the engine does not open".to_owned());
    }
    match version.comparator.as_deref() {
        Some(BYTEWISE) => {}
        Some(name) => {
            add(format!("the comparator is {}, not {}", name.escape_ascii(), BYTEWISE.escape_ascii()));
        }
        None if version.records > 0 => add("no comparator, which the first record has".to_owned()),
        None => {}
    }
    let next = version.next_file.unwrap_or(u64::MAX);
    let mut numbers = BTreeMap::new();
    for table in version.tables.values() {
        if table.number >= next {
            add(format!("table {} is live, but the next file number is {next}", table.number));
        }
        if let Some(level) = numbers.insert(table.number, table.level) {
            add(format!("table {} is live in level {level} and again in level {}", table.number, table.level));
        }
        if InternalKey::parse(&table.smallest).is_none() || InternalKey::parse(&table.largest).is_none() {
            add(format!("the bounds of table {} are no keys", table.number));
        }
    }
    for (left, right) in live_table::overlaps(version.tables.values()) {
        add(format!("tables {left} and {right} of one level overlap"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ADD: [u8; 11] = [103, 0, 9, 5, 1, b'a', 1, b'b', 3, 7, 1];

    #[test]
    fn a_table_moves_down_a_level() {
        let mut version = Version::default();
        version.apply(&ADD).unwrap();
        let mut down = ADD;
        down[1] = 6;
        version.apply(&[&[6, 0, 9][..], &down].concat()).unwrap();
        assert_eq!(version.tables.keys().copied().collect::<Vec<_>>(), [(6, 9)]);
        version.apply(&[6, 6, 9]).unwrap();
        assert!(version.tables.is_empty() && version.ever_had(9));
    }

    #[test]
    fn what_was_never_added_cannot_be_deleted() {
        let error = Version::default().apply(&[6, 2, 17]).unwrap_err();
        assert_eq!(error.to_string(), "file deleted L2.000017 before it was inserted");
    }
}
