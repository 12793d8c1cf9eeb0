//! Logs through the real client: the kept one, the `Error` moment, and what can be asked for.

use k8s_openapi::api::core::v1::Pod;
use kube::{Api, api::LogParams};
use simcluster::{Damage, World};

use crate::{osmosis, story};

fn pods(world: &World) -> Api<Pod> {
    Api::namespaced(world.plain_client_of("tester"), "cosmos")
}

fn previous() -> LogParams {
    LogParams { container: Some("node".to_owned()), previous: true, ..LogParams::default() }
}

/// Waits until the node's container is in a state.
async fn wait_for(world: &World, state: &str) {
    for _ in 0..100_000 {
        let pod = world.get("pods", "cosmos", "osmo-1").unwrap_or_default();
        if pod.pointer(&format!("/status/containerStatuses/0/state/{state}")).is_some() {
            return;
        }
        world.run_for(std::time::Duration::from_millis(20)).await;
    }
    panic!("never {state}");
}

#[test]
fn the_previous_log_cannot_be_had_in_the_error_moment_and_can_while_the_container_waits() {
    story(async {
        let world = osmosis(1).await;
        let pods = pods(&world);
        let none = pods.logs("osmo-1", &previous()).await.expect_err("it never ended");
        assert!(
            none.to_string().contains("previous terminated container \"node\" in pod \"osmo-1\" not found"),
            "{none}"
        );
        world.damage("cosmos", "data-osmo-1", &Damage::of("state.db", "panic: checksum mismatch"));
        wait_for(&world, "waiting").await;
        let kept = pods.logs("osmo-1", &previous()).await.expect("the kept log");
        assert!(kept.contains("panic: checksum mismatch"), "{kept}");
        wait_for(&world, "running").await;
        wait_for(&world, "terminated").await;
        let text = pods.logs("osmo-1", &previous()).await.expect("status 200");
        assert!(text.starts_with("unable to retrieve container logs for containerd://"), "{text}");
        let current = pods.logs("osmo-1", &LogParams::default()).await.expect("the one that has just ended");
        assert!(current.contains("panic"), "{current}");
        wait_for(&world, "waiting").await;
        assert!(pods.logs("osmo-1", &previous()).await.expect("the kept log").contains("panic"));
    });
}

#[test]
fn a_log_can_be_cut_by_lines_bytes_and_time() {
    story(async {
        let world = osmosis(2).await;
        let pods = pods(&world);
        let all = pods.logs("osmo-0", &LogParams::default()).await.expect("a log");
        assert_eq!(all.lines().count(), 2, "{all}");
        let ask = |change: fn(&mut LogParams)| {
            let mut parameters = LogParams::default();
            change(&mut parameters);
            parameters
        };
        let tail = pods.logs("osmo-0", &ask(|log| log.tail_lines = Some(1))).await.expect("a tail");
        assert!(tail.starts_with("INF Completed ABCI Handshake"), "{tail}");
        let bytes = pods.logs("osmo-0", &ask(|log| log.limit_bytes = Some(12))).await.expect("a head");
        assert_eq!(bytes, "INF starting");
        let timed = pods.logs("osmo-0", &ask(|log| log.timestamps = true)).await.expect("with times");
        assert!(timed.starts_with("2026-12-01T00:00:0"), "{timed}");
        let late = pods.logs("osmo-0", &ask(|log| log.since_seconds = Some(5))).await.expect("nothing new");
        assert_eq!(late, "");
        let wrong =
            pods.logs("osmo-0", &ask(|log| log.container = Some("x".to_owned()))).await.expect_err("no such container");
        assert!(wrong.to_string().contains("container x is not valid for pod osmo-0"), "{wrong}");
    });
}
