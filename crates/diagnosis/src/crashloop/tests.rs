//! One sound pod and one change each; the expectations are written out.

mod detects;
mod examples;
mod histories;
mod observes;

use jiff::Timestamp;
use k8s_openapi::api::core::v1::Pod;
use serde_json::{Value, json};

use super::{InstanceHistory, Observation, detect, observe};
use crate::{CrashLoop, CrashLoopReading};

const NODE: &str = "/status/containerStatuses/0";
const HEALTHCHECK: &str = "/status/containerStatuses/1";
const CHAIN_INIT: &str = "/status/initContainerStatuses/0";
const VERSION_CHECK: &str = "/status/initContainerStatuses/1";

/// A pod like cosmos-operator's whose node has died twelve times within half an hour, the last time after four seconds.
fn looping_pod() -> Value {
    let completed = json!({"terminated": {"exitCode": 0, "reason": "Completed",
        "startedAt": "2026-01-05T10:00:01Z", "finishedAt": "2026-01-05T10:00:02Z"}});
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {
            "name": "gaia-0", "namespace": "cosmos", "uid": "u-1", "creationTimestamp": "2026-01-05T10:00:00Z",
            "labels": {"app.kubernetes.io/revision": "aaaa"},
            "ownerReferences": [{"apiVersion": "cosmos.strange.love/v1", "kind": "CosmosFullNode", "name": "gaia",
                "uid": "o-1", "controller": true}],
        },
        "spec": {
            "restartPolicy": "Always", "nodeName": "machine-7",
            "containers": [
                {"name": "node", "image": "gaia:v1", "command": ["gaiad"], "args": ["start", "--home", "/home/operator/cosmos"],
                    "volumeMounts": [{"name": "tmp", "mountPath": "/tmp"}, {"name": "data", "mountPath": "/home/operator/cosmos"}]},
                {"name": "healthcheck", "image": "operator:v1", "command": ["/manager", "healthcheck"],
                    "volumeMounts": [{"name": "data", "mountPath": "/home/operator/cosmos", "readOnly": true}]},
            ],
            "initContainers": [{"name": "chain-init", "image": "gaia:v1"}, {"name": "version-check", "image": "operator:v1"}],
            "volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "pvc-gaia-0"}}, {"name": "tmp", "emptyDir": {}}],
        },
        "status": {
            "phase": "Running", "startTime": "2026-01-05T10:00:00Z",
            "containerStatuses": [
                {"name": "node", "image": "gaia:v1", "imageID": "gaia@sha256:11", "ready": false, "restartCount": 12,
                    "state": {"waiting": {"reason": "CrashLoopBackOff",
                        "message": "back-off 5m0s restarting failed container=node pod=gaia-0_cosmos(u-1)"}},
                    "lastState": {"terminated": {"exitCode": 2, "reason": "Error",
                        "startedAt": "2026-01-05T10:29:56Z", "finishedAt": "2026-01-05T10:30:00Z"}}},
                {"name": "healthcheck", "image": "operator:v1", "imageID": "operator@sha256:22", "ready": false,
                    "restartCount": 0, "state": {"running": {"startedAt": "2026-01-05T10:00:03Z"}}},
            ],
            "initContainerStatuses": [
                {"name": "chain-init", "image": "gaia:v1", "imageID": "gaia@sha256:11", "ready": true, "restartCount": 0,
                    "state": completed},
                {"name": "version-check", "image": "operator:v1", "imageID": "operator@sha256:22", "ready": true,
                    "restartCount": 0, "state": completed},
            ],
        },
    })
}

/// The same pod in good health: ready for 29 minutes.
fn healthy_pod() -> Value {
    let mut pod = looping_pod();
    set(&mut pod, "/status/containerStatuses/0/ready", json!(true));
    set(&mut pod, "/status/containerStatuses/0/restartCount", json!(0));
    set(&mut pod, "/status/containerStatuses/0/state", json!({"running": {"startedAt": "2026-01-05T10:00:04Z"}}));
    set(&mut pod, "/status/containerStatuses/0/lastState", json!({}));
    set(&mut pod, "/status/containerStatuses/1/ready", json!(true));
    set(
        &mut pod,
        "/status/conditions",
        json!([{"type": "Ready", "status": "True", "lastTransitionTime": "2026-01-05T10:29:00Z"}]),
    );
    pod
}

/// Replaces one place of the object, adding the last key where it is missing.
fn set(object: &mut Value, pointer: &str, value: Value) {
    if let Some(place) = object.pointer_mut(pointer) {
        *place = value;
        return;
    }
    let (parent, key) = pointer.rsplit_once('/').expect("a pointer has a slash");
    object
        .pointer_mut(parent)
        .and_then(Value::as_object_mut)
        .expect("the parent is there")
        .insert(key.to_owned(), value);
}

fn with(mut pod: Value, changes: &[(&str, Value)]) -> Value {
    for (pointer, value) in changes {
        set(&mut pod, pointer, value.clone());
    }
    pod
}

fn at(time: &str) -> Option<Timestamp> {
    time.parse().ok()
}

fn seen(pod: &Value) -> Observation {
    observe(&serde_json::from_value::<Pod>(pod.clone()).expect("a pod"))
}

fn history(pods: &[Value]) -> InstanceHistory {
    let mut histories = InstanceHistory::group(pods.iter().map(seen));
    assert_eq!(histories.len(), 1, "one replica");
    histories.remove(0)
}

fn reading(pods: &[Value]) -> CrashLoopReading {
    detect(&history(pods))
}

fn loops(pods: &[Value]) -> CrashLoop {
    match reading(pods) {
        CrashLoopReading::Looping(found) => *found,
        other => panic!("no loop: {other:?}"),
    }
}
