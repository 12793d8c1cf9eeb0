//! A world that begins in the middle of an incident: objects, counts and logs as a bundle has them.

use serde_json::json;
use simcluster::{Damage, VolumeContent, Which, World};

use crate::{claim, secs, story};

#[test]
fn a_crash_loop_goes_on_where_it_stood_with_its_counts_and_its_kept_log() {
    story(async {
        let world = World::new(1);
        world.chain("osmosis-1", 1_000, secs(5));
        world.namespace("cosmos");
        let mut content = VolumeContent::node("osmo-1", "osmosis-1", 900);
        content.damage = Some(Damage::of("state.db", "panic: checksum mismatch"));
        drop(world.volume(claim("data-osmo-1", "10Gi"), content));
        let last = json!({"terminated": {"exitCode": 2, "reason": "Error", "containerID": "containerd://aa",
            "startedAt": "2026-11-30T23:55:00Z", "finishedAt": "2026-11-30T23:55:01Z"}});
        world.put("pods", json!({
            "apiVersion": "v1", "kind": "Pod",
            "metadata": {"namespace": "cosmos", "name": "osmo-1", "uid": "31a094ae-d704-48e0-8573-86834dfc1c4c"},
            "spec": {"nodeName": "node-1", "restartPolicy": "Always",
                "containers": [{"name": "node", "image": "chain:1", "volumeMounts": [{"name": "data", "mountPath": "/data"}]}],
                "volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "data-osmo-1"}}]},
            "status": {"phase": "Running", "podIP": "10.244.0.5", "startTime": "2026-11-30T20:00:00Z", "containerStatuses": [{
                "name": "node", "image": "chain:1", "restartCount": 17, "ready": false, "containerID": "containerd://aa",
                "state": {"waiting": {"reason": "CrashLoopBackOff"}}, "lastState": last}]},
        }));
        world.put_log("cosmos", "osmo-1", "node", Which::Previous, "panic: the line from before\n");
        let pods: kube::Api<k8s_openapi::api::core::v1::Pod> = kube::Api::namespaced(world.client(), "cosmos");
        let previous = kube::api::LogParams { previous: true, ..kube::api::LogParams::default() };
        assert_eq!(pods.logs("osmo-1", &previous).await.expect("the kept log"), "panic: the line from before\n");
        world.run_for(secs(20)).await;
        assert_eq!(world.replica("cosmos", "osmo-1").restarts, 18, "its five minutes were over");
        world.run_for(secs(240)).await;
        let replica = world.replica("cosmos", "osmo-1");
        assert_eq!(
            (replica.restarts, replica.waits.as_deref()),
            (18, Some("CrashLoopBackOff")),
            "and the next wait is five minutes"
        );
        assert!(pods.logs("osmo-1", &previous).await.expect("the newer log").contains("checksum mismatch"));
    });
}
