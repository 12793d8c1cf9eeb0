//! A cluster with an operator in it, and everything that it writes held against P1.

use std::{
    collections::BTreeSet,
    future::pending,
    sync::{Arc, Mutex},
    time::Duration,
};

use futures::future::BoxFuture;
use jiff::SignedDuration;
use operator::{
    Clock, Inspector, LeaseTimes, Metrics, Operator, Readiness, Rpc, RpcAddress, RpcFailure, Settings, status_of,
};
use scene::Sample;
use serde_json::{Value, json};
use simcluster::{Call, Ended, HUMAN, Inspection, OPERATOR, Refused, Report, Seen, World};

/// The log of a real node whose `state.db` is damaged.
pub(crate) const DAMAGED_STATE: &str =
    include_str!("../../../../examples/cosmosfullnode-state-db/logs/lab-1/node.previous.log");

/// With it a node never signs by itself (P10).
pub(crate) const REMOTE_SIGNER: &str = "--priv_validator_laddr=tcp://0.0.0.0:26659";

/// A cluster and what the operator did to it that it must not do.
#[derive(Clone)]
pub(crate) struct Stage {
    pub(crate) world: World,
    sins: Arc<Mutex<BTreeSet<String>>>,
    lease: LeaseTimes,
}

/// Asks the nodes of the world.
struct SimRpc(World);

impl Rpc for SimRpc {
    fn status<'a>(&'a self, to: &'a RpcAddress) -> BoxFuture<'a, Result<Sample, RpcFailure>> {
        Box::pin(async move {
            tokio::time::sleep(Duration::from_millis(3)).await;
            let port = to.port;
            match self.0.rpc_status(&to.instance.namespace, &to.instance.name) {
                Ok(answer) => status_of(&answer, to),
                Err(Refused::Connection | Refused::NoAddress) => Err(RpcFailure::Refused { port }),
                Err(Refused::Timeout) => Err(RpcFailure::Timeout { port, seconds: 5 }),
            }
        })
    }
}

impl Stage {
    /// Three healthy nodes of a StatefulSet that follow a chain, two minutes after their start; nobody watches yet.
    pub(crate) async fn osmosis(seed: u64) -> Self {
        let world = World::new(seed);
        world.chain("osmosis-1", 1_000, Duration::from_secs(5));
        world.stateful_set("cosmos", "osmo").chain("osmosis-1").argument(REMOTE_SIGNER).create();
        let stage = Self::on(world);
        stage.world.run_for(Duration::from_mins(2)).await;
        stage
    }

    /// On a world that is there.
    pub(crate) fn on(world: World) -> Self {
        let sins = Arc::new(Mutex::new(BTreeSet::new()));
        let noted = Arc::clone(&sins);
        world.namespace("loopbreaker");
        world.observe(Box::new(move |seen, _| {
            if let Seen::Request(entry, call, _) = seen
                && entry.user.starts_with(OPERATOR)
                && entry.is_write()
                && !is_ours(call)
            {
                noted.lock().expect("one thread").insert(entry.to_string());
            }
        }));
        world.inspect_by(inspect);
        Self { world, sins, lease: LeaseTimes::default() }
    }

    /// For stories of months: who leads is looked after every ten minutes only.
    pub(crate) fn with_a_slow_lease(mut self) -> Self {
        self.lease = LeaseTimes { duration: Duration::from_mins(30), renew_every: Duration::from_mins(10) };
        self
    }

    /// A policy that watches StatefulSet `osmo`; what is given is merged into it.
    pub(crate) fn policy(&self, fields: &Value) {
        self.policy_named("osmo", fields);
    }

    pub(crate) fn policy_named(&self, name: &str, fields: &Value) {
        let mut policy = json!({
            "apiVersion": "loopbreaker.dev/v1alpha1", "kind": "RecoveryPolicy",
            "metadata": {"namespace": "cosmos", "name": name},
            "spec": {"targets": [{"kind": "StatefulSet", "name": "osmo"}]},
        });
        merge(&mut policy, fields);
        let made = self.world.request(HUMAN, &Call::create("recoverypolicies.loopbreaker.dev", policy));
        made.expect("a policy that the API server takes");
    }

    /// Runs an operator for so long; one that a fault kills is started again five seconds later.
    pub(crate) async fn operate(&self, time: Duration) {
        self.operate_as(OPERATOR, "operator-0", time).await;
    }

    pub(crate) async fn operate_as(&self, user: &str, identity: &str, time: Duration) {
        let end = self.world.now().checked_add(SignedDuration::try_from(time).expect("short")).expect("in range");
        loop {
            let left = Duration::try_from(end.duration_since(self.world.now())).unwrap_or_default();
            if left.is_zero() {
                return;
            }
            let run = Box::pin(operator::run(self.operator(user, identity), pending()));
            let ended = self.world.run_as(user, left, run).await;
            if ended == Ended::Crashed {
                self.world.run_for(Duration::from_secs(5)).await;
            }
        }
    }

    pub(crate) fn operator(&self, user: &str, identity: &str) -> Operator {
        Operator {
            client: self.world.client_of(user),
            rpc: Arc::new(SimRpc(self.world.clone())),
            clock: Clock::starting_at(self.world.now()),
            settings: Settings {
                identity: identity.to_owned(),
                namespace: "loopbreaker".to_owned(),
                watched: None,
                inspector: Inspector { image: "loopbreaker:test".to_owned(), ..Inspector::default() },
                lease: self.lease,
            },
            readiness: Readiness::new(),
            metrics: Arc::new(Metrics::new()),
        }
    }

    /// All records, oldest first.
    pub(crate) fn recoveries(&self) -> Vec<Value> {
        self.world.list("recoveries.loopbreaker.dev", "cosmos")
    }

    /// The one record that there is.
    pub(crate) fn recovery(&self) -> Value {
        let recoveries = self.recoveries();
        assert_eq!(recoveries.len(), 1, "one incident, one record: {recoveries:#?}");
        recoveries[0].clone()
    }

    pub(crate) fn policy_status(&self) -> Value {
        self.world.get("recoverypolicies.loopbreaker.dev", "cosmos", "osmo").expect("the policy")["status"].clone()
    }

    /// P1, and nothing left over: to be called at the end of each story.
    pub(crate) fn done(&self) {
        let sins = self.sins();
        assert!(sins.is_empty(), "P1, it wrote what is not ours: {sins:#?}");
    }

    /// Writes to what is not ours.
    pub(crate) fn sins(&self) -> BTreeSet<String> {
        self.sins.lock().expect("one thread").clone()
    }

    /// Objects of inspections that are still there.
    pub(crate) fn leavings(&self) -> Vec<String> {
        let kinds = ["jobs.batch", "persistentvolumeclaims", "volumesnapshots.snapshot.storage.k8s.io"];
        let ours = kinds.iter().flat_map(|kind| self.world.list(kind, "cosmos"));
        // A snapshot that never became ready stays until the snapshot controller looks again.
        ours.filter(|object| object["metadata"]["deletionTimestamp"].is_null())
            .map(|object| object["metadata"]["name"].as_str().unwrap_or_default().to_owned())
            .filter(|name| name.starts_with("lb-inspect-"))
            .collect()
    }

    /// Reasons of the Events about records, in order.
    pub(crate) fn said(&self) -> Vec<String> {
        let mut events = self.world.list("events.events.k8s.io", "cosmos");
        events.retain(|event| event["reportingController"] == "loopbreaker.dev/operator");
        events.sort_by_key(|event| event["eventTime"].as_str().unwrap_or_default().to_owned());
        events.iter().map(|event| event["reason"].as_str().unwrap_or_default().to_owned()).collect()
    }
}

/// P1: our own objects, and of the cluster's kinds only what is named and owned as ours.
fn is_ours(call: &Call) -> bool {
    let name =
        call.name.clone().unwrap_or_else(|| call.body["metadata"]["name"].as_str().unwrap_or_default().to_owned());
    let inspection = || name.starts_with("lb-inspect-");
    match call.place().as_str() {
        "recoveries.loopbreaker.dev"
        | "recoveries.loopbreaker.dev/status"
        | "recoverypolicies.loopbreaker.dev/status"
        | "events.events.k8s.io" => true,
        "leases.coordination.k8s.io" => name == operator::LEASE,
        "jobs.batch" | "persistentvolumeclaims" | "volumesnapshots.snapshot.storage.k8s.io" => inspection(),
        _ => false,
    }
}

/// What an inspector would print: damage that lies on the volume, or that all is well.
pub(crate) fn inspect(inspection: &Inspection<'_>) -> Report {
    let content = inspection.content;
    let damage = content.and_then(|content| content.damage.as_ref()).map(|damage| damage.part.trim_end_matches(".db"));
    let findings = |name: &str| match damage {
        Some(part) if part == name => json!([{
            "kind": "block_checksum", "severity": "damage", "database": name, "file": format!("data/{name}.db/000012.ldb"),
            "offset": 1187, "detail": "a block does not fit its checksum",
        }]),
        _ => json!([]),
    };
    let databases: Vec<Value> = ["application", "state", "blockstore"]
        .iter()
        .map(|name| json!({"name": name, "findings": findings(name), "untold": []}))
        .collect();
    let report = json!({
        "schema": "loopbreaker.dev/inspection/v1",
        "outcome": if damage.is_some() { "damaged" } else { "intact" },
        "databases": databases, "findings": [], "untold": [],
        "heights": {"application": content.map(simcluster::VolumeContent::height)},
        "signing": {"state": "missing"},
        "space": {"free_bytes": 5_000_000_000_u64, "total_bytes": 10_000_000_000_u64, "free_inodes": 100_000},
    });
    Report { lines: vec![report.to_string()], exit_code: 0, takes: SignedDuration::from_secs(20) }
}

fn merge(into: &mut Value, from: &Value) {
    match (into, from) {
        (Value::Object(into), Value::Object(from)) => {
            for (key, value) in from {
                merge(into.entry(key.clone()).or_insert(Value::Null), value);
            }
        }
        (into, from) => *into = from.clone(),
    }
}

/// The text at a place of an object.
pub(crate) fn at<'o>(object: &'o Value, pointer: &str) -> &'o str {
    object.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

/// A condition's status and reason.
pub(crate) fn condition(status: &Value, about: &str) -> (String, String) {
    let conditions = status["conditions"].as_array().cloned().unwrap_or_default();
    let found = conditions.iter().find(|condition| condition["type"] == about).cloned().unwrap_or_default();
    (at(&found, "/status").to_owned(), at(&found, "/reason").to_owned())
}
