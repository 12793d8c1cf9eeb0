//! `Recovery`: one incident of one replica, from the facts to what was done. *No client.* (design 5; P14)
//!
//! The spec says who and since when, and never changes. A human's word goes in by two fields, `approval` and `undo`. All
//! else is status, written with the resourceVersion that was read.

mod evidence;
mod inspection;
mod phase;
mod verdict;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use kube::{CustomResource, KubeSchema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use evidence::{CrashFacts, DecisiveLine, DiskReport, EvidenceReport, Gathered, LogReport, PeersReport};
pub use inspection::{InspectionIntent, Look};
pub use phase::Phase;
pub use verdict::{AdviceStep, Decision, VerdictReport, VetoReport};

use crate::target::WorkloadKind;

/// One incident of one replica: the facts, the evidence, the verdict, and what was done
#[derive(Debug, Clone, PartialEq, CustomResource, KubeSchema, Serialize, Deserialize)]
#[kube(
    group = "loopbreaker.dev",
    version = "v1alpha1",
    kind = "Recovery",
    plural = "recoveries",
    shortname = "rcv",
    category = "loopbreaker",
    namespaced,
    status = "RecoveryStatus",
    derive = "PartialEq",
    doc = "One incident of one replica: the facts, the evidence, the verdict, and what was done",
    printcolumn(name = "Replica", type_ = "string", json_path = ".spec.target.pod"),
    printcolumn(name = "Phase", type_ = "string", json_path = ".status.phase"),
    printcolumn(name = "Cause", type_ = "string", json_path = ".status.verdict.cause"),
    printcolumn(name = "Decision", type_ = "string", json_path = ".status.verdict.decision"),
    printcolumn(name = "Since", type_ = "date", json_path = ".spec.incident.onset"),
    printcolumn(name = "Says", type_ = "string", json_path = ".status.summary"),
    printcolumn(name = "Crashes", type_ = "integer", json_path = ".status.crashLoop.crashes", priority = 1),
    printcolumn(name = "Policy", type_ = "string", json_path = ".spec.policy.name", priority = 1)
)]
#[cfg_attr(test, kube(cel))]
#[serde(rename_all = "camelCase")]
#[x_kube(
    validation = Rule::new("self.target == oldSelf.target").message("spec.target cannot be changed: an incident is about one replica"),
    validation = Rule::new("self.policy == oldSelf.policy").message("spec.policy cannot be changed"),
    validation = Rule::new("self.incident == oldSelf.incident").message("spec.incident cannot be changed"),
    validation = Rule::new("!has(oldSelf.undo) || has(self.undo)").message("spec.undo cannot be taken back once it was asked for"),
)]
pub struct RecoverySpec {
    /// The replica, by names and UIDs
    pub target: TargetInstance,
    /// The policy that watches it
    pub policy: PolicyReference,
    /// What happened, and since when
    pub incident: Incident,
    /// A human's word that the replica may be restored
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<Approval>,
    /// A human's word that the original volume shall come back
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undo: Option<Undo>,
}

/// A replica: names to find it, UIDs to know it again
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TargetInstance {
    /// Who makes the pod
    pub kind: WorkloadKind,
    /// The workload's name
    pub workload: String,
    /// The workload's UID
    pub workload_uid: String,
    /// The pod's name, which is the replica's
    pub pod: String,
    /// The UID of the pod that was seen first in this incident
    pub pod_uid: String,
    /// The claim that holds the node's data
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claim: Option<Claim>,
}

/// A claim and the volume behind it
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Claim {
    /// The claim's name
    pub name: String,
    /// The claim's UID
    pub uid: String,
    /// The volume that it is bound to
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub volume: Option<String>,
}

/// The policy that watches a replica
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PolicyReference {
    /// Its name
    pub name: String,
    /// Its UID
    pub uid: String,
}

/// The two kinds of incidents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub enum IncidentKind {
    /// The replica crashes on every start
    CrashLoop,
    /// The process stays up, its height stands still, and siblings advance
    Stuck,
}

/// What happened, and since when
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Incident {
    /// A crash loop, or a height that stands still
    pub kind: IncidentKind,
    /// The first crash, or when the height last moved
    pub onset: Time,
    /// The container that crashes, or that stands still
    pub container: String,
}

/// A human's word that the replica may be restored
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Approval {
    /// Who says so
    #[schemars(length(min = 1, max = 253))]
    pub by: String,
    /// The UID of the verdict's evidence that was looked at: other evidence needs a new word
    #[schemars(length(min = 1, max = 64))]
    pub of: String,
}

/// A human's word that the original volume shall come back
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Undo {
    /// Who says so
    #[schemars(length(min = 1, max = 253))]
    pub by: String,
}

/// Where an incident stands
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RecoveryStatus {
    /// How far it is
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<Phase>,
    /// One sentence
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// The crashes, as counted over all pods of the replica
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub crash_loop: Option<CrashFacts>,
    /// What was collected, how and when, and what could not be
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<EvidenceReport>,
    /// What the judge says
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<VerdictReport>,
    /// The look at the evidence that goes on, or the last one
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub look: Option<Look>,
    /// The inspection that goes on: written before anything is made for it, gone when nothing of it is left
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inspection: Option<InspectionIntent>,
    /// When it ended, if it has
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<Time>,
    /// How often the lease of the operator that wrote this had changed hands: a write from before counts for nothing
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fencing_token: Option<i64>,
    /// `Judged`, `WouldRestore`, `Acting`, `Ended`: each with a reason
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type"]))]
    pub conditions: Vec<Condition>,
}

#[cfg(test)]
mod tests;
