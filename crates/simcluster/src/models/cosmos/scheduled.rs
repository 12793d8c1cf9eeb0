//! The controller of `ScheduledVolumeSnapshot` objects in cosmos-operator. *Client `cosmos-operator-snapshots`.*
//!
//! Takes a pod away by a key of its own in `status.scheduledSnapshotStatus`, copies its claim, and lets it come back. No
//! time limit: a snapshot that never gets ready keeps the pod away for good. The schedule is read as every so many
//! minutes (`*/N * * * *`), else as every hour.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp, tz::TimeZone};
use serde_json::{Value, json};

use super::{FULL_NODES, ordinals, pod_name};
use crate::{
    desk::Desk,
    models::{Model, Wake, snapshots::SNAPSHOTS},
    object::{Fields, put, seconds},
    server::{Change, Event, Key, Store},
};

const SCHEDULED: &str = "scheduledvolumesnapshots.cosmos.strange.love";
const RETRY: SignedDuration = SignedDuration::from_secs(10);

/// The controller.
#[derive(Debug, Default)]
pub(crate) struct ScheduledSnapshots;

impl Model for ScheduledSnapshots {
    fn user(&self) -> &'static str {
        "cosmos-operator-snapshots"
    }

    fn wakes(&self, event: &Event, _: &Store) -> Vec<Wake> {
        let fresh = &*event.key.resource == SCHEDULED && event.change == Change::Added;
        fresh.then(|| Wake::after(50, event.key.clone())).into_iter().collect()
    }

    fn reconcile(&mut self, key: &Key, desk: &mut Desk<'_>) -> Option<SignedDuration> {
        let plan = desk.object(key).filter(|plan| !plan.is_terminating())?;
        if plan.is_true("/spec/suspend") {
            set_phase(&plan, "Suspended", json!({}), desk);
            return Some(RETRY);
        }
        let node = desk.get(FULL_NODES, &key.namespace, plan.text("/spec/fullNodeRef/name"))?;
        match plan.text("/status/phase") {
            "" | "Suspended" => {
                set_phase(&plan, "WaitingForNext", json!({"since": seconds(desk.now)}), desk);
                Some(RETRY)
            }
            "WaitingForNext" => {
                let since = plan.time("/status/since").unwrap_or(desk.now);
                let rest = period(plan.text("/spec/schedule")).saturating_sub(desk.since(since));
                if rest.is_positive() {
                    return Some(rest);
                }
                set_phase(&plan, "FindingCandidate", json!({}), desk);
                Some(SignedDuration::from_millis(10))
            }
            "FindingCandidate" => Some(find_candidate(&plan, &node, desk)),
            "DeletingPod" | "WaitingForPodDeletion" => {
                let gone = desk.get("pods", &key.namespace, plan.text("/status/candidate/podName")).is_none();
                set_phase(&plan, if gone { "CreatingSnapshot" } else { "WaitingForPodDeletion" }, json!({}), desk);
                Some(if gone { SignedDuration::from_millis(10) } else { SignedDuration::from_secs(1) })
            }
            "CreatingSnapshot" => Some(take(&plan, desk)),
            "WaitingForSnapshotCreation" => {
                let snapshot = desk.get(SNAPSHOTS, &key.namespace, plan.text("/status/lastSnapshot/name"));
                // One that has vanished counts as done; an error does not.
                let done = snapshot.is_none_or(|snapshot| snapshot.is_true("/status/readyToUse"));
                if done {
                    set_phase(&plan, "RestoringPod", json!({}), desk);
                }
                Some(if done { SignedDuration::from_millis(10) } else { RETRY })
            }
            _ => {
                name_candidate(&plan, &node, &Value::Null, desk);
                set_phase(&plan, "WaitingForNext", json!({"since": seconds(desk.now), "candidate": null}), desk);
                Some(RETRY)
            }
        }
    }
}

/// How often, from a cron schedule.
fn period(schedule: &str) -> SignedDuration {
    let minutes = schedule.split_whitespace().next().and_then(|field| field.strip_prefix("*/"));
    SignedDuration::from_mins(minutes.and_then(|minutes| minutes.parse().ok()).unwrap_or(60).max(1))
}

fn set_phase(plan: &Arc<Value>, phase: &str, more: Value, desk: &mut Desk<'_>) {
    let mut status = more;
    put(&mut status, "phase", phase.into());
    drop(desk.merge_status(SCHEDULED, plan, &status));
}

/// Its key is the plan's namespace and name.
fn name_candidate(plan: &Value, node: &Arc<Value>, candidate: &Value, desk: &mut Desk<'_>) {
    let key = format!("{}.{}.v1alpha1.cosmos.strange.love", plan.namespace(), plan.name());
    drop(desk.merge_status(FULL_NODES, node, &json!({"scheduledSnapshotStatus": {key: candidate}})));
}

/// The lowest replica in sync, if enough are.
fn find_candidate(plan: &Arc<Value>, node: &Arc<Value>, desk: &mut Desk<'_>) -> SignedDuration {
    let in_sync: Vec<String> = ordinals(node)
        .map(|ordinal| pod_name(node, ordinal))
        .filter(|pod| node.part("/status/sync").get(pod).is_some_and(|sync| sync.is_true("/inSync")))
        .collect();
    let least = usize::try_from(plan.number("/spec/minAvailable").unwrap_or(2)).unwrap_or_default();
    let fixed = plan.number("/spec/fullNodeRef/ordinal").map(|ordinal| pod_name(node, ordinal));
    let Some(pod) = fixed.or_else(|| in_sync.first().cloned()).filter(|_| in_sync.len() >= least) else {
        return RETRY;
    };
    let candidate = json!({"candidate": {"podName": pod, "pvcName": format!("pvc-{pod}")}});
    if plan.is_true("/spec/deletePod") {
        name_candidate(plan, node, &json!({"podCandidate": pod}), desk);
        set_phase(plan, "DeletingPod", candidate, desk);
    } else {
        set_phase(plan, "CreatingSnapshot", candidate, desk);
    }
    SignedDuration::from_millis(100)
}

fn take(plan: &Arc<Value>, desk: &mut Desk<'_>) -> SignedDuration {
    let claim = plan.text("/status/candidate/pvcName");
    let name = format!("{}-{}", plan.name(), stamp(desk.now));
    let labels = json!({
        "app.kubernetes.io/created-by": "cosmos-operator", "app.kubernetes.io/component": "ScheduledVolumeSnapshot",
        "app.kubernetes.io/name": plan.text("/spec/fullNodeRef/name"),
        "app.kubernetes.io/instance": plan.text("/status/candidate/podName"),
        "cosmos.strange.love/source": plan.name(),
    });
    drop(desk.create(
        SNAPSHOTS,
        json!({
            "metadata": {"namespace": plan.namespace(), "name": name, "labels": labels},
            "spec": {
                "volumeSnapshotClassName": plan.text("/spec/volumeSnapshotClassName"),
                "source": {"persistentVolumeClaimName": claim},
            },
        }),
    ));
    set_phase(plan, "WaitingForSnapshotCreation", json!({"lastSnapshot": {"name": name}}), desk);
    RETRY
}

/// `YYYYMMDDHHMM`, UTC.
fn stamp(now: Timestamp) -> String {
    now.to_zoned(TimeZone::UTC).strftime("%Y%m%d%H%M").to_string()
}
