//! Jobs in a cluster in memory, and what is said of their end.

use std::time::Duration;

use serde_json::{Value, json};
use simcluster::{Call, HUMAN, OPERATOR, Report, World, simulate};

use super::*;
use crate::Clock;

const REPORT: &str = r#"{"schema":"loopbreaker.dev/inspection/v1","outcome":"intact","depth":"default"}"#;

async fn osmosis() -> World {
    let world = World::new(7);
    world.chain("osmosis-1", 1_000, Duration::from_secs(5));
    world.stateful_set("cosmos", "osmo").chain("osmosis-1").create();
    world.run_for(Duration::from_mins(1)).await;
    world
}

/// Inspectors print this, end with this status, and take so long.
fn prints(world: &World, line: &str, exit_code: i32, seconds: i64) {
    let line = line.to_owned();
    world.inspect_by(move |_| Report {
        lines: vec![line.clone()],
        exit_code,
        takes: SignedDuration::from_secs(seconds),
    });
}

fn send(world: &World, image: &str) {
    let job = json!({
        "metadata": {"namespace": "cosmos", "name": "lb-inspect-1"},
        "spec": {"backoffLimit": 0, "activeDeadlineSeconds": 600, "template": {"spec": {
            "restartPolicy": "Never",
            "containers": [{"name": "inspector", "image": image, "volumeMounts": [{"name": "v", "mountPath": "/volume"}]}],
            "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "data-osmo-1", "readOnly": true}}],
        }}},
    });
    assert!(world.request(HUMAN, &Call::create("jobs.batch", job)).is_ok());
}

async fn outcome(world: &World) -> Result<JobOutcome, String> {
    Collector::new(world.client(), Clock::starting_at(world.now())).inspection("cosmos", "lb-inspect-1").await
}

async fn outcome_after(world: &World, seconds: u64) -> JobOutcome {
    world.run_for(Duration::from_secs(seconds)).await;
    outcome(world).await.unwrap_or_else(JobOutcome::Failed)
}

#[test]
fn it_waits_it_works_it_reports() {
    simulate(async {
        let world = osmosis().await;
        prints(&world, REPORT, 0, 60);
        assert_eq!(outcome_after(&world, 0).await, JobOutcome::Absent);
        send(&world, "loopbreaker:1");
        assert_eq!(outcome_after(&world, 0).await, JobOutcome::Waiting { refused: None });
        assert_eq!(outcome_after(&world, 30).await, JobOutcome::Running);
        let JobOutcome::Reported { report, began, ended } = outcome_after(&world, 60).await else {
            unreachable_end("no report")
        };
        assert_eq!(report.outcome(), "intact");
        let took = ended.expect("an end").duration_since(began.expect("a begin"));
        assert_eq!(took.as_secs(), 60);
    })
    .expect("a runtime");
}

#[test]
fn an_end_without_a_report_is_said_with_the_inspectors_last_words() {
    simulate(async {
        let world = osmosis().await;
        prints(&world, "error: /volume: Permission denied (run it as user id 1025 or as root)", 1, 2);
        send(&world, "loopbreaker:1");
        let words = "the inspector ended with 1 (Error): the inspector printed no report: error: /volume: Permission denied \
                     (run it as user id 1025 or as root)";
        assert_eq!(outcome_after(&world, 30).await, JobOutcome::Failed(words.to_owned()));
    })
    .expect("a runtime");
}

#[test]
fn a_report_that_a_signal_cut_short_is_none() {
    simulate(async {
        let world = osmosis().await;
        prints(&world, REPORT.get(..50).expect("half of it"), 137, 2);
        send(&world, "loopbreaker:1");
        let JobOutcome::Failed(why) = outcome_after(&world, 30).await else { unreachable_end("half is no report") };
        assert!(
            why.starts_with("the inspector ended with 137 (Error): the inspector's report cannot be read: "),
            "{why}"
        );
    })
    .expect("a runtime");
}

#[test]
fn the_deadline_ends_it() {
    simulate(async {
        let world = osmosis().await;
        prints(&world, REPORT, 0, 5_000);
        send(&world, "loopbreaker:1");
        let JobOutcome::Failed(why) = outcome_after(&world, 700).await else { unreachable_end("it is over") };
        assert!(why.starts_with("the inspector's Job failed: DeadlineExceeded"), "{why}");
    })
    .expect("a runtime");
}

#[test]
fn a_quota_that_leaves_no_room_is_quoted() {
    simulate(async {
        let world = osmosis().await;
        let quota = json!({"metadata": {"namespace": "cosmos", "name": "tight"}, "spec": {"hard": {"pods": "3"}}});
        world.request(HUMAN, &Call::create("resourcequotas", quota)).expect("made");
        send(&world, "loopbreaker:1");
        let JobOutcome::Waiting { refused: Some(why) } = outcome_after(&world, 60).await else {
            unreachable_end("nobody says why")
        };
        assert!(why.starts_with("no pod could be made for the inspector: "), "{why}");
        assert!(why.contains("exceeded quota: tight"), "{why}");
    })
    .expect("a runtime");
}

/// An inspector whose pod has this status, and no kubelet that changes it.
fn stands(world: &World, status: &Value) {
    let job = json!({
        "apiVersion": "batch/v1", "kind": "Job",
        "metadata": {"namespace": "cosmos", "name": "lb-inspect-1", "uid": "j1"}, "spec": {"suspend": true},
    });
    world.put("jobs.batch", job);
    let pod = json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"namespace": "cosmos", "name": "lb-inspect-1-x", "labels": {"batch.kubernetes.io/job-name": "lb-inspect-1"},
            "ownerReferences": [{"apiVersion": "batch/v1", "kind": "Job", "name": "lb-inspect-1", "uid": "j1", "controller": true}]},
        "spec": {"schedulerName": "none", "containers": [{"name": "inspector", "image": "x"}]}, "status": status,
    });
    world.put("pods", pod);
}

#[test]
fn why_its_pod_does_not_run_is_said() {
    simulate(async {
        for (status, expected) in [
            (
                json!({"phase": "Pending", "containerStatuses": [{"name": "inspector", "image": "x", "imageID": "", "ready": false,
                    "restartCount": 0, "state": {"waiting": {"reason": "ImagePullBackOff", "message": "Back-off pulling image"}}}]}),
                Some("the inspector cannot be started: ImagePullBackOff Back-off pulling image"),
            ),
            (
                json!({"phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable",
                    "message": "0/3 nodes are available: 3 node(s) were unschedulable."}]}),
                Some("the inspector finds no machine: 0/3 nodes are available: 3 node(s) were unschedulable."),
            ),
            (
                json!({"phase": "Failed", "reason": "Evicted", "message": "The node was low on resource: memory."}),
                Some("the inspector's pod was ended: Evicted The node was low on resource: memory."),
            ),
            (json!({"phase": "Pending"}), None),
        ] {
            let world = World::new(8);
            world.namespace("cosmos");
            stands(&world, &status);
            let refused = expected.map(str::to_owned);
            assert_eq!(outcome(&world).await, Ok(JobOutcome::Waiting { refused }), "{status}");
        }
    })
    .expect("a runtime");
}

#[test]
fn a_volume_that_another_machine_holds_is_said() {
    simulate(async {
        let world = World::new(8);
        world.namespace("cosmos");
        stands(&world, &json!({"phase": "Pending"}));
        let event = json!({
            "apiVersion": "v1", "kind": "Event", "metadata": {"namespace": "cosmos", "name": "e1"},
            "involvedObject": {"kind": "Pod", "namespace": "cosmos", "name": "lb-inspect-1-x"}, "reason": "FailedAttachVolume",
            "message": "Multi-Attach error for volume \"pvc-1\" Volume is already used by pod(s) osmo-1",
        });
        world.put("events", event);
        let words = "the inspector cannot mount the volume: Multi-Attach error for volume \"pvc-1\" Volume is already used by \
                     pod(s) osmo-1";
        assert_eq!(outcome(&world).await, Ok(JobOutcome::Waiting { refused: Some(words.to_owned()) }));
    })
    .expect("a runtime");
}

#[test]
fn a_log_that_is_gone_is_waited_for_two_minutes() {
    simulate(async {
        let world = osmosis().await;
        prints(&world, "unable to retrieve container logs for containerd://6f1c", 0, 1);
        send(&world, "loopbreaker:1");
        world.run_for(Duration::from_secs(20)).await;
        assert_eq!(outcome(&world).await, Err("unable to retrieve container logs for containerd://6f1c".to_owned()));
        let gone = "the inspector's report is gone: unable to retrieve container logs for containerd://6f1c";
        assert_eq!(outcome_after(&world, 180).await, JobOutcome::Failed(gone.to_owned()));
    })
    .expect("a runtime");
}

#[test]
fn a_missing_right_is_named() {
    simulate(async {
        let world = osmosis().await;
        world.deny(OPERATOR, "get", "jobs.batch");
        let why = outcome(&world).await.expect_err("forbidden");
        assert_eq!(why, "may not get jobs cosmos/lb-inspect-1 (grant get on it to the operator's service account)");
    })
    .expect("a runtime");
}

fn unreachable_end(why: &str) -> ! {
    std::panic::panic_any(why.to_owned())
}
