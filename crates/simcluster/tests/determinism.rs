//! The same seed gives the same trace: the library by itself, and kube's unmodified `Controller` on top of it once the
//! entropy of the operating system comes from the seed too.
#![expect(clippy::expect_used, clippy::indexing_slicing, reason = "what is shared by tests is test code too")]

use std::{sync::Arc, time::Duration};

use futures::StreamExt;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api, Client,
    api::{Patch, PatchParams},
    runtime::{Controller, controller::Action, watcher},
};
use serde_json::json;
use simcluster::{Call, Damage, Ended, Fault, HUMAN, OPERATOR, Requests, World};
use simentropy::case;

fn lines(world: &World) -> Vec<String> {
    world.trace().iter().map(ToString::to_string).collect()
}

/// Everything that moves, without kube's `Controller`: a crash loop, a snapshot, a swap of claims, a plain client.
async fn busy(seed: u64) -> Vec<String> {
    let world = World::new(seed);
    world.chain("lab", 1_000, Duration::from_secs(5));
    world.stateful_set("cosmos", "osmo").chain("lab").create();
    world.cosmos_full_node("peer", "lab").chain("lab").create();
    world.run_for(Duration::from_mins(1)).await;
    world.snapshot("cosmos", "s1").of("data-osmo-2").create();
    world.damage("cosmos", "data-osmo-1", &Damage::of("state.db", "panic: checksum mismatch"));
    let pods: Api<k8s_openapi::api::core::v1::Pod> = Api::namespaced(world.plain_client_of(OPERATOR), "cosmos");
    for _ in 0..20 {
        pods.list(&kube::api::ListParams::default()).await.expect("a list");
        world.run_for(Duration::from_secs(30)).await;
    }
    world.delete("persistentvolumeclaims", "cosmos", "data-osmo-2").expect("marked");
    world.delete("pods", "cosmos", "osmo-2").expect("marked");
    world.run_for(Duration::from_mins(10)).await;
    lines(&world)
}

#[test]
fn the_library_repeats_itself_without_any_hook() {
    let (one, two) = (case(1, || busy(7)), case(2, || busy(7)));
    assert!(one.len() > 200, "{}", one.len());
    assert_eq!(one, two, "other entropy of the machine, same trace");
    assert_ne!(one, case(1, || busy(8)), "the seed decides");
}

/// Writes how often it has seen each map.
async fn controller(client: Client) {
    let maps: Api<ConfigMap> = Api::namespaced(client.clone(), "default");
    let reconcile = |map: Arc<ConfigMap>, client: Arc<Client>| async move {
        let maps: Api<ConfigMap> = Api::namespaced(Client::clone(&client), "default");
        let seen = map.data.as_ref().and_then(|data| data.get("seen")).and_then(|seen| seen.parse::<u32>().ok());
        if seen.unwrap_or_default() < 3 {
            let patch = json!({"data": {"seen": (seen.unwrap_or_default() + 1).to_string()}});
            maps.patch(&map.metadata.name.clone().unwrap_or_default(), &PatchParams::default(), &Patch::Merge(patch))
                .await?;
        }
        Ok::<_, kube::Error>(Action::requeue(Duration::from_mins(10)))
    };
    let failed = |_: Arc<ConfigMap>, _: &kube::Error, _: Arc<Client>| Action::requeue(Duration::from_secs(5));
    let running = Controller::new(maps, watcher::Config::default()).run(reconcile, failed, Arc::new(client));
    running.for_each(|_| std::future::ready(())).await;
}

/// Five objects under kube's `Controller`, which dies at its request `crash_at` and is started again.
async fn controlled(seed: u64, crash_at: u64) -> Vec<String> {
    let world = World::new(seed);
    world.fail(Requests::all().of(OPERATOR).nth(crash_at), Fault::CrashAfter, 1);
    for name in ["a", "b", "c", "d", "e"] {
        let map = json!({"metadata": {"namespace": "default", "name": name}});
        world.request(HUMAN, &Call::create("configmaps", map)).expect("made");
    }
    let begin = world.now();
    while world.now().duration_since(begin).as_secs() < 7_200 {
        let ended = world.run_as(OPERATOR, Duration::from_hours(2), controller(world.client())).await;
        assert!(!matches!(ended, Ended::Done(())), "a controller does not end");
    }
    for map in world.list("configmaps", "default") {
        assert_eq!(map["data"]["seen"], "3", "{map}");
    }
    lines(&world)
}

#[test]
fn kubes_controller_repeats_itself_with_the_hook_and_gets_over_a_crash_at_each_request() {
    for crash_at in 0..14 {
        let runs: Vec<Vec<String>> = (0..3).map(|_| case(5, move || controlled(7, crash_at))).collect();
        assert!(runs[0].len() > 15, "{}", runs[0].len());
        assert_eq!(runs[0], runs[1], "crash at {crash_at}");
        assert_eq!(runs[0], runs[2], "crash at {crash_at}");
    }
}

#[test]
fn the_hook_is_what_makes_it_repeat() {
    let traces: std::collections::BTreeSet<Vec<String>> =
        (0..8).map(|entropy| case(entropy, || controlled(7, 1_000))).collect();
    assert!(traces.len() > 1, "the order of kube's hash maps shows in the trace");
}
