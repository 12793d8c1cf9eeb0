//! Which pods cosmos-operator wants, and how it gets there. *Client `cosmos-operator`.*

use std::{collections::BTreeSet, sync::Arc};

use serde_json::{Value, json};

use super::{Outcome, disabled, labels, ordinals, owned, pod_name, revision};
use crate::{
    desk::Desk,
    models::stateful_set::owner_reference,
    object::{Fields, set},
};

/// One step towards the wanted pods.
pub(super) fn bring_on(node: &Arc<Value>, desk: &mut Desk<'_>) -> Outcome {
    let candidates = node.part("/status/scheduledSnapshotStatus").as_object();
    let held: BTreeSet<&str> =
        candidates.into_iter().flatten().map(|(_, candidate)| candidate.text("/podCandidate")).collect();
    let wanted: Vec<Value> = ordinals(node)
        .map(|ordinal| (ordinal, pod_name(node, ordinal)))
        .filter(|(_, name)| !held.contains(name.as_str()) && disabled(node, name).is_empty())
        .map(|(ordinal, name)| pod(node, ordinal, &name))
        .collect();
    let present = owned(node, "pods", desk);
    let mut changed = false;
    for pod in present.iter().filter(|pod| !pod.is_terminating()) {
        if wanted.iter().all(|wanted| wanted.name() != pod.name()) {
            drop(desk.delete("pods", pod));
            changed = true;
        }
    }
    for pod in &wanted {
        if present.iter().all(|present| present.name() != pod.name()) {
            match desk.create("pods", pod.clone()) {
                Ok(_) => changed = true,
                Err(refusal) => {
                    desk.event(node, "Warning", "PodCreate", &refusal.message);
                    return Outcome::Refused;
                }
            }
        }
    }
    if changed || roll_on(node, &wanted, &present, desk) { Outcome::Changed } else { Outcome::Settled }
}

/// Replaces pods that are not as wanted, as the budget allows; a pod with another image that does not answer is replaced
/// without one.
fn roll_on(node: &Arc<Value>, wanted: &[Value], present: &[Arc<Value>], desk: &mut Desk<'_>) -> bool {
    let differs = |pod: &Value| {
        let target = wanted.iter().find(|wanted| wanted.name() == pod.name());
        target
            .is_some_and(|target| target.label("app.kubernetes.io/revision") != pod.label("app.kubernetes.io/revision"))
    };
    let image = |pod: &Value| pod.text("/spec/containers/0/image").to_owned();
    let now = desk.now;
    let mut changed = false;
    let mut ready = 0_i64;
    for pod in present.iter().filter(|pod| !pod.is_terminating()) {
        let sync = node.part("/status/sync").get(pod.name());
        ready += i64::from(sync.is_some_and(|sync| sync.is_true("/inSync")));
    }
    let replicas = node.number("/spec/replicas").unwrap_or_default();
    let unavailable = (replicas / 4).max(1);
    let mut budget = (ready - (replicas - unavailable)).max(0);
    for pod in present.iter().filter(|pod| !pod.is_terminating() && differs(pod)) {
        let target = wanted.iter().find(|wanted| wanted.name() == pod.name());
        let other_image = target.is_some_and(|target| image(target) != image(pod));
        let reachable = desk.outside().process(pod.uid(), "node").is_some_and(|running| running.answers(now));
        if other_image && !reachable {
            drop(desk.delete("pods", pod));
            changed = true;
        } else if budget > 0 {
            drop(desk.delete("pods", pod));
            (budget, changed) = (budget - 1, true);
        }
    }
    changed
}

/// The image for a replica: of the version for its height, of its override, or of the template.
fn image_of(node: &Value, name: &str) -> String {
    let over = node.part("/spec/instanceOverrides").get(name).map(|over| over.text("/image")).unwrap_or_default();
    if !over.is_empty() {
        return over.to_owned();
    }
    let height = node.part("/status/height").get(name).and_then(Value::as_i64).unwrap_or_default();
    let versions = node.items("/spec/chain/versions").iter();
    let fitting = versions.filter(|version| version.number("/height").unwrap_or_default() <= height);
    let version = fitting.max_by_key(|version| version.number("/height").unwrap_or_default());
    version.map_or_else(|| node.text("/spec/podTemplate/image"), |version| version.text("/image")).to_owned()
}

/// The pod of an ordinal, as `internal/fullnode/pod_builder.go` builds it.
fn pod(node: &Value, ordinal: i64, name: &str) -> Value {
    let image = image_of(node, name);
    let tool = "ghcr.io/strangelove-ventures/cosmos-operator:v0.25.1";
    let binary = node.text("/spec/chain/binary");
    let chain = node.text("/spec/chain/chainID");
    let versioned = !node.items("/spec/chain/versions").is_empty();
    let home = json!([{"name": "vol-chain-home", "mountPath": "/home/operator/cosmos"}]);
    let init = |name: &str, image: &str, args: Value| json!({"name": name, "image": image, "args": args, "volumeMounts": home});
    let mut inits = vec![
        init("clean-init", tool, json!([])),
        init("chain-init", &image, json!([binary, "init", name, "--chain-id", chain])),
        init("genesis-init", tool, json!([])),
        init("addrbook-init", tool, json!([])),
        init("config-merge", tool, json!([])),
    ];
    let mut containers = vec![
        json!({
            "name": "node", "image": image, "command": [binary], "args": ["start", "--home", "/home/operator/cosmos"],
            "ports": [{"name": "rpc", "containerPort": 26657, "protocol": "TCP"}],
            "readinessProbe": {"httpGet": {"path": "/health", "port": 26657}, "periodSeconds": 10, "failureThreshold": 5},
            "volumeMounts": home,
        }),
        json!({
            "name": "healthcheck", "image": tool, "command": ["/manager", "healthcheck"],
            "readinessProbe": {"httpGet": {"path": "/", "port": 1251}, "periodSeconds": 10},
            "volumeMounts": [{"name": "vol-chain-home", "mountPath": "/home/operator/cosmos", "readOnly": true}],
        }),
    ];
    if versioned {
        inits.push(init("version-check", &image, json!(["/manager", "versioncheck"])));
        containers.push(json!({
            "name": "version-check-interval", "image": image, "command": ["/manager", "versioncheck", "-d"],
            "volumeMounts": home,
        }));
    }
    let grace = node.number("/spec/podTemplate/terminationGracePeriodSeconds").unwrap_or(30);
    let mut pod = json!({
        "metadata": {
            "name": name, "namespace": node.namespace(), "labels": labels(node, name, &image),
            "annotations": {"app.kubernetes.io/ordinal": ordinal.to_string(), "cosmos.strange.love/config-checksum": "00000000"},
            "ownerReferences": [owner_reference(node)],
        },
        "spec": {
            "initContainers": inits, "containers": containers, "restartPolicy": "Always",
            "terminationGracePeriodSeconds": grace, "serviceAccountName": format!("{}-vc-sa", node.name()),
            "securityContext": {"runAsUser": 1025, "runAsGroup": 1025, "fsGroup": 1025, "fsGroupChangePolicy": "OnRootMismatch"},
            "volumes": [{"name": "vol-chain-home", "persistentVolumeClaim": {"claimName": format!("pvc-{name}")}}],
        },
    });
    let hash = revision(&pod);
    set(&mut pod, "/metadata/labels/app.kubernetes.io~1revision", hash.into());
    pod
}
