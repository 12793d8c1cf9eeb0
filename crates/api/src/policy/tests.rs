use serde_json::json;

use super::{DiskEvidence, DiskMethod, Mode, RecoveryPolicy, Window};
use crate::{Span, Target};

fn policy(spec: &serde_json::Value) -> RecoveryPolicy {
    let object = json!({
        "apiVersion": "loopbreaker.dev/v1alpha1",
        "kind": "RecoveryPolicy",
        "metadata": { "name": "nodes", "namespace": "chain" },
        "spec": spec,
    });
    serde_json::from_value(object).expect("a policy")
}

#[test]
fn the_shortest_policy_observes_and_nothing_more() {
    let policy = policy(&json!({ "targets": [{ "kind": "StatefulSet", "selector": {} }] }));
    assert_eq!(policy.spec.mode, Mode::Observe);
    assert!(!policy.spec.suspend);
    assert_eq!((policy.spec.detection.crashes, policy.spec.detection.window), (3, Span::hours(1)));
    assert_eq!(policy.spec.evidence.disk.method, DiskMethod::InPlace);
    assert!(policy.spec.restore.snapshots.match_instance);
    assert_eq!((policy.spec.limits.attempts, policy.spec.limits.min_advancing), (1, 1));
    assert_eq!((policy.spec.quarantine.keep_for, policy.spec.soak), (Span::hours(168), Span::hours(1)));
    policy.validate_cel().expect("nothing wrong with it");
}

#[test]
fn a_target_takes_a_name_or_a_selector() {
    for (target, is_right) in [
        (json!({ "kind": "StatefulSet", "name": "gaia" }), true),
        (json!({ "kind": "CosmosFullNode", "selector": { "matchLabels": { "chain": "gaia" } } }), true),
        (json!({ "kind": "StatefulSet" }), false),
        (json!({ "kind": "StatefulSet", "name": "gaia", "selector": {} }), false),
    ] {
        assert_eq!(Target::validate_cel(&target, None).is_ok(), is_right, "{target}");
    }
}

#[test]
fn an_inspected_snapshot_needs_a_class() {
    for (disk, is_right) in [
        (json!({ "method": "InPlace" }), true),
        (json!({ "method": "Snapshot", "snapshotClassName": "fast" }), true),
        (json!({ "method": "Snapshot" }), false),
    ] {
        assert_eq!(DiskEvidence::validate_cel(&disk, None).is_ok(), is_right, "{disk}");
    }
}

#[test]
fn a_window_has_a_length() {
    assert!(Window::validate_cel(&json!({ "from": "22:00", "until": "06:00" }), None).is_ok());
    assert!(Window::validate_cel(&json!({ "from": "22:00", "until": "22:00" }), None).is_err());
}

#[test]
fn words_that_are_no_setting_are_refused() {
    for spec in [
        json!({ "targets": [{ "kind": "DaemonSet", "name": "x" }] }),
        json!({ "targets": [{ "kind": "StatefulSet", "name": "x" }], "mode": "auto" }),
        json!({ "targets": [{ "kind": "StatefulSet", "name": "x" }], "soak": "1d" }),
        json!({ "targets": [{ "kind": "StatefulSet", "name": "x" }], "limits": { "signingNodes": "Allow" } }),
    ] {
        let object =
            json!({ "apiVersion": "loopbreaker.dev/v1alpha1", "kind": "RecoveryPolicy", "metadata": {}, "spec": spec });
        assert!(serde_json::from_value::<RecoveryPolicy>(object.clone()).is_err(), "{object}");
    }
}
