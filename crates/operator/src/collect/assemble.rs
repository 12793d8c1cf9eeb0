//! Puts the evidence together: what the judge gets, and what the record keeps. *No client, no clock.* (P2, P13, P14)

use std::collections::BTreeSet;

use api::{DecisiveLine, DiskMethod, DiskReport, EvidenceReport, Gathered, LogReport, PeersReport};
use crashlog::{LogPart, lines};
use diagnosis::{
    AppHashQuestion, Circumstances, CrashLoopReading, DiskReading, Evidence, EvidenceAge, Lock, LogReading, Siblings,
    Testimony, UpgradePlan,
};
use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use scene::one_line;

use super::{InspectionReport, guard_words::GuardWords, redact};

/// How the disk was looked at, and what came of it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum DiskFound {
    /// An inspector reported.
    Reported {
        /// Of the volume itself, or of a copy.
        method: DiskMethod,
        /// What.
        report: Box<InspectionReport>,
        /// When it had read.
        at: Timestamp,
    },
    /// The guard spoke in the log.
    Guard {
        /// What it said.
        words: GuardWords,
        /// When the log was read.
        at: Timestamp,
    },
    /// Nobody could look.
    Not(String),
}

/// All parts.
#[derive(Debug)]
pub(crate) struct Parts<'p> {
    /// What the pods say.
    pub(crate) crash_loop: CrashLoopReading,
    /// What the logs say together.
    pub(crate) log: LogPart,
    /// When the deciding log was read.
    pub(crate) log_at: Option<Timestamp>,
    /// The disk.
    pub(crate) disk: DiskFound,
    /// What the siblings do.
    pub(crate) siblings: Siblings,
    /// How many of them were asked, and why some did not answer.
    pub(crate) asked: u32,
    pub(crate) mute: Vec<String>,
    /// What stands around.
    pub(crate) circumstances: Circumstances,
    /// The same in words, as far as it is no veto.
    pub(crate) in_words: Vec<String>,
    /// What could not be got, and why.
    pub(crate) missing: Vec<String>,
    /// Who may hold the lock.
    pub(crate) lock: Lock,
    /// Whether a run since then could have changed what was read.
    pub(crate) age: EvidenceAge,
    /// When it was put together.
    pub(crate) now: Timestamp,
    /// The record's namespace and name, for the evidence's own id.
    pub(crate) about: &'p str,
}

/// What the judge gets and what is kept.
#[derive(Debug)]
pub(crate) struct Assembled {
    pub(crate) evidence: Evidence,
    pub(crate) report: EvidenceReport,
}

/// Things kept of each list, as the schema says.
const LIST_MAX: usize = 64;
/// Characters kept of each.
const QUOTE_MAX: usize = 1024;
/// Findings and decisive lines kept.
const QUOTED_MAX: usize = 16;

/// Puts it together.
pub(crate) fn assemble(parts: Parts<'_>) -> Assembled {
    let mut circumstances = parts.circumstances;
    let mut missing = parts.missing;
    let disk = reading(&parts.disk);
    if let DiskFound::Reported { report, method, .. } = &parts.disk {
        report.complete(&mut circumstances);
        if *method == DiskMethod::InPlace {
            circumstances.space = report.space();
        }
    }
    if let DiskFound::Not(why) = &parts.disk {
        missing.push(format!("the disk was not read: {why}"));
    }
    circumstances.lock = parts.lock;
    circumstances.evidence_age = parts.age;
    if circumstances.upgrade == UpgradePlan::Unknown && same_image_goes_on(&parts.siblings) {
        circumstances.upgrade = UpgradePlan::NotDue;
    }
    missing.extend(parts.mute.iter().cloned());
    let mut said = BTreeSet::new();
    missing.retain(|words| said.insert(words.clone()));
    missing.truncate(LIST_MAX);
    let log = log_report(&parts.log, parts.log_at, parts.now);
    let mut report = EvidenceReport {
        id: None,
        log,
        disk: Some(disk_report(&parts.disk, &disk, parts.now)),
        peers: Some(peers_report(&parts.siblings, parts.asked, parts.now)),
        circumstances: parts.in_words.iter().take(LIST_MAX).map(|words| quoted(words)).collect(),
        missing: missing.iter().map(|words| quoted(words)).collect(),
    };
    report.id = Some(id(&report, parts.about));
    let evidence = Evidence {
        crash_loop: parts.crash_loop,
        log: parts.log.reading,
        disk,
        siblings: parts.siblings,
        circumstances,
    };
    Assembled { evidence, report }
}

/// An upgrade at this height would have stopped them too.
fn same_image_goes_on(siblings: &Siblings) -> bool {
    matches!(siblings, Siblings::Advancing { app_hash: AppHashQuestion::SameImagePasses, .. })
}

fn reading(disk: &DiskFound) -> DiskReading {
    match disk {
        DiskFound::Reported { report, .. } => report.reading(),
        DiskFound::Guard { words, .. } => words.reading(),
        DiskFound::Not(_) => DiskReading::NotRead,
    }
}

fn log_report(log: &LogPart, at: Option<Timestamp>, now: Timestamp) -> Option<LogReport> {
    let chosen = log.chosen.as_ref()?;
    let says = match &log.reading {
        LogReading::Read(opinion) => {
            format!("{} ({} %)", opinion.cause, (opinion.probability.thousandths().saturating_add(5)) / 10)
        }
        LogReading::Abstained(_) | LogReading::NotRead => log.abstained().unwrap_or("nothing").to_owned(),
    };
    let says = match log.no_testimony() {
        Some(why) => format!("{says}; no witness: {why}"),
        None => says,
    };
    let witness = matches!(&log.reading, LogReading::Read(opinion) if opinion.testimony == Testimony::Witness);
    let decisive = lines(&chosen.finding, QUOTED_MAX)
        .into_iter()
        .map(|line| DecisiveLine { line: line.line, text: quoted(&line.text) });
    Some(LogReport {
        gathered: Gathered { at: Time(at.unwrap_or(now)), from: one_line(&chosen.label) },
        witness,
        says: quoted(&says),
        logs: u32::try_from(log.files.len()).unwrap_or(u32::MAX),
        decisive: decisive.collect(),
    })
}

/// Foreign words as the record keeps them: without secrets, on one line, of sane length.
fn quoted(words: &str) -> String {
    cut(&redact(&one_line_of(words)), QUOTE_MAX)
}

fn one_line_of(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

fn cut(text: &str, length: usize) -> String {
    text.chars().take(length).collect()
}

fn disk_report(disk: &DiskFound, reading: &DiskReading, now: Timestamp) -> DiskReport {
    let outcome = match reading {
        DiskReading::NotRead => "not_read",
        DiskReading::CouldNotTell(_) | DiskReading::ReadsDiffer(_) => "could_not_tell",
        DiskReading::Intact { .. } => "intact",
        DiskReading::Damaged(_) => "damaged",
        DiskReading::Inconsistent(_) => "inconsistent",
    };
    let names = |names: &[diagnosis::DatabaseName]| {
        names.iter().map(diagnosis::DatabaseName::as_str).collect::<Vec<_>>().join(", ")
    };
    let says = match (reading, disk) {
        (DiskReading::NotRead, DiskFound::Not(why)) => format!("not read: {why}"),
        (DiskReading::NotRead, _) => "not read".to_owned(),
        (DiskReading::CouldNotTell(why), _) => format!("could not tell: {why}"),
        (DiskReading::Intact { .. }, _) => "nothing wrong was found".to_owned(),
        (DiskReading::Damaged(databases), _) => format!("damaged: {}", names(databases)),
        (DiskReading::Inconsistent(databases), _) => format!("the databases disagree: {}", names(databases)),
        (DiskReading::ReadsDiffer(databases), _) => {
            format!("the same block reads differently twice: {}", names(databases))
        }
    };
    let (method, at, from) = match disk {
        DiskFound::Reported { method: DiskMethod::Snapshot, at, .. } => {
            (DiskMethod::Snapshot, *at, "an inspector, on a copy of its claim")
        }
        DiskFound::Reported { method, at, .. } => (*method, *at, "an inspector, on its own claim"),
        DiskFound::Guard { at, .. } => (DiskMethod::Guard, *at, "the guard in its pod, before the start"),
        DiskFound::Not(_) => (DiskMethod::None, now, "nobody"),
    };
    let (findings, heights) = match disk {
        DiskFound::Reported { report, .. } => (report.findings(QUOTED_MAX), report.heights()),
        DiskFound::Guard { words, .. } => (words.findings.iter().map(|words| one_line(words)).collect(), None),
        DiskFound::Not(_) => (Vec::new(), None),
    };
    DiskReport {
        gathered: Gathered { at: Time(at), from: from.to_owned() },
        method,
        outcome: outcome.to_owned(),
        says: quoted(&says),
        findings: findings.iter().map(|words| quoted(words)).collect(),
        heights,
    }
}

fn peers_report(siblings: &Siblings, asked: u32, now: Timestamp) -> PeersReport {
    let (advancing, height, says) = match siblings {
        Siblings::Unknown => (0, None, "what they do is not known".to_owned()),
        Siblings::Advancing { count, height, app_hash } => {
            let image = match app_hash {
                AppHashQuestion::SameImagePasses => "; the same image passes this height there",
                AppHashQuestion::SameImageDoesNot => "; none with the same image passes this height",
                AppHashQuestion::Unknown => "",
            };
            (*count, Some(height.0), format!("{count} advance, the highest is at {height}{image}"))
        }
        Siblings::Halted { height } => (0, Some(height.0), format!("none advances; they stand at {height}")),
    };
    let from = "CometBFT's /status of their pods".to_owned();
    PeersReport { gathered: Gathered { at: Time(now), from }, advancing, asked, height, says }
}

/// Names what was found about a record, whenever it was found: the times, and how far the siblings have come since, change
/// with every look. FNV-1a, 64 bits: it tells looks apart, and is no proof against a forger.
fn id(report: &EvidenceReport, about: &str) -> String {
    let log = report.log.as_ref().map(|log| (log.witness, &log.says, &log.decisive));
    let disk = report.disk.as_ref().map(|disk| (disk.method, &disk.outcome, &disk.says, &disk.findings, &disk.heights));
    let peers = report.peers.as_ref().map(|peers| peers.advancing > 0);
    let text = format!("{:?}", (about, log, disk, peers, &report.circumstances, &report.missing));
    let fold = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    format!("{:016x}", text.bytes().fold(0xcbf2_9ce4_8422_2325, fold))
}

#[cfg(test)]
mod tests;
