//! Which policy is in force, and for what.

use super::*;

fn selector(expressions: &Value) -> RecoveryPolicy {
    policy("p", &json!({"targets": [{"kind": "StatefulSet", "selector": {"matchExpressions": expressions}}]}))
}

#[test]
fn operators_of_selectors() {
    let osmo = workload("osmo", &json!({"chain": "osmosis", "net": "main"}));
    let cases = [
        (json!({"key": "chain", "operator": "In", "values": ["osmosis"]}), true),
        (json!({"key": "chain", "operator": "In", "values": ["gaia"]}), false),
        (json!({"key": "chain", "operator": "NotIn", "values": ["gaia"]}), true),
        (json!({"key": "chain", "operator": "NotIn", "values": ["osmosis"]}), false),
        (json!({"key": "absent", "operator": "NotIn", "values": ["x"]}), true),
        (json!({"key": "net", "operator": "Exists"}), true),
        (json!({"key": "absent", "operator": "Exists"}), false),
        (json!({"key": "absent", "operator": "DoesNotExist"}), true),
        (json!({"key": "net", "operator": "DoesNotExist"}), false),
        (json!({"key": "chain", "operator": "Resembles", "values": ["osmosis"]}), false),
    ];
    for (expression, picked) in cases {
        assert_eq!(selects(&selector(&json!([expression])), &osmo), picked, "{expression}");
    }
}

#[test]
fn another_namespace_or_kind_is_not_picked() {
    let mut osmo = workload("osmo", &json!({}));
    assert!(selects(&policy("p", &json!({})), &osmo));
    assert!(!selects(&policy("p", &json!({"targets": [{"kind": "CosmosFullNode", "name": "osmo"}]})), &osmo));
    osmo.namespace = "other".to_owned();
    assert!(!selects(&policy("p", &json!({})), &osmo));
}

/// A later one, by name.
fn younger(name: &str, second: u32, fields: &Value) -> Arc<RecoveryPolicy> {
    let mut policy = policy(name, fields);
    let created: Timestamp = format!("2026-01-02T00:00:{second:02}Z").parse().expect("a time");
    policy.metadata.creation_timestamp = Some(k8s_openapi::apimachinery::pkg::apis::meta::v1::Time(created));
    Arc::new(policy)
}

fn reason(policy: &RecoveryPolicy, all: &[Arc<RecoveryPolicy>]) -> String {
    let mut index = fed(&crashing("osmo-1", 3, 0));
    index.apply_workload(workload("gaia", &json!({"chain": "gaia"})));
    match look(&index, policy, all, &[], at(181)).standing {
        Standing::Accepted => "Accepted".to_owned(),
        Standing::SelectsNothing(_) => "SelectsNothing".to_owned(),
        Standing::SelectsEverything(_) => "SelectsEverything".to_owned(),
        Standing::Refused { reason, .. } => format!("Refused, {reason}"),
    }
}

#[test]
fn everything_nothing_and_overlaps() {
    let everything = json!([{"kind": "StatefulSet", "selector": {}}]);
    let cases = [
        (json!({}), "Accepted"),
        (json!({"targets": [{"kind": "StatefulSet", "name": "juno"}]}), "SelectsNothing"),
        (json!({"targets": everything}), "SelectsEverything"),
        (json!({"targets": everything, "mode": "Auto"}), "Refused, SelectsEverything"),
    ];
    for (fields, expected) in cases {
        let policy = policy("p", &fields);
        assert_eq!(reason(&policy, &[Arc::new(policy.clone())]), expected, "{fields}");
    }
}

#[test]
fn of_two_the_older_stands_and_one_that_is_refused_stands_in_nobodys_way() {
    let both = json!({"targets": [{"kind": "StatefulSet", "name": "osmo"}, {"kind": "StatefulSet", "name": "gaia"}]});
    let gaia = json!({"targets": [{"kind": "StatefulSet", "name": "gaia"}]});
    let all = [younger("a", 1, &json!({})), younger("b", 2, &both), younger("c", 3, &gaia)];
    assert_eq!(reason(&all[0], &all), "Accepted");
    assert_eq!(reason(&all[1], &all), "Refused, Overlaps");
    assert_eq!(reason(&all[2], &all), "Accepted", "b does nothing, so gaia is free");
    let mut index = fed(&crashing("osmo-1", 3, 0));
    index.apply_workload(workload("gaia", &json!({})));
    assert_eq!(names(&look(&index, &all[0], &all, &[], at(181)).new), ["osmo-1-1"]);
    assert!(look(&index, &all[1], &all, &[], at(181)).new.is_empty(), "a refused one opens nothing");
}

#[test]
fn suspended_and_storm() {
    let index = fed(&[crashing("osmo-0", 3, 0), crashing("osmo-1", 3, 0)].concat());
    let suspended = policy("p", &json!({"suspend": true}));
    let seen = look(&index, &suspended, &[], &[], at(181));
    assert_eq!((seen.new.len(), seen.storm), (0, None));
    let calm = policy("p", &json!({"limits": {"storm": 3}}));
    assert_eq!(look(&index, &calm, &[], &[], at(181)).storm, None);
    let stormy = policy("p", &json!({"limits": {"storm": 2}}));
    let seen = look(&index, &stormy, &[], &[], at(181));
    assert_eq!((seen.new.len(), seen.storm), (2, Some(Storm { sick: 2 })));
    assert_eq!(seen.summary, "2 replicas are sick at once; all are held");
}

/// A thousand at once are one look.
#[test]
fn a_thousand_pods() {
    let states: Vec<(i64, Value)> = (0..1_000).flat_map(|number| crashing(&format!("osmo-{number}"), 3, 0)).collect();
    let seen = look(&fed(&states), &policy("p", &json!({})), &[], &[], at(181));
    assert_eq!((seen.new.len(), seen.storm), (1_000, Some(Storm { sick: 1_000 })));
}
