//! Claims and the volumes that they are bound to, as the checks make, reserve and look at them.

use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use k8s_openapi::api::core::v1::{PersistentVolume, PersistentVolumeClaim};
use kube::api::{DeleteParams, Patch, PatchParams, PostParams};
use serde_json::{Value, json};

use super::ground::{Ground, SOON};

/// The size of every claim that does not say another.
pub(super) const SIZE: &str = "100Mi";

/// A claim to be made.
pub(super) struct Ask(Value);

impl Ask {
    /// Of the default class, 100 MiB, for one node.
    pub(super) fn new(name: &str) -> Self {
        Self(json!({
            "apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": name},
            "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": SIZE}}},
        }))
    }

    /// The same with a field of its spec set.
    pub(super) fn with(mut self, field: &str, value: Value) -> Self {
        if let Some(spec) = self.0.pointer_mut("/spec").and_then(Value::as_object_mut) {
            spec.insert(field.to_owned(), value);
        }
        self
    }

    pub(super) fn size(self, size: &str) -> Self {
        self.with("resources", json!({"requests": {"storage": size}}))
    }

    pub(super) fn restored_from(self, snapshot: &str) -> Self {
        let group = "snapshot.storage.k8s.io";
        self.with("dataSource", json!({"apiGroup": group, "kind": "VolumeSnapshot", "name": snapshot}))
    }

    pub(super) fn claim(&self) -> Result<PersistentVolumeClaim> {
        Ok(serde_json::from_value(self.0.clone())?)
    }
}

/// The part of a claim's or volume's status that says where it stands.
pub(super) fn phase(object: &PersistentVolumeClaim) -> &str {
    object.status.as_ref().and_then(|status| status.phase.as_deref()).unwrap_or_default()
}

pub(super) fn volume_name(claim: &PersistentVolumeClaim) -> &str {
    claim.spec.as_ref().and_then(|spec| spec.volume_name.as_deref()).unwrap_or_default()
}

impl Ground {
    pub(super) async fn ask(&self, ask: Ask) -> Result<PersistentVolumeClaim> {
        let made = self.bed.api().create(&PostParams::default(), &ask.claim()?).await;
        made.context("make a claim")
    }

    pub(super) async fn claim(&self, name: &str) -> Result<PersistentVolumeClaim> {
        self.bed.api::<PersistentVolumeClaim>().get(name).await.with_context(|| format!("read claim {name}"))
    }

    /// Waits until a claim is bound; to which volume.
    pub(super) async fn bound(&self, name: &str) -> Result<String> {
        let claims = self.bed.api::<PersistentVolumeClaim>();
        let volume = self
            .bed
            .until(&format!("claim {name} is bound"), SOON, async || {
                let claim = claims.get_opt(name).await?.filter(|claim| phase(claim) == "Bound");
                Ok(claim.map(|claim| volume_name(&claim).to_owned()))
            })
            .await?;
        self.leaves_volume(&volume);
        Ok(volume)
    }

    /// Looks for a while whether a claim stays without a volume.
    pub(super) async fn stays_pending(&self, name: &str, long: Duration) -> Result<()> {
        tokio::time::sleep(long).await;
        let claim = self.claim(name).await?;
        ensure!(phase(&claim) == "Pending", "claim {name} is {} on {}", phase(&claim), volume_name(&claim));
        Ok(())
    }

    pub(super) async fn remove_claim(&self, name: &str) -> Result<()> {
        let claims = self.bed.api::<PersistentVolumeClaim>();
        claims.delete(name, &DeleteParams::default()).await?;
        self.bed
            .until(&format!("claim {name} is gone"), SOON, async || {
                Ok(claims.get_opt(name).await?.is_none().then_some(()))
            })
            .await
    }

    pub(super) async fn volume(&self, name: &str) -> Result<Option<PersistentVolume>> {
        Ok(self.volumes().get_opt(name).await?)
    }

    pub(super) async fn volume_phase(&self, name: &str) -> Result<String> {
        let volume = self.volume(name).await?.with_context(|| format!("volume {name} is gone"))?;
        Ok(volume.status.and_then(|status| status.phase).unwrap_or_default())
    }

    /// Waits until a volume stands where it should.
    pub(super) async fn becomes(&self, volume: &str, wanted: &str) -> Result<()> {
        self.bed
            .until(&format!("volume {volume} is {wanted}"), SOON, async || {
                Ok((self.volume_phase(volume).await? == wanted).then_some(()))
            })
            .await
    }

    /// Waits until a volume's object is gone, which the driver does after its data.
    pub(super) async fn vanishes(&self, volume: &str) -> Result<()> {
        self.bed
            .until(&format!("volume {volume} is gone"), SOON, async || {
                Ok(self.volume(volume).await?.is_none().then_some(()))
            })
            .await
    }

    pub(super) async fn set_policy(&self, volume: &str, policy: &str) -> Result<()> {
        let patch = json!({"spec": {"persistentVolumeReclaimPolicy": policy}});
        self.volumes().patch(volume, &PatchParams::default(), &Patch::Merge(patch)).await?;
        Ok(())
    }

    /// A volume of 100 MiB that a claim had and has no more: `Retain`, `Released`.
    pub(super) async fn released(&self) -> Result<String> {
        self.ask(Ask::new("tmp")).await?;
        let volume = self.bound("tmp").await?;
        self.set_policy(&volume, "Retain").await?;
        self.remove_claim("tmp").await?;
        self.becomes(&volume, "Released").await?;
        Ok(volume)
    }

    /// Writes the whole `claimRef` of a volume.
    pub(super) async fn refer(&self, volume: &str, reference: Value) -> Result<()> {
        let steps: json_patch::Patch =
            serde_json::from_value(json!([{"op": "replace", "path": "/spec/claimRef", "value": reference}]))?;
        self.volumes().patch(volume, &PatchParams::default(), &Patch::Json::<()>(steps)).await?;
        Ok(())
    }

    /// Who may have a volume, by name only.
    pub(super) fn somebody(&self, claim: &str) -> Value {
        json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "namespace": self.name(), "name": claim})
    }

    /// A claim that does not exist, by name and UID.
    pub(super) fn nobody(&self) -> Value {
        json!({
            "apiVersion": "v1", "kind": "PersistentVolumeClaim", "namespace": self.name(), "name": "nobody",
            "uid": "00000000-0000-4000-8000-000000000000",
        })
    }

    /// Pre-binds a volume to a claim's name and waits until the cluster has seen it.
    pub(super) async fn reserve(&self, volume: &str, claim: &str) -> Result<()> {
        self.refer(volume, self.somebody(claim)).await?;
        self.becomes(volume, "Available").await
    }

    /// A released volume, pre-bound to a claim's name.
    pub(super) async fn reserved(&self, claim: &str) -> Result<String> {
        let volume = self.released().await?;
        self.reserve(&volume, claim).await?;
        Ok(volume)
    }

    /// Makes a claim and says whether it got this volume.
    pub(super) async fn gets(&self, ask: Ask, volume: &str) -> Result<()> {
        let name = self.ask(ask).await?.metadata.name.unwrap_or_default();
        let got = self.bound(&name).await?;
        ensure!(got == volume, "claim {name} was bound to {got}, not to {volume}");
        Ok(())
    }

    /// Makes a claim that has to get another, blank volume while this one stays free.
    pub(super) async fn gets_blank(&self, ask: Ask, volume: &str) -> Result<()> {
        let name = self.ask(ask).await?.metadata.name.unwrap_or_default();
        let got = self.bound(&name).await?;
        if got == volume {
            bail!("claim {name} was bound to {volume}; a blank one was expected");
        }
        Ok(())
    }

    /// Another object for the same data, pre-bound to a claim's name.
    pub(super) async fn second_object(&self, of: &PersistentVolume, claim: &str) -> Result<String> {
        let name = format!("{}-second", self.name());
        let mut second = PersistentVolume { spec: of.spec.clone(), ..PersistentVolume::default() };
        second.metadata.name = Some(name.clone());
        if let Some(spec) = &mut second.spec {
            spec.claim_ref = Some(serde_json::from_value(self.somebody(claim))?);
        }
        self.volumes().create(&PostParams::default(), &second).await?;
        self.leaves_volume(&name);
        // A claim that is made before the binder has seen it gets a blank volume.
        self.becomes(&name, "Available").await?;
        Ok(name)
    }
}
