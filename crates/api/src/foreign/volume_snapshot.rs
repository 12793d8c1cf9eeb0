//! The snapshot API, `snapshot.storage.k8s.io/v1`. *No client.*
//!
//! Fields as in external-snapshotter's `client/apis/volumesnapshot/v1/types.go`. `restoreSize` is absent where the driver
//! does not say a size, which is not the same as "0"; `readyToUse` alone does not say that the snapshot is bound or free of
//! errors (real-cluster facts in the project's notes).

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::{api::resource::Quantity, apis::meta::v1::Time};
use kube::CustomResource;
use serde::{Deserialize, Serialize};

/// What a snapshot is taken of.
#[derive(Debug, Clone, PartialEq, Default, CustomResource, Serialize, Deserialize)]
#[kube(
    group = "snapshot.storage.k8s.io",
    version = "v1",
    kind = "VolumeSnapshot",
    plural = "volumesnapshots",
    namespaced,
    status = "VolumeSnapshotStatus",
    schema = "disabled",
    derive = "PartialEq",
    derive = "Default"
)]
#[serde(default, rename_all = "camelCase")]
pub struct VolumeSnapshotSpec {
    /// What it is taken of.
    pub source: VolumeSnapshotSource,
    /// How it is taken.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub volume_snapshot_class_name: Option<String>,
}

/// The source of a snapshot: a claim, or content that is there already.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct VolumeSnapshotSource {
    /// A claim of the same namespace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub persistent_volume_claim_name: Option<String>,
    /// A content object.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub volume_snapshot_content_name: Option<String>,
}

/// What became of a snapshot.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct VolumeSnapshotStatus {
    /// The content that it is bound to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bound_volume_snapshot_content_name: Option<String>,
    /// When the copy was taken, in whole seconds; the content's own time is finer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub creation_time: Option<Time>,
    /// Whether a volume can be made of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ready_to_use: Option<bool>,
    /// The smallest volume that can be made of it; absent where the driver does not say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub restore_size: Option<Quantity>,
    /// The last error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<SnapshotError>,
}

/// An error of the snapshot controller or the driver.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct SnapshotError {
    /// In words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// When.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<Time>,
}

/// The copy itself, of the whole cluster.
#[derive(Debug, Clone, PartialEq, Default, CustomResource, Serialize, Deserialize)]
#[kube(
    group = "snapshot.storage.k8s.io",
    version = "v1",
    kind = "VolumeSnapshotContent",
    plural = "volumesnapshotcontents",
    status = "VolumeSnapshotContentStatus",
    schema = "disabled",
    derive = "PartialEq",
    derive = "Default"
)]
#[serde(default, rename_all = "camelCase")]
pub struct VolumeSnapshotContentSpec {
    /// `Delete` or `Retain`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deletion_policy: Option<String>,
    /// The driver that took it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub driver: Option<String>,
    /// What it was taken of.
    pub source: ContentSource,
    /// The snapshot that it belongs to.
    pub volume_snapshot_ref: ContentReference,
}

/// What a content was taken of.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct ContentSource {
    /// The driver's name of the volume.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub volume_handle: Option<String>,
    /// The driver's name of a copy that was there already.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snapshot_handle: Option<String>,
}

/// The way back from a content to its snapshot.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct ContentReference {
    /// Its namespace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// Its name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Its UID.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uid: Option<String>,
}

/// What became of a content.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct VolumeSnapshotContentStatus {
    /// The driver's name of the copy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snapshot_handle: Option<String>,
    /// When the copy was taken, in nanoseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub creation_time: Option<i64>,
    /// Bytes of the smallest volume that can be made of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub restore_size: Option<i64>,
    /// Whether a volume can be made of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ready_to_use: Option<bool>,
    /// The last error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<SnapshotError>,
}

/// How snapshots are taken. Its fields stand beside its metadata.
#[derive(Debug, Clone, PartialEq, Default, CustomResource, Serialize, Deserialize)]
#[kube(
    group = "snapshot.storage.k8s.io",
    version = "v1",
    kind = "VolumeSnapshotClass",
    plural = "volumesnapshotclasses",
    no_spec,
    schema = "disabled",
    derive = "PartialEq",
    derive = "Default"
)]
#[serde(default, rename_all = "camelCase")]
pub struct VolumeSnapshotClassFields {
    /// The driver.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub driver: Option<String>,
    /// `Delete` or `Retain`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deletion_policy: Option<String>,
    /// The driver's settings.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub parameters: BTreeMap<String, String>,
}
