//! A thousand days of healthy operation: rollouts, drains, snapshots, reboots, upgrades that go well. No incident.

use std::time::Duration;

use serde_json::json;
use simcluster::{Requests, WatchFault, World};

use crate::{stage::Stage, stories::mins};

fn days(days: u64) -> Duration {
    Duration::from_hours(24 * days)
}

/// What happens in a week of a healthy cluster, at hours that the seed moves.
fn week(world: &World, seed: u64, begin_hours: u64) {
    let at = |hour: u64| Duration::from_hours(begin_hours + hour) + mins((seed * 7 + hour * 13) % 50);
    // A rollout: each pod is told to stop and made anew.
    world.after(at(5), move |world| {
        let stamp = json!({"spec": {"template": {"metadata": {"annotations": {"rolled": seed.to_string()}}}}});
        drop(world.edit("statefulsets.apps", "cosmos", "osmo", stamp));
    });
    // A drain: two pods are evicted one after the other.
    world.after(at(30), |world| drop(world.delete("pods", "cosmos", "osmo-1")));
    world.after(at(31), |world| drop(world.delete("pods", "cosmos", "osmo-2")));
    // A machine is restarted, another time it is away for ten minutes.
    world.after(at(55), |world| world.reboot_node("node-1"));
    world.after(at(80), |world| world.lose_node("node-1", true));
    world.after(at(80) + mins(10), |world| world.lose_node("node-1", false));
    // Snapshots are taken.
    for (number, hour) in [20, 44, 68, 92, 116, 140].into_iter().enumerate() {
        world.after(at(hour), move |world| {
            world.snapshot("cosmos", &format!("nightly-{begin_hours}-{number}")).of("data-osmo-0").create();
        });
    }
    // A crash now and then, with good days in between.
    world.after(at(100), |world| {
        world.crash("cosmos", "osmo-0", "node", 2, "Error", &["panic: concurrent map writes".to_owned()]);
    });
    // A node that is told to stop panics on the way, as CometBFT does on SIGTERM, and needs longer than it is given.
    world.after(at(120), |world| {
        world.stop_takes("cosmos", "osmo-2", "node", Duration::from_secs(90));
        drop(world.delete("pods", "cosmos", "osmo-2"));
    });
}

/// `weeks` weeks of one seed.
async fn live(seed: u64, weeks: u64) -> (usize, u64) {
    let stage = Stage::osmosis(seed).await;
    stage.policy(&json!({}));
    for number in 0..weeks {
        week(&stage.world, seed + number, number * 168);
    }
    if seed % 2 == 1 {
        stage.world.fail_watches(Requests::all(), WatchFault::Disconnect(Duration::from_hours(3)), 1_000);
    }
    // The operator itself is rolled out once a week.
    for _ in 0..weeks {
        stage.operate(days(7)).await;
        stage.world.run_for(Duration::from_secs(40)).await;
    }
    stage.done();
    (stage.recoveries().len(), weeks * 7)
}

#[test]
fn a_thousand_days_without_an_incident() {
    const LIVES: u64 = 12;
    const WEEKS: u64 = 12;
    let threads: Vec<_> =
        (0..LIVES).map(|seed| std::thread::spawn(move || simentropy::case(seed, move || live(seed, WEEKS)))).collect();
    let lived: Vec<(usize, u64)> = threads.into_iter().map(|life| life.join().expect("no panic")).collect();
    let days: u64 = lived.iter().map(|(_, days)| days).sum();
    let incidents: usize = lived.iter().map(|(incidents, _)| incidents).sum();
    assert!(days >= 1_000, "{days}");
    assert_eq!(incidents, 0, "in {days} simulated days: {lived:?}");
}
