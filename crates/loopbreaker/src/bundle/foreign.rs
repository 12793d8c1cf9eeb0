//! Objects whose types are not Kubernetes' own, or differ between its versions. *No client.*
//!
//! Only what is used is read, every field may be missing. Fields as in `api/v1/cosmosfullnode_types.go` of cosmos-operator
//! v0.25, the snapshot API v1, and Events of `v1` and `events.k8s.io/v1`.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Deserialize;

/// `metadata` of any object.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct Meta {
    /// Its name.
    pub(crate) name: String,
    /// Its namespace.
    pub(crate) namespace: String,
}

/// Cosmos-operator's `CosmosFullNode`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct FullNode {
    /// Name and namespace.
    pub(crate) metadata: Meta,
    /// What is wanted.
    pub(crate) spec: FullNodeSpec,
    /// What was seen by its operator.
    pub(crate) status: FullNodeStatus,
}

/// `spec` of a [`FullNode`].
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct FullNodeSpec {
    /// How many replicas.
    pub(crate) replicas: Option<u32>,
    /// `FullNode` or `Sentry`.
    pub(crate) r#type: Option<String>,
    /// The chain.
    pub(crate) chain: Chain,
}

/// `spec.chain` of a [`FullNode`].
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Chain {
    /// `cosmoshub-4`, `agoric-3` …
    #[serde(rename = "chainID")]
    pub(crate) chain_id: Option<String>,
    /// Which image from which height on.
    pub(crate) versions: Vec<ChainVersion>,
}

/// One planned version.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct ChainVersion {
    /// The first height of it.
    pub(crate) height: u64,
    /// The image.
    pub(crate) image: String,
}

/// `status` of a [`FullNode`].
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct FullNodeStatus {
    /// By pod, the height that the pod was to make next when its version was last checked. It keeps its last value.
    pub(crate) height: BTreeMap<String, u64>,
}

/// A `VolumeSnapshot`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Snapshot {
    /// Name and namespace.
    pub(crate) metadata: Meta,
    /// What it was taken of.
    pub(crate) spec: SnapshotSpec,
    /// What became of it.
    pub(crate) status: SnapshotStatus,
}

/// `spec` of a [`Snapshot`].
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct SnapshotSpec {
    /// What it was taken of.
    pub(crate) source: SnapshotSource,
}

/// `spec.source` of a [`Snapshot`].
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct SnapshotSource {
    /// The claim.
    pub(crate) persistent_volume_claim_name: Option<String>,
}

/// `status` of a [`Snapshot`].
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct SnapshotStatus {
    /// Whether it can be restored from.
    pub(crate) ready_to_use: Option<bool>,
    /// When it was cut.
    pub(crate) creation_time: Option<Timestamp>,
    /// The size a restored claim needs.
    pub(crate) restore_size: Option<String>,
}

/// An Event.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct Event {
    /// The object it is about.
    #[serde(alias = "regarding")]
    pub(crate) involved_object: ObjectReference,
    /// `FailedMount`, `BackOff` …
    pub(crate) reason: String,
    /// The sentence.
    #[serde(alias = "note")]
    pub(crate) message: String,
}

/// What an [`Event`] is about.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct ObjectReference {
    /// Its kind.
    pub(crate) kind: String,
    /// Its namespace.
    pub(crate) namespace: String,
    /// Its name.
    pub(crate) name: String,
}
