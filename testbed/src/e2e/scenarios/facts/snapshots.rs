//! Snapshots, and classes of them that behave oddly.

use anyhow::{Context, Result};
use kube::{
    Api,
    api::{DynamicObject, PostParams},
    core::{ApiResource, GroupVersionKind},
};
use serde_json::{Value, json};

use super::ground::{Ground, SOON};

const GROUP: &str = "snapshot.storage.k8s.io";

fn kind(kind: &str) -> ApiResource {
    ApiResource::from_gvk(&GroupVersionKind::gvk(GROUP, "v1", kind))
}

/// A part of a snapshot's status.
pub(super) fn status<'o>(object: &'o DynamicObject, field: &str) -> Option<&'o Value> {
    object.data.pointer(&format!("/status/{field}"))
}

impl Ground {
    pub(super) fn snapshots(&self) -> Api<DynamicObject> {
        Api::namespaced_with(self.bed.client.clone(), self.name(), &kind("VolumeSnapshot"))
    }

    /// A class of snapshots with parameters of the test driver.
    pub(super) async fn snapshot_class(&self, parameters: Value) -> Result<String> {
        let class = json!({
            "apiVersion": format!("{GROUP}/v1"), "kind": "VolumeSnapshotClass", "metadata": {"name": self.name()},
            "driver": self.driver().await?, "deletionPolicy": "Delete", "parameters": parameters,
        });
        self.make(class).await?;
        Ok(self.name().to_owned())
    }

    pub(super) async fn snapshot(&self, name: &str, class: &str, claim: &str) -> Result<()> {
        let snapshot = json!({
            "apiVersion": format!("{GROUP}/v1"), "kind": "VolumeSnapshot", "metadata": {"name": name},
            "spec": {"volumeSnapshotClassName": class, "source": {"persistentVolumeClaimName": claim}},
        });
        self.snapshots().create(&PostParams::default(), &serde_json::from_value(snapshot)?).await?;
        Ok(())
    }

    /// Waits until a snapshot has a content that the driver knows.
    pub(super) async fn taken(&self, name: &str) -> Result<DynamicObject> {
        let snapshots = self.snapshots();
        self.bed
            .until(&format!("snapshot {name} has its time"), SOON, async || {
                let snapshot = snapshots.get(name).await?;
                Ok(status(&snapshot, "creationTime").is_some().then_some(snapshot))
            })
            .await
    }

    pub(super) async fn snapshot_ready(&self, name: &str) -> Result<DynamicObject> {
        let snapshots = self.snapshots();
        self.bed
            .until(&format!("snapshot {name} is ready"), SOON, async || {
                let snapshot = snapshots.get(name).await?;
                Ok((status(&snapshot, "readyToUse") == Some(&json!(true))).then_some(snapshot))
            })
            .await
    }

    /// The content behind a snapshot.
    pub(super) async fn content_of(&self, snapshot: &DynamicObject) -> Result<DynamicObject> {
        let name = status(snapshot, "boundVolumeSnapshotContentName").and_then(Value::as_str);
        let contents: Api<DynamicObject> = Api::all_with(self.bed.client.clone(), &kind("VolumeSnapshotContent"));
        Ok(contents.get(name.context("the snapshot is bound")?).await?)
    }
}
