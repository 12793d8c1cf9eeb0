//! What stands around a replica, read from a cluster in memory.

use std::time::Duration;

use api::Claim;
use diagnosis::{NodeHealth, SigningRisk};
use serde_json::json;
use simcluster::{Damage, Fault, OPERATOR, Requests, World, simulate};

use super::*;
use crate::Clock;

/// Three nodes of a StatefulSet, one of which crashes again and again.
async fn osmosis() -> World {
    let world = World::new(5);
    world.chain("osmosis-1", 1_000, Duration::from_secs(5));
    world.stateful_set("cosmos", "osmo").chain("osmosis-1").create();
    world.run_for(Duration::from_mins(1)).await;
    world.damage("cosmos", "data-osmo-1", &Damage::of("state.db", "panic: checksum mismatch"));
    world.run_until(Duration::from_mins(5), |world| world.replica("cosmos", "osmo-1").waits.is_some()).await;
    world
}

fn instance() -> InstanceName {
    InstanceName { namespace: "cosmos".to_owned(), name: "osmo-1".to_owned() }
}

fn uid(world: &World, resource: &str, name: &str) -> String {
    let object = world.get(resource, "cosmos", name).unwrap_or_default();
    object.pointer("/metadata/uid").and_then(serde_json::Value::as_str).unwrap_or_default().to_owned()
}

async fn around(world: &World) -> Around {
    let target = TargetInstance {
        kind: WorkloadKind::StatefulSet,
        workload: "osmo".to_owned(),
        workload_uid: uid(world, "statefulsets.apps", "osmo"),
        pod: "osmo-1".to_owned(),
        pod_uid: uid(world, "pods", "osmo-1"),
        claim: Some(Claim {
            name: "data-osmo-1".to_owned(),
            uid: uid(world, "persistentvolumeclaims", "data-osmo-1"),
            volume: None,
        }),
    };
    let pod = world.get("pods", "cosmos", "osmo-1").unwrap_or_default();
    let pod: Pod = serde_json::from_value(pod).unwrap_or_default();
    let seen = observe(&pod);
    let histories = InstanceHistory::group([seen.clone()]);
    let collector = Collector::new(world.client(), Clock::starting_at(world.now()));
    collector.around(&instance(), &target, Some(&seen), histories).await
}

#[test]
fn everything_is_there_and_nothing_is_missing() {
    simulate(async {
        let world = osmosis().await;
        let around = around(&world).await;
        assert_eq!(around.missing, Vec::<String>::new());
        let objects = &around.scene.objects;
        assert_eq!((objects.pods.len(), objects.claims.len(), objects.nodes.len()), (3, 1, 1));
        assert_eq!((objects.stateful_sets.len(), objects.snapshots.len()), (1, 0));
        assert!(!objects.events.is_empty(), "BackOff at least");
        assert!(objects.events.iter().all(|event| event.involved_object.name == "osmo-1"), "{:?}", objects.events);
        assert_eq!((around.lock, around.circumstances), (Lock::Free, Vec::<String>::new()));
        let history = around.scene.history(&instance()).expect("its own");
        let circumstances = around.scene.circumstances(history, &scene::LogCauses::default());
        assert_eq!(circumstances.node, NodeHealth::Healthy);
        assert_eq!(circumstances.signing, SigningRisk::Unknown);
    })
    .expect("a runtime");
}

#[test]
fn each_missing_right_is_named_and_the_rest_goes_on() {
    simulate(async {
        let world = osmosis().await;
        for place in ["nodes", "events", "statefulsets.apps", "persistentvolumeclaims"] {
            world.deny(OPERATOR, "*", place);
        }
        world.deny(OPERATOR, "list", "volumesnapshots.snapshot.storage.k8s.io");
        let around = around(&world).await;
        let grant = |verb: &str, what: &str| {
            format!("may not {verb} {what} (grant {verb} on it to the operator's service account)")
        };
        assert_eq!(
            around.missing,
            [
                grant("get", "statefulsets osmo"),
                grant("get", "persistentvolumeclaims data-osmo-1"),
                grant("get", "nodes node-1"),
                grant("list", "events of cosmos"),
                grant("list", "events of cosmos"),
                grant("list", "events of default"),
                grant("list", "volumesnapshots of cosmos"),
            ]
        );
        assert_eq!(around.scene.objects.pods.len(), 3);
    })
    .expect("a runtime");
}

#[test]
fn what_is_gone_and_what_does_not_answer_is_said() {
    simulate(async {
        let world = osmosis().await;
        world.fail(Requests::all().of(OPERATOR).to("nodes"), Fault::Internal, 10);
        world.fail(Requests::all().of(OPERATOR).to("statefulsets.apps"), Fault::NotFound, 1);
        world.fail(Requests::all().of(OPERATOR).to("persistentvolumeclaims"), Fault::TimeoutBefore, 10);
        let missing = around(&world).await.missing;
        assert_eq!(missing.len(), 3, "{missing:?}");
        assert_eq!(missing[0], "statefulsets osmo is not there");
        assert!(missing[1].starts_with("persistentvolumeclaims data-osmo-1: the API server says 504 "), "{missing:?}");
        assert!(missing[2].starts_with("nodes node-1: the API server says 500 "), "{missing:?}");
    })
    .expect("a runtime");
}

#[test]
fn a_broken_object_is_passed_over_by_name() {
    simulate(async {
        let world = osmosis().await;
        let broken = json!({
            "apiVersion": "v1", "kind": "Pod", "metadata": {"namespace": "cosmos", "name": "broken"},
            "spec": {"containers": "none"},
        });
        world.put("pods", broken);
        let around = around(&world).await;
        assert_eq!(around.missing.len(), 1, "{:?}", around.missing);
        assert!(around.missing[0].starts_with("Pod broken cannot be read: "), "{:?}", around.missing);
        assert_eq!(around.scene.objects.pods.len(), 3, "the others were");
    })
    .expect("a runtime");
}

#[test]
fn another_pod_on_the_claim_holds_the_lock_and_our_inspector_does_not() {
    simulate(async {
        let world = osmosis().await;
        let user = |name: &str, labels: serde_json::Value| {
            json!({
                "apiVersion": "v1", "kind": "Pod", "metadata": {"namespace": "cosmos", "name": name, "labels": labels},
                "spec": {"containers": [{"name": "c", "image": "x"}],
                    "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "data-osmo-1"}}]},
            })
        };
        world.put("pods", user("lb-inspect-1", json!({"app.kubernetes.io/managed-by": "loopbreaker"})));
        assert_eq!(around(&world).await.lock, Lock::Free);
        world.put("pods", user("backup", json!({})));
        let why = "pod backup uses claim data-osmo-1 too".to_owned();
        assert_eq!(around(&world).await.lock, Lock::HeldByLiveProcess(why));
    })
    .expect("a runtime");
}

#[test]
fn a_snapshot_in_flight_is_said() {
    simulate(async {
        let world = osmosis().await;
        world.snapshot_class("slow", "never");
        let snapshot = json!({
            "apiVersion": "snapshot.storage.k8s.io/v1", "kind": "VolumeSnapshot",
            "metadata": {"namespace": "cosmos", "name": "nightly"},
            "spec": {"volumeSnapshotClassName": "slow", "source": {"persistentVolumeClaimName": "data-osmo-1"}},
        });
        world.put("volumesnapshots.snapshot.storage.k8s.io", snapshot);
        let around = around(&world).await;
        assert_eq!(around.circumstances, ["snapshots of its claim are being taken: nightly"]);
    })
    .expect("a runtime");
}
