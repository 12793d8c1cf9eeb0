//! The MANIFEST: version edits, replayed into the set of live tables. *Files, read-only.*
//!
//! Source: LevelDB `db/version_edit.cc`, goleveldb `leveldb/session_record.go` and `session.go` (`recover`); formats 4.
//! Unknown tags are skipped by goleveldb *without* their fields, so they are malformed here.

use std::collections::BTreeMap;
use std::path::Path;

use crate::data_file::DataFile;
use crate::lsm::framing::LEGACY;
use crate::lsm::internal_key::InternalKey;
use crate::lsm::live_table::{self, LiveTable};
use crate::lsm::log_checks::{self, LogReport, Role};
use crate::store::Place;
use crate::{Cut, CutError, CutProblem, Finding, FindingKind, Part};

const TAG: Part = Part::new("version edit tag");
const COMPARATOR: Part = Part::new("comparator name");
const NUMBER: Part = Part::new("file number");
const SEQUENCE: Part = Part::new("last sequence");
const LEVEL: Part = Part::new("level");
const SIZE: Part = Part::new("table size");
const SMALLEST: Part = Part::new("smallest key");
const LARGEST: Part = Part::new("largest key");
const COMPACT_KEY: Part = Part::new("compact pointer key");

/// goleveldb has as many levels as its data needs, growing tenfold each; C++ LevelDB has seven.
const LEVEL_MAX: u64 = 63;

/// goleveldb reads numbers and sizes as signed.
const NUMBER_MAX: u64 = i64::MAX as u64;

/// The comparator of every chain's database.
const BYTEWISE: &[u8] = b"leveldb.BytewiseComparator";

/// What a MANIFEST adds up to.
#[derive(Debug, Default)]
pub(crate) struct Version {
    pub(crate) comparator: Option<Vec<u8>>,
    pub(crate) journal: Option<u64>,
    pub(crate) previous_journal: u64,
    pub(crate) next_file: Option<u64>,
    pub(crate) last_sequence: Option<u64>,
    /// By level and number.
    pub(crate) tables: BTreeMap<(u8, u64), LiveTable>,
}

impl Version {
    /// The live tables, level by level.
    pub(crate) fn live(&self) -> impl Iterator<Item = &LiveTable> {
        self.tables.values()
    }

    /// The first journal that the engine replays.
    pub(crate) fn first_journal(&self) -> u64 {
        self.journal.unwrap_or(0)
    }

    /// Applies one record. Deletions come before additions, as both engines do it.
    pub(crate) fn apply(&mut self, record: &[u8]) -> Result<(), CutError> {
        let edit = Edit::parse(record)?;
        self.comparator = edit.comparator.or(self.comparator.take());
        self.journal = edit.journal.or(self.journal);
        self.previous_journal = edit.previous_journal.unwrap_or(self.previous_journal);
        self.next_file = edit.next_file.or(self.next_file);
        self.last_sequence = edit.last_sequence.or(self.last_sequence);
        for key in edit.deleted {
            self.tables.remove(&key);
        }
        for table in edit.added {
            self.tables.insert((table.level, table.number), table);
        }
        Ok(())
    }

    /// The field without which the engine does not open, in goleveldb's words.
    pub(crate) fn missing_field(&self) -> Option<&'static str> {
        match self {
            Self { comparator: None, .. } => Some("comparer"),
            Self { next_file: None, .. } => Some("next-file-num"),
            Self { journal: None, .. } => Some("journal-file-num"),
            Self { last_sequence: None, .. } => Some("seq-num"),
            _ => None,
        }
    }
}

#[derive(Debug, Default)]
struct Edit {
    comparator: Option<Vec<u8>>,
    journal: Option<u64>,
    previous_journal: Option<u64>,
    next_file: Option<u64>,
    last_sequence: Option<u64>,
    deleted: Vec<(u8, u64)>,
    added: Vec<LiveTable>,
}

impl Edit {
    fn parse(record: &[u8]) -> Result<Self, CutError> {
        let mut edit = Self::default();
        let mut cut = Cut::new(record, 0);
        while !cut.is_empty() {
            let start = cut;
            match cut.uvarint(TAG)? {
                1 => edit.comparator = Some(cut.length_prefixed(COMPARATOR)?.rest().to_vec()),
                2 => edit.journal = Some(cut.uvarint_at_most(NUMBER, NUMBER_MAX)?),
                3 => edit.next_file = Some(cut.uvarint_at_most(NUMBER, NUMBER_MAX)?),
                4 => edit.last_sequence = Some(cut.uvarint(SEQUENCE)?),
                5 => {
                    cut.uvarint_at_most(LEVEL, LEVEL_MAX)?;
                    cut.length_prefixed(COMPACT_KEY)?;
                }
                6 => {
                    let level = level(&mut cut)?;
                    edit.deleted.push((level, cut.uvarint_at_most(NUMBER, NUMBER_MAX)?));
                }
                7 => edit.added.push(table(&mut cut)?),
                9 => edit.previous_journal = Some(cut.uvarint_at_most(NUMBER, NUMBER_MAX)?),
                other => return Err(start.error(TAG, CutProblem::NoSuchValue { value: other })),
            }
        }
        Ok(edit)
    }
}

fn level(cut: &mut Cut<'_>) -> Result<u8, CutError> {
    Ok(u8::try_from(cut.uvarint_at_most(LEVEL, LEVEL_MAX)?).unwrap_or_default())
}

fn table(cut: &mut Cut<'_>) -> Result<LiveTable, CutError> {
    Ok(LiveTable {
        level: level(cut)?,
        number: cut.uvarint_at_most(NUMBER, NUMBER_MAX)?,
        bytes: cut.uvarint_at_most(SIZE, NUMBER_MAX)?,
        smallest: cut.length_prefixed(SMALLEST)?.rest().into(),
        largest: cut.length_prefixed(LARGEST)?.rest().into(),
        sequences: None,
    })
}

/// Replays a MANIFEST as goleveldb does: what is broken is skipped, the rest is applied.
pub(crate) fn replay(place: &Place, file: &DataFile) -> (Version, LogReport) {
    let mut version = Version::default();
    let mut malformed = Vec::new();
    let mut report = log_checks::read(place, file, Role::Manifest, LEGACY, |offset, record| {
        if let Err(error) = version.apply(record) {
            malformed.push((offset, error));
        }
    });
    for (offset, error) in malformed {
        let detail = format!("the record fits its checksum but is no version edit: {error}");
        let finding = Finding::new(FindingKind::VersionEditMalformed, &place.database, file.path(), detail).at(offset);
        report.checks.add(finding);
    }
    check(place, file.path(), &version, &mut report);
    (version, report)
}

/// What cannot be, whatever the checksums say.
fn check(place: &Place, file: &Path, version: &Version, report: &mut LogReport) {
    let mut add = |detail: String| {
        report.checks.add(Finding::new(FindingKind::ManifestIncomplete, &place.database, file, detail));
    };
    if let Some(field) = version.missing_field() {
        add(format!("no {field}: the engine does not open"));
    }
    if let Some(name) = version.comparator.as_deref().filter(|name| *name != BYTEWISE) {
        add(format!("the comparator is {}, not {}", name.escape_ascii(), BYTEWISE.escape_ascii()));
    }
    let next = version.next_file.unwrap_or(u64::MAX);
    let mut numbers = BTreeMap::new();
    for table in version.live() {
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
    for (left, right) in live_table::overlaps(version.live()) {
        add(format!("tables {left} and {right} of one level overlap"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn deletions_come_before_additions() {
        let mut version = Version::default();
        let add = [7, 0, 9, 5, 1, b'a', 1, b'b'];
        version.apply(&add).unwrap();
        version.apply(&[&add[..], &[6, 0, 9]].concat()).unwrap();
        assert_eq!(version.live().map(|table| table.number).collect::<Vec<_>>(), [9]);
        version.apply(&[6, 0, 9]).unwrap();
        assert_eq!(version.live().count(), 0);
    }

    #[test]
    fn an_unknown_tag_is_malformed_and_changes_nothing() {
        let mut version = Version::default();
        let error = version.apply(&[2, 3, 100, 0]).unwrap_err();
        assert_eq!(error.to_string(), "version edit tag at offset 2: value 0x64 is not one the format has");
        assert_eq!(version.journal, None);
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(record in proptest::collection::vec(any::<u8>(), 0..100)) {
            let _ = Version::default().apply(&record);
        }
    }
}
