//! Policies of every kind, also those that nobody meant, and the kill switch. (P12)

use serde_json::{Value, json};
use simcluster::{Ailment, Damage};

use super::{gist, held_for, mins, story};
use crate::stage::{DAMAGED_STATE, Stage, at, condition};

fn damage_later(stage: &Stage) {
    stage.world.after(mins(30), |world| {
        world.damage("cosmos", "data-osmo-1", &Damage::of("state.db", DAMAGED_STATE));
    });
}

#[test]
fn one_that_selects_nothing() {
    story(|| async {
        let stage = Stage::osmosis(1).await;
        stage.policy(&json!({"spec": {"targets": [{"kind": "StatefulSet", "name": "osmosis"}]}}));
        stage.operate(mins(5)).await;
        let status = stage.policy_status();
        assert_eq!(condition(&status, "Accepted"), ("True".to_owned(), "SelectsNothing".to_owned()));
        assert_eq!(status["summary"], "no workload of the namespace is selected (there: StatefulSet osmo)");
        stage.done();
    });
}

#[test]
fn one_that_selects_everything() {
    story(|| async {
        for (mode, expected) in [("Observe", ("True", "SelectsEverything")), ("Auto", ("False", "SelectsEverything"))] {
            let stage = Stage::osmosis(2).await;
            let targets = json!([{"kind": "StatefulSet", "selector": {}}]);
            stage.policy(&json!({"spec": {"mode": mode, "targets": targets}}));
            damage_later(&stage);
            stage.operate(mins(60)).await;
            let (is, reason) = condition(&stage.policy_status(), "Accepted");
            assert_eq!((is.as_str(), reason.as_str()), expected);
            assert_eq!(stage.recoveries().len(), usize::from(mode == "Observe"));
            stage.done();
        }
    });
}

#[test]
fn one_that_overlaps_an_older_one() {
    story(|| async {
        let stage = Stage::osmosis(3).await;
        stage.policy(&json!({}));
        stage.world.run_for(mins(1)).await;
        let targets = json!([{"kind": "StatefulSet", "selector": {"matchLabels": {"app": "osmo"}}}]);
        stage.policy_named("other", &json!({"spec": {"targets": targets}}));
        damage_later(&stage);
        stage.operate(mins(60)).await;
        assert_eq!(condition(&stage.policy_status(), "Accepted").0, "True");
        let other = stage.world.get("recoverypolicies.loopbreaker.dev", "cosmos", "other").expect("there");
        assert_eq!(condition(&other["status"], "Accepted"), ("False".to_owned(), "Overlaps".to_owned()));
        assert!(at(&other, "/status/summary").contains("StatefulSet osmo is watched by the older policy osmo"));
        assert_eq!(at(&stage.recovery(), "/spec/policy/name"), "osmo");
        stage.done();
    });
}

#[test]
fn the_kill_switch() {
    story(|| async {
        let stage = Stage::osmosis(4).await;
        stage.policy(&json!({"spec": {"suspend": true}}));
        damage_later(&stage);
        stage.operate(mins(60)).await;
        assert!(stage.recoveries().is_empty(), "nothing is begun");
        let resume = json!({"spec": {"suspend": false}});
        stage.world.edit("recoverypolicies.loopbreaker.dev", "cosmos", "osmo", resume).expect("edited");
        stage.operate(std::time::Duration::from_secs(10)).await;
        let throw = json!({"spec": {"suspend": true}});
        stage.world.edit("recoverypolicies.loopbreaker.dev", "cosmos", "osmo", throw).expect("edited");
        stage.operate(mins(10)).await;
        assert_eq!(held_for(&stage.recovery()), "Suspended", "what was begun is ended");
        assert_eq!(stage.leavings(), Vec::<String>::new());
        let resume = json!({"spec": {"suspend": false}});
        stage.world.edit("recoverypolicies.loopbreaker.dev", "cosmos", "osmo", resume).expect("edited");
        stage.operate(mins(20)).await;
        assert_eq!(gist(&stage.recovery()), ("Held", "physical_corruption", "restore"));
        stage.done();
    });
}

#[test]
fn one_that_is_deleted_meanwhile() {
    story(|| async {
        let stage = Stage::osmosis(5).await;
        stage.policy(&json!({}));
        damage_later(&stage);
        stage.operate(mins(60)).await;
        stage.world.delete("recoverypolicies.loopbreaker.dev", "cosmos", "osmo").expect("deleted");
        stage.operate(mins(5)).await;
        let recovery = stage.recovery();
        assert_eq!(condition(&recovery["status"], "Ended"), ("True".to_owned(), "NobodyWatches".to_owned()));
        stage.done();
    });
}

/// One line about all of them, and no Job.
#[test]
fn a_storm() {
    story(|| async {
        let world = simcluster::World::new(6);
        world.chain("osmosis-1", 1_000, std::time::Duration::from_secs(5));
        world.stateful_set("cosmos", "osmo").replicas(40).parallel().chain("osmosis-1").create();
        let stage = Stage::on(world);
        stage.policy(&json!({}));
        stage.world.after(mins(30), |world| {
            for ordinal in 0..40 {
                let pod = format!("osmo-{ordinal}");
                world.ail("cosmos", &pod, "node", Ailment::crash("panic: x", 2), 1_000);
                world.crash("cosmos", &pod, "node", 2, "Error", &[]);
            }
        });
        stage.operate(mins(60)).await;
        let recoveries = stage.recoveries();
        assert_eq!(recoveries.len(), 40);
        assert!(recoveries.iter().all(|recovery| held_for(recovery) == "Storm"), "all are held");
        let made =
            stage.world.trace().iter().filter(|entry| entry.place == "jobs.batch" && entry.has_written()).count();
        assert!(made <= 4, "{made}: the fifth sick one makes it a storm");
        let said = stage.said();
        assert_eq!(said.iter().filter(|reason| *reason == "Storm").count(), 1, "one line: {said:?}");
        assert!(said.iter().filter(|reason| *reason == "IncidentOpened").count() <= 4, "{said:?}");
        assert_eq!(stage.leavings(), Vec::<String>::new());
        assert_eq!(condition(&stage.policy_status(), "Storm").0, "True");
        stage.done();
    });
}

/// A record that is deleted by a human while the trouble goes on comes back; its Job goes with it.
#[test]
fn a_record_that_is_deleted() {
    story(|| async {
        let stage = Stage::osmosis(7).await;
        stage.policy(&json!({}));
        damage_later(&stage);
        stage.operate(mins(50)).await;
        let before = at(&stage.recovery(), "/metadata/uid").to_owned();
        stage.world.delete("recoveries.loopbreaker.dev", "cosmos", "osmo-1-1").expect("deleted");
        stage.operate(mins(20)).await;
        let after = stage.recovery();
        assert_ne!(at(&after, "/metadata/uid"), before);
        assert_eq!(gist(&after), ("Held", "physical_corruption", "restore"));
        assert_eq!(stage.leavings(), Vec::<String>::new());
        stage.done();
    });
}

/// A broken object of ours stops nobody else.
#[test]
fn a_policy_that_cannot_be_read() {
    story(|| async {
        let stage = Stage::osmosis(8).await;
        stage.policy(&json!({}));
        stage.world.put(
            "recoverypolicies.loopbreaker.dev",
            json!({
                "apiVersion": "loopbreaker.dev/v1alpha1", "kind": "RecoveryPolicy",
                "metadata": {"namespace": "cosmos", "name": "broken"}, "spec": {"mode": "Sometimes", "targets": 7},
            }),
        );
        damage_later(&stage);
        stage.operate(mins(60)).await;
        assert_eq!(gist(&stage.recovery()), ("Held", "physical_corruption", "restore"));
        stage.done();
    });
}

/// A pod of the workload that says little, or nonsense.
#[test]
fn pods_of_every_shape() {
    story(|| async {
        let stage = Stage::osmosis(9).await;
        stage.policy(&json!({}));
        let owner: Value = stage.world.get("statefulsets.apps", "cosmos", "osmo").expect("there");
        for (name, spec) in [
            ("osmo-70", json!({"containers": [{"name": "node", "image": "x"}]})),
            (
                "osmo-71",
                json!({"containers": [{"name": "node", "image": "x", "volumeMounts": [{"name": "h", "mountPath": "/data"}]}],
                "volumes": [{"name": "h", "hostPath": {"path": "/mnt"}}]}),
            ),
            ("osmo-72", json!({"containers": [{"name": "a", "image": "x"}, {"name": "b", "image": "y"}]})),
        ] {
            stage.world.put("pods", json!({
                "apiVersion": "v1", "kind": "Pod",
                "metadata": {"namespace": "cosmos", "name": name, "labels": {"app": "osmo"}, "ownerReferences": [{
                    "apiVersion": "apps/v1", "kind": "StatefulSet", "name": "osmo", "controller": true,
                    "uid": owner["metadata"]["uid"]}]},
                "spec": spec,
                "status": {"phase": "Running", "containerStatuses": [{"name": "node", "ready": false, "restartCount": 9,
                    "image": "x", "imageID": "x", "state": {"waiting": {"reason": "CrashLoopBackOff"}},
                    "lastState": {"terminated": {"exitCode": 1, "reason": "Error"}}}]},
            }));
        }
        damage_later(&stage);
        stage.operate(mins(60)).await;
        let recoveries = stage.recoveries();
        let of = |pod: &str| recoveries.iter().find(|recovery| at(recovery, "/spec/target/pod") == pod);
        assert_eq!(gist(of("osmo-1").expect("the real one")).1, "physical_corruption");
        for recovery in &recoveries {
            assert_eq!(at(recovery, "/status/phase"), "Held", "{recovery:#}");
        }
        stage.done();
    });
}
