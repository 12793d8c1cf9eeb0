//! The swap of design 5, by hand: restore, prove, reserve, detach, bind. It works, and it can be taken back.

use serde_json::json;
use simcluster::{Call, Damage, Fields, HUMAN, World};

use crate::{at, claim, osmosis, secs, story};

fn volume_of(world: &World, claim: &str) -> String {
    at(&world.get("persistentvolumeclaims", "cosmos", claim).expect("a claim"), "/spec/volumeName").to_owned()
}

fn retain(world: &World, volume: &str) {
    world
        .edit("persistentvolumes", "", volume, json!({"spec": {"persistentVolumeReclaimPolicy": "Retain"}}))
        .expect("kept");
}

/// Reserves a released volume for a claim and waits until it is free.
async fn reserve(world: &World, volume: &str, claim: &str) {
    let reference = json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "namespace": "cosmos", "name": claim, "uid": null, "resourceVersion": null});
    world.edit("persistentvolumes", "", volume, json!({"spec": {"claimRef": reference}})).expect("reserved");
    world.run_for(secs(1)).await;
    assert_eq!(at(&world.get("persistentvolumes", "", volume).expect("a volume"), "/status/phase"), "Available");
}

async fn detach(world: &World) {
    world.delete("persistentvolumeclaims", "cosmos", "data-osmo-2").expect("marked");
    world.delete("pods", "cosmos", "osmo-2").expect("marked");
    world.run_for(secs(60)).await;
}

#[test]
fn a_damaged_replica_gets_a_proven_volume_and_its_own_back() {
    story(async {
        let world = osmosis(1).await;
        world.snapshot("cosmos", "s1").of("data-osmo-2").create();
        world.run_for(secs(600)).await;
        world.damage("cosmos", "data-osmo-2", &Damage::of("state.db", "panic: checksum mismatch"));
        world.run_for(secs(120)).await;
        assert!(!world.replica("cosmos", "osmo-2").ready);
        let mut temporary = claim("temporary", "10Gi");
        temporary["spec"]["dataSource"] =
            json!({"apiGroup": "snapshot.storage.k8s.io", "kind": "VolumeSnapshot", "name": "s1"});
        world.request(HUMAN, &Call::create("persistentvolumeclaims", temporary)).expect("made");
        world.run_for(secs(5)).await;
        let (original, proven) = (volume_of(&world, "data-osmo-2"), volume_of(&world, "temporary"));
        retain(&world, &original);
        retain(&world, &proven);
        world.delete("persistentvolumeclaims", "cosmos", "temporary").expect("gone");
        world.run_for(secs(2)).await;
        reserve(&world, &proven, "data-osmo-2").await;
        detach(&world).await;
        assert_eq!(volume_of(&world, "data-osmo-2"), proven);
        assert!(world.replica("cosmos", "osmo-2").ready);
        let content = world.content("cosmos", "data-osmo-2").expect("a volume");
        assert!(content.damage.is_none() && content.identity.as_deref() == Some("osmo-2"));
        assert_eq!(content.height(), world.chain_height("osmosis-1"), "and it has caught up");
        let kept = world.content_of_volume(&original).expect("the original is kept");
        assert!(kept.damage.is_some());

        reserve(&world, &original, "data-osmo-2").await;
        detach(&world).await;
        assert_eq!(volume_of(&world, "data-osmo-2"), original, "undo is the same swap backwards");
        assert_eq!(world.replica("cosmos", "osmo-2").waits.as_deref(), Some("CrashLoopBackOff"));
        assert!(world.replica("cosmos", "osmo-0").ready && world.replica("cosmos", "osmo-1").ready);
        assert!(
            world
                .get("pods", "cosmos", "osmo-0")
                .expect("a sibling")
                .number("/status/containerStatuses/0/restartCount")
                == Some(0)
        );
    });
}

#[test]
fn a_volume_that_is_not_free_yet_gives_an_empty_one() {
    story(async {
        let world = osmosis(2).await;
        let original = volume_of(&world, "data-osmo-2");
        retain(&world, &original);
        detach(&world).await;
        assert_ne!(volume_of(&world, "data-osmo-2"), original, "it was Released, not Available");
        let content = world.content("cosmos", "data-osmo-2").expect("a volume");
        assert!(
            content.height() > 0 && world.replica("cosmos", "osmo-2").ready,
            "from genesis, and Ready all the same"
        );
        assert_eq!(content.identity.as_deref(), Some("osmo-2"));
    });
}
