//! A StatefulSet with a claim for each pod, as the recovery finds one.

use std::time::Duration;

use anyhow::{Result, ensure};
use k8s_openapi::api::{
    apps::v1::StatefulSet,
    core::v1::{PersistentVolumeClaim, Pod},
};
use kube::api::{DeleteParams, ListParams, Patch, PatchParams, PostParams, Preconditions};
use serde_json::{Value, json};

use super::{
    ground::{Ground, SOON},
    pods::container,
    volumes::{SIZE, phase, volume_name},
};

/// What every pod of the set does: keeps the first mark that it wrote, and prints it.
const KEEPER: &str = "[ -f /data/mark ] || echo first-of-$HOSTNAME >/data/mark; cat /data/mark; exec sleep 100000";

/// The gate that holds a pod's readiness until a check opens it.
const GATE: &str = "facts.example/open";

/// In which order the pods are made.
#[derive(Clone, Copy)]
pub(super) enum Order {
    Parallel,
    /// One after the other; each is ready only when the check says so.
    Gated,
}

fn set(order: Order, replicas: usize) -> Value {
    let mut container = container(KEEPER);
    if let Some(container) = container.as_object_mut() {
        container.insert("volumeMounts".to_owned(), json!([{"name": "data", "mountPath": "/data"}]));
    }
    let (policy, gates) = match order {
        Order::Parallel => ("Parallel", json!([])),
        Order::Gated => ("OrderedReady", json!([{"conditionType": GATE}])),
    };
    json!({
        "apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "db"},
        "spec": {
            "serviceName": "db", "replicas": replicas, "podManagementPolicy": policy,
            "selector": {"matchLabels": {"app": "db"}},
            "template": {"metadata": {"labels": {"app": "db"}}, "spec": {
                "terminationGracePeriodSeconds": 1, "dnsPolicy": "Default", "containers": [container],
                "readinessGates": gates,
            }},
            "volumeClaimTemplates": [{"metadata": {"name": "data"}, "spec": {
                "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": SIZE}},
            }}],
        },
    })
}

fn only(uid: Option<&str>) -> DeleteParams {
    DeleteParams::default().preconditions(Preconditions { uid: uid.map(str::to_owned), resource_version: None })
}

impl Ground {
    pub(super) async fn start_set(&self, order: Order, replicas: usize) -> Result<()> {
        let set: StatefulSet = serde_json::from_value(set(order, replicas))?;
        self.bed.api().create(&PostParams::default(), &set).await?;
        Ok(())
    }

    /// A set of two that are both ready.
    pub(super) async fn pair(&self) -> Result<()> {
        self.start_set(Order::Parallel, 2).await?;
        self.ready("db-0", "").await?;
        self.ready("db-1", "").await?;
        Ok(())
    }

    /// Opens or closes the gate of a pod's readiness.
    pub(super) async fn gate(&self, pod: &str, open: &str) -> Result<()> {
        let patch = json!({"status": {"conditions": [{"type": GATE, "status": open}]}});
        let pods = self.bed.api::<Pod>();
        pods.patch_status(pod, &PatchParams::default(), &Patch::Strategic(patch)).await?;
        Ok(())
    }

    /// The pod of that name, once there is one.
    pub(super) async fn appears(&self, pod: &str) -> Result<Pod> {
        let pods = self.bed.api::<Pod>();
        self.bed.until(&format!("pod {pod} is there"), SOON, async || Ok(pods.get_opt(pod).await?)).await
    }

    /// Deletes a claim, and then its pod, as the swap does.
    pub(super) async fn detach(&self, ordinal: usize) -> Result<(PersistentVolumeClaim, Pod)> {
        let (claims, pods) = (self.bed.api::<PersistentVolumeClaim>(), self.bed.api::<Pod>());
        let (claim, pod) =
            (claims.get(&format!("data-db-{ordinal}")).await?, pods.get(&format!("db-{ordinal}")).await?);
        claims.delete(&format!("data-db-{ordinal}"), &only(claim.metadata.uid.as_deref())).await?;
        pods.delete(&format!("db-{ordinal}"), &only(pod.metadata.uid.as_deref())).await?;
        Ok((claim, pod))
    }

    /// Waits for a claim of that name with another UID that is bound; to which volume.
    pub(super) async fn bound_again(&self, old: &PersistentVolumeClaim) -> Result<String> {
        let claims = self.bed.api::<PersistentVolumeClaim>();
        let name = old.metadata.name.as_deref().unwrap_or_default();
        let volume = self
            .bed
            .until(&format!("claim {name} is made again and bound"), SOON, async || {
                let claim = claims.get_opt(name).await?;
                let new = claim.filter(|claim| claim.metadata.uid != old.metadata.uid && phase(claim) == "Bound");
                Ok(new.map(|claim| volume_name(&claim).to_owned()))
            })
            .await?;
        self.leaves_volume(&volume);
        Ok(volume)
    }

    /// Waits until neither claim nor pod of that ordinal is there, then looks for a while whether it stays so.
    pub(super) async fn stays_away(&self, ordinal: usize, long: Duration) -> Result<()> {
        let (claims, pods) = (self.bed.api::<PersistentVolumeClaim>(), self.bed.api::<Pod>());
        let (claim, pod) = (format!("data-db-{ordinal}"), format!("db-{ordinal}"));
        self.bed
            .until("claim and pod are gone", SOON, async || {
                let away = claims.get_opt(&claim).await?.is_none() && pods.get_opt(&pod).await?.is_none();
                Ok(away.then_some(()))
            })
            .await?;
        tokio::time::sleep(long).await;
        ensure!(claims.get_opt(&claim).await?.is_none(), "claim {claim} was made");
        ensure!(pods.get_opt(&pod).await?.is_none(), "pod {pod} was made");
        Ok(())
    }

    /// Makes the StatefulSet controller look again.
    pub(super) async fn poke(&self) -> Result<()> {
        let now = jiff::Timestamp::now().to_string();
        let patch = json!({"metadata": {"annotations": {"facts.example/poke": now}}});
        self.bed.api::<StatefulSet>().patch("db", &PatchParams::default(), &Patch::Merge(patch)).await?;
        Ok(())
    }

    /// A pre-bound volume with the data that a claim of the set has now, made from a snapshot of it.
    pub(super) async fn proven_copy(&self, claim: &str) -> Result<String> {
        let class = self.snapshot_class(json!({})).await?;
        self.snapshot("proof", &class, claim).await?;
        self.snapshot_ready("proof").await?;
        self.ask(super::volumes::Ask::new("tmp").restored_from("proof")).await?;
        let copy = self.bound("tmp").await?;
        self.set_policy(&copy, "Retain").await?;
        self.remove_claim("tmp").await?;
        self.becomes(&copy, "Released").await?;
        self.reserve(&copy, claim).await?;
        Ok(copy)
    }

    /// The versions of everything of an ordinal that nobody should touch.
    pub(super) async fn versions(&self, ordinal: usize) -> Result<Vec<String>> {
        let claim = self.claim(&format!("data-db-{ordinal}")).await?.metadata.resource_version;
        let pod = self.bed.api::<Pod>().get(&format!("db-{ordinal}")).await?.metadata.resource_version;
        Ok([claim, pod].into_iter().flatten().collect())
    }

    /// How many volumes were made for a claim's name.
    pub(super) async fn volumes_for(&self, claim: &str) -> Result<Vec<String>> {
        let volumes = self.volumes().list(&ListParams::default()).await?;
        let ours = volumes.items.into_iter().filter(|volume| {
            let reference = volume.spec.as_ref().and_then(|spec| spec.claim_ref.as_ref());
            reference.is_some_and(|reference| {
                reference.namespace.as_deref() == Some(self.name()) && reference.name.as_deref() == Some(claim)
            })
        });
        Ok(ours.filter_map(|volume| volume.metadata.name).collect())
    }
}
