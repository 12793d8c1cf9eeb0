//! Which workloads a policy is about. *No client.*

use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use kube::KubeSchema;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Who makes the pods and claims of a workload.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
pub enum WorkloadKind {
    /// `apps/v1`
    StatefulSet,
    /// `cosmos.strange.love/v1`, of cosmos-operator
    CosmosFullNode,
}

impl WorkloadKind {
    /// The kind that an owner reference names, where it is one whose pods are replicas of nodes.
    #[must_use]
    pub fn of(kind: &str) -> Option<Self> {
        match kind {
            "StatefulSet" => Some(Self::StatefulSet),
            "CosmosFullNode" => Some(Self::CosmosFullNode),
            _ => None,
        }
    }

    /// As the API server spells it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::StatefulSet => "StatefulSet",
            Self::CosmosFullNode => "CosmosFullNode",
        }
    }
}

/// The workloads of one kind, in the policy's own namespace, that a selector or a name picks.
#[derive(Debug, Clone, PartialEq, KubeSchema, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[x_kube(
    validation = Rule::new("has(self.name) != has(self.selector)")
        .message("a target takes either a name or a selector, not both and not neither"),
)]
#[cfg_attr(test, x_kube(cel))]
pub struct Target {
    /// Who makes the pods
    pub kind: WorkloadKind,
    /// One workload, by its name
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub name: Option<String>,
    /// All workloads of this kind whose labels fit; an empty selector fits every one in the namespace
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selector: Option<LabelSelector>,
}
