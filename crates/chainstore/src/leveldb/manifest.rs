//! The MANIFEST: version edits, replayed into the set of live tables. *Files, read-only.*
//!
//! Source: LevelDB `db/version_edit.cc`, goleveldb `leveldb/session_record.go` and `session.go` (`recover`); formats 4.
//! Unknown tags are skipped by goleveldb *without* their fields, so they are malformed here.

use std::path::Path;

use crate::data_file::DataFile;
use crate::lsm::framing::LEGACY;
use crate::lsm::internal_key::InternalKey;
use crate::lsm::live_set::{self, LiveSet};
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
    pub(crate) tables: LiveSet,
}

impl Version {
    /// The first journal that the engine replays.
    pub(crate) fn first_journal(&self) -> u64 {
        self.journal.unwrap_or(0)
    }

    /// Applies one record, whole or not at all. Deletions come before additions, as both engines do it.
    ///
    /// A record can name half a million tables, so it is walked through again rather than taken apart in memory.
    pub(crate) fn apply(&mut self, record: &[u8]) -> Result<(), CutError> {
        let mut added = 0_usize;
        for field in fields(record) {
            added = added.saturating_add(usize::from(matches!(field?, Field::Added(_))));
        }
        for field in fields(record) {
            if let Field::Deleted(key) = field? {
                self.tables.remove(key);
            }
        }
        for field in fields(record) {
            match field? {
                Field::Comparator(name) => self.comparator = Some(name.to_vec()),
                Field::Journal(number) => self.journal = Some(number),
                Field::PreviousJournal(number) => self.previous_journal = number,
                Field::NextFile(number) => self.next_file = Some(number),
                Field::LastSequence(sequence) => self.last_sequence = Some(sequence),
                Field::CompactPointer | Field::Deleted(_) | Field::Added(_) => {}
            }
        }
        self.tables.fill(added, || {
            fields(record).filter_map(|field| match field {
                Ok(Field::Added(table)) => Some(table.to_live()),
                _ => None,
            })
        });
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

/// One field of a version edit.
enum Field<'a> {
    Comparator(&'a [u8]),
    Journal(u64),
    PreviousJournal(u64),
    NextFile(u64),
    LastSequence(u64),
    CompactPointer,
    Deleted(live_set::Key),
    Added(Added<'a>),
}

struct Added<'a> {
    level: u8,
    number: u64,
    bytes: u64,
    smallest: &'a [u8],
    largest: &'a [u8],
}

impl Added<'_> {
    fn to_live(&self) -> LiveTable {
        LiveTable {
            level: self.level,
            number: self.number,
            bytes: self.bytes,
            smallest: self.smallest.into(),
            largest: self.largest.into(),
            sequences: None,
        }
    }
}

/// The fields of a record. An error is the last of them.
fn fields(record: &[u8]) -> impl Iterator<Item = Result<Field<'_>, CutError>> {
    let mut cut = Cut::new(record, 0);
    let mut failed = false;
    std::iter::from_fn(move || {
        let more = !failed && !cut.is_empty();
        more.then(|| field(&mut cut).inspect_err(|_| failed = true))
    })
}

fn field<'a>(cut: &mut Cut<'a>) -> Result<Field<'a>, CutError> {
    let start = *cut;
    Ok(match cut.uvarint(TAG)? {
        1 => Field::Comparator(cut.length_prefixed(COMPARATOR)?.rest()),
        2 => Field::Journal(cut.uvarint_at_most(NUMBER, NUMBER_MAX)?),
        3 => Field::NextFile(cut.uvarint_at_most(NUMBER, NUMBER_MAX)?),
        4 => Field::LastSequence(cut.uvarint(SEQUENCE)?),
        5 => {
            level(cut)?;
            cut.length_prefixed(COMPACT_KEY)?;
            Field::CompactPointer
        }
        6 => Field::Deleted((level(cut)?, cut.uvarint_at_most(NUMBER, NUMBER_MAX)?)),
        7 => Field::Added(Added {
            level: level(cut)?,
            number: cut.uvarint_at_most(NUMBER, NUMBER_MAX)?,
            bytes: cut.uvarint_at_most(SIZE, NUMBER_MAX)?,
            smallest: cut.length_prefixed(SMALLEST)?.rest(),
            largest: cut.length_prefixed(LARGEST)?.rest(),
        }),
        9 => Field::PreviousJournal(cut.uvarint_at_most(NUMBER, NUMBER_MAX)?),
        other => return Err(start.error(TAG, CutProblem::NoSuchValue { value: other })),
    })
}

fn level(cut: &mut Cut<'_>) -> Result<u8, CutError> {
    Ok(u8::try_from(cut.uvarint_at_most(LEVEL, LEVEL_MAX)?).unwrap_or_default())
}

/// A replayed MANIFEST.
#[derive(Debug, Default)]
pub(crate) struct Replayed {
    pub(crate) version: Version,
    /// The tables that are live at its end, by level and number.
    pub(crate) tables: Vec<LiveTable>,
    pub(crate) report: LogReport,
}

/// Replays a MANIFEST as goleveldb does: what is broken is skipped, the rest is applied.
pub(crate) fn replay(place: &Place, file: &DataFile) -> Replayed {
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
    let tables = std::mem::take(&mut version.tables).into_tables();
    if !report.has_hole() {
        check(place, file.path(), &version, &tables, &mut report);
    }
    Replayed { version, tables, report }
}

/// What cannot be, whatever the checksums say.
fn check(place: &Place, file: &Path, version: &Version, tables: &[LiveTable], report: &mut LogReport) {
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
    for table in tables {
        if table.number >= next {
            add(format!("table {} is live, but the next file number is {next}", table.number));
        }
        if InternalKey::parse(&table.smallest).is_none() || InternalKey::parse(&table.largest).is_none() {
            add(format!("the bounds of table {} are no keys", table.number));
        }
    }
    let mut numbers: Vec<(u64, u8)> = tables.iter().map(|table| (table.number, table.level)).collect();
    numbers.sort_unstable();
    for (one, other) in numbers.iter().zip(numbers.iter().skip(1)).filter(|(one, other)| one.0 == other.0) {
        add(format!("table {} is live in level {} and again in level {}", one.0, one.1, other.1));
    }
    for (left, right) in live_table::overlaps(tables.iter()) {
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
        let live = |version: &mut Version| -> Vec<u64> {
            std::mem::take(&mut version.tables).into_tables().iter().map(|table| table.number).collect()
        };
        assert_eq!(live(&mut version), [9]);
        version.apply(&add).unwrap();
        version.apply(&[6, 0, 9]).unwrap();
        assert_eq!(live(&mut version), [0; 0]);
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
