//! The Go cosmos-operator, v0.25.1. *Clients `cosmos-operator` and `cosmos-operator-status`.*
//!
//! Pods first, then claims, then status; looked at again 3 s after a change, else after 60 s. It skips every pod that an
//! entry of `status.scheduledSnapshotStatus` names: that is how a pod is held away beside it. Its defects are here as they
//! were seen (cosmos-operator facts): a blank claim where it finds no snapshot, a crash over a snapshot without size, claims
//! that are kept and counted after a scale-down.

mod claims;
mod pods;
mod poll;
mod scheduled;

use std::{collections::BTreeMap, sync::Arc};

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

pub(crate) use self::{poll::CosmosPoll, scheduled::ScheduledSnapshots};
use super::{Model, Wake, stateful_set::owners};
use crate::{
    desk::Desk,
    object::{Fields, put},
    server::{Change, Event, Key, Store},
};

pub(crate) const FULL_NODES: &str = "cosmosfullnodes.cosmos.strange.love";
const AFTER_CHANGE: SignedDuration = SignedDuration::from_secs(3);
const AT_REST: SignedDuration = SignedDuration::from_secs(60);

/// The operator's main controller.
#[derive(Debug, Default)]
pub(crate) struct CosmosOperator {
    /// By object: how often a step failed in a row.
    failures: BTreeMap<Key, u32>,
    /// The whole process is down until then, after so many crashes.
    down: Option<(Timestamp, u32)>,
}

/// How a look ended.
enum Outcome {
    /// Something was written.
    Changed,
    /// All is as it should be.
    Settled,
    /// The API server refused.
    Refused,
    /// A nil pointer: the whole process is gone.
    Panicked,
}

impl Model for CosmosOperator {
    fn user(&self) -> &'static str {
        "cosmos-operator"
    }

    fn wakes(&self, event: &Event, _: &Store) -> Vec<Wake> {
        match &*event.key.resource {
            // What its own poll writes concerns nobody here.
            FULL_NODES if concerns_us(event) => vec![Wake::after(25, event.key.clone())],
            "pods" | "persistentvolumeclaims" => owners(&event.object, "CosmosFullNode")
                // Of its own objects only creation, deletion and the begin of it wake it soon.
                .filter(|_| event.change != Change::Modified || event.object.is_terminating())
                .map(|name| Wake::after(35, Key::new(FULL_NODES, &event.key.namespace, name)))
                .collect(),
            _ => Vec::new(),
        }
    }

    fn reconcile(&mut self, key: &Key, desk: &mut Desk<'_>) -> Option<SignedDuration> {
        if let Some((until, _)) = self.down.filter(|(until, _)| *until > desk.now) {
            return Some(until.duration_since(desk.now));
        }
        let node = desk.object(key).filter(|node| !node.is_terminating())?;
        let outcome = bring_on(&node, desk);
        let phase = match outcome {
            Outcome::Changed => "Progressing",
            Outcome::Settled => "Complete",
            Outcome::Refused => "TransientError",
            Outcome::Panicked => return Some(self.crash(desk.now)),
        };
        self.down = None;
        write_phase(key, phase, desk);
        if !matches!(outcome, Outcome::Refused) {
            self.failures.remove(key);
        }
        Some(match outcome {
            Outcome::Changed => AFTER_CHANGE,
            Outcome::Refused => {
                // Back-off of its work queue: 5 ms doubling to 1,000 s.
                let failures = self.failures.entry(key.clone()).or_default();
                *failures = failures.saturating_add(1);
                SignedDuration::from_millis(5_i64.saturating_mul(1_i64 << (*failures).min(18)))
                    .min(SignedDuration::from_secs(1000))
            }
            Outcome::Settled | Outcome::Panicked => AT_REST,
        })
    }
}

impl CosmosOperator {
    /// The process crashes and is started again with the kubelet's back-off.
    fn crash(&mut self, now: Timestamp) -> SignedDuration {
        let crashes = self.down.map_or(0, |(_, crashes)| crashes);
        let wait = SignedDuration::from_secs(if crashes == 0 { 2 } else { (10_i64 << (crashes - 1).min(5)).min(300) });
        self.down = Some((now.checked_add(wait).unwrap_or(now), crashes.saturating_add(1)));
        wait
    }
}

/// Whether more has changed than what the poll writes.
fn concerns_us(event: &Event) -> bool {
    let Some(before) = &event.before else { return true };
    [
        "/spec",
        "/metadata/deletionTimestamp",
        "/metadata/annotations",
        "/status/scheduledSnapshotStatus",
        "/status/height",
    ]
    .iter()
    .any(|part| before.pointer(part) != event.object.pointer(part))
}

/// `lab-0` …, in order.
fn ordinals(node: &Value) -> std::ops::Range<i64> {
    let start = node.number("/spec/ordinals/start").unwrap_or_default();
    start..start.saturating_add(node.number("/spec/replicas").unwrap_or_default())
}

fn pod_name(node: &Value, ordinal: i64) -> String {
    format!("{}-{ordinal}", node.name())
}

/// What an override of one instance turns off: `Pod` or `All`.
fn disabled<'n>(node: &'n Value, pod: &str) -> &'n str {
    node.part("/spec/instanceOverrides").get(pod).map(|over| over.text("/disable")).unwrap_or_default()
}

/// Objects of a kind that belong to a node.
fn owned(node: &Value, resource: &str, desk: &Desk<'_>) -> Vec<Arc<Value>> {
    let all = desk.list(resource, Some(node.namespace())).into_iter();
    all.filter(|object| object.items("/metadata/ownerReferences").iter().any(|owner| owner.text("/uid") == node.uid()))
        .collect()
}

/// The labels that its pods and claims carry.
fn labels(node: &Value, pod: &str, image: &str) -> Value {
    let mut labels = json!({
        "app.kubernetes.io/created-by": "cosmos-operator", "app.kubernetes.io/component": "CosmosFullNode",
        "app.kubernetes.io/name": node.name(), "app.kubernetes.io/instance": pod,
        "app.kubernetes.io/version": image.rsplit_once(':').map_or("latest", |(_, tag)| tag),
        "cosmos.strange.love/network": node.text("/spec/chain/network"),
        "cosmos.strange.love/type": match node.text("/spec/type") { "" => "FullNode", kind => kind },
    });
    for (label, value) in node.part("/metadata/labels").as_object().into_iter().flatten() {
        put(&mut labels, label, value.clone());
    }
    labels
}

/// Eight digits that change with what is wanted (32-bit FNV-1 of it, `internal/diff`).
fn revision(wanted: &Value) -> String {
    let fold = |hash: u32, byte: u8| hash.wrapping_mul(0x0100_0193) ^ u32::from(byte);
    format!("{:08x}", wanted.to_string().bytes().fold(0x811c_9dc5, fold))
}

fn bring_on(node: &Arc<Value>, desk: &mut Desk<'_>) -> Outcome {
    let first = pods::bring_on(node, desk);
    if !matches!(first, Outcome::Settled) {
        // Pods go first, so that claims can go; claims are made in the same look all the same.
        if matches!(first, Outcome::Changed) {
            let second = claims::bring_on(node, desk);
            if matches!(second, Outcome::Panicked | Outcome::Refused) {
                return second;
            }
        }
        return first;
    }
    claims::bring_on(node, desk)
}

fn write_phase(key: &Key, phase: &str, desk: &mut Desk<'_>) {
    let Some(node) = desk.object(key) else { return };
    let generation = node.number("/metadata/generation").unwrap_or(1);
    if node.text("/status/phase") != phase || node.number("/status/observedGeneration") != Some(generation) {
        drop(desk.merge_status(FULL_NODES, &node, &json!({"phase": phase, "observedGeneration": generation})));
    }
}
