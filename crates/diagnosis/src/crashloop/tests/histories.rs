//! Two or more observations of one replica.

use super::*;
use crate::RestartRate;

fn restarted(count: i32, finished: &str) -> Value {
    with(
        looping_pod(),
        &[
            (&format!("{NODE}/restartCount"), json!(count)),
            (&format!("{NODE}/lastState/terminated/startedAt"), json!(finished)),
            (&format!("{NODE}/lastState/terminated/finishedAt"), json!(finished)),
        ],
    )
}

/// A `restartPolicy: Never` pod that failed; somebody makes it anew each time.
fn failed_once(uid: &str, minute: u32) -> Value {
    let created = format!("2026-01-05T10:{minute:02}:00Z");
    with(
        looping_pod(),
        &[
            ("/metadata/uid", json!(uid)),
            ("/metadata/creationTimestamp", json!(created)),
            ("/spec/restartPolicy", json!("Never")),
            ("/status/phase", json!("Failed")),
            ("/status/startTime", json!(created)),
            ("/status/initContainerStatuses", json!([])),
            (
                "/status/containerStatuses",
                json!([{"name": "node", "image": "", "imageID": "", "ready": false, "restartCount": 0,
            "state": {"terminated": {"exitCode": 1, "reason": "Error", "startedAt": created,
                "finishedAt": format!("2026-01-05T10:{minute:02}:20Z")}}}]),
            ),
        ],
    )
}

#[test]
fn restarts_of_one_pod() {
    let found = loops(&[restarted(17, "2026-01-05T11:11:00Z"), restarted(12, "2026-01-05T10:30:00Z")]);
    assert_eq!(found.rate, Some(RestartRate { crashes: 5, seconds: 41 * 60 }), "sorted by time");
    assert_eq!(found.crashes, 17);
    assert_eq!(found.onset, at("2026-01-05T10:30:00Z"), "the earliest crash shown");
}

#[test]
fn the_same_object_twice_counts_once() {
    let twice = history(&[looping_pod(), looping_pod()]);
    assert_eq!(twice.observations().count(), 1);
}

#[test]
fn a_count_that_starts_again_at_zero() {
    let found = loops(&[restarted(12, "2026-01-05T10:30:00Z"), restarted(3, "2026-01-05T10:40:00Z")]);
    assert_eq!(found.rate, Some(RestartRate { crashes: 3, seconds: 600 }));
}

#[test]
fn pods_that_are_made_anew() {
    let found = loops(&[failed_once("u-1", 1), failed_once("u-2", 5), failed_once("u-3", 9)]);
    assert_eq!(found.crashes, 3);
    assert_eq!(found.rate, Some(RestartRate { crashes: 2, seconds: 8 * 60 }));
    assert_eq!(found.onset, at("2026-01-05T10:01:20Z"));
    assert_eq!(
        reading(&[failed_once("u-1", 1), failed_once("u-2", 5)]),
        CrashLoopReading::NotLooping,
        "two are no loop"
    );
}

#[test]
fn a_fresh_pod_after_three_failed_ones_still_loops() {
    let fresh = with(
        healthy_pod(),
        &[
            ("/metadata/uid", json!("u-4")),
            ("/metadata/creationTimestamp", json!("2026-01-05T10:12:00Z")),
            ("/status", json!({"phase": "Pending"})),
        ],
    );
    let found = loops(&[failed_once("u-1", 1), failed_once("u-2", 5), failed_once("u-3", 9), fresh]);
    assert_eq!(found.crashes, 3);
    assert_eq!(found.last_run.map(|run| run.finished), Some(at("2026-01-05T10:09:20Z")));
}

#[test]
fn healthy_pods_that_are_deleted_never_crashed() {
    let pods: Vec<Value> = (0..6)
        .map(|index| {
            with(
                healthy_pod(),
                &[
                    ("/metadata/uid", json!(format!("u-{index}"))),
                    ("/metadata/creationTimestamp", json!(format!("2026-01-05T10:{index:02}:00Z"))),
                ],
            )
        })
        .collect();
    assert_eq!(reading(&pods), CrashLoopReading::NotLooping);
}

#[test]
fn the_old_pods_last_death_counts_when_a_new_pod_comes() {
    let old = restarted(5, "2026-01-05T10:30:00Z");
    let new = with(
        restarted(2, "2026-01-05T10:40:00Z"),
        &[("/metadata/uid", json!("u-2")), ("/metadata/creationTimestamp", json!("2026-01-05T10:35:00Z"))],
    );
    let found = loops(&[old, new]);
    assert_eq!(found.rate, Some(RestartRate { crashes: 3, seconds: 600 }), "two of the new pod, one of the old");
    assert_eq!(found.crashes, 8);
}

#[test]
fn progress_in_between_starts_the_count_anew() {
    let well = with(
        healthy_pod(),
        &[
            (&format!("{NODE}/restartCount"), json!(12)),
            (&format!("{NODE}/state"), json!({"running": {"startedAt": "2026-01-05T11:00:00Z"}})),
            (
                "/status/conditions",
                json!([{"type": "Ready", "status": "True", "lastTransitionTime": "2026-01-05T13:00:00Z"}]),
            ),
        ],
    );
    let one_more = restarted(13, "2026-01-05T14:00:00Z");
    assert_eq!(reading(&[looping_pod(), well.clone(), one_more]), CrashLoopReading::NotLooping, "one crash since");
    let found = loops(&[looping_pod(), well, restarted(16, "2026-01-05T14:00:00Z")]);
    assert_eq!(found.crashes, 4);
    assert_eq!(found.counted_since, at("2026-01-05T13:00:00Z"));
}

#[test]
fn caught_ready_between_two_crashes() {
    let ready = |count: i32, since: &str| {
        with(
            healthy_pod(),
            &[
                (&format!("{NODE}/restartCount"), json!(count)),
                (&format!("{NODE}/state"), json!({"running": {"startedAt": since}})),
                (
                    &format!("{NODE}/lastState"),
                    json!({"terminated": {"exitCode": 2, "reason": "Error",
            "startedAt": "2026-01-05T10:05:00Z", "finishedAt": since}}),
                ),
                ("/status/conditions", json!([{"type": "Ready", "status": "True", "lastTransitionTime": since}])),
            ],
        )
    };
    let found = loops(&[ready(2, "2026-01-05T10:30:00Z"), ready(7, "2026-01-05T10:55:00Z")]);
    assert_eq!(found.rate, Some(RestartRate { crashes: 5, seconds: 25 * 60 }));
}

#[test]
fn groups_by_namespace_and_name() {
    let other = with(looping_pod(), &[("/metadata/namespace", json!("other"))]);
    let names: Vec<String> = InstanceHistory::group([seen(&looping_pod()), seen(&other)])
        .iter()
        .map(|one| one.instance().to_string())
        .collect();
    assert_eq!(names, ["cosmos/gaia-0", "other/gaia-0"]);
}
