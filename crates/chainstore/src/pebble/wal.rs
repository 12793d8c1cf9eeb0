//! The WALs that the engine replays at its next open. *Files, read-only.*
//!
//! Source: pebble v1.1 `open.go` (`replayWAL`), `record/record.go`, `record/log_writer.go`; formats 3. The engine uses the
//! files of old logs again, so that behind a log's end there are an earlier log's bytes, or zeros. A WAL that later ones
//! follow was closed, and must end whole (`strict_wal_tail`).

use crate::lsm::at_break::AtBreak;
use crate::lsm::file_number;
use crate::lsm::framing::{Dialect, recyclable};
use crate::lsm::log_checks::{self, Role};
use crate::lsm::log_end::LogEnd;
use crate::pebble::batch::{Batch, Write};
use crate::pebble::manifest::Version;
use crate::pebble::names::Name;
use crate::pebble::options::Options;
use crate::store::Place;
use crate::{Checks, CutError, Finding, FindingKind, Reason};

/// What reading the WALs gave besides their writes.
#[derive(Debug, Default)]
pub(crate) struct WalReport {
    pub(crate) checks: Checks,
    /// Bytes that the engine does not read although they are this log's.
    pub(crate) dropped_by_damage: u64,
    /// Whole records among those.
    pub(crate) salvaged: Vec<Vec<u8>>,
    /// The engine's error, if it would not open.
    pub(crate) refused: Option<String>,
    /// The engine counts on from the number after this; it sees no write above.
    pub(crate) sequence: u64,
}

impl WalReport {
    /// Why a WAL was not read to where the engine would read it.
    pub(crate) fn unread(&self) -> Option<Reason> {
        self.checks.untold.iter().find(|reason| !matches!(reason, Reason::Ambiguous(_))).cloned()
    }
}

/// The WALs that the engine replays, oldest first.
pub(crate) fn replayed(place: &Place, version: &Version) -> Vec<u64> {
    let numbers = place.entries.iter().filter_map(|entry| match Name::parse(entry.name.to_str()?) {
        Some(Name::Wal(number)) => Some(number),
        _ => None,
    });
    let mut numbers: Vec<u64> = numbers.filter(|number| *number >= version.min_unflushed_wal).collect();
    numbers.sort_unstable();
    numbers
}

/// The WAL that the MANIFEST names first.
///
/// When a WAL is followed by another, that one is made before the MANIFEST names it. At a start the number comes first,
/// then the new MANIFEST, the file, and the OPTIONS; and the number that Pebble v2 writes then is not even the file's. A
/// database's very first WAL comes after its MANIFEST. So a WAL is missed only where its number is above the MANIFEST's
/// own without being the first, or where a start got as far as the OPTIONS.
pub(crate) fn missing(place: &Place, version: &Version, manifest: u64, options: &Options) -> Option<Finding> {
    let number = version.min_unflushed_wal;
    let name = file_number::log(number);
    if number == 0 || place.entry(&name).is_some() {
        return None;
    }
    let has_later = !replayed(place, version).is_empty();
    let got_to_options = options.number.is_some_and(|options| options > number);
    let path = place.dir.path().join(name);
    if !has_later && options.wal_dir.is_some() {
        return None;
    }
    let finding = |kind, detail| Some(Finding::new(kind, &place.database, &path, detail));
    let is_first = version.beginning.first_next_file == Some(number);
    if (manifest < number && !is_first) || (got_to_options && !(options.by_v2 && has_later)) {
        let detail = "the WAL that the MANIFEST names is not there: the newest writes are lost";
        return finding(FindingKind::JournalMissing, detail);
    }
    let detail = "the WAL that the MANIFEST names was not made yet: the engine's last start was cut short";
    if has_later { None } else { finding(FindingKind::SelfHealing, detail) }
}

/// Reads them all and hands out each write that the engine would apply.
pub(crate) fn read(
    place: &Place,
    version: &Version,
    options: &Options,
    mut write: impl FnMut(Write<'_>) -> Result<(), Reason>,
) -> WalReport {
    let mut report = WalReport::default();
    let numbers = replayed(place, version);
    if let Some(reason) = elsewhere(place, version, options, numbers.is_empty()) {
        report.checks.add(reason);
    }
    let newest = numbers.last().copied();
    let mut sequence = Sequence::default();
    for number in numbers {
        let file = match place.dir.file(file_number::log(number)) {
            Ok(file) => file,
            Err(error) => {
                report.checks.add(Reason::Unreadable(error));
                sequence.next = None;
                continue;
            }
        };
        let strict = (options.strict_wal_tail || options.by_v2) && newest.is_some_and(|newest| number < newest);
        let role = if strict { Role::OlderJournal } else { Role::NewestJournal };
        // The low 32 bits of the file number.
        let own = u32::try_from(number & u64::from(u32::MAX)).unwrap_or_default();
        let ends_at = if options.by_v2 { LogEnd::NextNumber } else { LogEnd::OtherNumber };
        let dialect = Dialect { ends_at, ..recyclable(own, AtBreak::Stops) };
        let mut problems = Vec::new();
        let log = log_checks::read(place, &file, role, dialect, |offset, record| {
            // After an error of the engine nothing is replayed.
            if !problems.iter().any(|(_, problem)| matches!(problem, Problem::Batch(_))) {
                problems.extend(sequence.apply(record, &mut write).err().map(|problem| (offset, problem)));
            }
        });
        let explained = report.dropped_by_damage > 0;
        for (offset, problem) in problems {
            let finding = |kind, detail: String| Finding::new(kind, &place.database, file.path(), detail).at(offset);
            match problem {
                Problem::Gap(from, to) if explained || version.took_in(from, to) => {}
                Problem::Gap(from, to) => report.checks.add(finding(
                    FindingKind::RecordsMissing,
                    format!("{} writes that stood before this record are missing", to.saturating_sub(from)),
                )),
                Problem::Batch(detail) => {
                    report.refused = report.refused.or_else(|| Some("pebble: corrupt log file".to_owned()));
                    report.checks.add(finding(FindingKind::BatchMalformed, detail));
                }
                Problem::Order(detail) => report.checks.add(finding(FindingKind::BatchMalformed, detail)),
                Problem::Reason(reason) => report.checks.add(reason),
            }
        }
        if strict && log.stopped.is_some() && !log.ended_by_number {
            let words = if options.by_v2 { "unexpected EOF" } else { "invalid chunk" };
            let words = format!("pebble: error when replaying WAL: pebble/record: {words}");
            report.refused = report.refused.or(Some(words));
        }
        // Where a WAL was not read to its end, the next one's first number says nothing.
        if !log.checks.untold.is_empty() {
            sequence.next = None;
        }
        report.checks.extend(log.checks);
        report.dropped_by_damage = report.dropped_by_damage.saturating_add(log.dropped_by_damage);
        report.salvaged.extend(log.salvaged);
    }
    report.sequence = sequence.highest.max(version.last_sequence);
    report
}

/// WALs that are not in this directory, or not all of them.
fn elsewhere(place: &Place, version: &Version, options: &Options, none_here: bool) -> Option<Reason> {
    if let Some(dir) = options.wal_dir.as_ref().filter(|_| none_here) {
        return Some(Reason::Unsupported(format!("the WALs are in another directory ({dir}), which is not read")));
    }
    let parts = place.entries.iter().any(|entry| match entry.name.to_str().and_then(Name::parse) {
        Some(Name::FailoverWal(number)) => number >= version.min_unflushed_wal,
        _ => false,
    });
    parts.then(|| Reason::Unsupported("a WAL that was continued on another disk is not read".to_owned()))
}

#[derive(Debug)]
enum Problem {
    /// Sequences from the first up to the second are missing.
    Gap(u64, u64),
    /// The engine stops with an error.
    Batch(String),
    /// The engine does not notice.
    Order(String),
    Reason(Reason),
}

impl From<CutError> for Problem {
    fn from(error: CutError) -> Self {
        Self::Batch(format!("the record fits its checksum but is no batch of writes: {error}"))
    }
}

/// The numbers that batches carry: each begins where the one before ended.
#[derive(Debug, Default)]
struct Sequence {
    next: Option<u64>,
    highest: u64,
}

impl Sequence {
    fn apply(&mut self, record: &[u8], write: &mut impl FnMut(Write<'_>) -> Result<(), Reason>) -> Result<(), Problem> {
        let batch = Batch::parse(record)?;
        batch.each(|each| write(each).map_err(Problem::Reason))?;
        let end = batch.sequence.saturating_add(u64::from(batch.count));
        let before = self.next.replace(end);
        self.highest = self.highest.max(end.saturating_sub(1));
        match before {
            Some(next) if batch.sequence > next => Err(Problem::Gap(next, batch.sequence)),
            Some(next) if batch.sequence < next => Err(Problem::Order(format!(
                "the batch has number {}, though {next} would come next: a record stands here twice, or another's",
                batch.sequence
            ))),
            _ => Ok(()),
        }
    }
}
