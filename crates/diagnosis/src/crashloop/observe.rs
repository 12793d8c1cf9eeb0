//! From one pod object to the facts a crash loop is told from. *No client, no clock, cannot fail.*

use jiff::{SignedDuration, Timestamp};
use k8s_openapi::api::core::v1::{Container, ContainerStatus, Pod, PodSpec, PodStatus};

use super::{
    ContainerFacts, ContainerRole, ContainerState, LastRun, Observation, Owner, RestartPolicy, Revision, RevisionScope,
    back_off,
    role::{command_line, data_claim, find_node, init_role},
    run::is_real,
};
use crate::{ClaimName, ContainerName, InstanceName, NodeName, Uid};

/// Reads one pod object. Whatever is missing in it is missing in the facts; nothing makes it fail.
#[must_use]
pub fn observe(pod: &Pod) -> Observation {
    let meta = &pod.metadata;
    let (spec, status) = (pod.spec.as_ref(), pod.status.as_ref());
    let label = |name: &str| meta.labels.as_ref().and_then(|labels| labels.get(name)).cloned();
    let node = find_node(spec, status);
    let created = meta.creation_timestamp.as_ref().map(|time| time.0).filter(is_real);
    Observation {
        instance: InstanceName {
            namespace: meta.namespace.clone().unwrap_or_default(),
            name: meta.name.clone().unwrap_or_default(),
        },
        uid: meta.uid.as_ref().filter(|uid| !uid.is_empty()).map(Uid::new),
        node: spec.and_then(|spec| spec.node_name.as_ref()).map(NodeName::new),
        owner: owner(pod),
        revision: label("controller-revision-hash")
            .map(|value| Revision { value, scope: RevisionScope::Workload })
            .or_else(|| {
                label("app.kubernetes.io/revision").map(|value| Revision { value, scope: RevisionScope::Instance })
            }),
        config_checksum: meta
            .annotations
            .as_ref()
            .and_then(|all| all.get("cosmos.strange.love/config-checksum"))
            .cloned(),
        node_type: label("cosmos.strange.love/type"),
        restart_policy: match spec.and_then(|spec| spec.restart_policy.as_deref()) {
            Some("Never") => RestartPolicy::Never,
            Some("OnFailure") => RestartPolicy::OnFailure,
            _ => RestartPolicy::Always,
        },
        containers: containers(spec, status, node.as_deref()),
        data_claim: node.as_deref().zip(spec).and_then(|(node, spec)| data_claim(node, spec)).map(ClaimName::new),
        has_status: status.is_some(),
        phase: status.and_then(|status| status.phase.clone()).unwrap_or_default(),
        reason: status.and_then(|status| status.reason.clone()).filter(|reason| !reason.is_empty()),
        message: status.and_then(|status| status.message.clone()),
        created,
        started: status.and_then(|status| status.start_time.as_ref()).map(|time| time.0).filter(is_real).or(created),
        deletion_asked: deletion_asked(pod),
        seen: newest_time(pod),
    }
}

fn owner(pod: &Pod) -> Option<Owner> {
    let reference =
        pod.metadata.owner_references.iter().flatten().find(|reference| reference.controller == Some(true))?;
    Some(Owner { kind: reference.kind.clone(), name: reference.name.clone(), uid: Uid::new(&reference.uid) })
}

/// The API server writes the *end* of the grace period into `deletionTimestamp`.
fn deletion_asked(pod: &Pod) -> Option<Timestamp> {
    let deletion = pod.metadata.deletion_timestamp.as_ref()?.0;
    let grace = SignedDuration::from_secs(pod.metadata.deletion_grace_period_seconds.unwrap_or_default().max(0));
    Some(deletion.checked_sub(grace).unwrap_or(deletion))
}

/// The specification's containers with their statuses; a status without a specification stands for itself.
fn containers(spec: Option<&PodSpec>, status: Option<&PodStatus>, node: Option<&str>) -> Vec<ContainerFacts> {
    let main = |name: &str, _: Option<&Container>| {
        if node == Some(name) { ContainerRole::Node } else { ContainerRole::SideCar }
    };
    let init = |name: &str, container: Option<&Container>| {
        init_role(name, container.and_then(|container| container.restart_policy.as_deref()))
    };
    let specified = spec.map(|spec| spec.containers.as_slice()).unwrap_or_default();
    let specified_init = spec.and_then(|spec| spec.init_containers.as_deref()).unwrap_or_default();
    let statuses = status.and_then(|status| status.container_statuses.as_deref()).unwrap_or_default();
    let init_statuses = status.and_then(|status| status.init_container_statuses.as_deref()).unwrap_or_default();
    let mut all = join(specified, statuses, main);
    all.extend(join(specified_init, init_statuses, init));
    all
}

fn join(
    specified: &[Container],
    statuses: &[ContainerStatus],
    role: impl Fn(&str, Option<&Container>) -> ContainerRole,
) -> Vec<ContainerFacts> {
    let known = |name: &str| specified.iter().any(|container| container.name == name);
    let with_spec = specified.iter().map(|container| {
        let status = statuses.iter().find(|status| status.name == container.name);
        container_facts(role(&container.name, Some(container)), Some(container), status, &container.name)
    });
    let status_only = statuses
        .iter()
        .filter(|status| !known(&status.name))
        .map(|status| container_facts(role(&status.name, None), None, Some(status), &status.name));
    with_spec.chain(status_only).collect()
}

fn container_facts(
    role: ContainerRole,
    container: Option<&Container>,
    status: Option<&ContainerStatus>,
    name: &str,
) -> ContainerFacts {
    let now = status.and_then(|status| status.state.as_ref());
    let ended = |state: Option<&k8s_openapi::api::core::v1::ContainerState>| {
        state.and_then(|state| state.terminated.as_ref()).map(LastRun::read)
    };
    ContainerFacts {
        name: ContainerName::new(name),
        role,
        image: container
            .and_then(|container| container.image.clone())
            .or_else(|| status.map(|status| status.image.clone()))
            .unwrap_or_default(),
        image_id: status.map(|status| status.image_id.clone()).filter(|id| !id.is_empty()),
        command_line: container.map(command_line).unwrap_or_default(),
        restarts: status.and_then(|status| u32::try_from(status.restart_count).ok()).unwrap_or_default(),
        ready: status.is_some_and(|status| status.ready),
        state: now.map_or(ContainerState::Unknown, container_state),
        last_run: ended(now).or_else(|| ended(status.and_then(|status| status.last_state.as_ref()))),
    }
}

fn container_state(state: &k8s_openapi::api::core::v1::ContainerState) -> ContainerState {
    if state.terminated.is_some() {
        ContainerState::Terminated
    } else if let Some(running) = &state.running {
        ContainerState::Running { since: running.started_at.as_ref().map(|time| time.0).filter(is_real) }
    } else if let Some(waiting) = &state.waiting {
        ContainerState::Waiting {
            reason: waiting.reason.clone().unwrap_or_default(),
            back_off: waiting.message.as_deref().and_then(back_off::parse),
            message: waiting.message.clone(),
        }
    } else {
        ContainerState::Unknown
    }
}

/// The newest time inside the object. `deletionTimestamp` lies in the future and does not count; when it was asked for does.
fn newest_time(pod: &Pod) -> Option<Timestamp> {
    let mut times = Vec::new();
    let meta = &pod.metadata;
    times.extend(meta.creation_timestamp.as_ref().map(|time| time.0));
    times.extend(deletion_asked(pod));
    times.extend(meta.managed_fields.iter().flatten().filter_map(|entry| entry.time.as_ref().map(|time| time.0)));
    if let Some(status) = &pod.status {
        times.extend(status.start_time.as_ref().map(|time| time.0));
        for condition in status.conditions.iter().flatten() {
            times.extend(
                [&condition.last_transition_time, &condition.last_probe_time].into_iter().flatten().map(|t| t.0),
            );
        }
        let statuses = [&status.container_statuses, &status.init_container_statuses];
        for state in statuses.into_iter().flatten().flatten().flat_map(|status| [&status.state, &status.last_state]) {
            let Some(state) = state else { continue };
            times.extend(state.running.as_ref().and_then(|running| running.started_at.as_ref()).map(|time| time.0));
            if let Some(terminated) = &state.terminated {
                times
                    .extend([&terminated.started_at, &terminated.finished_at].into_iter().flatten().map(|time| time.0));
            }
        }
    }
    times.into_iter().filter(is_real).max()
}
