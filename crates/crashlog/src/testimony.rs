//! When a log may testify that local data is damaged: every condition but the score's, and which of them failed. *No IO.* (P2, P13)

use diagnosis::{Cause, DatabaseName, StartRole};

use crate::{
    Emitter, ReadingSummary,
    digest::{Digest, Failure},
    phrases::{Phrase, Polarity, Strength},
    surroundings::begins_with_any,
    witness::named_databases,
};

/// Which condition of a testimony failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoTestimony {
    /// No message of a failed integrity check from a local emitter.
    NoIntegrityCheck,
    /// Such words stand only where anybody's text could stand: inside a sentence, or in a record that is not the failure.
    OnlyQuoted,
    /// The process went on making blocks after its panic.
    Survived,
    /// There is more prose than log.
    MostlyProse,
    /// Another cause is likelier than local damage.
    AnotherCause,
    /// The score is below the threshold.
    ScoreTooLow,
    /// Another failure in the log explains the same words.
    AnotherFailure {
        /// Its phrase.
        phrase: &'static str,
        /// Its cause.
        cause: Cause,
    },
    /// The head of the failure is missing.
    HeadMissing,
    /// What the log names can be rebuilt by the node: a smaller repair will do.
    CanBeRebuilt,
}

impl NoTestimony {
    /// In words.
    #[must_use]
    pub fn in_words(self) -> String {
        let words = match self {
            Self::NoIntegrityCheck => "no local message that only a failed integrity check can print",
            Self::OnlyQuoted => "words of a failed integrity check stand only where anybody's text could stand",
            Self::Survived => "the process went on making blocks after what looks like its panic",
            Self::MostlyProse => "there is more prose than log",
            Self::AnotherCause => "another cause is likelier than local damage",
            Self::ScoreTooLow => "the evidence is thinner than in proven cases",
            Self::HeadMissing => "the log was cut before the failure's first line",
            Self::CanBeRebuilt => "the database it names can be rebuilt by the node",
            Self::AnotherFailure { phrase, .. } => {
                return format!("the log also shows another failure that can explain it ({phrase})");
            }
        };
        words.to_owned()
    }

    /// The cause of the other failure that took the testimony back.
    #[must_use]
    pub fn counter_evidence(self) -> Option<Cause> {
        match self {
            Self::AnotherFailure { cause, .. } => Some(cause),
            _ => None,
        }
    }
}

/// The first condition of a testimony, the score's apart, that does not hold.
pub(crate) fn doubt(digest: &Digest, summary: &ReadingSummary) -> Option<NoTestimony> {
    let has_head = |failure: &Failure| failure.record.emitter == Emitter::Panic && !failure.record.message.is_empty();
    if summary.frames_without_head && !digest.local_failures().any(has_head) {
        return Some(NoTestimony::HeadMissing);
    }
    let checks: Vec<Stands> =
        digest.local_failures().filter_map(|failure| Some(stands(failure, failed_check(failure)?))).collect();
    if checks.is_empty() {
        return Some(NoTestimony::NoIntegrityCheck);
    }
    if checks.contains(&Stands::Quoted) || !checks.contains(&Stands::IsTheFailure) {
        return Some(NoTestimony::OnlyQuoted);
    }
    if digest.surroundings.survived {
        return Some(NoTestimony::Survived);
    }
    if digest.surroundings.is_mostly_prose() {
        return Some(NoTestimony::MostlyProse);
    }
    if let Some(other) = digest.local_failures().find_map(points_elsewhere) {
        return Some(NoTestimony::AnotherFailure { phrase: other.id, cause: other.cause });
    }
    let named = named_databases(digest);
    let rebuildable = |database: &DatabaseName| database.start_role() == StartRole::CanBeRebuilt;
    (!named.is_empty() && named.iter().all(rebuildable)).then_some(NoTestimony::CanBeRebuilt)
}

fn failed_check(failure: &Failure) -> Option<&'static Phrase> {
    failure.entries().find(|phrase| phrase.is_failed_check())
}

fn points_elsewhere(failure: &Failure) -> Option<&'static Phrase> {
    failure.entries().find(|phrase| phrase.polarity == Polarity::Against && phrase.strength == Strength::Decisive)
}

/// Begins of records in which a node says that it stops or halts, and why.
const STOPPING: [&str; 12] = [
    "consensus failure!!!",
    "failed init node",
    "failed to start",
    "failed to initialize",
    "failed to process committed block",
    "failure when running app",
    "failed to write batch",
    "iavl set error",
    "error starting",
    "error on start",
    "error in closing",
    "panic",
];

/// How a record with the words of a failed check stands to the failure.
#[derive(PartialEq, Eq)]
enum Stands {
    /// It is the failure: a panic, the error line with which the process ends, a bare line that begins with the words, or a
    /// record that says that the node stops.
    IsTheFailure,
    /// It is a record of a running node, which can repeat what users and peers sent (a memo, a vote, a proof).
    InPassing,
    /// The words stand in the middle of a bare line: somebody quotes them.
    Quoted,
}

fn stands(failure: &Failure, phrase: &Phrase) -> Stands {
    let record = &failure.record;
    let is_it = match record.emitter {
        Emitter::Panic => true,
        Emitter::Error if record.level.reports_failure() => true,
        Emitter::Error if phrase.position_in(&record.message) == Some(0) => true,
        Emitter::Error => return Stands::Quoted,
        Emitter::Log => !record.frames.is_empty() || begins_with_any(&record.message, &STOPPING),
        Emitter::Peer | Emitter::Os | Emitter::Usage => false,
    };
    if is_it { Stands::IsTheFailure } else { Stands::InPassing }
}

/// Bytes from its begin within which a bare line must come to the point: further in, it is a sentence about a failure.
const TO_THE_POINT: usize = 64;

/// Whether the log has nothing but bare lines that speak of failures in mid-sentence: a text about logs, not a log.
pub(crate) fn only_speaks_of_failures(digest: &Digest) -> bool {
    let to_the_point = |failure: &Failure| {
        let message = &failure.record.message;
        failure.record.emitter != Emitter::Error
            || failure.record.level.reports_failure()
            || failure
                .entries()
                .filter(|phrase| phrase.polarity != Polarity::Benign)
                .any(|phrase| phrase.position_in(message).is_some_and(|at| at < TO_THE_POINT))
    };
    let said = || digest.failures().filter(|failure| failure.strength().is_some());
    digest.surroundings.is_mostly_prose() && said().count() > 0 && !said().any(to_the_point)
}
