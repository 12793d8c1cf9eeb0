//! The rendered Job, of a hand-written StatefulSet's pod and of a real pod of cosmos-operator.

use serde_json::{Value, json};

use super::*;
use crate::{Inspector, LeaseTimes};

fn recovery() -> Recovery {
    serde_json::from_value(json!({
        "apiVersion": "loopbreaker.dev/v1alpha1", "kind": "Recovery",
        "metadata": {"namespace": "cosmos", "name": "osmo-1-1", "uid": "0a1b2c3d-0000-4000-8000-000000000001"},
        "spec": {
            "target": {"kind": "StatefulSet", "workload": "osmo", "workloadUid": "u1", "pod": "osmo-1", "podUid": "u2"},
            "policy": {"name": "osmo", "uid": "u3"},
            "incident": {"kind": "CrashLoop", "onset": "2026-12-01T00:00:00Z", "container": "node"},
        },
    }))
    .expect("a recovery")
}

fn settings() -> Settings {
    Settings {
        identity: "operator-0".to_owned(),
        namespace: "loopbreaker".to_owned(),
        watched: None,
        inspector: Inspector {
            image: "ghcr.io/loopbreaker/loopbreaker:0.1.0".to_owned(),
            service_account: Some("loopbreaker-inspector".to_owned()),
            pull_secrets: vec!["registry".to_owned()],
            ..Inspector::default()
        },
        lease: LeaseTimes::default(),
    }
}

fn request(recovery: &Recovery) -> InspectRequest<'_> {
    InspectRequest {
        recovery,
        name: "lb-inspect-0a1b2c3d-1".to_owned(),
        claim: "data-osmo-1".to_owned(),
        on: Machine::OfTheReplica,
        depth: AskedDepth::AllChecks,
        pods: vec!["u2".to_owned(), "u4".to_owned()],
        max_read_rate: Some("50MiB".to_owned()),
        deadline: SignedDuration::from_hours(2),
    }
}

/// A pod as a chart writes it: no `--home` at the mount's root, root user, a taint that is tolerated.
fn pod_of_a_set() -> Pod {
    serde_json::from_value(json!({
        "metadata": {"namespace": "cosmos", "name": "osmo-1"},
        "spec": {
            "nodeName": "node-1",
            "securityContext": {"runAsUser": 0, "fsGroup": 2000, "supplementalGroups": [3000]},
            "tolerations": [{"key": "chain", "operator": "Exists", "effect": "NoSchedule"}],
            "containers": [{
                "name": "node", "image": "osmosis:1", "command": ["osmosisd"], "args": ["start", "--home", "/mnt/osmo"],
                "securityContext": {"runAsUser": 1000, "seLinuxOptions": {"level": "s0:c1,c2"}},
                "volumeMounts": [{"name": "data", "mountPath": "/mnt"}],
            }],
            "volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "data-osmo-1"}}],
        },
    }))
    .expect("a pod")
}

fn rendered(pod: &Pod, request: &InspectRequest<'_>) -> Value {
    serde_json::to_value(inspector_job(pod, request, &settings()).expect("a Job")).expect("JSON")
}

#[test]
fn the_job_of_a_stateful_sets_pod() {
    let recovery = recovery();
    let job = rendered(&pod_of_a_set(), &request(&recovery));
    insta::assert_snapshot!(serde_json::to_string_pretty(&job).expect("JSON"));
}

#[test]
fn the_job_of_a_real_pod_of_cosmos_operator() {
    let text = include_str!("../../../../../../examples/cosmosfullnode-state-db/objects/pod-lab-1-crashloop-node.yaml");
    let pod: Pod = serde_saphyr::from_str(text).expect("a pod");
    let recovery = recovery();
    let asked = InspectRequest {
        claim: "pvc-lab-1".to_owned(),
        depth: AskedDepth::Deep,
        pods: Vec::new(),
        max_read_rate: None,
        ..request(&recovery)
    };
    insta::assert_snapshot!(serde_json::to_string_pretty(&rendered(&pod, &asked)).expect("JSON"));
}

/// What no change of the builder may ever undo.
#[test]
fn it_cannot_change_anything() {
    let recovery = recovery();
    for on in [Machine::OfTheReplica, Machine::Any] {
        let job = rendered(&pod_of_a_set(), &InspectRequest { on, ..request(&recovery) });
        let pod = &job["spec"]["template"]["spec"];
        assert_eq!(
            pod["volumes"],
            json!([{"name": "volume", "persistentVolumeClaim": {"claimName": "data-osmo-1", "readOnly": true}}])
        );
        assert_eq!(
            pod["containers"][0]["volumeMounts"],
            json!([{"name": "volume", "mountPath": "/volume", "readOnly": true}])
        );
        assert_eq!(pod["securityContext"].get("fsGroup"), None, "the kubelet would give every file to it");
        assert_eq!(pod["securityContext"]["supplementalGroups"], json!([3000, 2000]));
        assert_eq!((pod["automountServiceAccountToken"].as_bool(), pod.get("nodeName")), (Some(false), None));
        assert_eq!((&pod["restartPolicy"], &job["spec"]["backoffLimit"]), (&json!("Never"), &json!(0)));
        assert_eq!(
            pod["containers"][0]["securityContext"],
            json!({"allowPrivilegeEscalation": false, "privileged": false, "readOnlyRootFilesystem": true, "capabilities": {"drop": ["ALL"]}})
        );
        for host in ["hostNetwork", "hostPID", "hostIPC"] {
            assert_eq!(pod.get(host), None);
        }
    }
}

#[test]
fn a_copy_is_read_wherever_it_can_be_mounted() {
    let recovery = recovery();
    let mut pod = pod_of_a_set();
    pod.spec.as_mut().expect("a spec").node_name = None;
    let on_any = InspectRequest { on: Machine::Any, ..request(&recovery) };
    let job = rendered(&pod, &on_any);
    assert_eq!(job["spec"]["template"]["spec"].get("affinity"), None);
    assert_eq!(inspector_job(&pod, &request(&recovery), &settings()), Err(CannotInspect::NoNode));
}

#[test]
fn a_user_that_is_not_root_is_said_for_namespaces_that_ask() {
    let recovery = recovery();
    let mut pod = pod_of_a_set();
    let non_root = |pod: &Pod| {
        rendered(pod, &request(&recovery))["spec"]["template"]["spec"]["securityContext"].get("runAsNonRoot").cloned()
    };
    assert_eq!(non_root(&pod), Some(json!(true)));
    pod.spec.as_mut().expect("a spec").containers[0].security_context = None;
    assert_eq!(non_root(&pod), None, "its user is root");
}

#[test]
fn a_label_holds_what_it_may_of_a_long_name() {
    assert_eq!(label("osmo-1-1"), "osmo-1-1");
    assert_eq!(label(&format!("{}-{}", "a".repeat(62), "b".repeat(20))), "a".repeat(62));
}
