//! Budgets, cool-downs and windows, in words, as far as they forbid an act now. *No client, no clock.* (P6, P9)

use api::{Limits, Phase, Recovery, RecoveryPolicy, Window};
use diagnosis::{Recurrence, Siblings};
use jiff::{SignedDuration, Timestamp, tz::TimeZone};
use kube::ResourceExt;

/// Every limit in force for one replica. `recoveries` are all of its namespace.
pub(super) fn limits(
    policy: &RecoveryPolicy,
    recovery: &Recovery,
    recoveries: &[std::sync::Arc<Recovery>],
    siblings: &Siblings,
    now: Timestamp,
) -> Vec<String> {
    let limits = &policy.spec.limits;
    [attempts(limits, recovery, recoveries, now), advancing(limits, siblings), windows(&limits.windows, now)]
        .into_iter()
        .flatten()
        .collect()
}

fn attempts(
    limits: &Limits,
    recovery: &Recovery,
    recoveries: &[std::sync::Arc<Recovery>],
    now: Timestamp,
) -> Option<String> {
    let cool_down = SignedDuration::try_from(limits.cool_down.as_duration()).unwrap_or(SignedDuration::MAX);
    let counts = |other: &&std::sync::Arc<Recovery>| {
        let ended = other.status.as_ref().and_then(|status| status.ended.as_ref());
        was_acted_on(other) && ended.is_none_or(|ended| now.duration_since(ended.0) < cool_down)
    };
    let done = earlier(recovery, recoveries).filter(counts).count();
    let allowed = usize::try_from(limits.attempts).unwrap_or(usize::MAX);
    (done >= allowed).then(|| {
        format!("{done} recoveries of this replica within the cool-down of {}, {allowed} allowed", limits.cool_down)
    })
}

/// P6: the judge asks for one that advances; a policy may ask for more.
fn advancing(limits: &Limits, siblings: &Siblings) -> Option<String> {
    let Siblings::Advancing { count, .. } = siblings else { return None };
    (*count < limits.min_advancing)
        .then(|| format!("{count} other replicas advance, the policy asks for {}", limits.min_advancing))
}

fn windows(windows: &[Window], now: Timestamp) -> Option<String> {
    let time = now.to_zoned(TimeZone::UTC).time();
    let minute = i32::from(time.hour()) * 60 + i32::from(time.minute());
    let open = |window: &Window| {
        let (from, until) = (minutes(&window.from), minutes(&window.until));
        match (from, until) {
            (Some(from), Some(until)) if from < until => (from..until).contains(&minute),
            (Some(from), Some(until)) => minute >= from || minute < until,
            // Words that are no time of day open nothing.
            _ => false,
        }
    };
    if windows.is_empty() || windows.iter().any(open) {
        return None;
    }
    let all: Vec<String> = windows.iter().map(|window| format!("{} to {}", window.from, window.until)).collect();
    Some(format!("outside of the windows in which an act may begin ({} UTC)", all.join(", ")))
}

fn minutes(text: &str) -> Option<i32> {
    let (hour, minute) = text.split_once(':')?;
    let (hour, minute): (i32, i32) = (hour.parse().ok()?, minute.parse().ok()?);
    ((0..24).contains(&hour) && (0..60).contains(&minute)).then_some(hour * 60 + minute)
}

/// Whether the same replica was restored before: any restore of which the records know leaves the question open here, for
/// nobody compares the damage yet.
pub(super) fn recurrence(recovery: &Recovery, recoveries: &[std::sync::Arc<Recovery>]) -> Recurrence {
    if earlier(recovery, recoveries).any(|other| was_acted_on(other)) { Recurrence::Unknown } else { Recurrence::First }
}

fn earlier<'r>(
    recovery: &'r Recovery,
    recoveries: &'r [std::sync::Arc<Recovery>],
) -> impl Iterator<Item = &'r std::sync::Arc<Recovery>> {
    recoveries
        .iter()
        .filter(|other| other.spec.target.pod == recovery.spec.target.pod && other.name_any() != recovery.name_any())
}

fn was_acted_on(recovery: &Recovery) -> bool {
    let phase = recovery.status.as_ref().and_then(|status| status.phase);
    match phase {
        None | Some(Phase::Collecting | Phase::Judged | Phase::Held | Phase::Abandoned) => false,
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
            | Phase::NeedsHuman
            | Phase::Blocked,
        ) => true,
    }
}

#[cfg(test)]
mod tests;
