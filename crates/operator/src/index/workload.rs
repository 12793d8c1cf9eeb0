//! What is kept of a workload. *No client, no clock.*

use std::collections::{BTreeMap, BTreeSet};

use api::{CosmosFullNode, WorkloadKind};
use diagnosis::{Observation, Uid};
use k8s_openapi::api::apps::v1::StatefulSet;
use kube::ResourceExt;

/// A workload that makes pods of nodes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Workload {
    /// Who makes its pods.
    pub(crate) kind: WorkloadKind,
    /// Its namespace.
    pub(crate) namespace: String,
    /// Its name.
    pub(crate) name: String,
    /// Its UID.
    pub(crate) uid: Uid,
    /// Its labels.
    pub(crate) labels: BTreeMap<String, String>,
    /// How many replicas it wants.
    pub(crate) replicas: Option<u32>,
    /// By pod: the block that cosmos-operator says it is to make next.
    pub(crate) heights: BTreeMap<String, u64>,
    /// Pods that its operator has taken away for a snapshot.
    pub(crate) taken_for_snapshot: BTreeSet<String>,
}

impl Workload {
    /// Whether it makes this pod.
    pub(crate) fn owns(&self, pod: &Observation) -> bool {
        pod.instance.namespace == self.namespace && pod.owner.as_ref().is_some_and(|owner| owner.uid == self.uid)
    }
}

impl From<&StatefulSet> for Workload {
    fn from(set: &StatefulSet) -> Self {
        let replicas = set.spec.as_ref().map(|spec| spec.replicas.unwrap_or(1));
        Self {
            kind: WorkloadKind::StatefulSet,
            namespace: set.namespace().unwrap_or_default(),
            name: set.name_any(),
            uid: Uid::new(set.uid().unwrap_or_default()),
            labels: set.labels().clone(),
            replicas: replicas.and_then(|replicas| u32::try_from(replicas).ok()),
            heights: BTreeMap::new(),
            taken_for_snapshot: BTreeSet::new(),
        }
    }
}

impl From<&CosmosFullNode> for Workload {
    fn from(node: &CosmosFullNode) -> Self {
        let status = node.status.clone().unwrap_or_default();
        Self {
            kind: WorkloadKind::CosmosFullNode,
            namespace: node.namespace().unwrap_or_default(),
            name: node.name_any(),
            uid: Uid::new(node.uid().unwrap_or_default()),
            labels: node.labels().clone(),
            replicas: node.spec.replicas.and_then(|replicas| u32::try_from(replicas).ok()),
            heights: status.height,
            taken_for_snapshot: status
                .scheduled_snapshot_status
                .values()
                .filter_map(|candidate| candidate.pod_candidate.clone())
                .collect(),
        }
    }
}
