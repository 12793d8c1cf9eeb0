//! Which breaks of a journal or MANIFEST are damage, and which are the torn end of an unfinished write. *Files, read-only.*
//!
//! A break is damage if the log goes on after it (a good chunk where its own length says, or in a later block), or if one
//! flipped bit explains it. Otherwise it is what a crash leaves and the engine repairs. Bytes that merely look like a
//! chunk prove nothing: a peer can have put them there (P13).

use crate::data_file::{DataFile, SecondRead};
use crate::lsm::at_break::AtBreak;
use crate::lsm::break_words::{state_in_words, values};
use crate::lsm::framing::{ChunkState, Dialect};
use crate::lsm::records::{After, Break, Event, Records};
use crate::read_error::ReadProblem;
use crate::store::Place;
use crate::{Attribution, Checks, Finding, FindingKind, Reason};

/// What a log is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// A MANIFEST: version edits.
    Manifest,
    /// A journal that later journals follow.
    OlderJournal,
    /// The newest journal: only its end may be torn.
    NewestJournal,
}

impl Role {
    fn kind(self) -> FindingKind {
        match self {
            Self::Manifest => FindingKind::ManifestCorrupt,
            Self::OlderJournal | Self::NewestJournal => FindingKind::JournalCorrupt,
        }
    }
}

/// What reading a log gave besides its records.
#[derive(Debug, Default)]
pub(crate) struct LogReport {
    /// Findings and notes.
    pub(crate) checks: Checks,
    /// Whole records.
    pub(crate) records: u64,
    /// Bytes that the engine drops, torn ends included.
    pub(crate) dropped: u64,
    /// Bytes that it drops although they are no torn end.
    pub(crate) dropped_by_damage: u64,
    /// Whole records that can still be read in what it drops.
    pub(crate) salvaged: Vec<Vec<u8>>,
    /// Where the engine stops reading although the log goes on, if it is one that stops at a break.
    pub(crate) stopped: Option<u64>,
    /// Whether it takes that place for the log's end, and so has no error.
    pub(crate) ended_by_number: bool,
    /// Whether the engine calls what it met an error, if it is one that tells errors from a file's end.
    pub(crate) error: bool,
}

/// Records beyond a break are kept up to this many bytes: they are counted, no more.
const SALVAGED_BYTES_MAX: u64 = 64 << 20;

/// Breaks that wait for what follows them: 128 MiB of broken blocks, of which none holds a record.
const BREAKS_MAX: usize = 4096;

impl LogReport {
    /// Whether a part of the log could not be read, so that what it says is not all that it says.
    pub(crate) fn has_hole(&self) -> bool {
        self.checks
            .untold
            .iter()
            .any(|reason| matches!(reason, Reason::Unreadable(_) | Reason::Interrupted | Reason::AboveLimit(_)))
    }

    /// A record that the engine does not reach.
    fn beyond(&mut self, record: &[u8]) {
        let bytes = record.len() as u64;
        let held: u64 = self.salvaged.iter().map(|record| record.len() as u64).sum();
        self.dropped_by_damage = self.dropped_by_damage.saturating_add(bytes);
        if held.saturating_add(bytes) <= SALVAGED_BYTES_MAX {
            self.salvaged.push(record.to_vec());
        }
    }
}

/// Reads a log to its end and hands each whole record that the engine reads to `record` with its offset.
// tidy: long function, because each event has its arm, and what one leaves behind is what the next is judged by.
pub(crate) fn read(
    place: &Place,
    file: &DataFile,
    role: Role,
    dialect: Dialect,
    mut record: impl FnMut(u64, &[u8]),
) -> LogReport {
    let mut report = LogReport::default();
    let mut records = Records::new(file, dialect);
    let log = Log { place, file, role, dialect };
    let mut ended = None;
    let mut pending: Vec<Break> = Vec::new();
    file.will_read_all();
    while let Some(event) = records.advance() {
        // A MANIFEST is read to its end: half of one would look like a damaged one. But nothing follows a torn end.
        if (role != Role::Manifest || matches!(event, Event::Broken(_))) && file.meter().interrupted() {
            report.checks.add(Reason::Interrupted);
            break;
        }
        match event {
            Event::Record { offset } => {
                settle(&log, &mut pending, true, &mut report);
                if let Some(end) = ended.take() {
                    report.stopped = report.stopped.or(Some(end));
                    report.checks.add(log.goes_on_after_its_end(end, offset));
                }
                report.records = report.records.saturating_add(1);
                if report.stopped.is_some() {
                    report.beyond(records.record());
                } else {
                    record(offset, records.record());
                }
            }
            Event::Orphan { offset, bytes, explained } => {
                settle(&log, &mut pending, true, &mut report);
                report.dropped = report.dropped.saturating_add(bytes);
                report.error |= dialect.at_break == AtBreak::StopsUnlessZero;
                if !explained {
                    let detail = "a record's middle or end stands here without its beginning";
                    report.checks.add(log.finding(role.kind(), detail).at(offset));
                    report.dropped_by_damage = report.dropped_by_damage.saturating_add(bytes);
                }
            }
            Event::Unfinished { offset, at_end } => unfinished(&log, offset, at_end, &mut report),
            Event::Ended { offset } => ended = ended.or(Some(offset)),
            Event::Leftover { offset } => leftover(&log, offset, &mut report),
            Event::Broken(broken) => {
                let flipped = is_own_flipped(&broken);
                if !flipped && (ended.is_some() || broken.ends_log) {
                    // What an earlier log left behind this one's end is of no concern.
                    ended = ended.or(Some(broken.chunk.offset));
                    continue;
                }
                report.error |= dialect.at_break.is_error(&broken.chunk, file.bytes());
                if !dialect.at_break.goes_on(&broken.chunk) {
                    report.ended_by_number |= report.stopped.is_none() && broken.ends_log;
                    report.stopped = report.stopped.or(Some(broken.chunk.offset));
                }
                report.dropped = report.dropped.saturating_add(broken.dropped);
                if pending.last_mut().is_some_and(|last| last.takes_in(&broken)) {
                    continue;
                }
                if pending.len() >= BREAKS_MAX {
                    report.checks.add(log.too_many_breaks());
                    break;
                }
                pending.push(*broken);
            }
            Event::Unreadable(error) => report.checks.add(Reason::Unreadable(error)),
        }
    }
    settle(&log, &mut pending, false, &mut report);
    report
}

/// The log that is read.
struct Log<'a> {
    place: &'a Place,
    file: &'a DataFile,
    role: Role,
    dialect: Dialect,
}

impl Log<'_> {
    fn finding(&self, kind: FindingKind, detail: impl Into<String>) -> Finding {
        Finding::new(kind, &self.place.database, self.file.path(), detail)
    }

    fn too_many_breaks(&self) -> Reason {
        Reason::AboveLimit(format!("{}: more than {BREAKS_MAX} broken blocks in a row", self.file.path().display()))
    }

    /// Chunks of this log stand behind the mark or the earlier log's chunk that ended it.
    fn goes_on_after_its_end(&self, end: u64, next: u64) -> Finding {
        let detail = format!(
            "another log's bytes stand here, but this one goes on at {next}; the engine reads this log no further"
        );
        self.finding(self.role.kind(), detail).at(end)
    }
}

fn unfinished(log: &Log<'_>, offset: u64, at_end: bool, report: &mut LogReport) {
    let (file, role) = (log.file, log.role);
    let finding = |kind, detail: &str| log.finding(kind, detail).at(offset);
    match (at_end, role) {
        (true, Role::Manifest | Role::NewestJournal) => {
            report
                .checks
                .add(finding(FindingKind::SelfHealing, "the last record is torn: a write that was not finished"));
        }
        (true, Role::OlderJournal) => {
            let torn = finding(role.kind(), "the last record is torn although later journals go on after it");
            report.checks.add(torn.by(Attribution::Truncation { missing: None }));
        }
        (false, _) => report.checks.add(Reason::Ambiguous(format!(
            "{}: the record at {offset} is not finished, and another begins",
            file.path().display()
        ))),
    }
}

/// A log that others follow was closed, and its last chunk is whole.
fn leftover(log: &Log<'_>, offset: u64, report: &mut LogReport) {
    if log.role == Role::OlderJournal {
        report.stopped = report.stopped.or(Some(offset));
        let cut =
            log.finding(log.role.kind(), "the log ends inside a chunk's header although later ones go on after it");
        report.checks.add(cut.at(offset).by(Attribution::Truncation { missing: None }));
    }
}

/// Judges the breaks seen so far, now that it is known whether the log goes on after them.
fn settle(log: &Log<'_>, pending: &mut Vec<Break>, goes_on: bool, report: &mut LogReport) {
    for broken in pending.drain(..) {
        judge(log, &broken, goes_on, report);
    }
}

fn judge(log: &Log<'_>, broken: &Break, goes_on: bool, report: &mut LogReport) {
    let Log { file, role, dialect, .. } = *log;
    let offset = broken.chunk.offset;
    let finding = |kind, detail: String| log.finding(kind, detail).at(offset);
    match &broken.second_read {
        SecondRead::Same => {}
        // What the record said is not known: nobody may take it for one that is not there.
        SecondRead::Differs(at) => {
            let error = file.error(ReadProblem::Differs { offset: *at });
            return report.checks.add(Reason::Unreadable(error));
        }
        SecondRead::Failed(error) => return report.checks.add(Reason::Unreadable(error.clone())),
    }
    let flipped = is_own_flipped(broken);
    // Where files are used again, anything can stand behind zeros.
    let continues = goes_on
        || broken.after == After::GoodChunk
        || (broken.after == After::BytesAfterZeros && dialect.log_number.is_none());
    let refused = role == Role::Manifest && dialect.at_break.is_error(&broken.chunk, file.bytes());
    if broken.chunk.is_good() {
        report.checks.add(Reason::AboveLimit(format!("{}: a record of more than 512 MiB", file.path().display())));
    } else if continues || flipped || refused || role == Role::OlderJournal {
        report.dropped_by_damage = report.dropped_by_damage.saturating_add(broken.dropped);
        report.salvaged.extend(broken.salvaged.iter().cloned());
        let further: u64 = broken.salvaged.iter().map(|record| record.len() as u64).sum();
        let loss = if dialect.at_break.goes_on(&broken.chunk) {
            format!("the engine drops {} bytes from here on", broken.dropped)
        } else {
            report.dropped_by_damage = report.dropped_by_damage.saturating_add(further);
            let words = if refused { "the engine does not open" } else { "the engine reads this log no further" };
            words.to_owned()
        };
        let detail = format!("{}; {loss}", state_in_words(broken));
        let (expected, computed) = values(broken);
        report.checks.add(finding(role.kind(), detail).values(expected, computed).by(broken.attribution.clone()));
    } else if broken.chunk.state == ChunkState::ZeroHeader && dialect.log_number.is_some() {
        // Space that was reserved and is not written yet.
    } else if broken.after == After::Lookalike {
        report.checks.add(Reason::Ambiguous(format!(
            "{}: {} at {offset}, and what stands after it may be a record or a record's content",
            file.path().display(),
            state_in_words(broken)
        )));
    } else if !broken.can_be_torn {
        report.checks.add(Reason::Ambiguous(format!(
            "{}: {} at {offset}, the last of the file: neither cut nor zero, so hardly the end of an unfinished write",
            file.path().display(),
            state_in_words(broken)
        )));
    } else {
        let end = match dialect.log_number {
            None => "the torn end of a write that was not finished",
            Some(_) => "here the log ends, in a write that was not finished or in what the file held as an earlier log",
        };
        let detail = format!("{}: {end}", state_in_words(broken));
        report.checks.add(finding(FindingKind::SelfHealing, detail));
    }
}

/// Whether it is a chunk of this log but for one bit.
fn is_own_flipped(broken: &Break) -> bool {
    matches!(broken.attribution, Attribution::SingleBitFlip { .. }) && !broken.of_end_mark
}
