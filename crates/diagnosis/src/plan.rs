//! What is done next about an incident: one step at a time, as a value. *No client, no clock, cannot fail.* (P1, P12, P13)
//!
//! Whoever runs the operator reads what is so, asks [`next`], does that one step and asks again. A step that is lost, or done
//! twice after a crash, does no harm: every one of them is asked for again from what is written in the record. In this
//! version no step touches anything but our own objects (P1); each wait has an end (P12).

mod step;

use jiff::{SignedDuration, Timestamp};

pub use step::{Ending, Hold, Step};

use crate::Decision;

/// All that decides about the next step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Situation {
    /// The time.
    pub now: Timestamp,
    /// How far the incident is.
    pub stage: Stage,
    /// How the replica fares.
    pub course: Course,
    /// Whether the policy lets anything be done.
    pub watch: Watch,
    /// What the policy allows in the end.
    pub mode: Mode,
    /// What there is to know about the disk.
    pub disk: DiskLook,
    /// Whether the siblings were asked often enough to tell whether they advance.
    pub peers: PeersLook,
    /// Whether an inspector, or what it was given, may be left over.
    pub leavings: Leavings,
}

/// How far an incident is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// It has just been opened.
    New,
    /// Evidence is being collected.
    Collecting {
        /// Which look it is, from 1.
        round: u32,
        /// When it began.
        since: Timestamp,
    },
    /// The judge has spoken.
    Judged(Decision),
    /// Nothing is done.
    Held {
        /// Why.
        why: Hold,
        /// Which look it was.
        round: u32,
        /// When that look ended.
        since: Timestamp,
    },
    /// It has ended.
    Ended,
}

/// How a replica fares since its incident was opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Course {
    /// It still crashes, or stands still; or nobody has seen it lately.
    StillSick,
    /// It makes progress again; how, in words.
    Recovered(String),
    /// There is no such replica any more; why, in words.
    Gone(String),
}

/// Whether anything may be begun.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Watch {
    /// The policy is in force.
    Active,
    /// Its kill switch is on (P12).
    Suspended,
    /// So many replicas are sick at once that a common cause is likelier than damage (P7).
    Storm {
        /// How many.
        sick: u32,
    },
    /// The policy is gone, or refused; why, in words.
    Nobody(String),
}

/// What the policy allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Nothing but our own objects is written.
    Observe,
    /// A human approves.
    Approve,
    /// Acts alone.
    Auto,
}

/// Where the look at the disk stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DiskLook {
    /// Nobody has been sent yet; this is how it is to be done.
    ToDo(Method),
    /// It cannot be done; why, in words.
    CannotBe(String),
    /// The container still runs: what is read in place would change under the reader.
    WaitsForTheContainer(Method),
    /// As many inspectors as are allowed are at work.
    WaitsForATurn,
    /// Something of the inspector is under way.
    UnderWay {
        /// What is made next, if it is time for that.
        next: Option<Make>,
    },
    /// It has ended, one way or the other.
    Over,
}

/// Whether the siblings have been asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PeersLook {
    /// Whatever can be told of them is known: some answered twice, or none answers, or there is none.
    Known,
    /// They answer, but have not been asked twice yet.
    NotYet,
}

/// How the disk is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// By a Job on the claim itself.
    InPlace,
    /// By a Job on a claim restored from a snapshot of it.
    Snapshot,
    /// By the guard's own words in the log.
    Guard,
}

/// What an inspection makes, in this order; all of it is ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Make {
    /// A snapshot of the replica's claim.
    Snapshot,
    /// A claim of our own from it.
    Claim,
    /// The Job.
    Job,
}

/// Whether objects of an inspection may be left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Leavings {
    /// None.
    None,
    /// The record says that there may be.
    Possible,
}

/// How long a container is waited for that runs between two crashes.
const CONTAINER_WAIT: SignedDuration = SignedDuration::from_mins(10);
/// How long a turn is waited for.
const TURN_WAIT: SignedDuration = SignedDuration::from_mins(60);
/// How long the siblings' second answer is waited for.
const PEERS_WAIT: SignedDuration = SignedDuration::from_mins(3);
/// How often a wait is looked after.
const LOOK_EVERY: SignedDuration = SignedDuration::from_secs(15);
/// When what was judged is looked at again: the second and third time soon, for what was out of reach may be there now.
const LOOKS_AGAIN: [SignedDuration; 2] = [SignedDuration::from_mins(10), SignedDuration::from_mins(60)];
/// Every later time.
const LOOKS_LATER: SignedDuration = SignedDuration::from_hours(6);

/// The next step.
#[must_use]
pub fn next(situation: &Situation) -> Step {
    let collecting = matches!(situation.stage, Stage::Collecting { .. });
    if !collecting && situation.leavings == Leavings::Possible {
        return Step::TidyUp;
    }
    if situation.stage == Stage::Ended {
        return Step::Rest;
    }
    if let Some(ending) = ending(situation) {
        return Step::End(ending);
    }
    match situation.stage {
        Stage::New => forbidden(&situation.watch).map_or(Step::Begin { round: 1 }, Step::Hold),
        // P12: the switch also ends a look that has begun; what it made is taken away in the next step.
        Stage::Collecting { since, .. } => {
            forbidden(&situation.watch).map_or_else(|| collect(situation, since), Step::Hold)
        }
        Stage::Judged(decision) => Step::Hold(consequence(decision, situation.mode)),
        Stage::Held { why, round, since } => held(situation, why, round, since),
        Stage::Ended => Step::Rest,
    }
}

fn ending(situation: &Situation) -> Option<Ending> {
    match (&situation.course, &situation.watch) {
        (Course::Recovered(how), _) => Some(Ending::RecoveredByItself(how.clone())),
        (Course::Gone(why), _) => Some(Ending::ReplicaGone(why.clone())),
        (Course::StillSick, Watch::Nobody(why)) => Some(Ending::NobodyWatches(why.clone())),
        (Course::StillSick, Watch::Active | Watch::Suspended | Watch::Storm { .. }) => None,
    }
}

fn forbidden(watch: &Watch) -> Option<Hold> {
    match watch {
        Watch::Suspended => Some(Hold::Suspended),
        Watch::Storm { .. } => Some(Hold::Storm),
        Watch::Active | Watch::Nobody(_) => None,
    }
}

fn collect(situation: &Situation, since: Timestamp) -> Step {
    let waited = situation.now.duration_since(since);
    let later = || Step::Wait(after(situation.now, LOOK_EVERY));
    match &situation.disk {
        DiskLook::ToDo(method) => Step::Intend(*method),
        DiskLook::WaitsForTheContainer(method) if waited >= CONTAINER_WAIT => Step::Intend(*method),
        DiskLook::CannotBe(_) | DiskLook::Over if situation.peers == PeersLook::NotYet && waited < PEERS_WAIT => {
            later()
        }
        DiskLook::WaitsForATurn if waited >= TURN_WAIT => Step::Judge,
        DiskLook::WaitsForTheContainer(_) | DiskLook::WaitsForATurn | DiskLook::UnderWay { next: None } => later(),
        DiskLook::UnderWay { next: Some(make) } => Step::Make(*make),
        DiskLook::CannotBe(_) | DiskLook::Over => Step::Judge,
    }
}

/// P1: in this version every consequence is to hold; the reason says what would have been done.
fn consequence(decision: Decision, mode: Mode) -> Hold {
    match (decision, mode) {
        (Decision::Hold, _) => Hold::Verdict,
        (Decision::Restore | Decision::Propose, Mode::Observe) => Hold::Observing,
        (Decision::Restore | Decision::Propose, Mode::Approve | Mode::Auto) => Hold::NotBuilt,
    }
}

fn held(situation: &Situation, why: Hold, round: u32, since: Timestamp) -> Step {
    match (forbidden(&situation.watch), why) {
        // What is held for another reason stays held for that one.
        (Some(_), _) => Step::Wait(after(situation.now, LOOKS_LATER)),
        (None, Hold::Suspended | Hold::Storm) => Step::Begin { round: round.saturating_add(1) },
        (None, Hold::Verdict | Hold::Observing | Hold::NotBuilt) => {
            let wait = usize::try_from(round.saturating_sub(1)).ok().and_then(|looks| LOOKS_AGAIN.get(looks));
            let again = after(since, *wait.unwrap_or(&LOOKS_LATER));
            if situation.now >= again { Step::Begin { round: round.saturating_add(1) } } else { Step::Wait(again) }
        }
    }
}

fn after(time: Timestamp, span: SignedDuration) -> Timestamp {
    time.checked_add(span).unwrap_or(Timestamp::MAX)
}

#[cfg(test)]
mod tests;
