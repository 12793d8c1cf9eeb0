//! Limits, one at a time.

use std::sync::Arc;

use serde_json::{Value, json};

use super::*;

fn at(time: &str) -> Timestamp {
    format!("2026-01-05T{time}Z").parse().expect("a time")
}

fn policy(limits: &Value) -> RecoveryPolicy {
    serde_json::from_value(json!({
        "apiVersion": "loopbreaker.dev/v1alpha1", "kind": "RecoveryPolicy",
        "metadata": {"namespace": "cosmos", "name": "p", "uid": "u"},
        "spec": {"targets": [{"kind": "StatefulSet", "name": "osmo"}], "limits": limits},
    }))
    .expect("a policy")
}

fn record(number: u32, pod: &str, status: &Value) -> Arc<Recovery> {
    let record = json!({
        "apiVersion": "loopbreaker.dev/v1alpha1", "kind": "Recovery",
        "metadata": {"namespace": "cosmos", "name": format!("{pod}-{number}")},
        "spec": {
            "target": {"kind": "StatefulSet", "workload": "osmo", "workloadUid": "w", "pod": pod, "podUid": "x"},
            "policy": {"name": "p", "uid": "u"},
            "incident": {"kind": "CrashLoop", "onset": "2026-01-05T00:00:00Z", "container": "node"},
        },
        "status": status,
    });
    Arc::new(serde_json::from_value(record).expect("a record"))
}

#[test]
fn windows_of_the_day() {
    let window = |from: &str, until: &str| Window { from: from.to_owned(), until: until.to_owned() };
    let cases = [
        (vec![], "12:00:00", true),
        (vec![window("08:00", "16:00")], "08:00:00", true),
        (vec![window("08:00", "16:00")], "16:00:00", false),
        (vec![window("22:00", "04:00")], "23:30:00", true),
        (vec![window("22:00", "04:00")], "03:59:59", true),
        (vec![window("22:00", "04:00")], "12:00:00", false),
        (vec![window("01:00", "02:00"), window("11:00", "13:00")], "12:00:00", true),
        (vec![window("noon", "25:00")], "12:00:00", false),
    ];
    for (all, time, open) in cases {
        assert_eq!(windows(&all, at(time)).is_none(), open, "{all:?} at {time}");
    }
    let said = windows(&[window("08:00", "16:00")], at("17:00:00"));
    assert_eq!(said.as_deref(), Some("outside of the windows in which an act may begin (08:00 to 16:00 UTC)"));
}

/// Only an act counts, only of this replica, and only within the cool-down.
#[test]
fn attempts_within_the_cool_down() {
    let mine = record(9, "osmo-1", &json!({}));
    let ended = |phase: &str, time: &str| json!({"phase": phase, "ended": format!("2026-01-05T{time}Z")});
    let cases = [
        (record(1, "osmo-1", &ended("Recovered", "11:00:00")), true),
        (record(1, "osmo-1", &ended("Recovered", "09:00:00")), false),
        (record(1, "osmo-1", &ended("Abandoned", "11:00:00")), false),
        (record(1, "osmo-1", &json!({"phase": "Soaking"})), true),
        (record(1, "osmo-2", &ended("Recovered", "11:00:00")), false),
        (record(9, "osmo-1", &ended("Recovered", "11:00:00")), false),
    ];
    let policy = policy(&json!({"coolDown": "2h", "attempts": 1}));
    for (other, forbids) in cases {
        let found = attempts(&policy.spec.limits, &mine, std::slice::from_ref(&other), at("12:00:00"));
        assert_eq!(found.is_some(), forbids, "{} {:?}", other.name_any(), other.status);
        let two = Limits { attempts: 2, ..policy.spec.limits.clone() };
        assert_eq!(attempts(&two, &mine, &[other], at("12:00:00")), None, "one of two");
    }
}

#[test]
fn a_second_trouble_after_an_act_is_open() {
    let mine = record(9, "osmo-1", &json!({}));
    let other = |phase: &str| [record(1, "osmo-1", &json!({"phase": phase}))];
    assert_eq!(recurrence(&mine, &other("Recovered")), Recurrence::Unknown);
    assert_eq!(recurrence(&mine, &other("Held")), Recurrence::First);
    assert_eq!(recurrence(&mine, &[]), Recurrence::First);
}
