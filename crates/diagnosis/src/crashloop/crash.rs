//! What counts as a crash, in one observation. *No client, no clock.*

use super::{ContainerFacts, ContainerRole, ContainerState, LastRun, Observation, run::seconds_between};

/// After so long a run the kubelet itself forgets its back-off, so the run before is no longer part of the same trouble.
pub(super) const STEADY_SECONDS: u64 = 600;

/// Whether a finished run was a crash.
///
/// A node must not end at all, so even exit status 0 is one. Nothing is one that ends because the pod is being taken away:
/// a healthy node asked to stop exits with 143, or panics on SIGTERM with 2.
pub(super) fn is_crash(pod: &Observation, container: &ContainerFacts, run: &LastRun) -> bool {
    let after_deletion =
        matches!((run.finished, pod.deletion_asked), (Some(finished), Some(asked)) if finished >= asked);
    let with_the_pod = pod.ended_by_kubelet() && container.state == ContainerState::Terminated;
    if after_deletion || with_the_pod {
        return false;
    }
    match container.role {
        ContainerRole::Node => true,
        ContainerRole::Init => run.exit.code != 0,
        ContainerRole::VersionCheck => run.exit.code != 0 && !asks_for_another_image(run),
        ContainerRole::SideCar => false,
    }
}

/// Cosmos-operator's `version-check` fails on purpose until the operator has swapped the image: exit status 1, or a message
/// that says so. Published versions panic for this with 2, as they do on damaged data, and leave no message; then the log
/// or the owner's `spec.chain.versions` must tell, and repetition in one pod speaks against it (a due swap replaces the pod).
fn asks_for_another_image(run: &LastRun) -> bool {
    run.exit.code == 1 || run.message.as_deref().is_some_and(|message| message.contains("image mismatch for height"))
}

/// The last run of a container, if it was a crash.
pub(super) fn last_crash<'a>(pod: &Observation, container: &'a ContainerFacts) -> Option<&'a LastRun> {
    container.last_run.as_ref().filter(|run| is_crash(pod, container, run))
}

/// How many crashes of a container the observation shows.
pub(super) fn crashes_shown(pod: &Observation, container: &ContainerFacts) -> u32 {
    match (container.role, &container.last_run) {
        (ContainerRole::SideCar, _) => 0,
        (_, Some(run)) if is_crash(pod, container, run) => container.restarts.max(1),
        (ContainerRole::Node, _) => container.restarts,
        (_, None) if waits_in_back_off(container) => container.restarts,
        // An init container that came through in the end; its tries are over.
        _ => 0,
    }
}

/// Crashes that the pod shows without naming a container: it failed, and not by the kubelet's hand.
pub(super) fn unattributed_crashes(pod: &Observation) -> u32 {
    let shown = pod.containers.iter().any(|container| crashes_shown(pod, container) > 0);
    u32::from(pod.phase == "Failed" && !shown && !pod.ended_by_kubelet() && pod.deletion_asked.is_none())
}

/// Whether the container is dead, or just revived without having become ready.
pub(super) fn is_dying(pod: &Observation, container: &ContainerFacts) -> bool {
    if container.role == ContainerRole::SideCar {
        return false;
    }
    let crashed = last_crash(pod, container).is_some();
    match &container.state {
        ContainerState::Waiting { .. } if waits_in_back_off(container) => crashed || container.last_run.is_none(),
        ContainerState::Waiting { .. } | ContainerState::Unknown => false,
        ContainerState::Terminated => crashed,
        ContainerState::Running { .. } => crashed && !container.ready && !is_steady(pod, container),
    }
}

/// `RunContainerError` comes between two tries of a program that cannot even be executed; the restart count rises there too.
fn waits_in_back_off(container: &ContainerFacts) -> bool {
    matches!(&container.state, ContainerState::Waiting { reason, .. } if reason == "CrashLoopBackOff" || reason == "RunContainerError")
}

/// Whether the container had run for long when the observation was made.
pub(super) fn is_steady(pod: &Observation, container: &ContainerFacts) -> bool {
    let ContainerState::Running { since: Some(since) } = container.state else { return false };
    pod.seen.and_then(|seen| seconds_between(since, seen)).is_some_and(|seconds| seconds >= STEADY_SECONDS)
}

/// Whether the node was making progress: ready, and for long.
pub(super) fn makes_progress(pod: &Observation) -> bool {
    pod.node_container().is_some_and(|node| node.ready && is_steady(pod, node))
}
