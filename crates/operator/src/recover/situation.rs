//! What a record, a policy and what was seen come to, as the plan takes it. *No client, no clock.* (P11, P12)

use std::collections::BTreeSet;

use api::{DiskMethod, Mode as PolicyMode, Phase, Recovery, RecoveryPolicy, RecoveryStatus};
use diagnosis::{Decision, Hold, Leavings, Method, Mode, Stage, Watch};
use jiff::Timestamp;

/// How far an incident is, by its record alone: whoever took over a moment ago reads the same.
pub(super) fn stage(recovery: &Recovery) -> Stage {
    let Some(status) = &recovery.status else { return Stage::New };
    if status.ended.is_some() {
        return Stage::Ended;
    }
    let look = status.look.as_ref();
    let round = look.map_or(0, |look| look.round);
    let begun = look.map_or(Timestamp::MIN, |look| look.begun.0);
    match status.phase {
        None => Stage::New,
        Some(Phase::Collecting) => Stage::Collecting { round, since: begun },
        Some(Phase::Judged) => Stage::Judged(decision(status)),
        Some(Phase::Held) => {
            let since = look.and_then(|look| look.ended.as_ref()).map_or(begun, |ended| ended.0);
            Stage::Held { why: why_held(status), round, since }
        }
        // Phases of an act belong to a version that acts: this one leaves them alone.
        Some(
            Phase::Restoring
            | Phase::Proving
            | Phase::AwaitingApproval
            | Phase::Detaching
            | Phase::Swapping
            | Phase::Starting
            | Phase::Soaking
            | Phase::Recovered
            | Phase::RolledBack
            | Phase::Abandoned
            | Phase::NeedsHuman
            | Phase::Blocked,
        ) => Stage::Ended,
    }
}

fn decision(status: &RecoveryStatus) -> Decision {
    match status.verdict.as_ref().map(|verdict| verdict.decision) {
        Some(api::Decision::Restore) => Decision::Restore,
        Some(api::Decision::Propose) => Decision::Propose,
        Some(api::Decision::Hold) | None => Decision::Hold,
    }
}

/// The reasons of the condition `Acting`, word for word as they are written.
const REASONS: [(Hold, &str); 5] = [
    (Hold::Verdict, "VerdictIsHold"),
    (Hold::Observing, "PolicyObserves"),
    (Hold::NotBuilt, "VersionOnlyRecords"),
    (Hold::Suspended, "Suspended"),
    (Hold::Storm, "Storm"),
];

/// The reason of `Acting` for a hold.
pub(super) fn reason_of(hold: Hold) -> &'static str {
    REASONS.iter().find(|(of, _)| *of == hold).map_or("Held", |(_, reason)| reason)
}

fn why_held(status: &RecoveryStatus) -> Hold {
    let acting = status.conditions.iter().find(|condition| condition.type_ == "Acting");
    let named = acting.and_then(|acting| REASONS.iter().find(|(_, reason)| *reason == acting.reason));
    named.map_or(Hold::Verdict, |(hold, _)| *hold)
}

pub(super) fn mode(policy: Option<&RecoveryPolicy>) -> Mode {
    match policy.map(|policy| policy.spec.mode) {
        Some(PolicyMode::Auto) => Mode::Auto,
        Some(PolicyMode::Approve) => Mode::Approve,
        Some(PolicyMode::Observe) | None => Mode::Observe,
    }
}

/// Whether the policy that opened an incident still lets anything be begun.
pub(super) fn watch(recovery: &Recovery, policy: Option<&RecoveryPolicy>, storms: &BTreeSet<String>) -> Watch {
    let name = &recovery.spec.policy.name;
    let Some(policy) = policy.filter(|policy| policy.metadata.uid.as_ref() == Some(&recovery.spec.policy.uid)) else {
        return Watch::Nobody(format!("policy {name} is gone"));
    };
    let condition = |about: &str| {
        policy.status.iter().flat_map(|status| &status.conditions).find(|condition| condition.type_ == about)
    };
    if condition("Accepted").is_some_and(|accepted| accepted.status == "False") {
        return Watch::Nobody(format!("policy {name} is refused"));
    }
    if policy.spec.suspend {
        return Watch::Suspended;
    }
    let is_stormy = storms.contains(&recovery.spec.policy.uid);
    if is_stormy || condition("Storm").is_some_and(|storm| storm.status == "True") {
        return Watch::Storm { sick: policy.spec.limits.storm };
    }
    Watch::Active
}

pub(super) fn leavings(recovery: &Recovery) -> Leavings {
    let intent = recovery.status.as_ref().and_then(|status| status.inspection.as_ref());
    if intent.is_some() { Leavings::Possible } else { Leavings::None }
}

/// The method as a policy and a record name it.
pub(super) fn method_of(method: Method) -> DiskMethod {
    match method {
        Method::InPlace => DiskMethod::InPlace,
        Method::Snapshot => DiskMethod::Snapshot,
        Method::Guard => DiskMethod::Guard,
    }
}

/// One name for the Job, the snapshot and the claim of one look: the same at every try, another in every look.
pub(super) fn inspection_name(recovery: &Recovery, round: u32) -> String {
    let uid = recovery.metadata.uid.as_deref().unwrap_or_default();
    let short: String = uid.chars().filter(char::is_ascii_alphanumeric).take(8).collect();
    format!("lb-inspect-{short}-{round}")
}
