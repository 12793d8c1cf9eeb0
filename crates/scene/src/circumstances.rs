//! What the objects tell about everything around a replica. *No client.* Keeps P7 and P10: whatever they do not tell stays
//! `Unknown`.

use diagnosis::{
    Cause, Circumstances, ContainerFacts, ContainerRole, ContainerState, ImageFreshness, InstanceHistory, LastRun,
    Memory, Observation, Owner, RevisionScope, RollOut, StartFailure, UpgradePlan, Workload,
};

use api::CosmosFullNode;

use crate::{LogCauses, Scene, node_health::node_health, signing::signing, victims::victims, words::one_line};

/// An upgrade that is due within so many blocks is at hand: at six seconds a block, ten minutes.
const UPGRADE_NEAR_BLOCKS: u64 = 100;

/// All that the objects tell about one replica.
pub(crate) fn circumstances(scene: &Scene, history: &InstanceHistory, logs: &LogCauses) -> Circumstances {
    let latest = history.latest();
    let (victims, other_crash_loops) = victims(scene, history, logs);
    Circumstances {
        upgrade: upgrade(scene, latest),
        image: image(history),
        roll_out: roll_out(scene, latest),
        victims,
        other_crash_loops,
        workload: workload(latest),
        memory: memory(latest),
        node: node_health(scene, latest),
        signing: signing(scene, latest),
        start_failure: start_failure(latest),
        ..Circumstances::default()
    }
}

/// The owner, where it is a `CosmosFullNode` whose object is at hand.
pub(crate) fn full_node<'b>(scene: &'b Scene, pod: &Observation) -> Option<&'b CosmosFullNode> {
    let owner = pod.owner.as_ref().filter(|owner| owner.kind == "CosmosFullNode")?;
    // The newest of several prints; they stand in the order of their files.
    scene.objects.full_nodes.iter().rev().find(|node| {
        node.metadata.name.as_ref() == Some(&owner.name)
            && node.metadata.namespace.as_deref().unwrap_or_default() == pod.instance.namespace
    })
}

/// Cosmos-operator swaps the image when the height that a pod is to make next belongs to another version.
fn upgrade(scene: &Scene, pod: &Observation) -> UpgradePlan {
    let Some(owner) = full_node(scene, pod).filter(|owner| !owner.spec.chain.versions.is_empty()) else {
        return UpgradePlan::Unknown;
    };
    let (Some(next), Some(node)) =
        (owner.status.as_ref().and_then(|status| status.height.get(&pod.instance.name).copied()), pod.node_container())
    else {
        return UpgradePlan::Unknown;
    };
    let mut versions: Vec<_> = owner.spec.chain.versions.iter().collect();
    versions.sort_by_key(|version| version.height);
    let wanted = versions.iter().rev().find(|version| version.height <= next);
    if let Some(wanted) = wanted.filter(|wanted| wanted.image != node.image) {
        let (wanted, runs) = (one_line(&wanted.image), one_line(&node.image));
        return UpgradePlan::Due(format!("block {next} is to be made by {wanted}, the pod runs {runs}"));
    }
    let near = versions.iter().find(|version| version.height > next && version.height - next <= UPGRADE_NEAR_BLOCKS);
    near.map_or(UpgradePlan::NotDue, |version| {
        UpgradePlan::Due(format!("{} from block {}, the pod is at {next}", one_line(&version.image), version.height))
    })
}

/// Compares the newest pod with the newest one that was ready. One observation alone cannot tell.
fn image(history: &InstanceHistory) -> ImageFreshness {
    let latest = history.latest();
    let well = history.observations().rev().skip(1).find(|seen| seen.node_container().is_some_and(|node| node.ready));
    let Some((then, (before, now))) =
        well.and_then(|well| Some((well, well.node_container().zip(latest.node_container())?)))
    else {
        return ImageFreshness::Unknown;
    };
    let changed = [
        (before.image != now.image, "the image"),
        (before.command_line != now.command_line, "the arguments"),
        (then.config_checksum != latest.config_checksum, "the configuration"),
        (then.revision != latest.revision, "the pod's specification"),
    ];
    let changed: Vec<&str> = changed.into_iter().filter_map(|(differs, what)| differs.then_some(what)).collect();
    if !changed.is_empty() {
        ImageFreshness::Changed(format!("{} since it was last ready", changed.join(" and ")))
    } else if then.config_checksum.is_some() || then.uid == latest.uid {
        ImageFreshness::Unchanged
    } else {
        // A new pod under an owner that leaves no checksum: a ConfigMap may have changed.
        ImageFreshness::Unknown
    }
}

/// The newest observation of each other replica of the same owner.
pub(crate) fn siblings<'b>(scene: &'b Scene, pod: &'b Observation) -> impl Iterator<Item = &'b InstanceHistory> {
    scene.instances.iter().filter(move |other| {
        *other.instance() != pod.instance
            && pod.owner.is_some()
            && same_owner(other.latest().owner.as_ref(), pod.owner.as_ref())
    })
}

fn same_owner(a: Option<&Owner>, b: Option<&Owner>) -> bool {
    matches!((a, b), (Some(a), Some(b)) if a.uid == b.uid && a.kind == b.kind && a.name == b.name)
}

/// A rollout shows in the owner's status, or in pods of several revisions.
fn roll_out(scene: &Scene, pod: &Observation) -> RollOut {
    let set = scene.objects.stateful_sets.iter().rev().find(|set| {
        pod.owner
            .as_ref()
            .is_some_and(|owner| owner.kind == "StatefulSet" && Some(&owner.name) == set.metadata.name.as_ref())
            && set.metadata.namespace.as_deref().unwrap_or_default() == pod.instance.namespace
    });
    let revisions = set
        .and_then(|set| set.status.as_ref())
        .and_then(|status| Some((status.current_revision.as_ref()?, status.update_revision.as_ref()?)));
    if let Some((current, update)) = revisions.filter(|(current, update)| current != update) {
        return RollOut::InProgress(format!("the StatefulSet goes from {} to {}", one_line(current), one_line(update)));
    }
    let mut others = siblings(scene, pod).map(InstanceHistory::latest).peekable();
    if others.peek().is_none() {
        return if revisions.is_some() { RollOut::Settled } else { RollOut::Unknown };
    }
    let differing: Vec<String> =
        others.filter(|other| is_of_another_revision(pod, other)).map(|other| other.instance.to_string()).collect();
    let comparable = pod.revision.as_ref().is_some_and(|revision| revision.scope == RevisionScope::Workload);
    match (differing.is_empty(), comparable) {
        (false, _) => RollOut::InProgress(format!("another revision than {}: {}", pod.instance, differing.join(", "))),
        (true, true) => RollOut::Settled,
        // Cosmos-operator's labels differ between siblings anyway; equal images say nothing about the configuration.
        (true, false) => RollOut::Unknown,
    }
}

fn is_of_another_revision(pod: &Observation, other: &Observation) -> bool {
    let image = |pod: &Observation| pod.node_container().map(|node| node.image.clone());
    match (&pod.revision, &other.revision) {
        (Some(a), Some(b)) if a.scope == RevisionScope::Workload && b.scope == RevisionScope::Workload => {
            a.value != b.value
        }
        _ => image(pod) != image(other),
    }
}

/// A name is put into commands only where it is one that Kubernetes allows.
fn workload(pod: &Observation) -> Option<Workload> {
    let owner = pod.owner.as_ref()?;
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '.');
    let name = Some(owner.name.clone()).filter(|name| {
        name.len() <= 253 && name.starts_with(|c: char| c.is_ascii_alphanumeric()) && name.chars().all(plain)
    })?;
    match owner.kind.as_str() {
        "CosmosFullNode" => Some(Workload::CosmosFullNode(name)),
        "StatefulSet" => Some(Workload::StatefulSet(name)),
        _ => None,
    }
}

/// The containers that the node cannot run without.
fn own_containers(pod: &Observation) -> impl Iterator<Item = &ContainerFacts> {
    pod.containers.iter().filter(|container| container.role != ContainerRole::SideCar)
}

fn memory(pod: &Observation) -> Memory {
    let runs: Vec<&LastRun> = own_containers(pod).filter_map(|container| container.last_run.as_ref()).collect();
    let node_ended = pod.node_container().is_some_and(|node| node.last_run.is_some());
    if runs.iter().any(|run| run.is_oom_killed()) {
        Memory::OomKilled
    } else if node_ended || runs.iter().any(|run| run.exit.code != 0) {
        Memory::NotKilled
    } else {
        Memory::Unknown
    }
}

/// Why the runtime could not start a container at all.
fn start_failure(pod: &Observation) -> Option<StartFailure> {
    own_containers(pod).find_map(|container| {
        let waits = match &container.state {
            ContainerState::Waiting { reason, .. } => cause_of_waiting(reason).map(|cause| (reason, cause)),
            _ => None,
        };
        // Between two tries the state is CrashLoopBackOff and only the last run says that nothing was ever executed.
        let ended = container.last_run.as_ref().map(|run| &run.reason);
        let ended = ended.filter(|reason| matches!(reason.as_str(), "StartError" | "ContainerCannotRun"));
        let (reason, cause) = waits.or_else(|| ended.map(|reason| (reason, Cause::ImageOrRuntime)))?;
        Some(StartFailure { reason: reason.clone(), cause })
    })
}

fn cause_of_waiting(reason: &str) -> Option<Cause> {
    match reason {
        "ErrImagePull"
        | "ImagePullBackOff"
        | "InvalidImageName"
        | "ErrImageNeverPull"
        | "ImageInspectError"
        | "RegistryUnavailable"
        | "CreateContainerError"
        | "RunContainerError" => Some(Cause::ImageOrRuntime),
        "CreateContainerConfigError" => Some(Cause::ConfigError),
        _ => None,
    }
}
