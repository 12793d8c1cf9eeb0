//! The cluster keeps the rules of the real one: those of the API server, and those of each controller as they were seen.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "what is shared by tests is test code too"
)]

mod api_apply;
mod api_lists;
mod api_objects;
mod api_watches;
mod cosmos;
mod faults;
mod hold;
mod jobs;
mod kubelet;
mod logs;
mod middle;
mod nodes;
mod snapshots;
mod stateful_set;
mod swap;
mod volumes;

use std::{future::Future, time::Duration};

use serde_json::{Value, json};
use simcluster::World;

/// Runs a story in virtual time.
fn story<T>(story: impl Future<Output = T>) -> T {
    simcluster::simulate(story).expect("a runtime")
}

fn secs(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// A world with a chain and a StatefulSet of three of its nodes, all up.
async fn osmosis(seed: u64) -> World {
    let world = World::new(seed);
    world.chain("osmosis-1", 1_000, secs(5));
    world.stateful_set("cosmos", "osmo").chain("osmosis-1").create();
    world.run_for(secs(60)).await;
    for pod in ["osmo-0", "osmo-1", "osmo-2"] {
        assert!(world.replica("cosmos", pod).ready, "{pod}: {:?}", world.replica("cosmos", pod));
    }
    world
}

/// A claim as a human writes it.
fn claim(name: &str, size: &str) -> Value {
    json!({
        "metadata": {"namespace": "cosmos", "name": name},
        "spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": "standard", "resources": {"requests": {"storage": size}}},
    })
}

/// The text at a place of an object.
fn at<'o>(object: &'o Value, pointer: &str) -> &'o str {
    object.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}
