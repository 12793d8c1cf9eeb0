//! Bundles out of a cluster in memory.

use std::time::Duration;

use futures::future::BoxFuture;
use scene::Sample;
use serde_json::json;
use simcluster::{Damage, OPERATOR, World, simulate};

use super::*;
use crate::collect::{RpcAddress, RpcFailure, status_of};

/// The replicas' status, as the cluster in memory has it.
struct SimRpc(World);

impl Rpc for SimRpc {
    fn status<'a>(&'a self, to: &'a RpcAddress) -> BoxFuture<'a, Result<Sample, RpcFailure>> {
        Box::pin(async move {
            match self.0.rpc_status(&to.instance.namespace, &to.instance.name) {
                Ok(answer) => status_of(&answer, to),
                Err(_) => Err(RpcFailure::Refused { port: to.port }),
            }
        })
    }
}

/// Three nodes of a StatefulSet, one of which crashes again and again; another workload beside it.
async fn osmosis() -> World {
    let world = World::new(5);
    world.chain("osmosis-1", 1_000, Duration::from_secs(5));
    world.stateful_set("cosmos", "osmo").chain("osmosis-1").create();
    world.stateful_set("cosmos", "other").chain("osmosis-1").create();
    world.run_for(Duration::from_mins(1)).await;
    let log = "panic: checksum mismatch, token=abcdefghijklmnop";
    world.damage("cosmos", "data-osmo-1", &Damage::of("state.db", log));
    world.run_until(Duration::from_mins(5), |world| world.replica("cosmos", "osmo-1").waits.is_some()).await;
    world
}

fn of(pod: &str) -> BundleOf {
    BundleOf {
        namespace: "cosmos".to_owned(),
        pod: pod.to_owned(),
        rpc_port: 26_657,
        interval: Duration::from_secs(10),
    }
}

async fn collect(world: &World, pod: &str) -> Result<CollectedBundle, kube::Error> {
    let asking = Asking::PodNetwork(Arc::new(SimRpc(world.clone())));
    collect_bundle(&world.client(), &asking, &Clock::starting_at(world.now()), &of(pod), |_| {}).await
}

fn names(bundle: &CollectedBundle, file: &str) -> Vec<String> {
    let objects = bundle.objects.get(file).into_iter().flatten();
    objects.map(|object| object["metadata"]["name"].as_str().unwrap_or_default().to_owned()).collect()
}

#[test]
fn what_belongs_to_the_replica_is_there_and_nothing_else() {
    simulate(async {
        let world = osmosis().await;
        let bundle = collect(&world, "osmo-1").await.expect("a bundle");
        assert_eq!(names(&bundle, "pods.yaml"), ["osmo-1", "osmo-0", "osmo-2"]);
        assert_eq!(names(&bundle, "owner.yaml"), ["osmo"]);
        assert_eq!(names(&bundle, "claims.yaml"), ["data-osmo-0", "data-osmo-1", "data-osmo-2"]);
        assert_eq!(names(&bundle, "volumes.yaml").len(), 3);
        assert!(!names(&bundle, "nodes.yaml").is_empty());
        let events = bundle.objects.get("events.yaml").expect("events");
        assert!(events.iter().any(|event| event["reason"] == "BackOff"), "{events:?}");
        assert!(!events.iter().any(|event| event["involvedObject"]["name"] == "other-0"), "{events:?}");
        for object in bundle.objects.values().flatten() {
            assert!(object["kind"].is_string() && object["apiVersion"].is_string(), "{object}");
            assert!(object["metadata"].get("managedFields").is_none(), "{object}");
        }
        assert_eq!(bundle.objects["pods.yaml"][1]["kind"], "Pod");
    })
    .expect("a runtime");
}

#[test]
fn the_log_of_the_crash_is_there_without_its_secret() {
    simulate(async {
        let world = osmosis().await;
        let bundle = collect(&world, "osmo-1").await.expect("a bundle");
        let log = bundle.logs.iter().find(|log| log.pod == "osmo-1" && log.previous).expect("a log");
        assert!(log.text.contains("checksum mismatch, token=[redacted]"), "{}", log.text);
        assert!(bundle.logs.iter().all(|log| log.pod == "osmo-1"), "a healthy sibling's log was read");
    })
    .expect("a runtime");
}

#[test]
fn each_replica_that_answers_is_asked_twice() {
    simulate(async {
        let world = osmosis().await;
        let bundle = collect(&world, "osmo-1").await.expect("a bundle");
        let of = |pod: &str| -> Vec<(u64, String)> {
            let samples = bundle.samples.iter().filter(|sample| sample["pod"] == format!("cosmos/{pod}"));
            samples.map(|sample| (sample["height"].as_u64().expect("a height"), sample["time"].to_string())).collect()
        };
        let [first, second] = <[(u64, String); 2]>::try_from(of("osmo-0")).expect("two samples");
        assert!(second.0 > first.0 && second.1 > first.1, "{first:?} {second:?}");
        assert!(bundle.samples[0]["image_id"].is_string(), "{:?}", bundle.samples[0]);
        assert_eq!(of("osmo-1"), []);
        let mute = bundle.notes.iter().filter(|note| note.starts_with("osmo-1 did not tell its height: "));
        assert_eq!(mute.count(), 1, "{:?}", bundle.notes);
    })
    .expect("a runtime");
}

#[test]
fn neither_secrets_nor_config_maps_are_asked_for_and_nothing_is_written() {
    simulate(async {
        let world = osmosis().await;
        let before = world.trace().len();
        collect(&world, "osmo-1").await.expect("a bundle");
        assert_eq!(world.writes_of(OPERATOR), []);
        let asked = format!("{:?}", &world.trace()[before..]);
        assert!(asked.contains("persistentvolumes"), "the trace tells reads: {asked}");
        assert!(!asked.contains("secrets") && !asked.contains("configmaps"), "{asked}");
    })
    .expect("a runtime");
}

#[test]
fn a_missing_right_is_a_note_and_the_rest_goes_on() {
    simulate(async {
        let world = osmosis().await;
        for place in ["nodes", "events", "persistentvolumes", "pods/log"] {
            world.deny(OPERATOR, "*", place);
        }
        let bundle = collect(&world, "osmo-1").await.expect("a bundle");
        for kind in [
            "may not get nodes",
            "may not list events",
            "may not get persistentvolumes",
            "may not get the log of osmo-1",
        ] {
            assert!(bundle.notes.iter().any(|note| note.contains(kind)), "{kind}: {:?}", bundle.notes);
        }
        assert_eq!(names(&bundle, "claims.yaml").len(), 3);
        assert!(bundle.logs.is_empty() && !bundle.samples.is_empty());
    })
    .expect("a runtime");
}

#[test]
fn without_the_pod_there_is_no_bundle() {
    simulate(async {
        let world = osmosis().await;
        let error = collect(&world, "osmo-7").await.expect_err("no such pod");
        assert!(matches!(error, kube::Error::Api(status) if status.code == 404));
    })
    .expect("a runtime");
}

#[test]
fn a_pod_without_an_owner_comes_alone() {
    simulate(async {
        let world = World::new(5);
        world.namespace("cosmos");
        world.put("pods", json!({
            "metadata": {"name": "lone", "namespace": "cosmos"},
            "spec": {"containers": [{"name": "node", "image": "x", "env": [{"name": "API_KEY", "value": "hunter2"}]}]},
            "status": {"phase": "Pending"},
        }));
        let bundle = collect(&world, "lone").await.expect("a bundle");
        assert_eq!(names(&bundle, "pods.yaml"), ["lone"]);
        let text = format!("{bundle:?}");
        assert!(text.contains("the pod has no owner") && !text.contains("hunter2"), "{text}");
        assert_eq!(bundle.samples, Vec::<Value>::new());
    })
    .expect("a runtime");
}
