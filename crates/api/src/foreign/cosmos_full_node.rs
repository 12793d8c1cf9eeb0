//! Cosmos-operator's `CosmosFullNode`, `cosmos.strange.love/v1`. *No client.*
//!
//! Fields as in `api/v1/cosmosfullnode_types.go` of cosmos-operator v0.25.1.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::CustomResource;
use serde::{Deserialize, Serialize};

/// What is wanted.
#[derive(Debug, Clone, PartialEq, Default, CustomResource, Serialize, Deserialize)]
#[kube(
    group = "cosmos.strange.love",
    version = "v1",
    kind = "CosmosFullNode",
    plural = "cosmosfullnodes",
    namespaced,
    status = "CosmosFullNodeStatus",
    schema = "disabled",
    derive = "PartialEq",
    derive = "Default"
)]
#[serde(default, rename_all = "camelCase")]
pub struct CosmosFullNodeSpec {
    /// How many replicas.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replicas: Option<i64>,
    /// `FullNode` or `Sentry`; a sentry has its signer elsewhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub r#type: Option<String>,
    /// The chain.
    pub chain: ChainSpec,
    /// Differences of single replicas, by pod name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub instance_overrides: BTreeMap<String, InstanceOverride>,
    /// `Delete` or `Retain`: what becomes of claims after a scale-down.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub volume_retention_policy: Option<String>,
}

/// The chain of a node.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct ChainSpec {
    /// `cosmoshub-4`, `agoric-3` …
    #[serde(rename = "chainID", skip_serializing_if = "Option::is_none")]
    pub chain_id: Option<String>,
    /// The program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub binary: Option<String>,
    /// Which image from which height on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub versions: Vec<ChainVersion>,
}

/// One planned version.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct ChainVersion {
    /// The first height of it; the genesis' own version has 0.
    pub height: u64,
    /// The image.
    pub image: String,
}

/// How one replica differs.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct InstanceOverride {
    /// `Pod` or `All`: the pod, or pod and claim, are not wanted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disable: Option<String>,
    /// Another image.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,
}

/// What its operator has seen.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct CosmosFullNodeStatus {
    /// The generation that this is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// `Complete`, `Progressing`, `Error` …
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,
    /// By pod, the height that the pod was to make next when its version was last checked. It keeps its last value.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub height: BTreeMap<String, u64>,
    /// By pod, what CometBFT's RPC said last.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub sync: BTreeMap<String, SyncStatus>,
    /// By holder, the pod that is taken away on purpose, such as for a snapshot.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub scheduled_snapshot_status: BTreeMap<String, SnapshotCandidate>,
}

/// What a pod's RPC said.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct SyncStatus {
    /// When.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<Time>,
    /// The newest height.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub height: Option<u64>,
    /// Whether it has caught up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_sync: Option<bool>,
    /// Why it could not be asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// A pod that is taken away on purpose.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct SnapshotCandidate {
    /// The pod.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pod_candidate: Option<String>,
}
