//! Jobs: an inspector that reads a volume, deadlines, failures, a quota that leaves no room.

use serde_json::{Value, json};
use simcluster::{Call, Fields, HUMAN, Report, World};

use crate::{at, osmosis, secs, story};

fn inspector(change: &Value) -> Value {
    let mut job = json!({
        "metadata": {"namespace": "cosmos", "name": "inspect"},
        "spec": {"backoffLimit": 0, "template": {"spec": {
            "restartPolicy": "Never",
            "containers": [{"name": "inspect", "image": "loopbreaker:1", "args": ["inspect", "/data"], "volumeMounts": [{"name": "v", "mountPath": "/data"}]}],
            "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "data-osmo-1", "readOnly": true}}],
        }}},
    });
    json_patch::merge(&mut job, change);
    job
}

fn start(world: &World, change: &Value) {
    world.request(HUMAN, &Call::create("jobs.batch", inspector(change))).expect("made");
}

fn conditions(world: &World) -> Vec<String> {
    let job = world.get("jobs.batch", "cosmos", "inspect").expect("the job");
    job.items("/status/conditions").iter().map(|one| format!("{} {}", one.text("/type"), one.text("/reason"))).collect()
}

fn pods(world: &World) -> Vec<Value> {
    world.list("pods", "cosmos").into_iter().filter(|pod| pod.label("job-name") == "inspect").collect()
}

#[test]
fn an_inspector_prints_what_is_on_the_volume() {
    story(async {
        let world = osmosis(1).await;
        world.inspect_by(|inspection| {
            let content = inspection.content.expect("a volume is mounted");
            let line = json!({"identity": content.identity, "height": content.height()}).to_string();
            Report { lines: vec![line], exit_code: 0, takes: jiff::SignedDuration::from_secs(20) }
        });
        let height = world.content("cosmos", "data-osmo-1").expect("a volume").height();
        start(&world, &json!({}));
        world.run_for(secs(60)).await;
        assert_eq!(conditions(&world), ["SuccessCriteriaMet CompletionsReached", "Complete CompletionsReached"]);
        let pod = pods(&world).pop().expect("a pod");
        let log: kube::Api<k8s_openapi::api::core::v1::Pod> = kube::Api::namespaced(world.client(), "cosmos");
        let text = log.logs(pod.name(), &kube::api::LogParams::default()).await.expect("its log");
        let report: Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(report["identity"], "osmo-1");
        assert!(report["height"].as_u64() >= Some(height));
    });
}

#[test]
fn a_failure_is_not_tried_again_without_a_limit_for_it() {
    story(async {
        let world = osmosis(2).await;
        world.inspect_by(|_| Report {
            lines: vec!["could not read".to_owned()],
            exit_code: 1,
            takes: jiff::SignedDuration::from_secs(2),
        });
        start(&world, &json!({}));
        world.run_for(secs(300)).await;
        assert_eq!(conditions(&world), ["FailureTarget BackoffLimitExceeded", "Failed BackoffLimitExceeded"]);
        assert_eq!(pods(&world).len(), 1);
    });
}

#[test]
fn a_deadline_ends_it_and_its_time_to_live_removes_it() {
    story(async {
        let world = osmosis(3).await;
        world.inspect_by(|_| Report { lines: Vec::new(), exit_code: 0, takes: jiff::SignedDuration::from_secs(5_000) });
        start(&world, &json!({"spec": {"activeDeadlineSeconds": 60, "ttlSecondsAfterFinished": 600}}));
        world.run_for(secs(65)).await;
        assert_eq!(conditions(&world), ["FailureTarget DeadlineExceeded", "Failed DeadlineExceeded"]);
        world.run_for(secs(700)).await;
        assert!(
            world.get("jobs.batch", "cosmos", "inspect").is_none() && pods(&world).is_empty(),
            "and its pods with it"
        );
    });
}

#[test]
fn a_quota_without_room_makes_no_pod_and_says_so() {
    story(async {
        let world = osmosis(4).await;
        let quota = json!({"metadata": {"namespace": "cosmos", "name": "tight"}, "spec": {"hard": {"pods": "3"}}});
        world.request(HUMAN, &Call::create("resourcequotas", quota)).expect("made");
        start(&world, &json!({"spec": {"activeDeadlineSeconds": 600}}));
        world.run_for(secs(120)).await;
        assert!(pods(&world).is_empty());
        let event = world
            .list("events", "cosmos")
            .into_iter()
            .find(|event| at(event, "/involvedObject/kind") == "Job")
            .expect("an event");
        assert_eq!(at(&event, "/reason"), "FailedCreate");
        assert!(
            at(&event, "/message")
                .contains("is forbidden: exceeded quota: tight, requested: pods=1, used: pods=3, limited: pods=3"),
            "{event}"
        );
        world.delete("resourcequotas", "cosmos", "tight").expect("gone");
        world.run_for(secs(120)).await;
        assert_eq!(conditions(&world), ["SuccessCriteriaMet CompletionsReached", "Complete CompletionsReached"]);
    });
}
