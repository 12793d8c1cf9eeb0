//! Which replicas deserve a look. *No client.* Wider than a crash loop: also what never started.

use diagnosis::{ContainerRole, ContainerState, CrashLoopReading, InstanceHistory, detect};

/// Crash-looping, or a container of its own that cannot start or has just failed, or a failed pod.
#[must_use]
pub fn is_sick(history: &InstanceHistory) -> bool {
    let pod = history.latest();
    let failing = pod.containers.iter().filter(|container| container.role != ContainerRole::SideCar).any(|container| {
        match &container.state {
            ContainerState::Waiting { reason, .. } => {
                !matches!(reason.as_str(), "" | "PodInitializing" | "ContainerCreating")
            }
            ContainerState::Terminated => {
                let failed = container
                    .last_run
                    .as_ref()
                    .is_some_and(|run| run.exit.code != 0 || container.role == ContainerRole::Node);
                pod.deletion_asked.is_none() && failed
            }
            ContainerState::Running { .. } | ContainerState::Unknown => false,
        }
    });
    failing || pod.phase == "Failed" || matches!(detect(history), CrashLoopReading::Looping(_))
}
