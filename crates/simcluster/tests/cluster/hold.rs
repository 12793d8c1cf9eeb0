//! A `Hold` is kept by the API server itself: of one pod, and of any volume but the listed ones for one claim.

use serde_json::json;
use simcluster::{Call, Fields, HUMAN, World};

use crate::{at, osmosis, secs, story};

fn probe(world: &World) -> Result<serde_json::Value, simcluster::Refusal> {
    let pod = json!({"metadata": {"namespace": "cosmos", "name": "osmo-1"}, "spec": {"containers": [{"name": "x", "image": "x"}]}});
    let mut call = Call::create("pods", pod);
    call.query.insert("dryRun".to_owned(), "All".to_owned());
    world.request(HUMAN, &call)
}

#[test]
fn a_held_pod_is_not_made_its_siblings_are_and_a_poke_brings_it_back() {
    story(async {
        let world = osmosis(1).await;
        world.hold_policies();
        let volume =
            at(&world.get("persistentvolumeclaims", "cosmos", "data-osmo-1").expect("a claim"), "/spec/volumeName")
                .to_owned();
        world.hold("cosmos", "osmo-1", "osmo-1", "data-osmo-1", &[&volume]);
        assert_eq!(
            probe(&world).expect_err("the name is taken").reason,
            "AlreadyExists",
            "not seen before 30 ms are over"
        );
        world.run_for(secs(1)).await;
        let refusal = probe(&world).expect_err("held");
        assert_eq!((refusal.code, refusal.reason), (403, "Forbidden"));
        assert!(refusal.message.ends_with("denied request: held by loopbreaker osmo-1"), "{}", refusal.message);
        world.delete("pods", "cosmos", "osmo-1").expect("marked");
        world.delete("pods", "cosmos", "osmo-2").expect("marked");
        world.run_for(secs(90)).await;
        assert!(world.get("pods", "cosmos", "osmo-1").is_none() && world.replica("cosmos", "osmo-0").ready);
        world.delete("holds.loopbreaker.dev", "cosmos", "osmo-1").expect("released");
        world.run_for(secs(1)).await;
        let waits = world.get("pods", "cosmos", "osmo-1").is_none();
        assert!(waits, "the controller is in its back-off");
        world
            .edit("statefulsets.apps", "cosmos", "osmo", json!({"metadata": {"annotations": {"poke": "1"}}}))
            .expect("poked");
        world.run_for(secs(1)).await;
        assert!(world.get("pods", "cosmos", "osmo-1").is_some());
        world.run_for(secs(30)).await;
        assert!(world.replica("cosmos", "osmo-1").ready && world.replica("cosmos", "osmo-2").ready);
    });
}

#[test]
fn without_the_policies_a_hold_holds_nothing() {
    story(async {
        let world = osmosis(2).await;
        world.hold("cosmos", "osmo-1", "osmo-1", "data-osmo-1", &[]);
        world.run_for(secs(1)).await;
        world.delete("pods", "cosmos", "osmo-1").expect("marked");
        world.run_for(secs(30)).await;
        assert!(world.replica("cosmos", "osmo-1").ready);
    });
}

#[test]
fn a_blank_volume_is_refused_to_a_held_claim_and_the_original_repairs_it() {
    story(async {
        let world = osmosis(3).await;
        world.hold_policies();
        let claim = world.get("persistentvolumeclaims", "cosmos", "data-osmo-2").expect("a claim");
        let original = at(&claim, "/spec/volumeName").to_owned();
        world
            .edit("persistentvolumes", "", &original, json!({"spec": {"persistentVolumeReclaimPolicy": "Retain"}}))
            .expect("kept");
        world.hold("cosmos", "osmo-2", "osmo-2", "data-osmo-2", &[&original]);
        world.run_for(secs(1)).await;
        world.delete("persistentvolumeclaims", "cosmos", "data-osmo-2").expect("marked");
        world.delete("pods", "cosmos", "osmo-2").expect("marked");
        world.run_for(secs(60)).await;
        let claim = world.get("persistentvolumeclaims", "cosmos", "data-osmo-2").expect("made again");
        assert_eq!(
            (at(&claim, "/status/phase"), at(&claim, "/spec/volumeName")),
            ("Pending", ""),
            "a blank volume was made and not bound"
        );
        assert!(world.get("pods", "cosmos", "osmo-2").is_none());
        let free = json!({"spec": {"claimRef": {"namespace": "cosmos", "name": "data-osmo-2", "uid": null, "resourceVersion": null}}});
        world.edit("persistentvolumes", "", &original, free).expect("reserved");
        world.run_for(secs(10)).await;
        let claim = world.get("persistentvolumeclaims", "cosmos", "data-osmo-2").expect("the claim");
        assert_eq!((at(&claim, "/status/phase"), at(&claim, "/spec/volumeName")), ("Bound", original.as_str()));
        let blank = world
            .list("persistentvolumes", "")
            .into_iter()
            .filter(|volume| volume.text("/status/phase") != "Bound")
            .count();
        assert_eq!(blank, 0, "the binder has removed the wrong volume");
    });
}
