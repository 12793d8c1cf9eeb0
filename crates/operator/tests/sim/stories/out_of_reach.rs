//! What cannot be had is said, and nothing waits for it for ever. (P12, P13)

use serde_json::json;
use simcluster::{Damage, Fault, OPERATOR, Refused, Requests, Verb};

use super::{gist, mins, missing, story};
use crate::stage::{DAMAGED_STATE, Stage, at, condition};

fn damage_later(stage: &Stage) {
    stage.world.after(mins(30), |world| {
        world.damage("cosmos", "data-osmo-1", &Damage::of("state.db", DAMAGED_STATE));
    });
}

#[test]
fn no_log_to_be_had() {
    story(|| async {
        let stage = Stage::osmosis(1).await;
        stage.policy(&json!({}));
        stage.world.deny(OPERATOR, "get", "pods/log");
        damage_later(&stage);
        stage.operate(mins(60)).await;
        let recovery = stage.recovery();
        assert_eq!(at(&recovery, "/status/phase"), "Held");
        assert!(missing(&recovery).contains("may not get pods/log"), "{}", missing(&recovery));
        stage.done();
    });
}

#[test]
fn the_job_is_refused_by_a_quota() {
    story(|| async {
        let stage = Stage::osmosis(2).await;
        stage.policy(&json!({}));
        stage.world.deny("system:serviceaccount:kube-system:job-controller", "create", "pods");
        stage.world.deny("job-controller", "create", "pods");
        damage_later(&stage);
        stage.operate(mins(60)).await;
        let recovery = stage.recovery();
        assert_eq!(gist(&recovery), ("Held", "physical_corruption", "hold"), "{recovery:#}");
        assert!(missing(&recovery).contains("no pod could be made for the inspector"), "{}", missing(&recovery));
        assert_eq!(stage.leavings(), Vec::<String>::new());
        stage.done();
    });
}

#[test]
fn the_right_to_make_jobs_is_missing() {
    story(|| async {
        let stage = Stage::osmosis(3).await;
        stage.policy(&json!({}));
        stage.world.deny(OPERATOR, "create", "jobs.batch");
        damage_later(&stage);
        stage.operate(mins(60)).await;
        let recovery = stage.recovery();
        assert_eq!(at(&recovery, "/status/phase"), "Held");
        let why = missing(&recovery);
        assert!(why.contains("create Job cosmos/lb-inspect-") && why.contains("orbidden"), "{why}");
        stage.done();
    });
}

#[test]
fn peers_that_do_not_answer() {
    story(|| async {
        let stage = Stage::osmosis(4).await;
        stage.policy(&json!({}));
        for pod in ["osmo-0", "osmo-2"] {
            stage.world.cut_off("cosmos", pod, Some(Refused::Connection));
        }
        damage_later(&stage);
        stage.operate(mins(60)).await;
        let recovery = stage.recovery();
        assert_eq!(gist(&recovery), ("Held", "physical_corruption", "propose"));
        assert_eq!(condition(&recovery["status"], "WouldRestore").1, "AfterApproval");
        assert!(missing(&recovery).contains("127.0.0.1 only"), "{}", missing(&recovery));
        // They answer again: the next look tells more.
        for pod in ["osmo-0", "osmo-2"] {
            stage.world.cut_off("cosmos", pod, None);
        }
        stage.operate(mins(60)).await;
        assert_eq!(gist(&stage.recovery()).2, "restore");
        stage.done();
    });
}

#[test]
fn a_right_to_watch_is_missing_and_the_policy_names_it() {
    story(|| async {
        let stage = Stage::osmosis(5).await;
        stage.policy(&json!({}));
        stage.world.deny(OPERATOR, "list", "statefulsets.apps");
        damage_later(&stage);
        stage.operate(mins(40)).await;
        let status = stage.policy_status();
        assert_eq!(condition(&status, "Watching"), ("False".to_owned(), "Forbidden".to_owned()), "{status:#}");
        assert!(status["conditions"].to_string().contains("statefulsets"), "{status}");
        stage.world.permit(OPERATOR, "list", "statefulsets.apps");
        stage.operate(mins(30)).await;
        assert_eq!(gist(&stage.recovery()).0, "Held");
        assert_eq!(condition(&stage.policy_status(), "Watching").0, "True");
        stage.done();
    });
}

#[test]
fn events_that_may_not_be_written_hold_nothing_up() {
    story(|| async {
        let stage = Stage::osmosis(6).await;
        stage.policy(&json!({}));
        stage.world.deny(OPERATOR, "create", "events.events.k8s.io");
        damage_later(&stage);
        stage.operate(mins(60)).await;
        assert_eq!(gist(&stage.recovery()), ("Held", "physical_corruption", "restore"));
        stage.done();
    });
}

#[test]
fn an_api_server_that_is_away_for_an_hour() {
    story(|| async {
        let stage = Stage::osmosis(7).await;
        stage.policy(&json!({}));
        damage_later(&stage);
        stage.world.after(mins(29), |world| world.cut_off_api_server(mins(60)));
        stage.operate(mins(150)).await;
        assert_eq!(gist(&stage.recovery()), ("Held", "physical_corruption", "restore"));
        stage.done();
    });
}

/// Our kinds come later than we do: waited for, not crashed over.
#[test]
fn our_own_kinds_are_not_installed_yet() {
    story(|| async {
        let stage = Stage::osmosis(8).await;
        let kinds = ["recoverypolicies.loopbreaker.dev", "recoveries.loopbreaker.dev"];
        let definitions = "customresourcedefinitions.apiextensions.k8s.io";
        let kept: Vec<_> = kinds.iter().filter_map(|kind| stage.world.get(definitions, "", kind)).collect();
        assert_eq!(kept.len(), 2);
        for kind in kinds {
            stage.world.delete(definitions, "", kind).expect("deleted");
        }
        let operator = stage.operator(OPERATOR, "operator-0");
        let readiness = operator.readiness.clone();
        tokio::select! {
            biased;
            () = operator::run(operator, std::future::pending()) => panic!("it ended"),
            () = stage.world.run_for(mins(10)) => {}
        }
        assert_eq!(readiness.waiting(), ["recoveries", "recoverypolicies"]);
        stage.done();
    });
}

/// No snapshot is in flight there, and none of ours is left behind: an incident comes to rest as anywhere.
#[test]
fn a_cluster_without_snapshots() {
    story(|| async {
        let stage = Stage::osmosis(10).await;
        for kind in ["volumesnapshots", "volumesnapshotcontents", "volumesnapshotclasses"] {
            let name = format!("{kind}.snapshot.storage.k8s.io");
            stage.world.delete("customresourcedefinitions.apiextensions.k8s.io", "", &name).expect("deleted");
        }
        stage.policy(&json!({}));
        damage_later(&stage);
        stage.operate(mins(60)).await;
        let recovery = stage.recovery();
        assert_eq!(gist(&recovery), ("Held", "physical_corruption", "restore"), "{recovery:#}");
        assert_eq!(missing(&recovery), "null");
        stage.done();
    });
}

/// It is tried ever more seldom, down to every half a minute.
#[test]
fn a_list_that_is_refused_is_not_asked_for_every_second() {
    story(|| async {
        let stage = Stage::osmosis(11).await;
        stage.world.deny(OPERATOR, "list", "cosmosfullnodes.cosmos.strange.love");
        stage.policy(&json!({}));
        stage.operate(mins(30)).await;
        let asked = stage.world.trace().iter().filter(|entry| entry.to_string().contains("cosmosfullnodes")).count();
        assert!((30..=80).contains(&asked), "asked {asked} times in half an hour");
        stage.done();
    });
}

#[test]
fn a_lost_node_of_the_cluster_is_a_veto() {
    story(|| async {
        let stage = Stage::osmosis(9).await;
        stage.policy(&json!({}));
        stage.world.fail(Requests::all().of(OPERATOR).verb(Verb::Get).to("nodes"), Fault::NotFound, 1_000);
        damage_later(&stage);
        stage.operate(mins(60)).await;
        let recovery = stage.recovery();
        assert_eq!(gist(&recovery), ("Held", "physical_corruption", "propose"), "the machine's health is not known");
        assert!(missing(&recovery).contains("nodes node-1 is not there"), "{}", missing(&recovery));
        stage.done();
    });
}
