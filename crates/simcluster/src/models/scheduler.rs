//! The scheduler. *Client `kube-scheduler`.*
//!
//! Places a pod on a node that its selectors allow, once its claims can be used there. A claim of a class that waits for
//! its first consumer is told the node by an annotation; whoever sets `spec.nodeName` himself bypasses that, and such a
//! claim is never bound.

use std::sync::Arc;

use jiff::SignedDuration;
use serde_json::{Value, json};

use super::{Model, Wake, kubelet::claims};
use crate::{
    desk::Desk,
    object::{Fields, seconds},
    server::{Change, Event, Key, Store},
};

/// Tells the provisioner where a claim's first consumer runs.
pub(crate) const SELECTED_NODE: &str = "volume.kubernetes.io/selected-node";

/// The scheduler.
#[derive(Debug, Default)]
pub(crate) struct Scheduler;

impl Model for Scheduler {
    fn user(&self) -> &'static str {
        "kube-scheduler"
    }

    fn wakes(&self, event: &Event, store: &Store) -> Vec<Wake> {
        match &*event.key.resource {
            "pods" if event.change != Change::Deleted => {
                let waits = event.object.text("/spec/nodeName").is_empty() && !event.object.is_terminating();
                waits.then(|| Wake::after(20, event.key.clone())).into_iter().collect()
            }
            "pods" | "nodes" | "persistentvolumeclaims" | "persistentvolumes" => store
                .list("pods", None)
                .filter(|(_, pod)| pod.text("/spec/nodeName").is_empty())
                .map(|(key, _)| Wake::after(30, key.clone()))
                .collect(),
            _ => Vec::new(),
        }
    }

    fn reconcile(&mut self, key: &Key, desk: &mut Desk<'_>) -> Option<SignedDuration> {
        let pod = desk.object(key)?;
        if !pod.text("/spec/nodeName").is_empty() || pod.is_terminating() {
            return None;
        }
        match place(&pod, desk) {
            Ok(Some(node)) => {
                let bound = desk.merge("pods", &pod, json!({"spec": {"nodeName": node}}));
                if let Ok(bound) = bound {
                    let message = format!("Successfully assigned {}/{} to {node}", pod.namespace(), pod.name());
                    let condition =
                        json!([{"type": "PodScheduled", "status": "True", "lastTransitionTime": seconds(desk.now)}]);
                    drop(desk.merge_status("pods", &bound, &json!({"conditions": condition})));
                    desk.event(&pod, "Normal", "Scheduled", &message);
                }
                None
            }
            // The claim was told the node; its binding wakes us.
            Ok(None) => Some(SignedDuration::from_secs(30)),
            Err(why) => {
                refuse(&pod, &why, desk);
                Some(SignedDuration::from_secs(60))
            }
        }
    }
}

fn refuse(pod: &Arc<Value>, why: &str, desk: &mut Desk<'_>) {
    let known = pod.items("/status/conditions").iter().any(|condition| condition.text("/message") == why);
    if !known {
        let condition = json!([{
            "type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": why,
            "lastTransitionTime": seconds(desk.now),
        }]);
        drop(desk.merge_status("pods", pod, &json!({"conditions": condition})));
    }
    desk.event(pod, "Warning", "FailedScheduling", why);
}

/// The node for a pod; nothing while a claim is bound for it; or why there is none.
fn place(pod: &Value, desk: &mut Desk<'_>) -> Result<Option<String>, String> {
    let nodes = desk.list("nodes", None);
    let total = nodes.len();
    let none = |why: &str| {
        format!(
            "0/{total} nodes are available: {why}. preemption: 0/{total} nodes are available: {total} Preemption is not helpful for scheduling."
        )
    };
    let mut waits_for_node = Vec::new();
    for name in claims(pod) {
        let Some(claim) = desk.get("persistentvolumeclaims", pod.namespace(), name) else {
            return Err(none(&format!("persistentvolumeclaim {name:?} not found")));
        };
        if claim.is_terminating() {
            return Err(none(&format!("persistentvolumeclaim {name:?} is being deleted")));
        }
        if claim.text("/status/phase") == "Lost" {
            return Err(none(&format!(
                "persistentvolumeclaim {name:?} bound to non-existent persistentvolume {:?}",
                claim.text("/spec/volumeName")
            )));
        }
        if claim.text("/status/phase") != "Bound" {
            let class = desk.get("storageclasses.storage.k8s.io", "", claim.text("/spec/storageClassName"));
            let waits = class.is_some_and(|class| class.text("/volumeBindingMode") == "WaitForFirstConsumer");
            if !waits {
                return Err(none("pod has unbound immediate PersistentVolumeClaims"));
            }
            waits_for_node.push(claim);
        } else if alone_in_use(pod, name, &claim, desk) {
            return Err(none(
                "node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode",
            ));
        }
    }
    let fits = nodes.iter().filter(|node| takes(node, pod));
    let load = |node: &Value| {
        let pods = desk.list("pods", None);
        pods.iter().filter(|pod| pod.text("/spec/nodeName") == node.name()).count()
    };
    let best = fits.min_by_key(|node| (load(node), node.name().to_owned())).map(|node| node.name().to_owned());
    let Some(chosen) = best else {
        return Err(none(&format!("{total} node(s) didn't match Pod's node affinity/selector or were unschedulable")));
    };
    if waits_for_node.is_empty() {
        return Ok(Some(chosen));
    }
    for claim in waits_for_node {
        if claim.annotation(SELECTED_NODE).is_empty() {
            let patch = json!({"metadata": {"annotations": {SELECTED_NODE: chosen}}});
            drop(desk.merge("persistentvolumeclaims", &claim, patch));
        }
    }
    Ok(None)
}

fn alone_in_use(pod: &Value, claim_name: &str, claim: &Value, desk: &Desk<'_>) -> bool {
    claim.items("/spec/accessModes").iter().any(|mode| mode == "ReadWriteOncePod")
        && desk.list("pods", Some(pod.namespace())).iter().any(|other| {
            other.uid() != pod.uid()
                && !other.text("/spec/nodeName").is_empty()
                && !matches!(other.text("/status/phase"), "Succeeded" | "Failed")
                && claims(other).any(|name| name == claim_name)
        })
}

/// Whether a node is up and what the pod asks for.
fn takes(node: &Value, pod: &Value) -> bool {
    let ready = node
        .items("/status/conditions")
        .iter()
        .any(|condition| condition.text("/type") == "Ready" && condition.text("/status") == "True");
    let selected = pod
        .part("/spec/nodeSelector")
        .as_object()
        .into_iter()
        .flatten()
        .all(|(label, value)| value.as_str() == Some(node.label(label)));
    let terms =
        pod.items("/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms");
    let affine = terms.is_empty()
        || terms.iter().any(|term| {
            let by_label =
                term.items("/matchExpressions").iter().all(|rule| matches(rule, node.label(rule.text("/key"))));
            let by_name = term.items("/matchFields").iter().all(|rule| matches(rule, node.name()));
            by_label && by_name
        });
    ready && !node.is_true("/spec/unschedulable") && selected && affine
}

fn matches(rule: &Value, value: &str) -> bool {
    let listed = rule.items("/values").iter().any(|wanted| wanted.as_str() == Some(value));
    match rule.text("/operator") {
        "In" => listed,
        "NotIn" => !listed,
        "Exists" => !value.is_empty(),
        "DoesNotExist" => value.is_empty(),
        _ => false,
    }
}
