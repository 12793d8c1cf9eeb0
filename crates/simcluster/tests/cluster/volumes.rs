//! The binder's table (real-cluster facts): which claim gets which volume, and when it is an empty one.

use serde_json::{Value, json};
use simcluster::{Call, Fields, HUMAN, VolumeContent, World};

use crate::{at, claim, secs, story};

/// A proven volume B of 10 Gi that was released and is reserved for the claim `data`, as the swap leaves it.
async fn reserved(world: &World, reserve: Value) -> String {
    world.namespace("cosmos");
    let uid = world.volume(claim("temporary", "10Gi"), VolumeContent::node("osmo-1", "osmosis-1", 900));
    let volume = format!("pvc-{uid}");
    world
        .edit("persistentvolumes", "", &volume, json!({"spec": {"persistentVolumeReclaimPolicy": "Retain"}}))
        .expect("kept");
    world.delete("persistentvolumeclaims", "cosmos", "temporary").expect("deleted");
    world.run_for(secs(2)).await;
    assert_eq!(phase(world, &volume), "Released");
    world.edit("persistentvolumes", "", &volume, json!({"spec": {"claimRef": reserve}})).expect("reserved");
    world.run_for(secs(2)).await;
    volume
}

fn for_data() -> Value {
    json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "namespace": "cosmos", "name": "data", "uid": null, "resourceVersion": null})
}

fn phase(world: &World, volume: &str) -> String {
    at(&world.get("persistentvolumes", "", volume).unwrap_or_default(), "/status/phase").to_owned()
}

fn make(world: &World, claim: Value) {
    world.request(HUMAN, &Call::create("persistentvolumeclaims", claim)).expect("made");
}

fn bound(world: &World) -> (String, String) {
    let claim = world.get("persistentvolumeclaims", "cosmos", "data").expect("a claim");
    (at(&claim, "/status/phase").to_owned(), at(&claim, "/spec/volumeName").to_owned())
}

#[test]
fn which_claims_get_the_reserved_volume_and_which_an_empty_one() {
    for (case, change, gets_it) in [
        ("the same as B", json!({}), true),
        ("smaller than B", json!({"spec": {"resources": {"requests": {"storage": "5Gi"}}}}), true),
        ("more than B's capacity", json!({"spec": {"resources": {"requests": {"storage": "11Gi"}}}}), false),
        ("another access mode", json!({"spec": {"accessModes": ["ReadWriteMany"]}}), false),
        ("an attributes class that B has not", json!({"spec": {"volumeAttributesClassName": "gold"}}), false),
        ("another class", json!({"spec": {"storageClassName": "other"}}), true),
    ] {
        story(async {
            let world = World::new(1);
            world.storage_class("other", &json!({}));
            let volume = reserved(&world, for_data()).await;
            assert_eq!(phase(&world, &volume), "Available", "{case}");
            let mut wanted = claim("data", "10Gi");
            json_patch::merge(&mut wanted, &change);
            make(&world, wanted);
            world.run_for(secs(5)).await;
            let (phase, name) = bound(&world);
            assert_eq!((phase.as_str(), name == volume), ("Bound", gets_it), "{case}");
            let content = world.content("cosmos", "data").expect("a volume");
            assert_eq!(content.is_empty(), !gets_it, "{case}: an empty volume comes without a word");
        });
    }
}

#[test]
fn a_volume_named_by_the_claim_is_bound_without_any_check() {
    story(async {
        let world = World::new(2);
        let volume = reserved(&world, for_data()).await;
        let mut wanted = claim("data", "99Gi");
        wanted["spec"]["volumeName"] = volume.clone().into();
        make(&world, wanted);
        world.run_for(secs(5)).await;
        assert_eq!(bound(&world), ("Bound".to_owned(), volume));
    });
}

#[test]
fn a_reservation_with_an_old_uid_binds_nobody_and_one_with_a_stale_version_does() {
    story(async {
        let world = World::new(3);
        let mut old = for_data();
        old["uid"] = "11111111-1111-4111-8111-111111111111".into();
        let volume = reserved(&world, old).await;
        assert_eq!(phase(&world, &volume), "Released");
        let mut wanted = claim("data", "10Gi");
        wanted["spec"]["volumeName"] = volume.clone().into();
        make(&world, wanted);
        world.run_for(secs(60)).await;
        assert_eq!(bound(&world).0, "Pending");
        let events = world.list("events", "cosmos");
        assert!(events.iter().any(|event| at(event, "/message").contains("already bound to a different claim")));
    });
    story(async {
        let world = World::new(4);
        let mut stale = for_data();
        stale["resourceVersion"] = "1".into();
        let volume = reserved(&world, stale).await;
        make(&world, claim("data", "10Gi"));
        world.run_for(secs(5)).await;
        assert_eq!(bound(&world), ("Bound".to_owned(), volume));
    });
}

#[test]
fn of_two_volumes_reserved_for_one_name_either_may_win() {
    let mut winners = std::collections::BTreeSet::new();
    for seed in 0..12 {
        winners.insert(story(async {
            let world = World::new(seed);
            let first = reserved(&world, for_data()).await;
            let second = reserved(&world, for_data()).await;
            make(&world, claim("data", "10Gi"));
            world.run_for(secs(5)).await;
            let winner = bound(&world).1;
            assert!(winner == first || winner == second);
            winner == first
        }));
    }
    assert_eq!(winners.len(), 2, "chance decides");
}

#[test]
fn a_claim_that_waits_for_its_consumer_sees_a_reservation_at_the_next_resync() {
    story(async {
        let world = World::new(5);
        world.storage_class("waits", &json!({"volumeBindingMode": "WaitForFirstConsumer"}));
        world.namespace("cosmos");
        let mut wanted = claim("data", "10Gi");
        wanted["spec"]["storageClassName"] = "waits".into();
        make(&world, wanted);
        world.run_for(secs(60)).await;
        assert_eq!(bound(&world).0, "Pending", "nobody uses it");
        let volume = reserved(&world, for_data()).await;
        assert_eq!(bound(&world).0, "Pending", "nobody told it");
        world.run_for(secs(16)).await;
        assert_eq!(bound(&world), ("Bound".to_owned(), volume));
    });
}

#[test]
fn a_consumer_must_be_placed_by_the_scheduler() {
    for (field, value, binds) in [("schedulerName", "default-scheduler", true), ("nodeName", "node-1", false)] {
        story(async {
            let world = World::new(6);
            world.storage_class("waits", &json!({"volumeBindingMode": "WaitForFirstConsumer"}));
            world.namespace("cosmos");
            let mut wanted = claim("data", "1Gi");
            wanted["spec"]["storageClassName"] = "waits".into();
            make(&world, wanted);
            let mut pod = json!({"metadata": {"namespace": "cosmos", "name": "p"}, "spec": {
                "containers": [{"name": "c", "image": "i", "volumeMounts": [{"name": "v", "mountPath": "/v"}]}],
                "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}]}});
            pod["spec"][field] = value.into();
            world.request(HUMAN, &Call::create("pods", pod)).expect("made");
            world.run_for(secs(300)).await;
            assert_eq!(bound(&world).0 == "Bound", binds, "{field}");
            assert_eq!(world.replica("cosmos", "p").ready, binds, "{field}");
        });
    }
}

#[test]
fn retain_keeps_the_data_and_delete_removes_it_with_the_claim() {
    for (policy, phase_after, kept) in [("Retain", "Released", true), ("Delete", "", false)] {
        story(async {
            let world = World::new(7);
            world.namespace("cosmos");
            let uid = world.volume(claim("data", "10Gi"), VolumeContent::node("osmo-1", "osmosis-1", 900));
            let volume = format!("pvc-{uid}");
            world
                .edit("persistentvolumes", "", &volume, json!({"spec": {"persistentVolumeReclaimPolicy": policy}}))
                .expect("set");
            world.delete("persistentvolumeclaims", "cosmos", "data").expect("deleted");
            world.run_for(secs(5)).await;
            assert_eq!(phase(&world, &volume), phase_after, "{policy}");
            assert_eq!(world.backend().len(), usize::from(kept), "{policy}");
            if kept {
                world
                    .edit(
                        "persistentvolumes",
                        "",
                        &volume,
                        json!({"spec": {"persistentVolumeReclaimPolicy": "Delete"}}),
                    )
                    .expect("set");
                world.run_for(secs(2)).await;
                assert!(world.backend().is_empty(), "Released and set to Delete: gone within seconds");
            }
        });
    }
}

#[test]
fn a_volume_object_deleted_while_available_orphans_its_data() {
    story(async {
        let world = World::new(8);
        let volume = reserved(&world, for_data()).await;
        world.delete("persistentvolumes", "", &volume).expect("deleted");
        world.run_for(secs(2)).await;
        assert!(world.get("persistentvolumes", "", &volume).is_none());
        assert_eq!(world.backend().len(), 1, "on the backend, known to nobody");
        make(&world, claim("data", "10Gi"));
        world.run_for(secs(5)).await;
        assert!(world.content("cosmos", "data").expect("a volume").is_empty(), "a blank one in its place");
    });
}

#[test]
fn a_claim_stands_as_it_was_made_and_grows_only_where_its_class_can() {
    story(async {
        let world = World::new(9);
        world.namespace("cosmos");
        world.storage_class("rigid", &json!({}));
        let mut rigid = claim("rigid", "1Gi");
        rigid["spec"]["storageClassName"] = "rigid".into();
        make(&world, rigid);
        make(&world, claim("data", "1Gi"));
        world.run_for(secs(5)).await;
        let grow = json!({"spec": {"resources": {"requests": {"storage": "2Gi"}}}});
        assert!(world.edit("persistentvolumeclaims", "cosmos", "data", grow.clone()).is_ok());
        let refused = world.edit("persistentvolumeclaims", "cosmos", "rigid", grow).expect_err("it cannot");
        assert_eq!((refused.code, refused.reason), (403, "Forbidden"));
        let rename = json!({"spec": {"volumeName": "another"}});
        let refused = world.edit("persistentvolumeclaims", "cosmos", "data", rename).expect_err("immutable");
        assert!(refused.code == 422 && refused.message.contains("spec is immutable after creation"));
        let lost = world.get("persistentvolumeclaims", "cosmos", "data").expect("a claim");
        assert!(lost.has_finalizer("kubernetes.io/pvc-protection"));
    });
}
