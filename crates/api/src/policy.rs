//! `RecoveryPolicy`: which workloads are watched, and what may be done about a sick replica. *No client.* (design 5; P1)
//!
//! Whatever is not written has its default in the schema itself, so that `kubectl get -o yaml` shows what is in force.

mod detection;
mod evidence;
mod limits;
mod memory;
mod restore;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::{CustomResource, KubeSchema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use detection::Detection;
pub use evidence::{DiskEvidence, DiskMethod, EvidenceSettings, PeerEvidence};
pub use limits::{Limits, SigningNodes, Window};
pub use memory::ReplicaMemory;
pub use restore::{Proof, Quarantine, RestoreSettings, SnapshotChoice};

use crate::{span::Span, target::Target};

/// What may be done about a replica whose data is damaged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
pub enum Mode {
    /// Nothing but our own objects is written
    #[default]
    Observe,
    /// A human approves each recovery
    Approve,
    /// Acts alone where two witnesses agree and nothing forbids it
    Auto,
}

/// Which workloads are watched for crash loops, and what may be done about them
#[derive(Debug, Clone, PartialEq, CustomResource, KubeSchema, Serialize, Deserialize)]
#[kube(
    group = "loopbreaker.dev",
    version = "v1alpha1",
    kind = "RecoveryPolicy",
    plural = "recoverypolicies",
    shortname = "rpol",
    category = "loopbreaker",
    namespaced,
    status = "PolicyStatus",
    derive = "PartialEq",
    doc = "Which workloads are watched for crash loops, and what may be done about them",
    printcolumn(name = "Mode", type_ = "string", json_path = ".spec.mode"),
    printcolumn(name = "Suspended", type_ = "boolean", json_path = ".spec.suspend"),
    printcolumn(name = "Workloads", type_ = "integer", json_path = ".status.workloads"),
    printcolumn(
        name = "Open",
        type_ = "integer",
        json_path = ".status.openIncidents",
        description = "incidents that have not ended"
    ),
    printcolumn(name = "Says", type_ = "string", json_path = ".status.summary"),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp")
)]
#[cfg_attr(test, kube(cel))]
#[serde(rename_all = "camelCase")]
pub struct RecoveryPolicySpec {
    /// The workloads that this policy is about
    #[schemars(length(min = 1, max = 16))]
    pub targets: Vec<Target>,
    /// What may be done: Observe writes nothing but our own objects, Approve asks a human, Auto acts alone
    #[serde(default)]
    pub mode: Mode,
    /// The kill switch: while true nothing new is begun, and what is under way is brought to a safe end
    #[serde(default)]
    pub suspend: bool,
    /// When a replica counts as sick
    #[serde(default)]
    pub detection: Detection,
    /// How evidence is got
    #[serde(default)]
    pub evidence: EvidenceSettings,
    /// Where a replacement may come from, and how it is proven
    #[serde(default)]
    pub restore: RestoreSettings,
    /// What forbids an act even where the witnesses agree
    #[serde(default)]
    pub limits: Limits,
    /// What becomes of the original volume
    #[serde(default)]
    pub quarantine: Quarantine,
    /// How long a restored replica must advance before it counts as recovered
    #[serde(default = "soak")]
    pub soak: Span,
}

fn soak() -> Span {
    Span::hours(1)
}

/// What is known about a policy
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PolicyStatus {
    /// The generation of the spec that this status is about
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// Workloads that it selects
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workloads: Option<u32>,
    /// Recoveries that have not ended
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_incidents: Option<u32>,
    /// One sentence
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// What must be known of its replicas when the operator is started anew
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 1000))]
    pub replicas: Vec<ReplicaMemory>,
    /// `Accepted`, `Storm`, `Watching`: each with a reason
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type"]))]
    pub conditions: Vec<Condition>,
}

#[cfg(test)]
mod tests;
