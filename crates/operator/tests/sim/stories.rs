//! What befalls a cluster, and what the operator makes of it: one test a story.

use std::time::Duration;

use serde_json::json;
use simcluster::Damage;

use crate::stage::{DAMAGED_STATE, Stage, at, condition};

fn mins(minutes: u64) -> Duration {
    Duration::from_mins(minutes)
}

/// Runs a story in virtual time, on seeded entropy.
fn story<F: Future<Output = ()>>(story: impl FnOnce() -> F + Send + 'static) {
    simentropy::case(1, story);
}

#[test]
fn physical_damage_would_be_restored() {
    story(|| async {
        let stage = Stage::osmosis(1).await;
        stage.policy(&json!({}));
        let world = stage.world.clone();
        stage.world.after(mins(30), move |world| world.damage("cosmos", "data-osmo-1", &Damage::of("state.db", DAMAGED_STATE)));
        stage.operate(mins(60)).await;
        let recovery = stage.recovery();
        println!("{recovery:#}");
        println!("{:#}", stage.policy_status());
        assert_eq!(at(&recovery, "/status/phase"), "Held");
        assert_eq!(at(&recovery, "/status/verdict/cause"), "physical_corruption");
        assert_eq!(condition(&recovery["status"], "WouldRestore").0, "True");
        assert_eq!(condition(&recovery["status"], "Acting").1, "PolicyObserves");
        assert_eq!(stage.leavings(), Vec::<String>::new());
        assert_eq!(stage.said(), ["IncidentOpened", "Judged", "Held"]);
        stage.done();
    });
}
