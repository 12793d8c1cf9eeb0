//! What looks like damage and is none: the operator records it, and would restore nothing.

use jiff::SignedDuration;
use serde_json::json;
use simcluster::{Ailment, Damage, World};

use super::{gist, mins, story, vetoes};
use crate::stage::{DAMAGED_STATE, REMOTE_SIGNER, Stage, at, condition};

/// Ends a node now and lets it end the same way at each start.
fn ail(world: &World, pod: &str, ailment: &Ailment) {
    world.ail("cosmos", pod, "node", ailment.clone(), 1_000);
    if let Ailment::Crash { log, code, reason, .. } = ailment {
        world.crash("cosmos", pod, "node", *code, reason, log);
    }
}

#[test]
fn a_halted_chain() {
    story(|| async {
        let stage = Stage::osmosis(1).await;
        stage.policy(&json!({}));
        stage.world.after(mins(30), |world| {
            world.halt_chain("osmosis-1", true);
            world.damage("cosmos", "data-osmo-1", &Damage::of("state.db", DAMAGED_STATE));
        });
        stage.operate(mins(90)).await;
        let recovery = stage.recovery();
        assert_eq!(gist(&recovery), ("Held", "physical_corruption", "hold"));
        assert!(vetoes(&recovery).contains(&"nobody_advancing"), "{:?}", vetoes(&recovery));
        stage.done();
    });
}

#[test]
fn a_halted_chain_alone_is_no_incident() {
    story(|| async {
        let stage = Stage::osmosis(2).await;
        stage.policy(&json!({}));
        stage.world.after(mins(10), |world| world.halt_chain("osmosis-1", true));
        stage.operate(mins(180)).await;
        assert!(stage.recoveries().is_empty());
        stage.done();
    });
}

#[test]
fn an_upgrade_that_all_wait_for() {
    story(|| async {
        let stage = Stage::osmosis(3).await;
        stage.policy(&json!({}));
        let height = stage.world.chain_height("osmosis-1") + 100;
        stage.world.plan_upgrade("osmosis-1", "v2", height, "chain:2");
        stage.operate(mins(60)).await;
        let recoveries = stage.recoveries();
        assert_eq!(recoveries.len(), 3, "all three stop at the height");
        for recovery in &recoveries {
            assert_eq!(gist(recovery).2, "hold", "{recovery:#}");
            assert!(vetoes(recovery).contains(&"other_victims"), "{:?}", vetoes(recovery));
            assert_eq!(condition(&recovery["status"], "WouldRestore").0, "False");
        }
        stage.done();
    });
}

#[test]
fn killed_for_memory() {
    story(|| async {
        let stage = Stage::osmosis(4).await;
        stage.policy(&json!({}));
        stage
            .world
            .after(mins(30), |world| ail(world, "osmo-1", &Ailment::out_of_memory(SignedDuration::from_secs(20))));
        stage.operate(mins(60)).await;
        let recovery = stage.recovery();
        assert_eq!(gist(&recovery), ("Held", "oom", "hold"));
        assert!(vetoes(&recovery).contains(&"oom"));
        assert_eq!(at(&recovery, "/status/crashLoop/reason"), "OOMKilled");
        stage.done();
    });
}

#[test]
fn a_full_disk() {
    story(|| async {
        let stage = Stage::osmosis(5).await;
        stage.world.inspect_by(|inspection| {
            let mut report = crate::stage::inspect(inspection);
            let mut json: serde_json::Value = serde_json::from_str(&report.lines[0]).expect("json");
            json["space"]["free_bytes"] = json!(0);
            report.lines = vec![json.to_string()];
            report
        });
        stage.policy(&json!({}));
        let log = "panic: write /data/data/application.db/000123.log: no space left on device";
        stage.world.after(mins(30), move |world| ail(world, "osmo-1", &Ailment::crash(log, 2)));
        stage.operate(mins(60)).await;
        let recovery = stage.recovery();
        assert_eq!(gist(&recovery), ("Held", "disk_full", "hold"));
        assert!(vetoes(&recovery).contains(&"disk_full"), "{:?}", vetoes(&recovery));
        stage.done();
    });
}

#[test]
fn an_image_that_does_not_run() {
    story(|| async {
        let stage = Stage::osmosis(6).await;
        stage.policy(&json!({}));
        stage.world.after(mins(30), |world| {
            let log = "Error: unknown flag: --priv_validator_laddr";
            for pod in ["osmo-0", "osmo-1", "osmo-2"] {
                world.ail_with_image("cosmos", pod, "node", "chain:2", Ailment::crash(log, 1), 1_000);
            }
            let patch = json!({"spec": {"template": {"spec": {"containers": [{
                "name": "node", "image": "chain:2", "args": ["start", "--home", "/data", REMOTE_SIGNER],
                "ports": [{"name": "rpc", "containerPort": 26657, "protocol": "TCP"}],
                "readinessProbe": {"httpGet": {"path": "/health", "port": 26657}},
                "volumeMounts": [{"name": "data", "mountPath": "/data"}],
            }]}}}});
            world.edit("statefulsets.apps", "cosmos", "osmo", patch).expect("edited");
        });
        stage.operate(mins(90)).await;
        let recovery = stage.recovery();
        assert_eq!(at(&recovery, "/spec/target/pod"), "osmo-2", "the rollout stops at its first");
        assert_eq!(gist(&recovery).2, "hold");
        let found = vetoes(&recovery);
        assert!(found.contains(&"image_changed") && found.contains(&"rollout_in_progress"), "{found:?}");
        stage.done();
    });
}

#[test]
fn two_victims_of_the_same() {
    story(|| async {
        let stage = Stage::osmosis(7).await;
        stage.policy(&json!({}));
        stage.world.after(mins(30), |world| {
            for claim in ["data-osmo-0", "data-osmo-1"] {
                world.damage("cosmos", claim, &Damage::of("state.db", DAMAGED_STATE));
            }
        });
        stage.operate(mins(90)).await;
        let recoveries = stage.recoveries();
        assert_eq!(recoveries.len(), 2);
        for recovery in &recoveries {
            assert_eq!(gist(recovery), ("Held", "physical_corruption", "hold"));
            assert!(vetoes(recovery).contains(&"other_victims"), "{:?}", vetoes(recovery));
        }
        stage.done();
    });
}

/// A crash now and then, with progress between, is no loop.
#[test]
fn flapping() {
    story(|| async {
        let stage = Stage::osmosis(8).await;
        stage.policy(&json!({}));
        for hour in 1..12 {
            stage.world.after(mins(hour * 60), |world| {
                world.crash("cosmos", "osmo-1", "node", 2, "Error", &["panic: x".to_owned()]);
            });
        }
        stage.operate(mins(13 * 60)).await;
        assert!(stage.recoveries().is_empty());
        assert!(stage.world.replica("cosmos", "osmo-1").restarts >= 11);
        stage.done();
    });
}

#[test]
fn recovery_by_itself() {
    story(|| async {
        let stage = Stage::osmosis(9).await;
        stage.policy(&json!({}));
        stage.world.after(mins(30), |world| ail(world, "osmo-1", &Ailment::crash("Error: dial tcp: no route", 1)));
        stage.world.after(mins(50), |world| world.heal("cosmos", "osmo-1"));
        stage.operate(mins(90)).await;
        let recovery = stage.recovery();
        assert_eq!(at(&recovery, "/status/phase"), "Abandoned");
        assert_eq!(condition(&recovery["status"], "Ended"), ("True".to_owned(), "RecoveredByItself".to_owned()));
        assert_eq!(stage.said().last().map(String::as_str), Some("RecoveredByItself"));
        // The next trouble is another incident, counted anew.
        stage.world.after(mins(10), |world| ail(world, "osmo-1", &Ailment::crash("Error: dial tcp: no route", 1)));
        stage.operate(mins(60)).await;
        let names: Vec<String> =
            stage.recoveries().iter().map(|recovery| at(recovery, "/metadata/name").to_owned()).collect();
        assert_eq!(names, ["osmo-1-1", "osmo-1-2"]);
        stage.done();
    });
}

#[test]
fn a_replica_that_is_scaled_away() {
    story(|| async {
        let stage = Stage::osmosis(10).await;
        stage.policy(&json!({}));
        stage.world.after(mins(30), |world| ail(world, "osmo-2", &Ailment::crash("Error: x", 1)));
        stage.world.after(mins(60), |world| {
            world.edit("statefulsets.apps", "cosmos", "osmo", json!({"spec": {"replicas": 2}})).expect("scaled");
        });
        stage.operate(mins(120)).await;
        let recovery = stage.recovery();
        assert_eq!(condition(&recovery["status"], "Ended"), ("True".to_owned(), "ReplicaGone".to_owned()));
        stage.done();
    });
}
