//! StatefulSet controller: claims, order, terminating claims, denied creates, rollouts.

use serde_json::json;
use simcluster::{Ailment, Fields, World};

use crate::{at, osmosis, secs, story};

#[test]
fn claims_and_pods_are_made_in_order_and_blank_volumes_start_from_genesis() {
    story(async {
        let world = World::new(1);
        world.chain("osmosis-1", 1_000, secs(5));
        world.stateful_set("cosmos", "osmo").chain("osmosis-1").replicas(2).with_blank_volumes().create();
        world.run_for(secs(60)).await;
        let pods = world.list("pods", "cosmos");
        let made: Vec<_> = pods.iter().map(|pod| pod.time("/metadata/creationTimestamp").expect("a time")).collect();
        assert!(made[1] > made[0], "the second after the first is Ready");
        let claim = world.get("persistentvolumeclaims", "cosmos", "data-osmo-0").expect("a claim");
        assert_eq!((at(&claim, "/status/phase"), claim.label("app")), ("Bound", "osmo"));
        let content = world.content("cosmos", "data-osmo-0").expect("a volume");
        assert_eq!(content.identity.as_deref(), Some("osmo-0"));
        assert!(content.height() > 900, "it has caught up from nothing: {}", content.height());
    });
}

#[test]
fn ordered_ready_waits_for_a_lower_ordinal_and_parallel_does_not() {
    for (parallel, comes_back) in [(false, false), (true, true)] {
        story(async {
            let world = World::new(2);
            world.chain("osmosis-1", 1_000, secs(5));
            let set = world.stateful_set("cosmos", "osmo").chain("osmosis-1");
            if parallel { set.parallel() } else { set }.create();
            world.run_for(secs(60)).await;
            world.ail("cosmos", "osmo-0", "node", Ailment::crash("boom", 1), 1_000);
            world.crash("cosmos", "osmo-0", "node", 1, "Error", &[]);
            world.run_for(secs(30)).await;
            world.delete("persistentvolumeclaims", "cosmos", "data-osmo-2").expect("marked");
            world.delete("pods", "cosmos", "osmo-2").expect("marked");
            world.run_for(secs(120)).await;
            assert_eq!(world.get("pods", "cosmos", "osmo-2").is_some(), comes_back, "parallel: {parallel}");
            assert_eq!(world.get("persistentvolumeclaims", "cosmos", "data-osmo-2").is_some(), comes_back);
        });
    }
}

#[test]
fn claim_first_then_pod_gives_a_new_claim_and_pod_first_gives_the_old_one_back() {
    story(async {
        let world = osmosis(3).await;
        let old = world.get("persistentvolumeclaims", "cosmos", "data-osmo-2").expect("a claim").uid().to_owned();
        world.delete("persistentvolumeclaims", "cosmos", "data-osmo-2").expect("marked");
        world.run_for(secs(30)).await;
        let held = world.get("persistentvolumeclaims", "cosmos", "data-osmo-2").expect("its pod holds it");
        assert!(held.is_terminating() && held.uid() == old);
        world.delete("pods", "cosmos", "osmo-2").expect("marked");
        world.run_for(secs(60)).await;
        let new = world.get("persistentvolumeclaims", "cosmos", "data-osmo-2").expect("made again");
        assert!(new.uid() != old && world.replica("cosmos", "osmo-2").ready);
        world.delete("pods", "cosmos", "osmo-1").expect("marked");
        world.run_for(secs(6)).await;
        world.delete("persistentvolumeclaims", "cosmos", "data-osmo-1").expect("marked");
        world.run_for(secs(600)).await;
        assert!(world.replica("cosmos", "osmo-1").ready, "the new pod runs on");
        assert!(world.get("persistentvolumeclaims", "cosmos", "data-osmo-1").expect("held for ever").is_terminating());
    });
}

#[test]
fn a_rollout_goes_from_the_top_and_stops_at_a_pod_that_is_not_ready() {
    story(async {
        let world = osmosis(4).await;
        world.ail_with_image(
            "cosmos",
            "osmo-2",
            "node",
            "chain:bad",
            Ailment::crash("flag provided but not defined", 1),
            1_000,
        );
        let image = |image: &str| json!({"spec": {"template": {"spec": {"containers": [{"name": "node", "image": image, "volumeMounts": [{"name": "data", "mountPath": "/data"}]}]}}}});
        world.edit("statefulsets.apps", "cosmos", "osmo", image("chain:bad")).expect("a rollout");
        world.run_for(secs(300)).await;
        let set = world.get("statefulsets.apps", "cosmos", "osmo").expect("the set");
        assert_eq!(set.number("/status/updatedReplicas"), Some(1));
        assert_ne!(at(&set, "/status/currentRevision"), at(&set, "/status/updateRevision"));
        let revision =
            |pod: &str| world.get("pods", "cosmos", pod).expect("a pod").label("controller-revision-hash").to_owned();
        assert!(revision("osmo-2") != revision("osmo-1") && revision("osmo-1") == revision("osmo-0"));
        assert_eq!(world.replica("cosmos", "osmo-2").waits.as_deref(), Some("CrashLoopBackOff"));
    });
}

#[test]
fn fewer_replicas_keep_their_claims() {
    story(async {
        let world = osmosis(5).await;
        world.edit("statefulsets.apps", "cosmos", "osmo", json!({"spec": {"replicas": 1}})).expect("scaled");
        world.run_for(secs(120)).await;
        assert_eq!(world.list("pods", "cosmos").len(), 1);
        assert_eq!(world.list("persistentvolumeclaims", "cosmos").len(), 3);
    });
}
