//! The nodes that are watched: machines played by kwok, stateful sets with their claims, policies.

use std::{path::Path, time::Duration};

use anyhow::{Context, Result, bail};
use api::RecoveryPolicy;
use futures::{StreamExt, TryStreamExt, stream};
use k8s_openapi::api::{
    apps::v1::StatefulSet,
    core::v1::{Namespace, Node, PersistentVolume, PersistentVolumeClaim, Pod},
};
use kube::{
    Api, Client, ResourceExt,
    api::{DeleteParams, ListParams, Patch, PatchParams, PostParams},
};
use serde_json::json;

/// Requests of ours at once.
const AT_ONCE: usize = 48;
/// Pods of a machine: each has a /24 of its own.
const PODS_A_MACHINE: u32 = 200;

/// How large it is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Size {
    pub(super) pods: u32,
    pub(super) workloads: u32,
    pub(super) namespaces: u32,
}

impl Size {
    /// Replicas of each workload, by its number.
    pub(super) fn replicas(self, workload: u32) -> u32 {
        self.pods / self.workloads + u32::from(workload < self.pods % self.workloads)
    }

    pub(super) fn namespace(self, workload: u32) -> String {
        format!("chain-{:03}", workload * self.namespaces / self.workloads)
    }

    pub(super) fn machines(self) -> u32 {
        self.pods.div_ceil(PODS_A_MACHINE / 2)
    }

    pub(super) fn all(self) -> impl Iterator<Item = u32> {
        0..self.workloads
    }
}

pub(super) fn workload(number: u32) -> String {
    format!("node-{number:03}")
}

/// Makes it all and waits until every pod runs. What an earlier bench left of incidents is taken away.
pub(super) async fn make(client: &Client, size: Size, rpc_port: u16) -> Result<()> {
    forget(client).await?;
    let are_there = count::<PersistentVolume>(client, &ListParams::default()).await? >= i64::from(size.pods);
    machines(client, size).await?;
    let namespaces: Api<Namespace> = Api::all(client.clone());
    for number in 0..size.namespaces {
        let name = format!("chain-{number:03}");
        make_if_absent(&namespaces, &serde_json::from_value(json!({"metadata": {"name": name}}))?).await?;
    }
    println!("         {} claims and their volumes", size.pods);
    let claims = size
        .all()
        .filter(|_| !are_there)
        .flat_map(|number| (0..size.replicas(number)).map(move |ordinal| (number, ordinal)));
    stream::iter(claims.map(Ok))
        .try_for_each_concurrent(AT_ONCE, |(number, ordinal)| claim(client, size, number, ordinal))
        .await?;
    println!("         {} StatefulSets", size.workloads);
    stream::iter(size.all().map(Ok))
        .try_for_each_concurrent(8, |number| async move {
            let sets: Api<StatefulSet> = Api::namespaced(client.clone(), &size.namespace(number));
            make_if_absent(&sets, &stateful_set(size, number)?).await
        })
        .await?;
    until_all_run(client, size).await?;
    for number in 0..size.namespaces {
        let policies: Api<RecoveryPolicy> = Api::namespaced(client.clone(), &format!("chain-{number:03}"));
        make_if_absent(&policies, &policy(rpc_port)?).await?;
    }
    Ok(())
}

/// Policies with what they remember, records, and the pods that were told to crash.
async fn forget(client: &Client) -> Result<()> {
    for policy in Api::<RecoveryPolicy>::all(client.clone()).list_metadata(&ListParams::default()).await? {
        let of: Api<RecoveryPolicy> = Api::namespaced(client.clone(), &policy.namespace().unwrap_or_default());
        of.delete(&policy.name_any(), &DeleteParams::default()).await?;
    }
    for recovery in Api::<api::Recovery>::all(client.clone()).list_metadata(&ListParams::default()).await? {
        let of: Api<api::Recovery> = Api::namespaced(client.clone(), &recovery.namespace().unwrap_or_default());
        of.delete(&recovery.name_any(), &DeleteParams::default()).await?;
    }
    let params = ListParams::default().labels("app=gaia").limit(500);
    let mut next = Some(params.clone());
    while let Some(page) = next.take() {
        let pods = Api::<Pod>::all(client.clone()).list(&page).await?;
        for pod in pods.items.iter().filter(|pod| has_crashed(pod)) {
            let of: Api<Pod> = Api::namespaced(client.clone(), &pod.namespace().unwrap_or_default());
            of.delete(&pod.name_any(), &DeleteParams::default()).await?;
        }
        let token = pods.metadata.continue_.filter(|token| !token.is_empty());
        next = token.map(|token| params.clone().continue_token(&token));
    }
    Ok(())
}

fn has_crashed(pod: &Pod) -> bool {
    let statuses = pod.status.iter().flat_map(|status| status.container_statuses.iter().flatten());
    statuses.into_iter().any(|status| !status.ready)
}

async fn make_if_absent<K>(objects: &Api<K>, object: &K) -> Result<()>
where
    K: kube::Resource + Clone + std::fmt::Debug + serde::Serialize + serde::de::DeserializeOwned,
{
    match objects.create(&PostParams::default(), object).await {
        Ok(_) => Ok(()),
        Err(kube::Error::Api(status)) if status.code == 409 => Ok(()),
        Err(error) => {
            let name = object.meta().name.as_deref().unwrap_or_default();
            Err(error).with_context(|| format!("make {name}"))
        }
    }
}

async fn machines(client: &Client, size: Size) -> Result<()> {
    let nodes: Api<Node> = Api::all(client.clone());
    for number in 0..size.machines() {
        let name = format!("machine-{number:03}");
        let node = json!({
            "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, "type": "kwok"}},
            // Addresses of this machine only: whoever asks a pod asks the chain that this bench plays.
            "spec": {"podCIDR": format!("127.10.{number}.0/24"), "podCIDRs": [format!("127.10.{number}.0/24")]},
            "status": {
                "allocatable": {"cpu": "64", "memory": "1Ti", "pods": PODS_A_MACHINE.to_string()},
                "capacity": {"cpu": "64", "memory": "1Ti", "pods": PODS_A_MACHINE.to_string()},
            },
        });
        make_if_absent(&nodes, &serde_json::from_value(node)?).await?;
    }
    Ok(())
}

/// A claim that is bound already: nobody here makes volumes.
async fn claim(client: &Client, size: Size, number: u32, ordinal: u32) -> Result<()> {
    let namespace = size.namespace(number);
    let name = format!("data-{}-{ordinal}", workload(number));
    let volume = format!("pv-{name}");
    let claims: Api<PersistentVolumeClaim> = Api::namespaced(client.clone(), &namespace);
    let spec = json!({"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "500Gi"}}, "storageClassName": "fast"});
    let mut of_claim = spec.clone();
    if let Some(fields) = of_claim.as_object_mut() {
        fields.insert("volumeName".to_owned(), volume.clone().into());
    }
    let object = json!({
        "metadata": {"name": name, "annotations": {"pv.kubernetes.io/bind-completed": "yes", "pv.kubernetes.io/bound-by-controller": "yes"}},
        "spec": of_claim,
    });
    make_if_absent(&claims, &serde_json::from_value(object)?).await?;
    let bound =
        json!({"status": {"phase": "Bound", "accessModes": ["ReadWriteOnce"], "capacity": {"storage": "500Gi"}}});
    let claim = claims.patch_status(&name, &PatchParams::default(), &Patch::Merge(&bound)).await?;
    let volumes: Api<PersistentVolume> = Api::all(client.clone());
    let object = json!({
        "metadata": {"name": volume},
        "spec": {
            "accessModes": ["ReadWriteOnce"], "capacity": {"storage": "500Gi"}, "storageClassName": "fast",
            "persistentVolumeReclaimPolicy": "Retain",
            "csi": {"driver": "kwok.csi", "volumeHandle": volume},
            "claimRef": {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "namespace": namespace, "name": name, "uid": claim.metadata.uid},
        },
    });
    make_if_absent(&volumes, &serde_json::from_value(object)?).await
}

/// About as large as cosmos-operator's pods are.
fn stateful_set(size: Size, number: u32) -> Result<StatefulSet> {
    let name = workload(number);
    let labels = json!({"app": "gaia", "app.kubernetes.io/name": name, "chain.example/network": "mainnet"});
    let mount = json!({"name": "data", "mountPath": "/home/operator/cosmos"});
    let quiet = json!({"requests": {"cpu": "10m", "memory": "64Mi"}});
    let env: Vec<_> =
        (0..12).map(|at| json!({"name": format!("SETTING_{at}"), "value": "a value of a usual length"})).collect();
    let beside = |name: &str| json!({"name": name, "image": "registry.example/operator:1", "resources": quiet, "volumeMounts": [mount]});
    let node = json!({
        "name": "node", "image": "registry.example/gaia:v25.1.0", "command": ["gaiad"],
        "args": ["start", "--home", "/home/operator/cosmos", "--rpc.laddr", "tcp://0.0.0.0:26657"],
        "env": env, "resources": quiet, "volumeMounts": [mount],
        "ports": [{"name": "p2p", "containerPort": 26656}, {"name": "rpc", "containerPort": 26657}, {"name": "api", "containerPort": 1317}],
        "readinessProbe": {"httpGet": {"path": "/health", "port": 26657}, "failureThreshold": 5, "periodSeconds": 10},
        "securityContext": {"allowPrivilegeEscalation": false, "runAsUser": 1025, "runAsNonRoot": true},
    });
    let set = json!({
        "metadata": {"name": name, "labels": labels},
        "spec": {
            "serviceName": name, "replicas": size.replicas(number), "podManagementPolicy": "Parallel",
            "selector": {"matchLabels": {"app.kubernetes.io/name": name}},
            "template": {"metadata": {"labels": labels}, "spec": {
                "containers": [node, beside("healthcheck"), beside("version-check-interval")],
                "initContainers": [beside("clean-init"), beside("config-merge")],
                "securityContext": {"fsGroup": 1025, "runAsUser": 1025, "runAsGroup": 1025},
                "volumes": [{"name": "tmp", "emptyDir": {}}],
                "terminationGracePeriodSeconds": 30,
            }},
            "volumeClaimTemplates": [{"metadata": {"name": "data"}, "spec": {
                "accessModes": ["ReadWriteOnce"], "storageClassName": "fast", "resources": {"requests": {"storage": "500Gi"}},
            }}],
        },
    });
    Ok(serde_json::from_value(set)?)
}

fn policy(rpc_port: u16) -> Result<RecoveryPolicy> {
    let policy = json!({
        "apiVersion": "loopbreaker.dev/v1alpha1", "kind": "RecoveryPolicy",
        "metadata": {"name": "nodes"},
        "spec": {
            "targets": [{"kind": "StatefulSet", "selector": {"matchLabels": {"app": "gaia"}}}],
            "evidence": {"peers": {"rpcPort": rpc_port}},
        },
    });
    Ok(serde_json::from_value(policy)?)
}

async fn until_all_run(client: &Client, size: Size) -> Result<()> {
    let wanted = i64::from(size.pods);
    let params = ListParams::default().fields("status.phase=Running").labels("app=gaia");
    for round in 0..600 {
        let run = count::<Pod>(client, &params).await?;
        if run >= wanted {
            return Ok(());
        }
        if round % 5 == 0 {
            println!("         {run} of {wanted} pods run");
        }
        tokio::time::sleep(Duration::from_secs(2)).await;
    }
    bail!(
        "the pods did not start within 20 min: look into the logs of kube-scheduler, kube-controller-manager and kwok"
    )
}

async fn count<K>(client: &Client, of: &ListParams) -> Result<i64>
where
    K: kube::Resource<DynamicType = ()> + Clone + std::fmt::Debug + serde::de::DeserializeOwned,
{
    let all: Api<K> = Api::all(client.clone());
    Ok(i64::try_from(all.list_metadata(of).await?.items.len())?)
}

/// The definitions of our own kinds, as the operator's own program prints them.
pub(super) async fn define(client: &Client, loopbreaker: &Path) -> Result<()> {
    let printed = tokio::process::Command::new(loopbreaker).arg("crds").output().await?;
    let text = String::from_utf8(printed.stdout)?;
    let definitions: Api<k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition> =
        Api::all(client.clone());
    for document in text.split("---\n").filter(|document| !document.trim().is_empty()) {
        let object: serde_json::Value = serde_saphyr::from_str(document)?;
        let name = object.pointer("/metadata/name").and_then(|name| name.as_str()).unwrap_or_default().to_owned();
        let how = PatchParams::apply("testbed").force();
        definitions.patch(&name, &how, &Patch::Apply(&object)).await.with_context(|| format!("define {name}"))?;
    }
    stream::iter(0..50)
        .then(|_| async {
            tokio::time::sleep(Duration::from_millis(200)).await;
            Api::<api::Recovery>::all(client.clone()).list(&ListParams::default().limit(1)).await.is_ok()
        })
        .any(|there| async move { there })
        .await
        .then_some(())
        .context("our kinds are defined, but not served after 10 s")
}
