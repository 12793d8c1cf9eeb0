//! One good pod, one thing about it changed, and what follows.

use serde_json::{Value, json};

use super::*;

/// A node of a StatefulSet whose claim is mounted at its home.
fn good() -> Value {
    json!({
        "metadata": {"namespace": "cosmos", "name": "osmo-1"},
        "spec": {
            "nodeName": "node-1",
            "containers": [{
                "name": "node", "image": "osmosis:1", "command": ["osmosisd"], "args": ["start", "--home", "/chain"],
                "volumeMounts": [{"name": "data", "mountPath": "/chain"}],
            }],
            "volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "data-osmo-1"}}],
        },
    })
}

fn with(pointer: &str, value: Value) -> Result<Place, CannotInspect> {
    let mut pod = good();
    *pod.pointer_mut(pointer).expect("a place of the good pod") = value;
    find(&serde_json::from_value(pod).expect("a pod"))
}

fn directory(mounts: Value, args: Value) -> Result<String, CannotInspect> {
    let mut pod = good();
    pod["spec"]["containers"][0]["volumeMounts"] = mounts;
    pod["spec"]["containers"][0]["args"] = args;
    pod["spec"]["volumes"] = json!([
        {"name": "data", "persistentVolumeClaim": {"claimName": "data-osmo-1"}},
        {"name": "wasm", "persistentVolumeClaim": {"claimName": "wasm-osmo-1"}},
        {"name": "disk", "hostPath": {"path": "/mnt"}},
    ]);
    find(&serde_json::from_value(pod).expect("a pod")).map(|place| place.directory)
}

#[test]
fn the_home_within_the_volume() {
    let start = |home: &str| json!(["start", "--home", home]);
    let at = |path: &str| json!([{"name": "data", "mountPath": path}]);
    let of_volume = |directory: &str| Ok(directory.to_owned());
    assert_eq!(directory(at("/chain"), start("/chain")), of_volume(""));
    assert_eq!(directory(at("/chain/"), start("/chain/")), of_volume(""));
    assert_eq!(directory(at("/mnt"), start("/mnt/nodes/osmo")), of_volume("nodes/osmo"));
    assert_eq!(directory(at("/mnt"), json!(["start", "--home=/mnt/x"])), of_volume("x"));
    // The claim holds the data only; or nobody says where the home is.
    assert_eq!(directory(at("/chain/data"), start("/chain")), of_volume(""));
    assert_eq!(directory(at("/root/.osmosisd"), json!(["start"])), of_volume(""));
    assert_eq!(directory(at("/chain"), json!(["start", "--home", "$HOME/x"])), of_volume(""));
    let sub_path = json!([{"name": "data", "mountPath": "/chain", "subPath": "osmo"}]);
    assert_eq!(directory(sub_path, start("/chain/home")), of_volume("osmo/home"));
    // A name that only begins alike is another directory.
    assert_eq!(directory(at("/chain"), start("/chain2")), of_volume(""));
}

#[test]
fn of_two_claims_the_one_that_holds_the_home() {
    let both = json!([{"name": "data", "mountPath": "/chain"}, {"name": "wasm", "mountPath": "/chain/wasm"}]);
    assert_eq!(directory(both.clone(), json!(["start", "--home", "/chain"])), Ok(String::new()));
    let why = directory(both, json!(["start"])).expect_err("nothing says which");
    assert_eq!(why, CannotInspect::SeveralClaims("data-osmo-1, wasm-osmo-1".to_owned()));
    assert_eq!(
        why.to_string(),
        "the node mounts several claims (data-osmo-1, wasm-osmo-1) and its arguments do not say on which its home is \
         (give it `--home`)"
    );
}

#[test]
fn a_pod_without_a_claim_of_its_own_is_refused() {
    let home = json!(["start", "--home", "/chain"]);
    for mounts in [
        json!([]),
        json!([{"name": "disk", "mountPath": "/chain"}]),
        json!([{"name": "data", "mountPath": "/chain", "readOnly": true}]),
        json!([{"name": "gone", "mountPath": "/chain"}]),
    ] {
        assert_eq!(directory(mounts.clone(), home.clone()), Err(CannotInspect::NoClaim), "{mounts}");
    }
    assert_eq!(with("/spec/containers", json!([])), Err(CannotInspect::NoClaim));
    assert_eq!(find(&Pod::default()), Err(CannotInspect::NoClaim));
    let variable = json!([{"name": "data", "mountPath": "/chain", "subPathExpr": "$(POD_NAME)"}]);
    assert_eq!(directory(variable, home), Err(CannotInspect::SubPathExpr("data-osmo-1".to_owned())));
}

#[test]
fn a_claim_that_cannot_be_mounted_a_second_time_is_refused() {
    let pod: Pod = serde_json::from_value(good()).expect("a pod");
    let claim = |spec: Value| -> PersistentVolumeClaim {
        serde_json::from_value(json!({"metadata": {"name": "data-osmo-1"}, "spec": spec})).expect("a claim")
    };
    let plain = claim(json!({"accessModes": ["ReadWriteOnce"]}));
    assert_eq!(can_inspect_in_place(&pod, Some(&plain)), Ok(()));
    assert_eq!(can_inspect_in_place(&pod, None), Err(CannotInspect::ClaimGone));
    let one_pod = claim(json!({"accessModes": ["ReadWriteOncePod"]}));
    let name = "data-osmo-1".to_owned();
    assert_eq!(can_inspect_in_place(&pod, Some(&one_pod)), Err(CannotInspect::ReadWriteOncePod(name.clone())));
    let block = claim(json!({"accessModes": ["ReadWriteOnce"], "volumeMode": "Block"}));
    assert_eq!(can_inspect_in_place(&pod, Some(&block)), Err(CannotInspect::Block(name)));
    let mut nowhere = pod;
    nowhere.spec.as_mut().expect("a spec").node_name = None;
    assert_eq!(can_inspect_in_place(&nowhere, Some(&plain)), Err(CannotInspect::NoNode));
    assert_eq!(find(&nowhere).map(|place| place.node), Ok(None), "a copy can be read anywhere");
}
