//! What a check stands on: its namespace, and the list of everything outside of it that is removed at the end.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use anyhow::{Context, Result, bail};
use k8s_openapi::api::{
    apps::v1::StatefulSet,
    core::v1::{PersistentVolume, PersistentVolumeClaim, Pod},
    storage::v1::StorageClass,
};
use kube::{
    Api, Resource,
    api::{DeleteParams, DynamicObject, ListParams, Patch, PatchParams, PostParams},
    core::{ApiResource, GroupVersionKind},
};
use serde_json::{Value, json};

use crate::e2e::{Bed, Family, Running, Scenario};

/// How long anything may take that does happen.
pub(super) const SOON: Duration = Duration::from_secs(25);
/// How long nothing has to happen until we believe that it does not.
pub(super) const A_WHILE: Duration = Duration::from_secs(4);

/// A check under way; clones are the same check.
#[derive(Clone)]
pub(super) struct Ground {
    pub(super) bed: Bed,
    left: Arc<Mutex<Left>>,
}

/// What is outside of the namespace and would stay.
#[derive(Default)]
struct Left {
    volumes: BTreeSet<String>,
    objects: Vec<(ApiResource, String)>,
}

/// A check of one fact.
pub(super) const fn fact(name: &'static str, shows: &'static str, run: fn(Bed) -> Running) -> Scenario {
    Scenario { name, shows, family: Family::Fact, run }
}

/// Runs a check and takes away what it left, whatever came of it.
pub(super) async fn stand<F>(bed: Bed, check: fn(Ground) -> F) -> Result<()>
where
    F: Future<Output = Result<()>>,
{
    let ground = Ground { bed, left: Arc::default() };
    let outcome = check(ground.clone()).await;
    let cleared = ground.clear().await;
    outcome?;
    cleared.context("take away what the check left")
}

impl Ground {
    /// The name of this check's namespace, and of its objects outside of it.
    pub(super) fn name(&self) -> &str {
        &self.bed.namespace
    }

    pub(super) fn volumes(&self) -> Api<PersistentVolume> {
        Api::all(self.bed.client.clone())
    }

    /// Notes a volume that has to go at the end.
    pub(super) fn leaves_volume(&self, name: &str) {
        self.left.lock().unwrap_or_else(PoisonError::into_inner).volumes.insert(name.to_owned());
    }

    /// Makes an object of any kind; one outside of namespaces is removed at the end.
    pub(super) async fn make(&self, object: Value) -> Result<DynamicObject> {
        let object: DynamicObject = serde_json::from_value(object).context("an object")?;
        let kind = kind_of(&object)?;
        let name = object.metadata.name.clone().unwrap_or_default();
        let api: Api<DynamicObject> = if let Some(namespace) = &object.metadata.namespace {
            Api::namespaced_with(self.bed.client.clone(), namespace, &kind)
        } else {
            let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
            left.objects.push((kind.clone(), name.clone()));
            Api::all_with(self.bed.client.clone(), &kind)
        };
        api.create(&PostParams::default(), &object).await.with_context(|| format!("make {} {name}", kind.kind))
    }

    /// Deletes an object outside of namespaces.
    pub(super) async fn remove(&self, object: &DynamicObject) -> Result<()> {
        let api: Api<DynamicObject> = Api::all_with(self.bed.client.clone(), &kind_of(object)?);
        let name = object.metadata.name.as_deref().unwrap_or_default();
        api.delete(name, &DeleteParams::default()).await.with_context(|| format!("delete {name}"))?;
        Ok(())
    }

    /// The driver that makes volumes here: the one of the default class.
    pub(super) async fn driver(&self) -> Result<String> {
        let classes = Api::<StorageClass>::all(self.bed.client.clone()).list(&ListParams::default()).await?;
        let default = classes.items.into_iter().find(|class| {
            let notes = class.metadata.annotations.as_ref();
            notes
                .and_then(|notes| notes.get("storageclass.kubernetes.io/is-default-class"))
                .is_some_and(|is| is == "true")
        });
        Ok(default.context("the cluster has a default storage class")?.provisioner)
    }

    /// A storage class of this check whose volumes wait for a pod.
    pub(super) async fn late_class(&self) -> Result<String> {
        let name = format!("{}-late", self.name());
        self.make(json!({
            "apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": name},
            "provisioner": self.driver().await?, "reclaimPolicy": "Delete", "volumeBindingMode": "WaitForFirstConsumer",
        }))
        .await?;
        Ok(name)
    }

    /// Messages of Events about an object, newest last.
    pub(super) async fn told(&self, name: &str, reason: &str) -> Result<Vec<String>> {
        let chosen = ListParams::default().fields(&format!("involvedObject.name={name},reason={reason}"));
        let events = self.bed.api::<k8s_openapi::api::core::v1::Event>().list(&chosen).await?;
        Ok(events.items.into_iter().filter_map(|event| event.message).collect())
    }

    /// Waits until an Event of that reason says so.
    pub(super) async fn until_told(&self, name: &str, reason: &str, words: &str) -> Result<()> {
        self.bed
            .until(&format!("an Event {reason} about {name} that says {words:?}"), SOON, async || {
                let told = self.told(name, reason).await?;
                Ok(told.iter().any(|message| message.contains(words)).then_some(()))
            })
            .await
    }

    async fn clear(&self) -> Result<()> {
        self.empty::<StatefulSet>().await?;
        let now = DeleteParams::default().grace_period(0);
        self.bed.api::<Pod>().delete_collection(&now, &ListParams::default()).await?;
        for snapshot in self.snapshots().list(&ListParams::default()).await? {
            let name = snapshot.metadata.name.as_deref().unwrap_or_default();
            gone(self.snapshots().delete(name, &DeleteParams::default()).await)?;
        }
        self.unlock_claims().await?;
        self.empty::<PersistentVolumeClaim>().await?;
        let (volumes, objects) = {
            let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
            (std::mem::take(&mut left.volumes), std::mem::take(&mut left.objects))
        };
        for volume in self.volumes().list(&ListParams::default()).await? {
            let name = volume.metadata.name.clone().unwrap_or_default();
            let claim = volume.spec.as_ref().and_then(|spec| spec.claim_ref.as_ref());
            let ours = claim.is_some_and(|claim| claim.namespace.as_deref() == Some(self.name()));
            if ours || volumes.contains(&name) {
                self.give_back(&volume).await.with_context(|| format!("give volume {name} back"))?;
            }
        }
        for (kind, name) in objects {
            let api: Api<DynamicObject> = Api::all_with(self.bed.client.clone(), &kind);
            gone(api.delete(&name, &DeleteParams::default()).await).with_context(|| format!("delete {name}"))?;
        }
        Ok(())
    }

    async fn empty<K>(&self) -> Result<()>
    where
        K: Resource<Scope = kube::core::NamespaceResourceScope, DynamicType: Default>
            + Clone
            + std::fmt::Debug
            + serde::de::DeserializeOwned,
    {
        self.bed.api::<K>().delete_collection(&DeleteParams::default(), &ListParams::default()).await?;
        Ok(())
    }

    /// Takes our own finalizers off the claims.
    async fn unlock_claims(&self) -> Result<()> {
        let claims = self.bed.api::<PersistentVolumeClaim>();
        for claim in claims.list(&ListParams::default()).await? {
            let locks = claim.metadata.finalizers.unwrap_or_default();
            let kept: Vec<&String> = locks.iter().filter(|lock| !lock.starts_with("facts.example/")).collect();
            if kept.len() < locks.len() {
                let patch = Patch::Merge(json!({"metadata": {"finalizers": kept}}));
                let name = claim.metadata.name.unwrap_or_default();
                gone(claims.patch(&name, &PatchParams::default(), &patch).await)?;
            }
        }
        Ok(())
    }

    /// The driver removes the data of a released volume whose policy says so; a volume that it did not make only loses its object.
    async fn give_back(&self, volume: &PersistentVolume) -> Result<()> {
        let name = volume.metadata.name.as_deref().unwrap_or_default();
        let made_by = "pv.kubernetes.io/provisioned-by";
        let provisioned = volume.metadata.annotations.as_ref().is_some_and(|notes| notes.contains_key(made_by));
        let api = self.volumes();
        if !provisioned {
            return gone(api.delete(name, &DeleteParams::default()).await);
        }
        let mut spec = json!({"persistentVolumeReclaimPolicy": "Delete"});
        if volume.status.as_ref().and_then(|status| status.phase.as_deref()) == Some("Available")
            && let Some(spec) = spec.as_object_mut()
        {
            spec.insert("claimRef".to_owned(), self.nobody());
        }
        gone(api.patch(name, &PatchParams::default(), &Patch::Merge(json!({"spec": spec}))).await)
    }
}

/// An answer that the object is gone is as good as its deletion.
fn gone<T>(answer: kube::Result<T>) -> Result<()> {
    match answer {
        Err(kube::Error::Api(status)) if status.code == 404 => Ok(()),
        other => Ok(other.map(drop)?),
    }
}

fn kind_of(object: &DynamicObject) -> Result<ApiResource> {
    let Some(types) = &object.types else { bail!("an object without a kind") };
    let kind = GroupVersionKind::try_from(types)?;
    let plural = match kind.kind.as_str() {
        "StorageClass" | "VolumeSnapshotClass" | "VolumeAttributesClass" => format!("{}es", kind.kind.to_lowercase()),
        "ValidatingAdmissionPolicy" => "validatingadmissionpolicies".to_owned(),
        _ => format!("{}s", kind.kind.to_lowercase()),
    };
    Ok(ApiResource::from_gvk_with_plural(&kind, &plural))
}
