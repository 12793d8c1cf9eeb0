//! The WALs that the engine replays at its next open. *Files, read-only.*
//!
//! Source: RocksDB `db/db_impl/db_impl_open.cc` (`RecoverLogFiles`, `ProcessLogRecord`, `HandleNonOkStatusOrOldLogRecord`); formats 3, 7.
//! By default (`kPointInTimeRecovery`) the engine takes what stands before the first thing that it cannot use and opens without
//! a word. It goes on only with a WAL whose first write has the very number that comes next.

use crate::lsm::file_number;
use crate::lsm::log_checks::{self, Role};
use crate::lsm::unpack::unpack_record;
use crate::rocksdb::batch::{Batch, BatchError, Write};
use crate::rocksdb::names::Name;
use crate::rocksdb::version::Version;
use crate::rocksdb::wal_format;
use crate::store::Place;
use crate::{Checks, Finding, FindingKind, Reason};

/// Records that the engine does not reach are kept up to this many bytes: they are counted, no more.
const SALVAGED_BYTES_MAX: usize = 64 << 20;

/// What reading the WALs gave besides their writes.
#[derive(Debug, Default)]
pub(crate) struct WalReport {
    pub(crate) checks: Checks,
    /// Bytes that the engine does not read although they were written.
    pub(crate) dropped: u64,
    /// Whole records among those.
    pub(crate) salvaged: Vec<Vec<u8>>,
    /// The highest number of a write that the engine applies.
    pub(crate) sequence: u64,
}

/// The WALs that the engine replays, oldest first.
pub(crate) fn replayed(place: &Place, version: &Version) -> Vec<u64> {
    let first = version.first_wal();
    let numbers = place.entries.iter().filter_map(|entry| match Name::parse(entry.name.to_str()?) {
        Some(Name::Wal(number)) => Some(number),
        _ => None,
    });
    let mut numbers: Vec<u64> = numbers.filter(|number| *number >= first).collect();
    numbers.sort_unstable();
    numbers
}

/// The WALs that the MANIFEST keeps an eye on: each must be there, and as long as it was when it was synced.
pub(crate) fn tracked(place: &Place, version: &Version) -> Vec<Finding> {
    let mut findings = Vec::new();
    let first = version.first_wal();
    for (number, synced) in version.wals.range(first..) {
        let name = file_number::log(*number);
        let path = place.dir.path().join(&name);
        let finding = |kind, detail: &str| Finding::new(kind, &place.database, &path, detail);
        match (place.entry(&name), synced) {
            (None, _) => {
                let detail = "a WAL that the MANIFEST names is not there: its writes are lost";
                findings.push(finding(FindingKind::JournalMissing, detail));
            }
            (Some(entry), Some(synced)) if entry.bytes < *synced => {
                let detail = "the WAL is shorter than the MANIFEST says that was synced";
                let values = (format!("{synced} bytes"), format!("{} bytes", entry.bytes));
                findings.push(finding(FindingKind::JournalCorrupt, detail).values(values.0, values.1));
            }
            _ => {}
        }
    }
    findings
}

/// Reads them all and hands out each write that the engine would apply, with the number of its WAL.
pub(crate) fn read(
    place: &Place,
    version: &Version,
    write: impl FnMut(u64, Write<'_>) -> Result<(), Reason>,
) -> WalReport {
    let in_tables = version.last_sequence.filter(|_| !version.cut_short);
    let mut replay = Replay { version, write, report: WalReport::default(), in_tables, next: None, stopped: None };
    for number in replayed(place, version) {
        replay.wal(place, number);
    }
    replay.report
}

/// Why the engine reads no further.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stop {
    /// Something in this WAL that is no write's torn end.
    Damage,
    /// The end of this WAL, clean or torn, behind which there may be an earlier one's bytes.
    End(u64),
}

struct Replay<'a, W> {
    version: &'a Version,
    write: W,
    report: WalReport,
    /// The highest number of a write in tables, until the first record has been compared with it; none if the MANIFEST was not
    /// read to its end.
    in_tables: Option<u64>,
    /// The number that the next write must have.
    next: Option<u64>,
    stopped: Option<Stop>,
}

impl<W: FnMut(u64, Write<'_>) -> Result<(), Reason>> Replay<'_, W> {
    fn wal(&mut self, place: &Place, number: u64) {
        // The low 32 bits of the file number.
        let log_number = u32::try_from(number & u64::from(u32::MAX)).unwrap_or_default();
        let opened = place.dir.file(file_number::log(number));
        let (file, format) =
            match opened.and_then(|file| wal_format::of(&file, log_number).map(|format| (file, format))) {
                Ok(opened) => opened,
                Err(error) => {
                    self.report.checks.add(Reason::Unreadable(error));
                    (self.in_tables, self.next) = (None, None);
                    return;
                }
            };
        let mut problems = Vec::new();
        let mut unpacked = Vec::new();
        let log = log_checks::read(place, &file, Role::NewestJournal, format.dialect, |offset, record| {
            let record = match format.compression {
                0 => Ok(record),
                7 => unpack_record(record, &mut unpacked).map(|()| unpacked.as_slice()).map_err(|error| {
                    Problem::Malformed(format!("the record fits its checksum but cannot be unpacked: {error}"))
                }),
                other => {
                    let what = format!("records packed by type {other} are not read by this version");
                    Err(Problem::Reason(Reason::Unsupported(what)))
                }
            };
            let done = record.and_then(|record| self.record(number, record));
            problems.extend(done.err().map(|problem| (offset, problem)));
        });
        let path = file.path();
        for (offset, problem) in problems {
            let check = match problem {
                Problem::Malformed(detail) => {
                    Finding::new(FindingKind::BatchMalformed, &place.database, path, detail).at(offset).into()
                }
                Problem::Ambiguous(what) => Reason::Ambiguous(format!("{} at {offset}: {what}", path.display())).into(),
                Problem::Reason(reason) => reason.into(),
            };
            if !matches!(&check, crate::Check::CouldNotTell(reason) if self.report.checks.untold.contains(reason)) {
                self.report.checks.add(check);
            }
        }
        self.report.dropped = self.report.dropped.saturating_add(log.dropped_by_damage);
        for record in log.salvaged {
            self.salvage(&record);
        }
        let numbered = format.dialect.log_number.is_some();
        if log.dropped_by_damage > 0 {
            self.stopped = Some(Stop::Damage);
        } else if self.stopped.is_none() && (numbered || log.stopped.is_some() || !log.checks.findings.is_empty()) {
            self.stopped = Some(Stop::End(number));
        }
        self.report.checks.extend(log.checks);
    }

    fn salvage(&mut self, record: &[u8]) {
        let held: usize = self.report.salvaged.iter().map(Vec::len).sum();
        if held.saturating_add(record.len()) <= SALVAGED_BYTES_MAX {
            self.report.salvaged.push(record.to_vec());
        }
    }

    /// One record: whether the engine takes it, and whether its numbers follow those before.
    fn record(&mut self, wal: u64, record: &[u8]) -> Result<(), Problem> {
        let batch = Batch::parse(record).map_err(|error| self.malformed(BatchError::Malformed(error)))?;
        let end = batch.sequence.saturating_add(u64::from(batch.count));
        if let Some(stop) = self.stopped {
            if self.next.is_some_and(|next| next != batch.sequence) || stop == Stop::Damage && self.next.is_none() {
                self.report.dropped = self.report.dropped.saturating_add(record.len() as u64);
                self.salvage(record);
                return match stop {
                    Stop::End(before) if before != wal => {
                        self.stopped = Some(Stop::End(wal));
                        let words = "its first write does not follow the last one before it; the engine drops this WAL. \
                                     A power cut leaves that as well as damage";
                        Err(Problem::Ambiguous(words.to_owned()))
                    }
                    _ => Ok(()),
                };
            }
            self.stopped = None;
        }
        let before = self.next.replace(end);
        let in_tables = self.in_tables.take();
        self.report.sequence = self.report.sequence.max(end.saturating_sub(1));
        let write = &mut self.write;
        if let Err(stop) = batch.each::<Halt>(|each| Ok(write(wal, each)?)) {
            return Err(match stop {
                Halt::Batch(error) => self.malformed(error),
                Halt::Reason(reason) => Problem::Reason(reason),
            });
        }
        match before {
            None if in_tables.is_some_and(|last| self.misses(last.saturating_add(1), batch.sequence)) => {
                let words = "the writes before it are neither in a table that the MANIFEST names nor in a WAL: MANIFEST or \
                             WALs lost their end, or they were never written to a WAL";
                Err(Problem::Ambiguous(words.to_owned()))
            }
            Some(next) if self.misses(next, batch.sequence) => {
                let missing = batch.sequence.saturating_sub(next);
                Err(Problem::Ambiguous(format!(
                    "{missing} writes before it are in no WAL: lost, or never written to one"
                )))
            }
            Some(next) if batch.sequence < next => Err(Problem::Ambiguous(format!(
                "the batch has number {}, though {next} would come next",
                batch.sequence
            ))),
            _ => Ok(()),
        }
    }

    /// Whether numbers are missing between two writes that no table taken in explains.
    fn misses(&self, next: u64, found: u64) -> bool {
        found > next && !self.version.took_in(next, found)
    }

    fn malformed(&mut self, error: BatchError) -> Problem {
        match error {
            BatchError::Malformed(error) => {
                self.stopped = Some(Stop::Damage);
                self.next = None;
                Problem::Malformed(format!("the record fits its checksum but is no batch of writes: {error}"))
            }
            // What a newer engine wrote behind a right checksum is no damage.
            BatchError::UnknownKind(kind) => {
                self.next = None;
                let what = format!("writes of kind {kind} are not read by this version");
                Problem::Reason(Reason::Unsupported(what))
            }
            BatchError::Transaction => {
                self.next = None;
                let what = "a WAL with transactions is not read by this version";
                Problem::Reason(Reason::Unsupported(what.to_owned()))
            }
        }
    }
}

#[derive(Debug)]
enum Problem {
    Malformed(String),
    Ambiguous(String),
    Reason(Reason),
}

/// Why a batch was not read to its end.
enum Halt {
    Batch(BatchError),
    Reason(Reason),
}

impl From<BatchError> for Halt {
    fn from(error: BatchError) -> Self {
        Self::Batch(error)
    }
}

impl From<Reason> for Halt {
    fn from(reason: Reason) -> Self {
        Self::Reason(reason)
    }
}
