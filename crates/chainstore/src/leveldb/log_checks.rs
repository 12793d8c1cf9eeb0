//! Which breaks of a journal or MANIFEST are damage, and which are the torn end of an unfinished write. *Files, read-only.*
//!
//! A break is damage if the log goes on after it (a good chunk where its own length says, or in a later block), or if one
//! flipped bit explains it. Otherwise it is what a crash leaves and the engine repairs. Bytes that merely look like a
//! chunk prove nothing: a peer can have put them there (P13).

use crate::data_file::{DataFile, SecondRead};
use crate::leveldb::records::{After, Break, Event, Records};
use crate::lsm::framing::ChunkState;
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
}

impl LogReport {
    /// Whether a part of the log could not be read, so that what it says is not all that it says.
    pub(crate) fn has_hole(&self) -> bool {
        self.checks.untold.iter().any(|reason| matches!(reason, Reason::Unreadable(_) | Reason::Behind(_)))
    }
}

/// Reads a log to its end and hands each whole record to `record` with its offset.
pub(crate) fn read(place: &Place, file: &DataFile, role: Role, mut record: impl FnMut(u64, &[u8])) -> LogReport {
    let mut report = LogReport::default();
    let mut records = Records::new(file);
    let mut pending: Vec<Break> = Vec::new();
    file.will_read_all();
    while let Some(event) = records.advance() {
        // A MANIFEST is read to its end: half of one would look like a damaged one.
        if role != Role::Manifest && file.meter().interrupted() {
            report.checks.add(Reason::Interrupted);
            break;
        }
        match event {
            Event::Record { offset } => {
                settle(place, file, role, &mut pending, true, &mut report);
                report.records = report.records.saturating_add(1);
                record(offset, records.record());
            }
            Event::Orphan { offset, bytes, explained } => {
                settle(place, file, role, &mut pending, true, &mut report);
                report.dropped = report.dropped.saturating_add(bytes);
                if !explained {
                    let detail = "a record's middle or end stands here without its beginning";
                    report.checks.add(Finding::new(role.kind(), &place.database, file.path(), detail).at(offset));
                    report.dropped_by_damage = report.dropped_by_damage.saturating_add(bytes);
                }
            }
            Event::Unfinished { offset, at_end } => unfinished(place, file, role, offset, at_end, &mut report),
            Event::Broken(broken) => {
                report.dropped = report.dropped.saturating_add(broken.dropped);
                pending.push(*broken);
            }
            Event::Unreadable(error) => report.checks.add(Reason::Unreadable(error)),
        }
    }
    settle(place, file, role, &mut pending, false, &mut report);
    report
}

fn unfinished(place: &Place, file: &DataFile, role: Role, offset: u64, at_end: bool, report: &mut LogReport) {
    let finding = |kind, detail| Finding::new(kind, &place.database, file.path(), detail).at(offset);
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

/// Judges the breaks seen so far, now that it is known whether the log goes on after them.
fn settle(place: &Place, file: &DataFile, role: Role, pending: &mut Vec<Break>, goes_on: bool, report: &mut LogReport) {
    for broken in pending.drain(..) {
        judge(place, file, role, &broken, goes_on, report);
    }
}

fn judge(place: &Place, file: &DataFile, role: Role, broken: &Break, goes_on: bool, report: &mut LogReport) {
    let offset = broken.chunk.offset;
    let finding = |kind, detail: String| Finding::new(kind, &place.database, file.path(), detail).at(offset);
    match &broken.second_read {
        SecondRead::Same => {}
        SecondRead::Differs(at) => {
            let detail =
                format!("read a second time, byte {at} was another: the machine is sick, the file may be right");
            report.checks.add(finding(FindingKind::ReadsDiffer, detail));
            // What the record said is not known: nobody may take it for one that is not there.
            let hole = format!("{} at {offset} read differently twice", file.path().display());
            return report.checks.add(Reason::Behind(hole));
        }
        SecondRead::Failed(error) => return report.checks.add(Reason::Unreadable(error.clone())),
    }
    let flipped = matches!(broken.attribution, Attribution::SingleBitFlip { .. });
    let continues = goes_on || matches!(broken.after, After::GoodChunk | After::BytesAfterZeros);
    if broken.chunk.is_good() {
        report.checks.add(Reason::AboveLimit(format!("{}: a record of more than 512 MiB", file.path().display())));
    } else if continues || flipped || role == Role::OlderJournal {
        report.dropped_by_damage = report.dropped_by_damage.saturating_add(broken.dropped);
        report.salvaged.extend(broken.salvaged.iter().cloned());
        let detail = format!("{}; the engine drops {} bytes from here on", state_in_words(broken), broken.dropped);
        let (expected, computed) = values(broken);
        report.checks.add(finding(role.kind(), detail).values(expected, computed).by(broken.attribution.clone()));
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
        let detail = format!("{}: the torn end of a write that was not finished", state_in_words(broken));
        report.checks.add(finding(FindingKind::SelfHealing, detail));
    }
}

fn state_in_words(broken: &Break) -> &'static str {
    match broken.chunk.state {
        ChunkState::Good => "a record too large to read",
        ChunkState::ZeroHeader => "zeros where a chunk should begin",
        ChunkState::UnknownKind => "a chunk of unknown type",
        ChunkState::Overflow => "a chunk longer than its block",
        ChunkState::BadChecksum(_) => "a chunk that does not fit its checksum",
    }
}

fn values(broken: &Break) -> (String, String) {
    let chunk = &broken.chunk;
    match chunk.state {
        ChunkState::Good | ChunkState::ZeroHeader => ("a chunk".to_owned(), "zeros".to_owned()),
        ChunkState::UnknownKind => ("chunk type 1 to 4".to_owned(), format!("chunk type {}", chunk.kind)),
        ChunkState::Overflow => (
            format!("at most {} bytes", chunk.available.saturating_sub(chunk.header)),
            format!("{} bytes", chunk.length),
        ),
        ChunkState::BadChecksum(crc) => (format!("{:#010x}", chunk.stored), format!("{:#010x}", crate::mask(crc))),
    }
}
