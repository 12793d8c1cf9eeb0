//! A chain in a namespace: a validator apart, and a StatefulSet of full nodes with a claim each.

use std::{net::IpAddr, time::Duration};

use anyhow::{Context, Result};
use k8s_openapi::api::{
    apps::v1::StatefulSet,
    core::v1::{ConfigMap, Pod, Service},
};
use kube::{
    Api, Resource,
    api::{Patch, PatchParams, PostParams},
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

use super::{CHAIN, Chain, Engine, Victim, image::SEED, rpc};
use crate::{e2e::Bed, image::OPERATOR};

/// The StatefulSet's name; its pods are `chain-0`, `chain-1` and so on.
pub(crate) const NODES: &str = "chain";
/// Until nodes have started, peered and risen; on a busy machine.
const LIMIT: Duration = Duration::from_mins(3);

/// What is asked of a workload.
#[derive(Debug, Clone)]
pub(crate) struct Shape {
    pub(crate) engine: Engine,
    pub(crate) replicas: u32,
    /// Whether `loopbreaker guard` stands before the node's command.
    pub(crate) guard: bool,
    /// Merged into the pod's template, for what a scenario needs besides.
    pub(crate) template: Value,
}

impl Shape {
    /// Three full nodes.
    pub(crate) fn plain(engine: Engine) -> Self {
        Self { engine, replicas: 3, guard: false, template: json!({}) }
    }
}

/// A chain that runs.
#[derive(Clone)]
pub(crate) struct Workload {
    bed: Bed,
    replicas: u32,
}

impl Workload {
    /// Makes it and waits until every node's height rises.
    pub(crate) async fn open(bed: &Bed, shape: &Shape) -> Result<Self> {
        let validator_id = Chain::get()?.seed.validator_id()?;
        let workload = Self { bed: bed.clone(), replicas: shape.replicas };
        create::<Pod>(bed, validator()).await?;
        let address = workload.address_of("validator").await?;
        let peer = json!({ "metadata": { "name": "peers" }, "data": { "validator": format!("{validator_id}@{address}:26656") } });
        create::<ConfigMap>(bed, peer).await?;
        let service =
            json!({ "metadata": { "name": NODES }, "spec": { "clusterIP": "None", "selector": { "app": NODES } } });
        create::<Service>(bed, service).await?;
        create::<StatefulSet>(bed, stateful_set(shape)).await?;
        workload.until_all_rise().await?;
        Ok(workload)
    }

    /// The names of its full nodes' pods.
    pub(crate) fn pods(&self) -> Vec<String> {
        (0..self.replicas).map(|ordinal| format!("{NODES}-{ordinal}")).collect()
    }

    /// A pod as it is now.
    pub(crate) async fn pod(&self, name: &str) -> Result<Pod> {
        Ok(self.bed.api::<Pod>().get(name).await?)
    }

    /// The node's running process.
    pub(crate) async fn process(&self, pod: &str) -> Result<Victim> {
        let uid = self.pod(pod).await?.metadata.uid.context("a pod without UID")?;
        self.bed.until(&format!("{pod} has a process"), LIMIT, async || Ok(Victim::find(&uid, "wasmd").ok())).await
    }

    /// Waits until this node is higher than it was.
    pub(crate) async fn until_rises(&self, pod: &str) -> Result<u64> {
        let before = self.until_answers(pod).await?;
        let what = format!("{pod} rises from height {before}");
        self.bed.until(&what, LIMIT, async || Ok(self.height(pod).await.filter(|height| *height > before))).await
    }

    pub(crate) async fn until_reaches(&self, pod: &str, height: u64) -> Result<()> {
        let reached = async || Ok(self.height(pod).await.filter(|now| *now >= height).map(drop));
        self.bed.until(&format!("{pod} reaches height {height}"), LIMIT, reached).await
    }

    pub(crate) async fn until_all_rise(&self) -> Result<()> {
        for pod in self.pods() {
            self.until_rises(&pod).await?;
        }
        Ok(())
    }

    async fn until_answers(&self, pod: &str) -> Result<u64> {
        let what = format!("{pod} answers on its RPC");
        self.bed.until(&what, LIMIT, async || Ok(self.height(pod).await)).await
    }

    async fn height(&self, pod: &str) -> Option<u64> {
        let address = self.pod(pod).await.ok()?.status?.pod_ip?.parse().ok()?;
        rpc::height(address, rpc::PORT).await.ok()
    }

    pub(crate) async fn address_of(&self, pod: &str) -> Result<IpAddr> {
        let address = self
            .bed
            .until(&format!("{pod} has an address"), LIMIT, async || {
                Ok(self.pod(pod).await?.status.and_then(|status| status.pod_ip))
            })
            .await?;
        Ok(address.parse()?)
    }

    /// The UIDs of its pods, in their order.
    pub(crate) async fn uids(&self) -> Result<Vec<String>> {
        let mut uids = Vec::new();
        for pod in self.pods() {
            uids.push(self.pod(&pod).await?.metadata.uid.context("a pod without UID")?);
        }
        Ok(uids)
    }

    /// Waits until every pod has been made anew.
    pub(crate) async fn until_all_new(&self, before: &[String]) -> Result<()> {
        self.bed
            .until("every pod is made anew", LIMIT, async || {
                let all = self.uids().await.unwrap_or_default();
                Ok((!all.is_empty() && all.iter().all(|uid| !before.contains(uid))).then_some(()))
            })
            .await
    }

    /// Merges this into the StatefulSet: a rollout.
    pub(crate) async fn change(&self, part: &Value) -> Result<()> {
        self.bed.api::<StatefulSet>().patch(NODES, &PatchParams::default(), &Patch::Strategic(part)).await?;
        Ok(())
    }
}

/// Makes one object.
pub(crate) async fn create<K>(bed: &Bed, object: Value) -> Result<K>
where
    K: Resource<Scope = kube::core::NamespaceResourceScope, DynamicType = ()>
        + Clone
        + std::fmt::Debug
        + Serialize
        + DeserializeOwned,
{
    let api: Api<K> = bed.api();
    let wanted: K = serde_json::from_value(object)?;
    let name = wanted.meta().name.clone().unwrap_or_default();
    api.create(&PostParams::default(), &wanted).await.with_context(|| format!("make {} {name}", K::kind(&())))
}

/// Fills an empty home from the image.
fn fill(home: &str) -> Value {
    let command = format!("[ -e /chain/config ] || cp -r {SEED}/{home}/. /chain/");
    json!({
        "name": "home", "image": CHAIN, "command": ["/bin/sh", "-c", command],
        "volumeMounts": [{ "name": "home", "mountPath": "/chain" }],
    })
}

/// Not root: inspectors run as the node's user, without the power to read what is another's.
fn as_a_user() -> Value {
    json!({ "runAsUser": 1025, "runAsGroup": 1025, "fsGroup": 1025, "fsGroupChangePolicy": "OnRootMismatch" })
}

fn validator() -> Value {
    json!({
        "metadata": { "name": "validator", "labels": { "app": "validator" } },
        "spec": {
            "terminationGracePeriodSeconds": 5, "automountServiceAccountToken": false, "enableServiceLinks": false,
            "securityContext": as_a_user(),
            "initContainers": [fill("validator")],
            "containers": [{
                "name": "node", "image": CHAIN, "command": ["wasmd"], "args": ["start", "--home", "/chain", "--rpc.laddr", "tcp://0.0.0.0:26657"],
                "resources": { "requests": { "cpu": "50m" } },
                "volumeMounts": [{ "name": "home", "mountPath": "/chain" }],
            }],
            "volumes": [{ "name": "home", "emptyDir": {} }],
        },
    })
}

fn stateful_set(shape: &Shape) -> Value {
    let start =
        ["start", "--home", "/chain", "--rpc.laddr", "tcp://0.0.0.0:26657", "--p2p.persistent_peers", "$(VALIDATOR)"];
    let mut node = json!({
        "name": "node", "image": CHAIN, "command": ["wasmd"], "args": start,
        "env": [
            { "name": "VALIDATOR", "valueFrom": { "configMapKeyRef": { "name": "peers", "key": "validator" } } },
            { "name": "LOOPBREAKER_POD_UID", "valueFrom": { "fieldRef": { "fieldPath": "metadata.uid" } } },
        ],
        "ports": [{ "name": "rpc", "containerPort": rpc::PORT }],
        "resources": { "requests": { "cpu": "50m" } },
        "readinessProbe": { "tcpSocket": { "port": "rpc" }, "periodSeconds": 2 },
        "volumeMounts": [{ "name": "home", "mountPath": "/chain" }],
    });
    let mut begin = vec![fill(shape.engine.as_str())];
    let mut volumes = Vec::new();
    if shape.guard {
        let shared = json!({ "name": "loopbreaker", "mountPath": "/loopbreaker" });
        begin.push(json!({
            "name": "loopbreaker", "image": OPERATOR, "volumeMounts": [shared.clone()],
            "command": ["loopbreaker", "guard", "--install", "/loopbreaker/loopbreaker"],
        }));
        volumes.push(json!({ "name": "loopbreaker", "emptyDir": {} }));
        if let Some(node) = node.as_object_mut() {
            node.insert(
                "command".to_owned(),
                json!(["/loopbreaker/loopbreaker", "guard", "--home", "/chain", "--", "wasmd"]),
            );
        }
        if let Some(mounts) = node.pointer_mut("/volumeMounts").and_then(Value::as_array_mut) {
            mounts.push(shared);
        }
    }
    let labels = json!({ "app": NODES });
    let mut set = json!({
        "metadata": { "name": NODES, "labels": labels },
        "spec": {
            "serviceName": NODES, "replicas": shape.replicas, "podManagementPolicy": "Parallel",
            "selector": { "matchLabels": labels },
            "template": {
                "metadata": { "labels": labels },
                "spec": {
                    "terminationGracePeriodSeconds": 10, "automountServiceAccountToken": false,
                    "enableServiceLinks": false, "securityContext": as_a_user(), "initContainers": begin, "containers": [node], "volumes": volumes,
                },
            },
            "volumeClaimTemplates": [{
                "metadata": { "name": "home" },
                "spec": { "accessModes": ["ReadWriteOnce"], "resources": { "requests": { "storage": "1Gi" } } },
            }],
        },
    });
    if let Some(template) = set.pointer_mut("/spec/template") {
        merge(template, &shape.template);
    }
    set
}

/// Puts a part over a whole: objects by key, lists by their place.
fn merge(whole: &mut Value, part: &Value) {
    match (whole, part) {
        (Value::Object(whole), Value::Object(part)) => {
            for (key, value) in part {
                merge(whole.entry(key.clone()).or_insert(Value::Null), value);
            }
        }
        (Value::Array(whole), Value::Array(part)) => {
            for (index, value) in part.iter().enumerate() {
                match whole.get_mut(index) {
                    Some(place) => merge(place, value),
                    None => whole.push(value.clone()),
                }
            }
        }
        (whole, part) => *whole = part.clone(),
    }
}
