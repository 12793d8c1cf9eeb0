//! Snapshots: ready, late, never, failed, without a size; what they protect and what protects them.

use serde_json::json;
use simcluster::{Call, Fields, HUMAN, World};

use crate::{at, claim, osmosis, secs, story};

const SNAPSHOTS: &str = "volumesnapshots.snapshot.storage.k8s.io";

fn snapshot(world: &World, name: &str) -> serde_json::Value {
    world.get(SNAPSHOTS, "cosmos", name).expect("a snapshot")
}

fn restore(world: &World, name: &str, from: &str, size: &str) {
    let mut wanted = claim(name, size);
    wanted["spec"]["dataSource"] =
        json!({"apiGroup": "snapshot.storage.k8s.io", "kind": "VolumeSnapshot", "name": from});
    world.request(HUMAN, &Call::create("persistentvolumeclaims", wanted)).expect("made");
}

fn phase(world: &World, claim: &str) -> String {
    at(&world.get("persistentvolumeclaims", "cosmos", claim).unwrap_or_default(), "/status/phase").to_owned()
}

#[test]
fn a_snapshot_is_the_volume_as_it_was_and_is_bound_both_ways() {
    story(async {
        let world = osmosis(1).await;
        let then = world.content("cosmos", "data-osmo-1").expect("a volume").height();
        world.snapshot("cosmos", "s1").of("data-osmo-1").create();
        world.run_for(secs(3)).await;
        let ready = snapshot(&world, "s1");
        assert!(ready.is_true("/status/readyToUse"));
        assert_eq!(at(&ready, "/status/restoreSize"), "10Gi");
        let content = at(&ready, "/status/boundVolumeSnapshotContentName");
        let content = world.get("volumesnapshotcontents.snapshot.storage.k8s.io", "", content).expect("its content");
        assert_eq!(at(&content, "/spec/volumeSnapshotRef/uid"), ready.uid());
        world.run_for(secs(600)).await;
        restore(&world, "copy", "s1", "10Gi");
        world.run_for(secs(5)).await;
        let copy = world.content("cosmos", "copy").expect("restored");
        assert_eq!((copy.identity.as_deref(), copy.height()), (Some("osmo-1"), then));
    });
}

#[test]
fn a_claim_smaller_than_the_snapshot_or_of_one_that_is_not_ready_stays_pending() {
    story(async {
        let world = osmosis(2).await;
        world.snapshot_class("slow", "late:300");
        world.snapshot("cosmos", "s1").of("data-osmo-1").create();
        world.snapshot("cosmos", "s2").of("data-osmo-1").class("slow").create();
        world.run_for(secs(5)).await;
        restore(&world, "small", "s1", "5Gi");
        restore(&world, "early", "s2", "10Gi");
        world.run_for(secs(120)).await;
        assert_eq!((phase(&world, "small").as_str(), phase(&world, "early").as_str()), ("Pending", "Pending"));
        let events = world.list("events", "cosmos");
        assert!(events.iter().any(|event| at(event, "/reason") == "ProvisioningFailed"));
        world.run_for(secs(300)).await;
        assert_eq!((phase(&world, "small").as_str(), phase(&world, "early").as_str()), ("Pending", "Bound"));
    });
}

#[test]
fn without_a_size_it_is_absent_and_an_error_is_kept() {
    story(async {
        let world = osmosis(3).await;
        world.snapshot_class("no-size", "no-size");
        world.snapshot_class("broken", "error:backend is full");
        world.snapshot("cosmos", "s1").of("data-osmo-1").class("no-size").create();
        world.snapshot("cosmos", "s2").of("data-osmo-1").class("broken").create();
        world.run_for(secs(30)).await;
        assert!(
            snapshot(&world, "s1").is_true("/status/readyToUse") && !snapshot(&world, "s1").has("/status/restoreSize")
        );
        assert!(at(&snapshot(&world, "s2"), "/status/error/message").contains("backend is full"));
        assert!(!snapshot(&world, "s2").is_true("/status/readyToUse"));
    });
}

#[test]
fn a_snapshot_that_is_never_ready_holds_its_source_claim_until_it_is_deleted() {
    story(async {
        let world = osmosis(4).await;
        world.snapshot_class("never", "never");
        world.snapshot("cosmos", "s1").of("data-osmo-2").class("never").create();
        world.run_for(secs(60)).await;
        let uid = world.get("persistentvolumeclaims", "cosmos", "data-osmo-2").expect("a claim").uid().to_owned();
        world.delete("persistentvolumeclaims", "cosmos", "data-osmo-2").expect("marked");
        world.delete("pods", "cosmos", "osmo-2").expect("marked");
        world.run_for(secs(600)).await;
        let held = world.get("persistentvolumeclaims", "cosmos", "data-osmo-2").expect("held");
        assert!(held.uid() == uid && world.get("pods", "cosmos", "osmo-2").is_none(), "and no pod is made for it");
        world.delete(SNAPSHOTS, "cosmos", "s1").expect("marked");
        world.run_for(secs(1)).await;
        let freed = world.get("persistentvolumeclaims", "cosmos", "data-osmo-2");
        assert!(freed.is_none_or(|claim| claim.uid() != uid), "freed at once");
        assert!(snapshot(&world, "s1").is_terminating(), "itself it stays until the resync");
        world.run_for(secs(15 * 60)).await;
        assert!(world.get(SNAPSHOTS, "cosmos", "s1").is_none());
    });
}

#[test]
fn a_snapshot_that_a_pending_claim_restores_from_cannot_go() {
    story(async {
        let world = osmosis(5).await;
        world.snapshot("cosmos", "s1").of("data-osmo-1").create();
        world.run_for(secs(5)).await;
        restore(&world, "small", "s1", "5Gi");
        world.run_for(secs(1)).await;
        world.delete(SNAPSHOTS, "cosmos", "s1").expect("marked");
        world.run_for(secs(60)).await;
        assert!(snapshot(&world, "s1").is_terminating());
        assert!(world.list("events", "cosmos").iter().any(|event| at(event, "/reason") == "SnapshotDeletePending"));
        world.delete("persistentvolumeclaims", "cosmos", "small").expect("gone");
        world.run_for(secs(16 * 60)).await;
        assert!(world.get(SNAPSHOTS, "cosmos", "s1").is_none());
        assert!(world.list("volumesnapshotcontents.snapshot.storage.k8s.io", "").is_empty());
    });
}
