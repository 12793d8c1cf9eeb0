//! What is a loop and what is none, in a cluster that moves.

use std::time::Duration;

use serde_json::json;
use simcluster::{Ailment, Damage};

use super::{mins, story};
use crate::stage::{DAMAGED_STATE, Stage, at};

/// One operator sees it rise, stand, and stay so: the incident stays open.
#[test]
fn a_stuck_node_is_not_recovered_by_what_it_did_before() {
    story(|| async {
        let stage = Stage::osmosis(1).await;
        stage.policy(&json!({}));
        stage.world.after(mins(30), |world| {
            let log: Vec<String> = DAMAGED_STATE.lines().map(str::to_owned).collect();
            world.get_stuck("cosmos", "osmo-2", "node", &log);
        });
        stage.operate(mins(120)).await;
        let recovery = stage.recovery();
        assert_eq!((at(&recovery, "/spec/incident/kind"), at(&recovery, "/status/phase")), ("Stuck", "Held"));
        stage.done();
    });
}

/// Told to stop, a node panics on the way; its machine is restarted; a snapshot is taken.
#[test]
fn rollouts_in_a_row_and_a_machine_that_restarts() {
    story(|| async {
        let stage = Stage::osmosis(2).await;
        stage.policy(&json!({}));
        for round in 1..6 {
            stage.world.after(mins(round * 6), move |world| {
                let stamp = json!({"spec": {"template": {"metadata": {"annotations": {"round": round.to_string()}}}}});
                world.edit("statefulsets.apps", "cosmos", "osmo", stamp).expect("rolled out");
            });
            stage.world.after(mins(60 + round * 5), |world| world.reboot_node("node-1"));
            stage.world.after(mins(60 + round * 5), |world| {
                drop(world.delete("pods", "cosmos", "osmo-1"));
            });
        }
        stage.world.after(mins(70), |world| world.snapshot("cosmos", "nightly").of("data-osmo-0").create());
        stage.operate(mins(120)).await;
        assert_eq!(stage.recoveries().len(), 0, "{:#?}", stage.recoveries());
        stage.done();
    });
}

/// The operator is started anew every ninety seconds: one incident, one record, and the first crash is its onset.
#[test]
fn an_operator_that_restarts_all_the_time() {
    story(|| async {
        let stage = Stage::osmosis(3).await;
        stage.policy(&json!({}));
        stage.world.after(mins(5), |world| {
            world.damage("cosmos", "data-osmo-1", &Damage::of("state.db", DAMAGED_STATE));
        });
        stage.operate(mins(5)).await;
        let before = stage.world.now();
        for _ in 0..20 {
            stage.operate(Duration::from_secs(90)).await;
        }
        stage.operate(mins(30)).await;
        let recovery = stage.recovery();
        let onset: jiff::Timestamp = at(&recovery, "/spec/incident/onset").parse().expect("a time");
        assert!(onset.duration_since(before).as_secs().abs() <= 30, "{onset} {before}");
        stage.done();
    });
}

/// Ten crashes with progress between them, each after the pod was ready for longer than ten minutes.
#[test]
fn crashes_with_progress_between() {
    story(|| async {
        let stage = Stage::osmosis(4).await;
        stage.policy(&json!({}));
        for round in 1..10 {
            stage.world.after(mins(round * 14), |world| {
                world.ail("cosmos", "osmo-0", "node", Ailment::crash("panic: x", 2), 1);
                world.crash("cosmos", "osmo-0", "node", 2, "Error", &["panic: x".to_owned()]);
            });
        }
        stage.operate(mins(160)).await;
        assert_eq!(stage.recoveries().len(), 0);
        stage.done();
    });
}
