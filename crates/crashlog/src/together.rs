//! What several logs of one replica say together. *No IO.* (design 4; P13)
//!
//! The strongest testimony counts, and among equals the first failure: what follows it may be its consequence. A log that
//! points elsewhere takes the testimony back from another one, just as it would within one log.

use std::sync::Arc;

use diagnosis::{Cause, LogAbstention, LogOpinion, LogReading, Policy, Testimony};

use crate::{
    ExaminedLog, Finding, NoTestimony,
    digest::Failure,
    explain::{DecisiveLine, decisive_lines},
    phrases::Strength,
};

/// The logs of one replica.
#[derive(Debug, Default)]
pub struct LogPart {
    /// What the judge gets.
    pub reading: LogReading,
    /// Each log by itself, in the order in which they were read: the oldest first.
    pub files: Vec<FileOpinion>,
    /// The log whose word is taken, with all that explains it.
    pub chosen: Option<Chosen>,
    /// The log that took the testimony back.
    pub contradicted_by: Option<String>,
}

/// One log by itself.
#[derive(Debug)]
pub struct FileOpinion {
    /// What it is called.
    pub label: String,
    /// What it says.
    pub reading: LogReading,
    /// Why it does not testify, in words, where it reports damage and still does not.
    pub no_testimony: Option<String>,
    /// Its decisive line.
    pub decisive: Option<DecisiveLine>,
    /// Why it is not complete, where it is not.
    pub gap: Option<String>,
    /// In which encoding it is, where that is why it cannot be read.
    pub encoding: Option<&'static str>,
    /// Whether its last lines are those of a node that was told to stop.
    pub ends_in_stop: bool,
    /// Its size, decompressed.
    pub bytes: u64,
    /// Its lines.
    pub lines: u64,
}

/// The log whose word is taken.
#[derive(Debug)]
pub struct Chosen {
    /// What it is called.
    pub label: String,
    /// What it says, with everything that explains it.
    pub finding: Arc<Finding>,
}

impl FileOpinion {
    /// Why it says nothing, where it says nothing.
    #[must_use]
    pub fn abstained(&self) -> Option<&'static str> {
        match &self.reading {
            LogReading::Abstained(reason) => Some(self.encoding.unwrap_or_else(|| reason.in_words())),
            LogReading::NotRead | LogReading::Read(_) => None,
        }
    }
}

impl LogPart {
    /// Adds the next log. Only one whole finding is kept, however many logs there are.
    pub fn add(&mut self, log: ExaminedLog) {
        let ExaminedLog { label, finding, gap, encoding, ends_in_stop } = log;
        self.files.push(FileOpinion {
            label: label.clone(),
            reading: finding.reading.clone(),
            no_testimony: no_testimony(&finding),
            decisive: lines(&finding, 1).pop(),
            gap,
            encoding,
            ends_in_stop,
            bytes: finding.summary.bytes,
            lines: finding.summary.lines,
        });
        if self.chosen.as_ref().is_none_or(|chosen| weight(&finding) > weight(&chosen.finding)) {
            self.chosen = Some(Chosen { label, finding });
        }
        self.combine();
    }

    fn combine(&mut self) {
        let Some(chosen) = &self.chosen else { return };
        self.reading = chosen.finding.reading.clone();
        let LogReading::Read(opinion) = &mut self.reading else { return };
        for other in self.files.iter().filter_map(|file| read(&file.reading)) {
            merge(&mut opinion.symptoms, &other.symptoms);
            merge(&mut opinion.databases, &other.databases);
        }
        let elsewhere = self.files.iter().find(|file| read(&file.reading).is_some_and(points_elsewhere));
        self.contradicted_by =
            elsewhere.filter(|_| opinion.testimony == Testimony::Witness).map(|file| file.label.clone());
        if self.contradicted_by.is_some() {
            opinion.testimony = Testimony::Opinion;
        }
    }

    /// Why the log says nothing, where it says nothing.
    #[must_use]
    pub fn abstained(&self) -> Option<&'static str> {
        match &self.reading {
            LogReading::NotRead => Some("no log was given"),
            LogReading::Abstained(reason) => {
                let label = self.chosen.as_ref().map(|chosen| &chosen.label);
                let file = self.files.iter().find(|file| Some(&file.label) == label);
                Some(file.and_then(FileOpinion::abstained).unwrap_or_else(|| reason.in_words()))
            }
            LogReading::Read(_) => None,
        }
    }

    /// A cause that takes a veto away when another replica's differs (P7): only one that is as probable as the judge asks of
    /// "points elsewhere", and that nothing in the logs speaks against.
    #[must_use]
    pub fn sure_cause(&self) -> Option<Cause> {
        let is_sure = |opinion: &&LogOpinion| {
            opinion.probability >= Policy::ELSEWHERE_FROM_AT_MOST && opinion.counter_evidence.is_none()
        };
        read(&self.reading).filter(is_sure).filter(|_| self.contradicted_by.is_none()).map(|opinion| opinion.cause)
    }

    /// Why a log that reports damage is no witness of it.
    #[must_use]
    pub fn no_testimony(&self) -> Option<String> {
        if let Some(label) = &self.contradicted_by {
            return Some(format!("another log points to another cause ({label})"));
        }
        no_testimony(&self.chosen.as_ref()?.finding)
    }
}

/// The lines that decided; of a log that is none of a node's, or that reports no failure, none.
#[must_use]
pub fn lines(finding: &Finding, max: usize) -> Vec<DecisiveLine> {
    match &finding.reading {
        LogReading::Read(_) | LogReading::Abstained(LogAbstention::HeadMissing | LogAbstention::Unfamiliar) => {
            decisive_lines(finding, max)
        }
        LogReading::NotRead | LogReading::Abstained(_) => Vec::new(),
    }
}

/// The opinion in a reading, where there is one.
#[must_use]
pub fn read(reading: &LogReading) -> Option<&LogOpinion> {
    match reading {
        LogReading::Read(opinion) => Some(opinion),
        LogReading::Abstained(_) | LogReading::NotRead => None,
    }
}

fn points_elsewhere(opinion: &LogOpinion) -> bool {
    !opinion.cause.is_local_damage()
        && opinion.cause != Cause::Unknown
        && opinion.probability >= Policy::ELSEWHERE_FROM_AT_MOST
}

/// Why a log that reports damage is no witness of it; of one that reports another cause nobody asks.
fn no_testimony(finding: &Finding) -> Option<String> {
    let reports_damage = read(&finding.reading).is_some_and(|opinion| opinion.cause.is_local_damage());
    finding.no_testimony.filter(|_| reports_damage).map(NoTestimony::in_words)
}

/// How much a log has to say.
fn weight(finding: &Finding) -> (u8, Option<Strength>) {
    let rank = match &finding.reading {
        LogReading::Read(LogOpinion { testimony: Testimony::Witness, .. }) => 8,
        LogReading::Read(_) => 7,
        LogReading::Abstained(LogAbstention::Unfamiliar) => 6,
        LogReading::Abstained(LogAbstention::HeadMissing) => 5,
        LogReading::Abstained(LogAbstention::NoFailure) => 4,
        LogReading::Abstained(LogAbstention::ForeignProgram) => 3,
        LogReading::Abstained(LogAbstention::NotText) => 2,
        LogReading::Abstained(LogAbstention::Empty) => 1,
        LogReading::NotRead => 0,
    };
    (rank, finding.digest.decisive().and_then(Failure::strength))
}

fn merge<T: Clone + PartialEq>(into: &mut Vec<T>, from: &[T]) {
    for item in from {
        if !into.contains(item) {
            into.push(item.clone());
        }
    }
}
