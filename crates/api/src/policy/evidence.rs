//! How evidence is got. *No client.*

use kube::KubeSchema;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::span::Span;

/// How evidence is got
#[derive(Debug, Clone, PartialEq, Eq, Default, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EvidenceSettings {
    /// The replica's own volume
    #[serde(default)]
    pub disk: DiskEvidence,
    /// Its siblings
    #[serde(default)]
    pub peers: PeerEvidence,
}

/// Where an inspector reads the replica's data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
pub enum DiskMethod {
    /// A Job beside the pod, on the claim itself, read-only, while the container is down
    #[default]
    InPlace,
    /// A Job on a volume restored from a snapshot of the claim
    Snapshot,
    /// What `loopbreaker guard`, which runs in the pod itself, found before the start
    Guard,
    /// Not at all: nothing is ever restored alone then
    None,
}

/// How the replica's volume is read
#[derive(Debug, Clone, PartialEq, Eq, KubeSchema, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[x_kube(
    validation = Rule::new("self.method != 'Snapshot' || has(self.snapshotClassName)")
        .message("method Snapshot needs snapshotClassName: the class of the snapshot to inspect"),
)]
#[cfg_attr(test, x_kube(cel))]
pub struct DiskEvidence {
    /// In place, on a snapshot, by guard, or not at all
    #[serde(default)]
    pub method: DiskMethod,
    /// The class of a snapshot that is made to be inspected
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub snapshot_class_name: Option<String>,
    /// After so long an inspection counts as "could not tell"
    #[serde(default = "deadline")]
    pub deadline: Span,
    /// Bytes read per second at most, such as 50MiB; as fast as the disk gives them, if not set
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = r"^[0-9]+ ?([kKmMgG]i?)?[bB]?$"))]
    pub max_read_rate: Option<String>,
}

const fn deadline() -> Span {
    Span::hours(2)
}

impl Default for DiskEvidence {
    fn default() -> Self {
        Self { method: DiskMethod::default(), snapshot_class_name: None, deadline: deadline(), max_read_rate: None }
    }
}

/// How the siblings are asked
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PeerEvidence {
    /// The port of CometBFT's RPC in the siblings' pods
    #[serde(default = "rpc_port")]
    #[schemars(range(min = 1, max = 65535))]
    pub rpc_port: u16,
    /// Between two questions; a sibling advances where the second answer is higher
    #[serde(default = "interval")]
    pub interval: Span,
}

const fn rpc_port() -> u16 {
    26657
}

const fn interval() -> Span {
    Span::seconds(30)
}

impl Default for PeerEvidence {
    fn default() -> Self {
        Self { rpc_port: rpc_port(), interval: interval() }
    }
}
