//! The journals that the engine replays at its next open. *Files, read-only.*
//!
//! Source: goleveldb `leveldb/db.go` `recoverJournal`, `leveldb/batch.go` `decodeBatchToMem`: a batch whose number is below
//! the one expected is dropped, and so is one that does not decode (its writes before the fault stay).

use crate::engine::is_surely_goleveldb;
use crate::leveldb::batch::{Batch, Write};
use crate::leveldb::manifest::Version;
use crate::leveldb::names::Name;
use crate::lsm::file_number;
use crate::lsm::framing::LEGACY;
use crate::lsm::log_checks::{self, Role};
use crate::store::Place;
use crate::{Checks, CutError, Engine, Finding, FindingKind, Reason};

/// What reading the journals gave besides their writes.
#[derive(Debug, Default)]
pub(crate) struct JournalReport {
    pub(crate) checks: Checks,
    /// Bytes that the engine drops although they are no torn end.
    pub(crate) dropped_by_damage: u64,
    /// Whole records in what it drops that can still be read.
    pub(crate) salvaged: Vec<Vec<u8>>,
    /// The number from which the engine goes on counting; it sees no write above.
    pub(crate) sequence: u64,
}

/// The journals that the engine replays, oldest first.
pub(crate) fn replayed(place: &Place, version: &Version) -> Vec<u64> {
    let mut numbers: Vec<u64> = place
        .entries
        .iter()
        .filter_map(|entry| match Name::parse(entry.name.to_str()?) {
            Some(Name::Journal(number)) => Some(number),
            _ => None,
        })
        .filter(|number| {
            *number >= version.first_journal() || (version.previous_journal > 0 && *number == version.previous_journal)
        })
        .collect();
    numbers.sort_unstable();
    numbers
}

/// The journal that the MANIFEST names is created before the MANIFEST names it, and removed only after a later one is
/// named: if it is not there, writes are lost.
pub(crate) fn missing(place: &Place, version: &Version) -> Option<Finding> {
    let number = version.journal.filter(|number| *number > 0)?;
    let name = file_number::log(number);
    place.entry(&name).is_none().then(|| {
        let detail = "the journal that the MANIFEST names is not there: the newest writes are lost";
        Finding::new(FindingKind::JournalMissing, &place.database, &place.dir.path().join(name), detail)
    })
}

/// Reads them all and hands out each write that the engine would apply.
pub(crate) fn read(
    place: &Place,
    version: &Version,
    engine: Engine,
    mut write: impl FnMut(Write<'_>) -> Result<(), Reason>,
) -> JournalReport {
    let mut report = JournalReport::default();
    let numbers = replayed(place, version);
    let holds_bytes = |number: &&u64| place.entry(&file_number::log(**number)).is_some_and(|entry| entry.bytes > 0);
    let newest = numbers.iter().rev().find(holds_bytes).copied();
    // The MANIFEST names the last write that is in tables, and the first journal goes on from there.
    let known = version.last_sequence;
    let mut sequence = Sequence {
        lowest: known.unwrap_or(0),
        next: known.map(|last| last.saturating_add(1)),
        writer: Writer::of(place, engine),
    };
    for number in numbers {
        let file = match place.dir.file(file_number::log(number)) {
            Ok(file) => file,
            Err(error) => {
                report.checks.add(Reason::Unreadable(error));
                sequence.next = None;
                continue;
            }
        };
        let role = if newest.is_none_or(|newest| number >= newest) { Role::NewestJournal } else { Role::OlderJournal };
        let mut problems = Vec::new();
        let log = log_checks::read(place, &file, role, LEGACY, |offset, record| {
            let applied = sequence.apply(record, &mut write);
            problems.extend(applied.err().map(|problem| (offset, problem)));
        });
        // What a broken chunk swallowed explains a gap in the numbers.
        let explained = log.dropped_by_damage > 0 || !log.checks.untold.is_empty();
        for (offset, problem) in problems {
            let finding = |kind, detail: String| Finding::new(kind, &place.database, file.path(), detail).at(offset);
            match problem {
                Problem::Gap(_) if explained => {}
                Problem::Gap(count) => report.checks.add(finding(
                    FindingKind::RecordsMissing,
                    format!("{count} writes that stood before this record are missing"),
                )),
                Problem::Batch(detail) => report.checks.add(finding(FindingKind::BatchMalformed, detail)),
                Problem::Below { number, lowest } => report.checks.add(Reason::Ambiguous(format!(
                    "{}: the batch at {offset} has number {number}, below {lowest}: goleveldb drops it, LevelDB does not, and \
                     no LOG says which of them wrote it",
                    file.path().display()
                ))),
                Problem::Reason(reason) => report.checks.add(reason),
            }
        }
        // Where a journal was not read to its end, the next one's first number says nothing.
        if !log.checks.untold.is_empty() {
            sequence.next = None;
        }
        report.checks.extend(log.checks);
        report.dropped_by_damage = report.dropped_by_damage.saturating_add(log.dropped_by_damage);
        report.salvaged.extend(log.salvaged);
    }
    report.sequence = sequence.lowest;
    report
}

#[derive(Debug)]
enum Problem {
    Gap(u64),
    Batch(String),
    /// A batch that goleveldb would drop and LevelDB applies, and nobody knows which of them wrote it.
    Below {
        number: u64,
        lowest: u64,
    },
    Reason(Reason),
}

impl From<CutError> for Problem {
    fn from(error: CutError) -> Self {
        Self::Batch(format!("the record fits its checksum but is no batch of writes: {error}"))
    }
}

/// The numbers that batches carry: each begins where the one before ended.
struct Sequence {
    lowest: u64,
    next: Option<u64>,
    writer: Writer,
}

/// What a number below the MANIFEST's last one means. LevelDB writes such batches: its MANIFEST names the last write of all,
/// goleveldb's that of the tables.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Writer {
    GoLevelDb,
    LevelDb,
    Either,
}

impl Writer {
    fn of(place: &Place, engine: Engine) -> Self {
        match engine {
            Engine::GoLevelDb if is_surely_goleveldb(&place.dir) => Self::GoLevelDb,
            Engine::GoLevelDb => Self::Either,
            _ => Self::LevelDb,
        }
    }
}

impl Sequence {
    fn apply(&mut self, record: &[u8], write: &mut impl FnMut(Write<'_>) -> Result<(), Reason>) -> Result<(), Problem> {
        let batch = Batch::parse(record)?;
        let below = (batch.sequence < self.lowest).then_some(self.lowest);
        if below.is_some() && self.writer == Writer::GoLevelDb {
            return Err(Problem::Batch(format!(
                "the batch has number {}, below {}: the engine drops it",
                batch.sequence, self.lowest
            )));
        }
        batch.each(|each| write(each).map_err(Problem::Reason))?;
        let end = batch.sequence.saturating_add(u64::from(batch.count));
        let gap = self.next.and_then(|next| batch.sequence.checked_sub(next)).filter(|gap| *gap > 0);
        self.next = Some(end);
        self.lowest = self.lowest.max(end);
        if let Some(lowest) = below.filter(|_| self.writer == Writer::Either) {
            return Err(Problem::Below { number: batch.sequence, lowest });
        }
        gap.map_or(Ok(()), |gap| Err(Problem::Gap(gap)))
    }
}
