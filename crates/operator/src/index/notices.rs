//! Crashes that were not seen before. *No client, no clock.*

use diagnosis::{ContainerName, ContainerRole, InstanceName, Observation, Uid};

/// A crash that was not seen before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CrashNotice {
    /// The replica.
    pub(crate) instance: InstanceName,
    /// Its pod.
    pub(crate) pod_uid: Uid,
    /// The container that died.
    pub(crate) container: ContainerName,
}

/// Containers that the node cannot run without and that have died since.
pub(super) fn new_crashes(before: Option<&Observation>, now: &Observation) -> Vec<CrashNotice> {
    let Some(pod_uid) = now.uid.clone() else { return Vec::new() };
    let own = now.containers.iter().filter(|container| container.role != ContainerRole::SideCar);
    let died = own.filter(|container| {
        let Some(run) = &container.last_run else { return false };
        let was_told_to_stop = now.deletion_asked.is_some();
        let is_done = container.role != ContainerRole::Node && run.exit.code == 0;
        let same = before.filter(|before| before.uid == now.uid).and_then(|before| before.container(&container.name));
        let known = same.and_then(|before| before.last_run.as_ref()).is_some_and(|before| {
            before.finished == run.finished && before.started == run.started && before.exit == run.exit
        });
        !was_told_to_stop && !is_done && !known
    });
    died.map(|container| CrashNotice {
        instance: now.instance.clone(),
        pod_uid: pod_uid.clone(),
        container: container.name.clone(),
    })
    .collect()
}
