//! Pods of every kind, and what a policy sees in them.

use scene::Sample;

use super::*;

#[test]
fn the_third_crash_and_not_the_second() {
    let policy = policy("p", &json!({}));
    assert!(new(&fed(&crashing("osmo-1", 2, 0)), &policy, &[], 121).is_empty());
    let found = new(&fed(&crashing("osmo-1", 3, 0)), &policy, &[], 181);
    assert_eq!(names(&found), ["osmo-1-1"]);
    assert_eq!(found[0].incident.onset.0, at(60));
    assert_eq!(found[0].incident.container, "node");
    assert_eq!(found[0].target.workload_uid, "set-osmo");
    assert_eq!(found[0].target.pod_uid, "uid-osmo-1");
    assert_eq!(found[0].claim_name.as_ref().map(ClaimName::as_str), Some("data-osmo-1"));
}

#[test]
fn an_open_record_opens_no_second_one_and_an_ended_one_counts_on() {
    let policy = policy("p", &json!({}));
    let index = fed(&crashing("osmo-1", 3, 0));
    let mut recovery = record(&new(&index, &policy, &[], 181)[0], &policy);
    assert!(new(&index, &policy, &[Arc::new(recovery.clone())], 182).is_empty());
    recovery.status.get_or_insert_default().ended = Some(recovery.spec.incident.onset.clone());
    assert_eq!(names(&new(&index, &policy, &[Arc::new(recovery)], 183)), ["osmo-1-2"]);
}

/// The kubelet's clock is six hours off ours: a loop is a loop, and ten good minutes are ten of ours.
#[test]
fn clocks_that_differ() {
    let policy = policy("p", &json!({}));
    for skew in [-21_600, 0, 21_600] {
        assert!(new(&fed(&crashing("osmo-1", 2, skew)), &policy, &[], 121).is_empty(), "{skew}");
        let mut states = crashing("osmo-1", 3, skew);
        let index = fed(&states);
        let found = new(&index, &policy, &[], 181);
        assert_eq!(names(&found), ["osmo-1-1"], "{skew}");
        let recovery = record(&found[0], &policy);
        let well = running(&states[3].1, 200 + skew, &json!(true));
        states.push((200, well));
        let index = fed(&states);
        assert_eq!(course(&index, &recovery, &policy, at(780)), Course::StillSick, "{skew}: nine minutes");
        assert!(matches!(course(&index, &recovery, &policy, at(801)), Course::Recovered(_)), "{skew}: ten minutes");
    }
}

/// Told to stop, it exits with 2 or 143; the clock of its machine may be behind.
#[test]
fn rollouts_and_drains() {
    let policy = policy("p", &json!({}));
    for skew in [-21_600, 0, 21_600] {
        for code in [2, 143] {
            let mut states = Vec::new();
            for round in 0..6 {
                let begin = round * 100;
                let fresh = pod("osmo-1", &format!("u-{round}"), begin);
                states.push((begin, running(&fresh, begin + skew, &json!(true))));
                let mut leaving = running(&fresh, begin + skew, &json!(false));
                leaving["metadata"]["deletionTimestamp"] = json!(text(begin + 80));
                leaving["metadata"]["deletionGracePeriodSeconds"] = json!(30);
                states.push((begin + 50, leaving.clone()));
                node(&mut leaving)["state"] = json!({"terminated": {"exitCode": code, "reason": "Error",
                    "startedAt": text(begin + skew), "finishedAt": text(begin + 60 + skew)}});
                states.push((begin + 60, leaving));
            }
            let index = fed(&states);
            assert!(new(&index, &policy, &[], 600).is_empty(), "skew {skew}, exit status {code}");
        }
    }
}

/// Pods that are never restarted and made anew by their operator.
#[test]
fn pods_that_run_once() {
    let policy = policy("p", &json!({}));
    let failed = |number: i64| {
        let created = number * 120;
        let mut pod = pod("osmo-1", &format!("u-{number}"), created);
        pod["spec"]["restartPolicy"] = json!("Never");
        pod["status"]["phase"] = json!("Failed");
        node(&mut pod)["state"] = json!({"terminated": {"exitCode": 1, "reason": "Error",
            "startedAt": text(created), "finishedAt": text(created + 20)}});
        (created + 20, pod)
    };
    assert!(new(&fed(&[failed(1), failed(2)]), &policy, &[], 300).is_empty());
    let found = new(&fed(&[failed(1), failed(2), failed(3)]), &policy, &[], 400);
    assert_eq!(names(&found), ["osmo-1-1"]);
    assert_eq!((found[0].incident.onset.0, found[0].target.pod_uid.as_str()), (at(140), "u-1"));
}

/// An init container that fails is a loop of the replica; `version-check` that asks for another image is none.
#[test]
fn init_containers() {
    let policy = policy("p", &json!({}));
    for (name, code, looping) in [("genesis-init", 1, true), ("version-check", 1, false), ("version-check", 2, true)] {
        let mut states = Vec::new();
        for number in 1..=5 {
            let mut pod = pod("osmo-1", "u", 0);
            pod["spec"]["initContainers"] = json!([{"name": name, "image": "x",
                "command": ["/manager", if name == "version-check" { "versioncheck" } else { "x" }]}]);
            pod["status"]["phase"] = json!("Pending");
            pod["status"]["containerStatuses"][0]["state"] = json!({"waiting": {"reason": "PodInitializing"}});
            pod["status"]["initContainerStatuses"] = json!([{"name": name, "image": "x", "imageID": "x",
                "ready": false, "restartCount": number, "state": {"waiting": {"reason": "CrashLoopBackOff"}},
                "lastState": {"terminated": {"exitCode": code, "reason": "Error",
                    "startedAt": text(number * 60), "finishedAt": text(number * 60 + 1)}}}]);
            states.push((number * 60 + 1, pod));
        }
        assert_eq!(!new(&fed(&states), &policy, &[], 302).is_empty(), looping, "{name} with {code}");
    }
}

/// Pods that say little; none hides the others, none invents anything.
#[test]
fn pods_of_every_shape() {
    let policy = policy("p", &json!({}));
    let volumes = |volumes: Value| {
        let mut states = crashing("osmo-1", 3, 0);
        for (_, pod) in &mut states {
            pod["spec"]["volumes"] = volumes.clone();
        }
        new(&fed(&states), &policy, &[], 181)
    };
    let claims = |found: &[NewIncident]| found[0].claim_name.as_ref().map(ToString::to_string);
    assert_eq!(claims(&volumes(json!([]))), None, "no claim");
    assert_eq!(claims(&volumes(json!([{"name": "data", "hostPath": {"path": "/mnt"}}]))), None, "a host's path");
    let two = json!([
        {"name": "wasm", "persistentVolumeClaim": {"claimName": "wasm-1"}},
        {"name": "data", "persistentVolumeClaim": {"claimName": "data-1"}},
    ]);
    assert_eq!(claims(&volumes(two)).as_deref(), Some("data-1"), "the one that is mounted at the home");
    let mut orphan = crashing("osmo-1", 3, 0);
    for (_, pod) in &mut orphan {
        pod["metadata"]["ownerReferences"] = json!([]);
    }
    assert!(new(&fed(&orphan), &policy, &[], 181).is_empty(), "whose it is nobody knows");
    let bare = json!({"metadata": {"namespace": "cosmos", "name": "osmo-1"}});
    assert!(new(&fed(&[(0, bare)]), &policy, &[], 181).is_empty());
}

/// Names of up to 253 characters: a record's name is a label too, and two replicas never share one.
#[test]
fn long_names() {
    let policy = policy("p", &json!({}));
    let long = "a-chain.".repeat(31) + "osm";
    let names_of = |ordinals: [&str; 2]| {
        let states = ordinals.map(|ordinal| crashing(&format!("{long}-{ordinal}"), 3, 0)).concat();
        new(&fed(&states), &policy, &[], 181).iter().map(|incident| incident.name.clone()).collect::<Vec<_>>()
    };
    let found = names_of(["0", "1"]);
    assert_eq!(found.len(), 2);
    assert_ne!(found[0], found[1]);
    for name in &found {
        assert!(name.len() <= 63 && name.ends_with("-1"), "{name}");
        assert!(name.starts_with("a-chain."), "{name}");
        let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '.';
        assert!(name.chars().all(allowed) && !name.contains(".-"), "{name}");
    }
    assert_eq!(found, names_of(["0", "1"]), "the same at every try");
}

/// The pod of the issue that began all this: found, once.
#[test]
fn the_first_pod() {
    let text = include_str!("../../../../../examples/agoric-mainnet-fullnode-0/objects/pod.yaml");
    let pod: Pod = serde_saphyr::from_str(text).expect("the pod");
    let node: api::CosmosFullNode = serde_json::from_value(json!({
        "apiVersion": "cosmos.strange.love/v1", "kind": "CosmosFullNode", "spec": {},
        "metadata": {"namespace": "strangelove", "name": "agoric-mainnet-fullnode",
            "uid": "e241b539-32f9-4b18-987a-8c2961ca89ff"},
    }))
    .expect("its owner");
    let mut policy = policy("p", &json!({"targets": [{"kind": "CosmosFullNode", "name": "agoric-mainnet-fullnode"}]}));
    policy.metadata.namespace = Some("strangelove".to_owned());
    let now = "2023-02-16T02:00:00Z".parse().expect("a time");
    let mut index = Index::default();
    index.apply_workload(Workload::from(&node));
    for _ in 0..3 {
        index.apply_pod(&pod, now);
    }
    let policies = [Arc::new(policy.clone())];
    let found = look(&index, &policy, &policies, &[], now).new;
    assert_eq!(names(&found), ["agoric-mainnet-fullnode-0-1"]);
    let recovery = Arc::new(record(&found[0], &policy));
    assert!(look(&index, &policy, &policies, &[recovery], now).new.is_empty());
    policy.spec.detection.crashes = 10_000;
    let policies = [Arc::new(policy.clone())];
    assert!(look(&index, &policy, &policies, &[], now).new.is_empty(), "not before the configured count");
}

/// Stuck: up, standing still, siblings ahead; it is over when it rises again for ten minutes, not because it once rose.
#[test]
fn standing_still() {
    let policy = policy("p", &json!({}));
    let ready = |name: &str| (0, running(&pod(name, &format!("uid-{name}"), 0), 0, &json!(true)));
    let mut index = fed(&[ready("osmo-1"), ready("osmo-2")]);
    let instance = |name: &str| diagnosis::InstanceName { namespace: "cosmos".to_owned(), name: name.to_owned() };
    let ask = |index: &mut Index, minute: i64| {
        let height = 100 + minute.unsigned_abs();
        for (name, height) in [("osmo-1", height.min(129)), ("osmo-2", height)] {
            let sample = Sample { height: Some(height), ..Sample::default() };
            index.sampled(&instance(name), at(minute * 60), Ok(sample));
        }
    };
    for minute in 0..44 {
        ask(&mut index, minute);
    }
    assert!(new(&index, &policy, &[], 43 * 60).is_empty(), "14 minutes are none of 15");
    ask(&mut index, 44);
    let found = new(&index, &policy, &[], 44 * 60);
    assert_eq!(names(&found), ["osmo-1-1"]);
    assert_eq!((found[0].incident.kind, found[0].incident.onset.0), (api::IncidentKind::Stuck, at(29 * 60)));
    let recovery = record(&found[0], &policy);
    assert_eq!(course(&index, &recovery, &policy, at(44 * 60 + 1)), Course::StillSick);
    for minute in 50_i64..61 {
        let sample = Sample { height: Some(150 + minute.unsigned_abs()), ..Sample::default() };
        index.sampled(&instance("osmo-1"), at(minute * 60), Ok(sample));
    }
    assert!(matches!(course(&index, &recovery, &policy, at(3601)), Course::Recovered(_)));
}
