//! What is read from one object.

use proptest::prelude::*;

use super::*;
use crate::{ContainerRole, RestartPolicy};

fn roles(pod: &Value) -> Vec<(String, ContainerRole)> {
    seen(pod).containers.into_iter().map(|container| (container.name.to_string(), container.role)).collect()
}

fn node_of(containers: Value) -> Option<String> {
    let pod = with(looping_pod(), &[("/spec/containers", containers), ("/status/containerStatuses", json!([]))]);
    seen(&pod).node_container().map(|node| node.name.to_string())
}

#[test]
fn the_whole_pod() {
    let observation = seen(&looping_pod());
    assert_eq!(observation.instance.to_string(), "cosmos/gaia-0");
    assert_eq!(observation.uid.as_ref().map(crate::Uid::as_str), Some("u-1"));
    assert_eq!(observation.node.as_ref().map(crate::NodeName::as_str), Some("machine-7"));
    assert_eq!(
        observation.owner.as_ref().map(|owner| (owner.kind.as_str(), owner.name.as_str())),
        Some(("CosmosFullNode", "gaia"))
    );
    assert_eq!(observation.revision.as_ref().map(|revision| revision.value.as_str()), Some("aaaa"));
    assert_eq!(observation.restart_policy, RestartPolicy::Always);
    assert_eq!(observation.data_claim.as_ref().map(crate::ClaimName::as_str), Some("pvc-gaia-0"));
    assert_eq!(observation.seen, at("2026-01-05T10:30:00Z"));
    assert_eq!(observation.node_container().and_then(|node| node.image_id.as_deref()), Some("gaia@sha256:11"));
    assert_eq!(
        roles(&looping_pod()),
        [
            ("node".to_owned(), ContainerRole::Node),
            ("healthcheck".to_owned(), ContainerRole::SideCar),
            ("chain-init".to_owned(), ContainerRole::Init),
            ("version-check".to_owned(), ContainerRole::VersionCheck),
        ]
    );
}

#[test]
fn which_container_is_the_nodes() {
    let claim = json!([{"name": "data", "mountPath": "/data"}]);
    let read_only = json!([{"name": "data", "mountPath": "/data", "readOnly": true}]);
    for (what, containers, node) in [
        ("by name", json!([{"name": "a", "args": ["start"]}, {"name": "node"}]), Some("node")),
        ("by command", json!([{"name": "proxy"}, {"name": "app", "command": ["osmosisd", "start"]}]), Some("app")),
        (
            "by command in a shell",
            json!([{"name": "x"}, {"name": "app", "command": ["sh", "-c", "exec gaiad start --home /d"]}]),
            Some("app"),
        ),
        (
            "by guarded command",
            json!([{"name": "x"}, {"name": "app", "args": ["guard", "--", "agd", "start"]}]),
            Some("app"),
        ),
        ("not `restart`", json!([{"name": "x"}, {"name": "app", "args": ["restart"]}]), None),
        (
            "by claim",
            json!([{"name": "x", "volumeMounts": read_only}, {"name": "app", "volumeMounts": claim}]),
            Some("app"),
        ),
        (
            "the only one",
            json!([{"name": "app"}, {"name": "vector"}, {"name": "tmkms", "args": ["start"]}]),
            Some("app"),
        ),
        ("nobody", json!([{"name": "a"}, {"name": "b"}]), None),
        ("side-cars only", json!([{"name": "healthcheck"}]), None),
        ("none at all", json!([]), None),
    ] {
        assert_eq!(node_of(containers).as_deref(), node, "{what}");
    }
}

#[test]
fn a_native_side_car_is_no_init_container() {
    let pod = with(looping_pod(), &[("/spec/initContainers/0/restartPolicy", json!("Always"))]);
    assert_eq!(roles(&pod)[2], ("chain-init".to_owned(), ContainerRole::SideCar));
}

#[test]
fn the_data_claim_is_the_one_that_home_lies_in() {
    let pod = with(
        looping_pod(),
        &[
            (
                "/spec/containers/0/volumeMounts",
                json!([
            {"name": "keys", "mountPath": "/keys"}, {"name": "data", "mountPath": "/home/operator"}]),
            ),
            (
                "/spec/volumes",
                json!([
            {"name": "keys", "persistentVolumeClaim": {"claimName": "keys"}},
            {"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]),
            ),
        ],
    );
    assert_eq!(seen(&pod).data_claim.as_ref().map(crate::ClaimName::as_str), Some("data"));
    let elsewhere = with(pod, &[("/spec/containers/0/args", json!(["start"]))]);
    assert_eq!(
        seen(&elsewhere).data_claim.as_ref().map(crate::ClaimName::as_str),
        Some("keys"),
        "the first for writing"
    );
}

#[test]
fn deletion_is_asked_a_grace_period_before_its_time() {
    let pod = with(
        looping_pod(),
        &[
            ("/metadata/deletionTimestamp", json!("2026-01-05T10:31:00Z")),
            ("/metadata/deletionGracePeriodSeconds", json!(30)),
        ],
    );
    assert_eq!(seen(&pod).deletion_asked, at("2026-01-05T10:30:30Z"));
    assert_eq!(seen(&pod).seen, at("2026-01-05T10:30:30Z"), "the end of the grace period lies in the future");
}

#[test]
fn a_status_without_a_specification_is_still_read() {
    let mut pod = looping_pod();
    pod.as_object_mut().expect("an object").remove("spec");
    assert_eq!(seen(&pod).node_container().map(|node| node.restarts), Some(12));
    assert_eq!(loops(&[pod]).crashes, 12);
}

#[test]
fn an_empty_object_is_an_observation_too() {
    let observation = observe(&Pod::default());
    assert!(!observation.has_status && observation.containers.is_empty());
    assert!(matches!(detect(&InstanceHistory::new(observation)), CrashLoopReading::Unclear(_)));
}

/// Every place of the sound pod, as JSON pointers.
fn places(value: &Value, at: &str, into: &mut Vec<String>) {
    match value {
        Value::Object(map) => map.iter().for_each(|(key, inner)| {
            let place = format!("{at}/{}", key.replace('~', "~0").replace('/', "~1"));
            into.push(place.clone());
            places(inner, &place, into);
        }),
        Value::Array(list) => list.iter().enumerate().for_each(|(index, inner)| {
            let place = format!("{at}/{index}");
            into.push(place.clone());
            places(inner, &place, into);
        }),
        _ => {}
    }
}

fn any_value() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        Just(json!([])),
        Just(json!({})),
        Just(json!("")),
        any::<i32>().prop_map(|n| json!(n)),
        Just(json!(i64::MAX)),
        Just(json!(true)),
        ".{0,40}".prop_map(|text| json!(text)),
        "back-off [0-9]{0,30}[hmsµ.]{0,3}".prop_map(|text| json!(text)),
        Just(json!("-009999-01-02T01:59:59Z")),
        Just(json!("9999-12-30T22:00:00Z")),
        Just(json!("1970-01-01T00:00:00Z")),
    ]
}

proptest! {
    /// P13: whatever an object says, reading it ends in an answer, and a loop is never less than three crashes.
    #[test]
    fn never_panics(edits in proptest::collection::vec((any::<proptest::sample::Index>(), any_value()), 1..6), second in any::<bool>()) {
        let mut pod = looping_pod();
        for (index, value) in edits {
            let mut all = Vec::new();
            places(&pod, "", &mut all);
            if !all.is_empty() && let Some(place) = pod.pointer_mut(index.get::<String>(&all)) {
                *place = value;
            }
        }
        if let Ok(pod) = serde_json::from_value::<Pod>(pod) {
            let mut observations = vec![observe(&pod)];
            if second { observations.push(seen(&healthy_pod())); }
            for history in InstanceHistory::group(observations) {
                if let CrashLoopReading::Looping(found) = detect(&history) {
                    prop_assert!(found.crashes >= 3, "{found:?}");
                    prop_assert!(found.role != ContainerRole::SideCar, "{found:?}");
                }
            }
        }
    }
}
