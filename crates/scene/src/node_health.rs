//! Is the machine under the pod sick? *No client.* Keeps P7.

use diagnosis::{ContainerState, NodeHealth, NodeName, Observation};

use crate::{Event, Scene, words::one_line};

/// Events about storage, of kubelet, attach-detach controller, provisioner, resizer and health monitor.
const STORAGE_REASONS: [&str; 12] = [
    "FailedMount",
    "FailedAttachVolume",
    "FailedDetachVolume",
    "FailedMapVolume",
    "FailedUnMount",
    "FailedUnmapDevice",
    "VolumeFailedDelete",
    "VolumeFailedRecycle",
    "VolumeResizeFailed",
    "FileSystemResizeFailed",
    "VolumeConditionAbnormal",
    "ProvisioningFailed",
];

/// Events about the machine, of node controller, kubelet and node-problem-detector.
const MACHINE_REASONS: [&str; 8] = [
    "NodeNotReady",
    "NodeHasDiskPressure",
    "EvictionThresholdMet",
    "FreeDiskSpaceFailed",
    "FilesystemIsReadOnly",
    "Ext4Error",
    "IOError",
    "KernelOops",
];

/// What Node, Events and an eviction say, the gravest first. `Healthy` needs both a ready Node and some Events to look at.
pub(crate) fn node_health(scene: &Scene, pod: &Observation) -> NodeHealth {
    let machine = pod.node.as_ref().and_then(|name| ready(scene, name));
    let sick = machine
        .clone()
        .and_then(Result::err)
        .or_else(|| eviction(pod))
        .or_else(|| scene.objects.events.iter().find(|event| is_bad_news(event, pod)).map(in_words));
    match (sick, machine) {
        (Some(why), _) => NodeHealth::Sick(why),
        (None, Some(Ok(()))) if !scene.objects.events.is_empty() => NodeHealth::Healthy,
        (None, _) => NodeHealth::Unknown,
    }
}

/// The Node's own conditions, if its object is at hand.
fn ready(scene: &Scene, name: &NodeName) -> Option<Result<(), String>> {
    let node = scene.objects.nodes.iter().rev().find(|node| node.metadata.name.as_deref() == Some(name.as_str()))?;
    let conditions = node.status.as_ref().and_then(|status| status.conditions.as_ref())?;
    for pressure in ["DiskPressure", "MemoryPressure", "PIDPressure"] {
        if conditions.iter().any(|condition| condition.type_ == pressure && condition.status == "True") {
            return Some(Err(format!("machine {name} is under {pressure}")));
        }
    }
    let ready = conditions.iter().find(|condition| condition.type_ == "Ready")?;
    Some(if ready.status == "True" {
        Ok(())
    } else {
        Err(format!("machine {name} is NotReady (Ready is {})", one_line(&ready.status)))
    })
}

/// The kubelet evicts for the machine's own disk or memory.
fn eviction(pod: &Observation) -> Option<String> {
    let evicted = pod.reason.as_deref() == Some("Evicted");
    evicted.then(|| format!("the pod was evicted: {}", one_line(pod.message.as_deref().unwrap_or("no reason given"))))
}

fn is_bad_news(event: &Event, pod: &Observation) -> bool {
    let about = &event.involved_object;
    let here = about.namespace.is_empty() || about.namespace == pod.instance.namespace;
    let reason = event.reason.as_str();
    match about.kind.as_str() {
        "Pod" if here && about.name == pod.instance.name => {
            STORAGE_REASONS.contains(&reason)
                && !is_about_configuration(&event.message)
                && !was_mounted_since(event, pod)
        }
        "PersistentVolumeClaim" if here => {
            STORAGE_REASONS.contains(&reason)
                && pod.data_claim.as_ref().is_some_and(|claim| claim.as_str() == about.name)
        }
        "Node" => {
            pod.node.as_ref().is_some_and(|node| node.as_str() == about.name)
                && (STORAGE_REASONS.contains(&reason) || MACHINE_REASONS.contains(&reason))
        }
        _ => false,
    }
}

/// No container of a pod starts before all of its volumes are mounted: what failed before that, of the very same pod, is over.
fn was_mounted_since(event: &Event, pod: &Observation) -> bool {
    let Some(seen) = event.seen_last() else { return false };
    let same = pod.uid.as_ref().is_some_and(|uid| uid.as_str() == event.involved_object.uid);
    let mounting = matches!(event.reason.as_str(), "FailedMount" | "FailedAttachVolume" | "FailedMapVolume");
    let starts = pod.containers.iter().flat_map(|container| {
        let present = match container.state {
            ContainerState::Running { since } => since,
            _ => None,
        };
        [present, container.last_run.as_ref().and_then(|run| run.started)]
    });
    same && mounting && starts.flatten().any(|start| start > seen)
}

/// `FailedMount` is also what the kubelet says while a `ConfigMap`, a Secret or a token is not there yet.
fn is_about_configuration(message: &str) -> bool {
    let message = message.to_ascii_lowercase();
    ["configmap", "secret", "kube-api-access", "projected"].iter().any(|word| message.contains(word))
}

fn in_words(event: &Event) -> String {
    let about = &event.involved_object;
    format!(
        "{} of {} {}: {}",
        one_line(&event.reason),
        one_line(&about.kind),
        one_line(&about.name),
        one_line(&event.message)
    )
}
