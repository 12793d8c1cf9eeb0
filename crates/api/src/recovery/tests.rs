use serde_json::json;

use super::{Phase, Recovery};

fn recovery() -> serde_json::Value {
    json!({
        "apiVersion": "loopbreaker.dev/v1alpha1",
        "kind": "Recovery",
        "metadata": { "name": "gaia-1", "namespace": "chain" },
        "spec": {
            "target": {
                "kind": "StatefulSet", "workload": "gaia", "workloadUid": "u-1", "pod": "gaia-1", "podUid": "u-2",
                "claim": { "name": "data-gaia-1", "uid": "u-3", "volume": "pv-1" },
            },
            "policy": { "name": "nodes", "uid": "u-4" },
            "incident": { "kind": "CrashLoop", "onset": "2026-11-30T03:00:00Z", "container": "node" },
        },
    })
}

fn read(object: &serde_json::Value) -> Recovery {
    serde_json::from_value(object.clone()).expect("a recovery")
}

#[test]
fn who_and_since_when_never_change() {
    let before = read(&recovery());
    before.validate_cel().expect("nothing wrong with it");
    for (path, value) in [
        ("/spec/target/podUid", json!("u-9")),
        ("/spec/target/claim/volume", json!("pv-9")),
        ("/spec/policy/uid", json!("u-9")),
        ("/spec/incident/onset", json!("2026-11-30T04:00:00Z")),
        ("/spec/incident/kind", json!("Stuck")),
    ] {
        let mut after = recovery();
        *after.pointer_mut(path).expect(path) = value;
        assert!(read(&after).validate_cel_update(&before).is_err(), "{path}");
    }
}

#[test]
fn a_humans_word_can_be_added_and_an_undo_not_taken_back() {
    let before = read(&recovery());
    let mut approved = recovery();
    approved["spec"]["approval"] = json!({ "by": "ada", "of": "e-1" });
    read(&approved).validate_cel_update(&before).expect("approved");
    let mut undone = approved.clone();
    undone["spec"]["undo"] = json!({ "by": "ada" });
    read(&undone).validate_cel_update(&read(&approved)).expect("undo asked for");
    assert!(read(&approved).validate_cel_update(&read(&undone)).is_err(), "undo taken back");
    read(&recovery()).validate_cel_update(&read(&approved)).expect("approval taken back");
}

#[test]
fn the_ends_are_those_of_the_design() {
    let ends: Vec<Phase> = Phase::ALL.into_iter().filter(|phase| phase.is_end()).collect();
    assert_eq!(ends, [Phase::Recovered, Phase::Held, Phase::RolledBack, Phase::Abandoned, Phase::NeedsHuman]);
}
