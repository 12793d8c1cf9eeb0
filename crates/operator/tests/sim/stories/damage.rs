//! Data that is damaged, and replicas that stand still. (P14)

use serde_json::json;
use simcluster::{Ailment, Damage, Inspection, Report, VolumeContent};

use super::{gist, held_for, mins, missing, story, vetoes};
use crate::stage::{DAMAGED_STATE, Stage, at, condition, inspect};

#[test]
fn physical_damage_would_be_restored() {
    story(|| async {
        let stage = Stage::osmosis(1).await;
        stage.policy(&json!({}));
        stage.world.after(mins(30), |world| {
            world.damage("cosmos", "data-osmo-1", &Damage::of("state.db", DAMAGED_STATE));
        });
        stage.operate(mins(60)).await;
        let recovery = stage.recovery();
        assert_eq!(recovery["metadata"]["name"], "osmo-1-1");
        assert_eq!(gist(&recovery), ("Held", "physical_corruption", "restore"));
        assert_eq!(condition(&recovery["status"], "WouldRestore"), ("True".to_owned(), "Restore".to_owned()));
        assert_eq!(held_for(&recovery), "PolicyObserves");
        assert_eq!(recovery["status"]["verdict"]["witnesses"], json!(["log", "disk", "peers"]));
        assert_eq!(at(&recovery, "/spec/target/claim/name"), "data-osmo-1");
        assert_eq!(at(&recovery, "/status/evidence/disk/method"), "InPlace");
        assert_eq!(at(&recovery, "/spec/incident/onset"), "2026-12-01T00:32:00Z", "the first crash");
        let line = at(&recovery, "/status/evidence/log/decisive/0/text");
        assert!(line.contains("checksum mismatch, want=0x7ae078c2 got=0xac1efc6"), "{line}");
        assert_eq!(stage.leavings(), Vec::<String>::new());
        assert_eq!(stage.said(), ["IncidentOpened", "Judged", "Held"]);
        let summary = at(&recovery, "/status/summary");
        assert!(
            summary.starts_with("would restore, but the policy only observes; physical_corruption (99 %)"),
            "{summary}"
        );
        stage.done();
    });
}

#[test]
fn auto_says_that_this_version_only_records() {
    story(|| async {
        let stage = Stage::osmosis(1).await;
        stage.policy(&json!({"spec": {"mode": "Auto"}}));
        stage.world.after(mins(30), |world| {
            world.damage("cosmos", "data-osmo-1", &Damage::of("state.db", DAMAGED_STATE));
        });
        stage.operate(mins(60)).await;
        let recovery = stage.recovery();
        assert_eq!(gist(&recovery), ("Held", "physical_corruption", "restore"));
        assert_eq!(held_for(&recovery), "VersionOnlyRecords");
        stage.done();
    });
}

/// The loop is found at the configured count, and not before.
#[test]
fn the_configured_count_opens_the_incident() {
    story(|| async {
        for (crashes, expected) in [(3, 3), (5, 5)] {
            let stage = Stage::osmosis(crashes).await;
            stage.policy(&json!({"spec": {"detection": {"crashes": crashes}}}));
            stage.world.after(mins(30), |world| {
                world.damage("cosmos", "data-osmo-1", &Damage::of("state.db", DAMAGED_STATE));
            });
            let world = stage.world.clone();
            let watched = async move {
                while world.list("recoveries.loopbreaker.dev", "cosmos").is_empty() {
                    world.run_for(std::time::Duration::from_secs(1)).await;
                }
                world.replica("cosmos", "osmo-1").restarts
            };
            let restarts = tokio::select! {
                biased;
                restarts = watched => restarts,
                () = stage.operate(mins(120)) => panic!("nothing was opened"),
            };
            assert_eq!(restarts, expected);
        }
    });
}

#[test]
fn a_stuck_node_that_stays_up() {
    story(|| async {
        let stage = Stage::osmosis(2).await;
        stage.policy(&json!({}));
        stage.world.after(mins(30), |world| {
            let log: Vec<String> = DAMAGED_STATE.lines().map(str::to_owned).collect();
            world.get_stuck("cosmos", "osmo-2", "node", &log);
        });
        let world = stage.world.clone();
        stage.world.after(mins(44), move |_| {
            assert!(world.list("recoveries.loopbreaker.dev", "cosmos").is_empty(), "14 minutes are none of 15");
        });
        stage.operate(mins(90)).await;
        let recovery = stage.recovery();
        assert_eq!(at(&recovery, "/spec/incident/kind"), "Stuck");
        assert_eq!(at(&recovery, "/spec/target/pod"), "osmo-2");
        assert_eq!(at(&recovery, "/status/phase"), "Held");
        stage.done();
    });
}

#[test]
fn databases_that_disagree() {
    story(|| async {
        let stage = Stage::osmosis(3).await;
        stage.world.inspect_by(disagreeing);
        stage.policy(&json!({}));
        stage.world.after(mins(30), |world| {
            world.ail("cosmos", "osmo-0", "node", Ailment::crash("panic: unexpected state", 2), 100);
            world.crash("cosmos", "osmo-0", "node", 2, "Error", &["panic: unexpected state".to_owned()]);
        });
        stage.operate(mins(60)).await;
        let recovery = stage.recovery();
        assert_eq!(gist(&recovery), ("Held", "logical_inconsistency", "restore"));
        stage.done();
    });
}

fn disagreeing(inspection: &Inspection<'_>) -> Report {
    let mut report = inspect(inspection);
    let mut json: serde_json::Value = serde_json::from_str(&report.lines[0]).expect("json");
    json["outcome"] = json!("inconsistent");
    json["databases"][0]["findings"] =
        json!([{"severity": "inconsistency", "database": "application", "file": "data/application.db", "detail": "d"}]);
    report.lines = vec![json.to_string()];
    report
}

/// P10: nobody has shown that the node does not sign.
#[test]
fn a_node_that_may_sign_is_never_restored() {
    story(|| async {
        let world = simcluster::World::new(4);
        world.chain("osmosis-1", 1_000, std::time::Duration::from_secs(5));
        world.stateful_set("cosmos", "osmo").chain("osmosis-1").validator().create();
        let stage = Stage::on(world);
        stage.policy(&json!({"spec": {"mode": "Auto"}}));
        stage.world.after(mins(30), |world| {
            world.damage("cosmos", "data-osmo-1", &Damage::of("state.db", DAMAGED_STATE));
        });
        stage.operate(mins(60)).await;
        let recovery = stage.recovery();
        assert_eq!(gist(&recovery), ("Held", "physical_corruption", "hold"));
        assert_eq!(vetoes(&recovery), ["may_sign"]);
        assert_eq!(held_for(&recovery), "VerdictIsHold");
        stage.done();
    });
}

#[test]
fn an_inspector_on_a_copy() {
    story(|| async {
        let stage = Stage::osmosis(5).await;
        stage.policy(&json!({"spec": {"evidence": {"disk": {"method": "Snapshot", "snapshotClassName": "standard"}}}}));
        stage.world.after(mins(30), |world| {
            world.damage("cosmos", "data-osmo-1", &Damage::of("state.db", DAMAGED_STATE));
        });
        stage.operate(mins(60)).await;
        let recovery = stage.recovery();
        // A copy does not tell how much room the replica itself has left.
        assert_eq!(gist(&recovery), ("Held", "physical_corruption", "propose"));
        let reason = at(&recovery, "/status/verdict/reason");
        assert!(reason.ends_with("nobody could look at free bytes and inodes"), "{reason}");
        assert_eq!(at(&recovery, "/status/evidence/disk/method"), "Snapshot");
        assert_eq!(stage.leavings(), Vec::<String>::new());
        stage.done();
    });
}

#[test]
fn a_snapshot_that_never_becomes_ready_ends_the_wait() {
    story(|| async {
        let stage = Stage::osmosis(6).await;
        stage.world.snapshot_class("never", "never");
        stage.policy(&json!({"spec": {"evidence": {"disk": {"method": "Snapshot", "snapshotClassName": "never"}}}}));
        stage.world.after(mins(30), |world| {
            world.damage("cosmos", "data-osmo-1", &Damage::of("state.db", DAMAGED_STATE));
        });
        stage.operate(mins(66)).await;
        let recovery = stage.recovery();
        assert_eq!(at(&recovery, "/status/phase"), "Held");
        assert!(missing(&recovery).contains("did not become ready"), "{}", missing(&recovery));
        assert_eq!(stage.leavings(), Vec::<String>::new());
        stage.done();
    });
}

/// A disk that is sound while the log speaks of damage: the evidence may be gone, or the host sick.
#[test]
fn a_sound_disk_holds() {
    story(|| async {
        let stage = Stage::osmosis(7).await;
        stage.policy(&json!({}));
        stage.world.after(mins(30), |world| {
            world.ail("cosmos", "osmo-0", "node", Ailment::crash(DAMAGED_STATE, 2), 100);
            world.crash("cosmos", "osmo-0", "node", 2, "Error", &[]);
        });
        stage.operate(mins(60)).await;
        let recovery = stage.recovery();
        assert_eq!(gist(&recovery).2, "hold");
        assert_eq!(at(&recovery, "/status/evidence/disk/outcome"), "intact");
        assert_eq!(recovery["status"]["evidence"]["log"]["witness"], true);
        stage.done();
    });
}

/// The volume is as it was, whatever was done to look at it.
#[test]
fn nothing_is_changed_on_the_volume() {
    story(|| async {
        let stage = Stage::osmosis(8).await;
        stage.policy(&json!({}));
        stage.world.after(mins(30), |world| {
            world.damage("cosmos", "data-osmo-1", &Damage::of("state.db", DAMAGED_STATE));
        });
        stage.operate(mins(31)).await;
        let content = |stage: &Stage| stage.world.content("cosmos", "data-osmo-1");
        let before: Option<VolumeContent> = content(&stage);
        stage.operate(mins(60)).await;
        assert_eq!(content(&stage), before);
        stage.done();
    });
}
