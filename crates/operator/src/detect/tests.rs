//! An index is fed, a policy looks; what it sees of sick replicas is written out.

use api::RecoverySpec;
use diagnosis::Course;
use k8s_openapi::api::{apps::v1::StatefulSet, core::v1::Pod};
use serde_json::{Value, json};

use super::*;

mod lives;
mod pods;
mod standing;

/// So many seconds after the begin.
fn at(seconds: i64) -> Timestamp {
    let begin: Timestamp = "2026-01-05T10:00:00Z".parse().expect("a time");
    begin.checked_add(jiff::SignedDuration::from_secs(seconds)).expect("in range")
}

fn text(seconds: i64) -> String {
    at(seconds).to_string()
}

/// A policy on StatefulSet `osmo`; what is given replaces its spec's fields.
fn policy(name: &str, fields: &Value) -> RecoveryPolicy {
    let mut policy = json!({
        "apiVersion": "loopbreaker.dev/v1alpha1", "kind": "RecoveryPolicy",
        "metadata": {"namespace": "cosmos", "name": name, "uid": format!("policy-{name}"),
            "creationTimestamp": "2026-01-01T00:00:00Z"},
        "spec": {"targets": [{"kind": "StatefulSet", "name": "osmo"}]},
    });
    for (field, value) in fields.as_object().expect("fields") {
        policy["spec"][field] = value.clone();
    }
    serde_json::from_value(policy).expect("a policy")
}

fn workload(name: &str, labels: &Value) -> Workload {
    let set: StatefulSet = serde_json::from_value(json!({
        "metadata": {"namespace": "cosmos", "name": name, "uid": format!("set-{name}"), "labels": labels},
        "spec": {"replicas": 3, "selector": {}, "serviceName": name, "template": {}},
    }))
    .expect("a StatefulSet");
    Workload::from(&set)
}

/// A pod of StatefulSet `osmo` whose node has just been started.
fn pod(name: &str, uid: &str, created: i64) -> Value {
    json!({
        "metadata": {"namespace": "cosmos", "name": name, "uid": uid, "creationTimestamp": text(created),
            "ownerReferences": [{"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "osmo", "uid": "set-osmo",
                "controller": true}]},
        "spec": {
            "containers": [{"name": "node", "image": "osmosis:1", "command": ["osmosisd", "start", "--home", "/chain"],
                "volumeMounts": [{"name": "data", "mountPath": "/chain"}]}],
            "volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": format!("data-{name}")}}],
        },
        "status": {"phase": "Running", "startTime": text(created), "containerStatuses": [{
            "name": "node", "image": "osmosis:1", "imageID": "sha256:1", "ready": false, "restartCount": 0,
            "state": {"running": {"startedAt": text(created)}}}]},
    })
}

fn node(pod: &mut Value) -> &mut Value {
    &mut pod["status"]["containerStatuses"][0]
}

/// It died, so many times by now.
fn crashed(pod: &Value, restarts: i64, began: i64, ended: i64) -> Value {
    let mut pod = pod.clone();
    let node = node(&mut pod);
    node["restartCount"] = json!(restarts);
    node["ready"] = json!(false);
    node["state"] = json!({"waiting": {"reason": "CrashLoopBackOff"}});
    node["lastState"] =
        json!({"terminated": {"exitCode": 2, "reason": "Error", "startedAt": text(began), "finishedAt": text(ended)}});
    pod
}

/// It runs.
fn running(pod: &Value, since: i64, ready: &Value) -> Value {
    let mut pod = pod.clone();
    node(&mut pod)["state"] = json!({"running": {"startedAt": text(since)}});
    node(&mut pod)["ready"] = ready.clone();
    pod
}

fn object(pod: &Value) -> Pod {
    serde_json::from_value(pod.clone()).expect("a pod")
}

/// An index with StatefulSet `osmo` in it, fed with states of pods, each at its second.
fn fed(states: &[(i64, Value)]) -> Index {
    let mut index = Index::default();
    index.apply_workload(workload("osmo", &json!({})));
    for (seconds, state) in states {
        index.apply_pod(&object(state), at(*seconds));
    }
    index
}

/// The states of a pod that crashes so many times within seconds of each other; the kubelet's clock is off by `skew`.
fn crashing(name: &str, times: i64, skew: i64) -> Vec<(i64, Value)> {
    let first = pod(name, &format!("uid-{name}"), 0);
    let crash = |number: i64| {
        let ended = number * 60;
        (ended, crashed(&first, number, ended - 5 + skew, ended + skew))
    };
    std::iter::once((0, running(&first, skew, &json!(false)))).chain((1..=times).map(crash)).collect()
}

fn new(index: &Index, policy: &RecoveryPolicy, recoveries: &[Arc<Recovery>], seconds: i64) -> Vec<NewIncident> {
    look(index, policy, &[Arc::new(policy.clone())], recoveries, at(seconds)).new
}

fn names(incidents: &[NewIncident]) -> Vec<&str> {
    incidents.iter().map(|incident| incident.name.as_str()).collect()
}

/// The record that an incident gets.
fn record(incident: &NewIncident, policy: &RecoveryPolicy) -> Recovery {
    let spec = RecoverySpec {
        target: incident.target.clone(),
        policy: api::PolicyReference { name: policy.name_any(), uid: policy.uid().unwrap_or_default() },
        incident: incident.incident.clone(),
        approval: None,
        undo: None,
    };
    let mut recovery = Recovery::new(&incident.name, spec);
    recovery.metadata.namespace = Some("cosmos".to_owned());
    recovery
}
