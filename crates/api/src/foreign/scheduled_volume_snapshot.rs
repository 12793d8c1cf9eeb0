//! Cosmos-operator's `ScheduledVolumeSnapshot`, `cosmos.strange.love/v1alpha1`. *No client.*
//!
//! Fields as in `api/v1alpha1/scheduledvolumesnapshot_types.go` of cosmos-operator v0.25.1.

use kube::CustomResource;
use serde::{Deserialize, Serialize};

/// What is wanted.
#[derive(Debug, Clone, PartialEq, Default, CustomResource, Serialize, Deserialize)]
#[kube(
    group = "cosmos.strange.love",
    version = "v1alpha1",
    kind = "ScheduledVolumeSnapshot",
    plural = "scheduledvolumesnapshots",
    namespaced,
    status = "ScheduledVolumeSnapshotStatus",
    schema = "disabled",
    derive = "PartialEq",
    derive = "Default"
)]
#[serde(default, rename_all = "camelCase")]
pub struct ScheduledVolumeSnapshotSpec {
    /// Whose claims are copied.
    pub full_node_ref: FullNodeReference,
    /// Whether the pod is taken away for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delete_pod: Option<bool>,
    /// Whether it rests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suspend: Option<bool>,
}

/// A `CosmosFullNode` of the same namespace.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct FullNodeReference {
    /// Its name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// How far it is.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct ScheduledVolumeSnapshotStatus {
    /// `WaitingForNext`, `DeletingPod`, `CreatingSnapshot` …
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,
}
