//! Is it a crash loop? *No client, no clock, cannot fail.* Keeps P13: a pod that says too little is `Unclear`.

use super::{
    ContainerFacts, ContainerState, CrashLoop, InstanceHistory, LoopRule, Observation,
    crash::{STEADY_SECONDS, last_crash},
    history::{Streak, dying},
    run::seconds_between,
};
use crate::{ContainerRole, CrashLoopReading};

/// Tells whether a replica crash-loops: at least three crashes without progress in between, of a container that the node
/// cannot run without.
#[must_use]
pub fn detect(history: &InstanceHistory) -> CrashLoopReading {
    detect_by(history, &LoopRule::default())
}

/// The same with another number of crashes, or another time between them.
#[must_use]
pub fn detect_by(history: &InstanceHistory, rule: &LoopRule) -> CrashLoopReading {
    let streak = history.streak();
    let latest = history.latest();
    if let Some(container) = dying(latest).next()
        && streak.crashes() >= rule.crashes_min.max(LoopRule::CRASHES_MIN)
        && is_fresh(latest, container, &streak, rule)
    {
        return looping(latest, container, &streak);
    }
    // Pods that are made anew after each crash, or that were caught in a good moment: only the history shows it.
    if streak.crashes() >= rule.crashes_min.max(LoopRule::CRASHES_MIN)
        && streak.crashes_between() > 0
        && is_dense(&streak, latest, rule)
        && let Some((seen, container)) = streak.newest_crash()
    {
        return looping(seen, container, &streak);
    }
    says_too_little(latest).map_or(CrashLoopReading::NotLooping, CrashLoopReading::Unclear)
}

fn looping(seen: &Observation, container: &ContainerFacts, streak: &Streak<'_>) -> CrashLoopReading {
    let back_off = match &container.state {
        ContainerState::Waiting { back_off, .. } => *back_off,
        _ => None,
    };
    CrashLoopReading::Looping(Box::new(CrashLoop {
        container: container.name.clone(),
        role: container.role,
        crashes: streak.crashes(),
        last_run: last_crash(seen, container).cloned(),
        back_off,
        rate: streak.rate(),
        onset: streak.onset(),
        counted_since: streak.counted_since(),
    }))
}

/// Restart counts never fall, so many of them may be an old story. They belong to the present trouble if the last run was a
/// short one, or if they are dense over the pod's life.
fn is_fresh(latest: &Observation, container: &ContainerFacts, streak: &Streak<'_>, rule: &LoopRule) -> bool {
    match last_crash(latest, container).map(super::LastRun::seconds) {
        Some(Some(seconds)) if seconds < STEADY_SECONDS => true,
        Some(Some(_)) => is_dense(streak, latest, rule),
        // Times lost by the runtime: the kubelet's back-off is then the only witness that it goes on now.
        Some(None) | None => true,
    }
}

/// At least one crash a window over the time in which they were counted.
fn is_dense(streak: &Streak<'_>, latest: &Observation, rule: &LoopRule) -> bool {
    let Some((since, seen)) = streak.counted_since().zip(latest.seen) else { return true };
    let Some(seconds) = seconds_between(since, seen) else { return true };
    u64::from(streak.crashes()).saturating_mul(rule.window_seconds) >= seconds
}

fn says_too_little(latest: &Observation) -> Option<String> {
    let instance = &latest.instance;
    if !latest.has_status {
        return Some(format!("the pod object of {instance} has no status; fetch it with `kubectl get pod -o yaml`"));
    }
    if latest.containers.iter().all(|container| container.state == ContainerState::Unknown) && latest.phase != "Failed"
    {
        let phase = if latest.phase.is_empty() { "unknown" } else { latest.phase.as_str() };
        return Some(format!("pod {instance} lists no container state yet (phase {phase})"));
    }
    if !latest.containers.iter().any(|container| container.role == ContainerRole::Node) {
        let names: Vec<&str> = latest.containers.iter().map(|container| container.name.as_str()).collect();
        return Some(format!("which container of {instance} runs the node cannot be told from: {}", names.join(", ")));
    }
    None
}
