//! The status of a pod from what its containers do. *No client.*

use jiff::Timestamp;
use serde_json::{Value, json};

use super::slot::{Slot, State};
use crate::object::{Fields, put, seconds};

/// The status that the kubelet writes.
pub(super) fn status(pod: &Value, slots: &[Slot], address: &str, started: Timestamp, now: Timestamp) -> Value {
    let inits: Vec<&Slot> = slots.iter().filter(|slot| slot.is_init).collect();
    let mains: Vec<&Slot> = slots.iter().filter(|slot| !slot.is_init).collect();
    let initialized = inits.iter().all(|slot| slot.is_done());
    let ready = initialized && mains.iter().all(|slot| slot.ready);
    let phase = phase(pod, slots);
    let old = pod.items("/status/conditions");
    let condition = |kind: &str, is_true: bool, reason: &str| {
        let status = if is_true { "True" } else { "False" };
        let before = old.iter().find(|condition| condition.text("/type") == kind);
        let since = match before {
            Some(before) if before.text("/status") == status => before["lastTransitionTime"].clone(),
            _ => seconds(now),
        };
        let mut condition = json!({"type": kind, "status": status, "lastTransitionTime": since, "lastProbeTime": null});
        if !is_true && !reason.is_empty() {
            put(&mut condition, "reason", reason.into());
        }
        condition
    };
    let unready = if phase == "Succeeded" || phase == "Failed" { "PodCompleted" } else { "ContainersNotReady" };
    json!({
        "phase": phase,
        "startTime": seconds(started),
        "podIP": address, "podIPs": [{"ip": address}], "hostIP": "10.0.0.1",
        "qosClass": "BestEffort",
        "conditions": [
            condition("PodReadyToStartContainers", true, ""),
            condition("Initialized", initialized, "ContainersNotInitialized"),
            condition("Ready", ready, unready),
            condition("ContainersReady", ready, unready),
            condition("PodScheduled", true, ""),
        ],
        "initContainerStatuses": inits.iter().map(|slot| slot.status()).collect::<Vec<_>>(),
        "containerStatuses": mains.iter().map(|slot| slot.status()).collect::<Vec<_>>(),
    })
}

/// The phase by the kubelet's `getPhase`.
pub(super) fn phase(pod: &Value, slots: &[Slot]) -> &'static str {
    let policy = pod.text("/spec/restartPolicy");
    let failed = |slot: &&Slot| matches!(&slot.state, State::Dead(dead) if dead.code != 0);
    if policy == "Never" && slots.iter().any(|slot| slot.is_init && failed(&slot)) {
        return "Failed";
    }
    if !slots.iter().filter(|slot| slot.is_init).all(Slot::is_done) {
        return "Pending";
    }
    let mains: Vec<&Slot> = slots.iter().filter(|slot| !slot.is_init).collect();
    if mains.iter().any(|slot| matches!(slot.state, State::Waiting(..)) && slot.last.is_none()) {
        return "Pending";
    }
    let ended = mains.iter().all(|slot| matches!(slot.state, State::Dead(_)));
    if !ended || policy == "Always" {
        return "Running";
    }
    match (mains.iter().any(failed), policy) {
        (false, _) => "Succeeded",
        (true, "Never") => "Failed",
        (true, _) => "Running",
    }
}

/// The last status of a pod whose processes are gone: what tells a real end from a forced one.
pub(super) fn ended(pod: &Value, slots: &[Slot]) -> &'static str {
    let failed = slots.iter().filter(|slot| !slot.is_init).any(|slot| match &slot.state {
        State::Dead(dead) | State::BackOff(dead, _) => dead.code != 0,
        _ => true,
    });
    match phase(pod, slots) {
        phase @ ("Succeeded" | "Failed") => phase,
        _ if failed => "Failed",
        _ => "Succeeded",
    }
}
