//! Several nodes: where pods are placed, what a lost node does, and that a volume is on one of them at a time.

use serde_json::json;
use simcluster::{Call, HUMAN, World};

use crate::{at, osmosis, secs, story};

fn node_of(world: &World, pod: &str) -> String {
    at(&world.get("pods", "cosmos", pod).unwrap_or_default(), "/spec/nodeName").to_owned()
}

fn pod(name: &str, spec: &serde_json::Value) -> serde_json::Value {
    let mut pod = json!({"metadata": {"namespace": "cosmos", "name": name}, "spec": {"containers": [{"name": "c", "image": "i"}]}});
    json_patch::merge(&mut pod, &json!({"spec": spec}));
    pod
}

#[test]
fn pods_go_where_affinity_and_cordons_let_them() {
    story(async {
        let world = osmosis(1).await;
        world.node("node-2");
        let by_name = json!({"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
            {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["node-1"]}]}]}}}});
        world.request(HUMAN, &Call::create("pods", pod("pinned", &by_name))).expect("made");
        world.request(HUMAN, &Call::create("pods", pod("free", &json!({})))).expect("made");
        world.run_for(secs(5)).await;
        assert_eq!((node_of(&world, "pinned").as_str(), node_of(&world, "free").as_str()), ("node-1", "node-2"));
        world.edit("nodes", "", "node-2", json!({"spec": {"unschedulable": true}})).expect("cordoned");
        let only = json!({"nodeSelector": {"kubernetes.io/hostname": "node-2"}});
        world.request(HUMAN, &Call::create("pods", pod("waiting", &only))).expect("made");
        world.run_for(secs(120)).await;
        assert_eq!(node_of(&world, "waiting"), "");
        let events = world.list("events", "cosmos");
        assert!(events.iter().any(|event| at(event, "/reason") == "FailedScheduling"));
        world.edit("nodes", "", "node-2", json!({"spec": {"unschedulable": null}})).expect("uncordoned");
        world.run_for(secs(5)).await;
        assert_eq!(node_of(&world, "waiting"), "node-2");
    });
}

#[test]
fn a_pod_of_a_lost_node_hangs_until_the_node_is_back() {
    story(async {
        let world = osmosis(2).await;
        world.node("node-2");
        world.lose_node("node-1", true);
        world.delete("pods", "cosmos", "osmo-2").expect("marked");
        world.run_for(secs(600)).await;
        let pod = world.get("pods", "cosmos", "osmo-2").expect("nobody confirms its end");
        assert!(pod.pointer("/metadata/deletionTimestamp").is_some());
        world.lose_node("node-1", false);
        world.run_for(secs(120)).await;
        assert!(world.replica("cosmos", "osmo-2").ready);
    });
}

#[test]
fn a_volume_is_on_one_node_at_a_time() {
    story(async {
        let world = osmosis(3).await;
        world.node("node-2");
        let second = json!({
            "nodeSelector": {"kubernetes.io/hostname": "node-2"},
            "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "data-osmo-1"}}],
        });
        world.request(HUMAN, &Call::create("pods", pod("second", &second))).expect("made");
        world.run_for(secs(120)).await;
        assert!(node_of(&world, "second") == "node-2" && !world.replica("cosmos", "second").ready);
        let events = world.list("events", "cosmos");
        assert!(events.iter().any(|event| at(event, "/message").contains("Multi-Attach error")), "{events:?}");
    });
}
