//! One observation.

use super::*;
use crate::{BackOff, ContainerRole};

/// The change that a row makes to [`looping_pod`], and whether it still loops.
fn row(what: &str, changes: &[(&str, Value)], loops: bool) {
    let read = reading(&[with(looping_pod(), changes)]);
    let expected =
        if loops { matches!(read, CrashLoopReading::Looping(_)) } else { read == CrashLoopReading::NotLooping };
    assert!(expected, "{what}: {read:?}");
}

fn part(of: &str, rest: &str) -> String {
    format!("{of}{rest}")
}

#[test]
fn the_sound_pod_loops() {
    let found = loops(&[looping_pod()]);
    assert_eq!(found.container.as_str(), "node");
    assert_eq!(found.role, ContainerRole::Node);
    assert_eq!(found.crashes, 12);
    assert_eq!(found.back_off, Some(BackOff { seconds: 300 }));
    assert_eq!(found.last_run.as_ref().map(|run| (run.exit.code, run.seconds())), Some((2, Some(4))));
    assert_eq!(found.rate, None, "one observation has no rate");
    assert_eq!(found.onset, at("2026-01-05T10:30:00Z"));
    assert_eq!(found.counted_since, at("2026-01-05T10:00:00Z"));
}

#[test]
fn a_healthy_pod_does_not() {
    assert_eq!(reading(&[healthy_pod()]), CrashLoopReading::NotLooping);
}

#[test]
fn how_often() {
    let count = part(NODE, "/restartCount");
    row("three crashes", &[(&count, json!(3))], true);
    row("two crashes", &[(&count, json!(2))], false);
    row("one crash", &[(&count, json!(0))], false);
    row("a count below zero", &[(&count, json!(-5))], false);
    row("a count at its end", &[(&count, json!(i32::MAX))], true);
}

#[test]
fn how_it_ended() {
    let run = part(NODE, "/lastState/terminated");
    let ended = |code: i32, reason: &str| {
        json!({"exitCode": code, "reason": reason,
            "startedAt": "2026-01-05T10:29:56Z", "finishedAt": "2026-01-05T10:30:00Z"})
    };
    row("exit status 0: a node must not end", &[(&run, ended(0, "Completed"))], true);
    row("killed for memory", &[(&run, ended(137, "OOMKilled"))], true);
    row("SIGTERM without a deletion (a liveness probe)", &[(&run, ended(143, "Error"))], true);
}

#[test]
fn which_state() {
    let state = part(NODE, "/state");
    let ready = part(NODE, "/ready");
    let ended = json!({"terminated": {"exitCode": 2, "reason": "Error",
        "startedAt": "2026-01-05T10:29:56Z", "finishedAt": "2026-01-05T10:30:00Z"}});
    let running = |since: &str| json!({"running": {"startedAt": since}});
    row("caught dead, not yet in back-off", &[(&state, ended)], true);
    row("caught in the next try", &[(&state, running("2026-01-05T10:35:00Z"))], true);
    row("ready after the last crash", &[(&state, running("2026-01-05T10:35:00Z")), (&ready, json!(true))], false);
    row("cannot pull the image now", &[(&state, json!({"waiting": {"reason": "ImagePullBackOff"}}))], false);
    row("waits for its init containers", &[(&state, json!({"waiting": {"reason": "PodInitializing"}}))], false);
    row("cannot even be executed", &[(&state, json!({"waiting": {"reason": "RunContainerError"}}))], true);
}

#[test]
fn many_restarts_long_ago() {
    // 29 days of work between the old restarts and the one crash of today.
    let run = |started: &str| json!({"exitCode": 2, "reason": "Error", "startedAt": started, "finishedAt": "2026-01-05T10:30:00Z"});
    let old = ("/metadata/creationTimestamp", json!("2025-12-05T10:00:00Z"));
    let start = ("/status/startTime", json!("2025-12-05T10:00:00Z"));
    let place = part(NODE, "/lastState/terminated");
    row("a long run before today's crash", &[old.clone(), start.clone(), (&place, run("2025-12-07T10:30:00Z"))], false);
    row("a short run before it: it goes on", &[old, start, (&place, run("2026-01-05T10:29:00Z"))], true);
    row("half an hour each time, all along", &[(&place, run("2026-01-05T10:00:10Z"))], true);
}

#[test]
fn running_unready_for_long_after_crashes_is_no_loop() {
    let state = (part(NODE, "/state"), json!({"running": {"startedAt": "2026-01-05T10:35:00Z"}}));
    let mut history = history(&[with(looping_pod(), &[(&state.0, state.1)])]);
    assert!(matches!(detect(&history), CrashLoopReading::Looping(_)), "as far as the object's own times go");
    history.fetched_at("2026-01-05T11:35:00Z".parse().expect("a time"));
    assert_eq!(
        detect(&history),
        CrashLoopReading::NotLooping,
        "it has been up for an hour: stuck perhaps, no crash loop"
    );
}

#[test]
fn ended_because_the_pod_is_taken_away() {
    let deleted = [
        ("/metadata/deletionTimestamp", json!("2026-01-05T10:30:29Z")),
        ("/metadata/deletionGracePeriodSeconds", json!(30)),
    ];
    let mut stopped = with(healthy_pod(), &deleted);
    set(&mut stopped, &part(NODE, "/restartCount"), json!(4));
    set(
        &mut stopped,
        &part(NODE, "/state"),
        json!({"terminated": {"exitCode": 2, "reason": "Error",
        "startedAt": "2026-01-05T10:00:04Z", "finishedAt": "2026-01-05T10:30:05Z"}}),
    );
    assert_eq!(reading(&[stopped]), CrashLoopReading::NotLooping, "a panic on SIGTERM during deletion");
    let later = ("/metadata/deletionTimestamp", json!("2026-01-05T11:30:00Z"));
    assert!(matches!(reading(&[with(looping_pod(), &[later])]), CrashLoopReading::Looping(_)), "it looped before that");
}

#[test]
fn evicted_is_not_crashed() {
    row(
        "the kubelet ended the whole pod",
        &[
            ("/status/phase", json!("Failed")),
            ("/status/reason", json!("Evicted")),
            (
                NODE,
                json!({"name": "node", "image": "", "imageID": "", "ready": false, "restartCount": 5, "state":
                {"terminated": {"exitCode": 137, "reason": "Error", "finishedAt": "2026-01-05T10:30:00Z"}}}),
            ),
        ],
        false,
    );
}

#[test]
fn side_cars_do_not_count() {
    let mut pod = healthy_pod();
    let broken = looping_pod().pointer(NODE).cloned().expect("the node's status");
    set(&mut pod, HEALTHCHECK, with(broken, &[("/name", json!("healthcheck"))]));
    assert_eq!(reading(&[pod]), CrashLoopReading::NotLooping);
}

fn failing_init(place: &str, name: &str, code: i32) -> Value {
    let mut pod = healthy_pod();
    set(&mut pod, &part(NODE, "/state"), json!({"waiting": {"reason": "PodInitializing"}}));
    set(
        &mut pod,
        place,
        json!({"name": name, "image": "", "imageID": "", "ready": false, "restartCount": 3,
        "state": {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off 40s restarting failed container"}},
        "lastState": {"terminated": {"exitCode": code, "reason": "Error",
            "startedAt": "2026-01-05T10:29:59Z", "finishedAt": "2026-01-05T10:30:00Z"}}}),
    );
    pod
}

#[test]
fn init_containers() {
    let found = loops(&[failing_init(CHAIN_INIT, "chain-init", 1)]);
    assert_eq!((found.container.as_str(), found.role, found.crashes), ("chain-init", ContainerRole::Init, 3));
    let read = reading(&[failing_init(CHAIN_INIT, "chain-init", 0)]);
    assert_eq!(read, CrashLoopReading::NotLooping, "an init container that completes is done");
}

#[test]
fn version_check() {
    let found = loops(&[failing_init(VERSION_CHECK, "version-check", 2)]);
    assert_eq!(
        (found.container.as_str(), found.role),
        ("version-check", ContainerRole::VersionCheck),
        "a panic: damaged data"
    );
    let on_purpose = failing_init(VERSION_CHECK, "version-check", 1);
    assert_eq!(reading(&[on_purpose]), CrashLoopReading::NotLooping, "it asks for another image");
    let mut says_so = failing_init(VERSION_CHECK, "version-check", 2);
    set(
        &mut says_so,
        &part(VERSION_CHECK, "/lastState/terminated/message"),
        json!("panic: image mismatch for height 7: gaia:v1 != gaia:v2"),
    );
    assert_eq!(reading(&[says_so]), CrashLoopReading::NotLooping, "it panics to ask for another image");
    let mut old_story = failing_init(CHAIN_INIT, "chain-init", 1);
    set(&mut old_story, &part(CHAIN_INIT, "/restartCount"), json!(0));
    set(&mut old_story, &part(NODE, "/restartCount"), json!(30));
    assert_eq!(
        reading(&[old_story]),
        CrashLoopReading::NotLooping,
        "the node's old restarts are not the init container's"
    );
}

#[test]
fn too_little() {
    let unclear = |pod: Value| match reading(&[pod]) {
        CrashLoopReading::Unclear(why) => why,
        other => panic!("{other:?}"),
    };
    let mut pod = looping_pod();
    pod.as_object_mut().expect("an object").remove("status");
    assert_eq!(unclear(pod), "the pod object of cosmos/gaia-0 has no status; fetch it with `kubectl get pod -o yaml`");
    let pending = with(looping_pod(), &[("/status", json!({"phase": "Pending"}))]);
    assert_eq!(unclear(pending), "pod cosmos/gaia-0 lists no container state yet (phase Pending)");
    let mut strange = healthy_pod();
    for (index, name) in [(0, "a"), (1, "b")] {
        set(&mut strange, &format!("/status/containerStatuses/{index}/name"), json!(name));
        set(&mut strange, &format!("/spec/containers/{index}"), json!({"name": name, "image": "x"}));
    }
    assert_eq!(
        unclear(strange),
        "which container of cosmos/gaia-0 runs the node cannot be told from: a, b, chain-init, version-check"
    );
}
