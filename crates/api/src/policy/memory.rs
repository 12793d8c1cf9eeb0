//! What the operator must know of replicas when it is started anew. *No client.* (P11)

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What no object shows of one replica any more: crashes of pods that are gone, and crashes that are forgiven
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReplicaMemory {
    /// The pod's name, which is the replica's
    pub pod: String,
    /// The UID of the pod that this was written about
    pub pod_uid: String,
    /// Crashes since the last progress, less those that the pod itself shows
    #[serde(default)]
    pub offset: i64,
    /// Crashes since the last progress, up to 20
    #[serde(default)]
    pub crashes: u32,
    /// The first of them that was seen
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub onset: Option<Time>,
    /// UIDs of its earlier pods in the same trouble, the oldest first
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 16))]
    pub earlier_pods: Vec<String>,
    /// The height at which it stands still
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub height: Option<u64>,
    /// Since when
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub height_since: Option<Time>,
}
