//! One sentence for each state of an incident: the column "Says". *No client, no clock.* (P14)

use api::{Decision, IncidentKind, RecoverySpec, VerdictReport};
use diagnosis::{Ending, Hold};

/// An incident that has just been opened.
pub(crate) fn opened(spec: &RecoverySpec, crashes: u32) -> String {
    let container = &spec.incident.container;
    match spec.incident.kind {
        IncidentKind::CrashLoop => format!("container {container} crashed {crashes} times without progress"),
        IncidentKind::Stuck => format!("container {container} runs, its height stands still, and its siblings advance"),
    }
}

/// A verdict, and what becomes of it.
pub(crate) fn held_because(why: Hold, verdict: Option<&VerdictReport>) -> String {
    let said = verdict.map(|verdict| format!("{}: {}", word(verdict), verdict.reason));
    match (why, said) {
        (Hold::Suspended, _) => "held: the policy is suspended (`loopbreaker resume` ends that)".to_owned(),
        (Hold::Storm, _) => {
            "held: many replicas are sick at once, so a common cause is likelier than damage".to_owned()
        }
        (Hold::Verdict, Some(said)) => format!("held, {said}"),
        (Hold::Observing, Some(said)) => format!("would restore, but the policy only observes; {said}"),
        (Hold::NotBuilt, Some(said)) => format!("would restore, but this version only records; {said}"),
        (Hold::Verdict | Hold::Observing | Hold::NotBuilt, None) => "held".to_owned(),
    }
}

fn word(verdict: &VerdictReport) -> String {
    let VerdictReport { cause, probability_percent, decision, .. } = verdict;
    let decision = match decision {
        Decision::Restore => "restore",
        Decision::Propose => "propose",
        Decision::Hold => "hold",
    };
    if cause == "unknown" {
        format!("cause unknown, {decision}")
    } else {
        format!("{cause} ({probability_percent} %), {decision}")
    }
}

/// How it ended.
pub(crate) fn summary(ending: &Ending) -> String {
    match ending {
        Ending::RecoveredByItself(how) => {
            format!("over: the replica makes progress again, {how}; nothing was done to it")
        }
        Ending::ReplicaGone(why) => format!("over: there is no such replica any more, {why}; nothing was done to it"),
        Ending::NobodyWatches(why) => format!("over: nobody watches it any more, {why}; nothing was done to it"),
    }
}
