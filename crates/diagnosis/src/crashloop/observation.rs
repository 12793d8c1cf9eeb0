//! The facts of one observation. *No client.*

use jiff::Timestamp;

use super::{BackOff, ContainerRole, LastRun};
use crate::{ClaimName, ContainerName, InstanceName, NodeName, Uid};

/// What one pod object says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Observation {
    /// The replica.
    pub instance: InstanceName,
    /// The pod.
    pub uid: Option<Uid>,
    /// The machine.
    pub node: Option<NodeName>,
    /// The controller that owns the pod.
    pub owner: Option<Owner>,
    /// The revision label.
    pub revision: Option<Revision>,
    /// Cosmos-operator's checksum of the replica's configuration.
    pub config_checksum: Option<String>,
    /// Cosmos-operator's word for what the replica is (`FullNode`, `Sentry`).
    pub node_type: Option<String>,
    /// What the kubelet does when a container ends.
    pub restart_policy: RestartPolicy,
    /// Containers and init containers, the init containers last.
    pub containers: Vec<ContainerFacts>,
    /// The claim that the node container keeps its data on.
    pub data_claim: Option<ClaimName>,
    /// Whether the object carries a status at all.
    pub has_status: bool,
    /// `status.phase`; empty where it is missing.
    pub phase: String,
    /// `status.reason` (`Evicted`, `NodeShutdown` …): the kubelet ended the whole pod.
    pub reason: Option<String>,
    /// `status.message`.
    pub message: Option<String>,
    /// When the object was created.
    pub created: Option<Timestamp>,
    /// When the kubelet took it over, else when it was created.
    pub started: Option<Timestamp>,
    /// When somebody asked for its deletion (`deletionTimestamp` less the grace period).
    pub deletion_asked: Option<Timestamp>,
    /// When the observation was made, at the earliest: the newest time inside the object.
    pub seen: Option<Timestamp>,
}

/// The controller owner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Owner {
    /// `CosmosFullNode`, `StatefulSet` …
    pub kind: String,
    /// Its name, in the pod's namespace.
    pub name: String,
    /// Its UID.
    pub uid: Uid,
}

/// A revision label.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Revision {
    /// The label's value.
    pub value: String,
    /// Among which pods it may be compared.
    pub scope: RevisionScope,
}

/// Among which pods a revision label may be compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RevisionScope {
    /// Equal for all settled pods of one workload (`controller-revision-hash`).
    Workload,
    /// A hash over the instance's own names too (cosmos-operator's `app.kubernetes.io/revision`): siblings *always*
    /// differ, only pods of one instance may be compared.
    Instance,
}

/// `spec.restartPolicy`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RestartPolicy {
    /// Always (Kubernetes' default).
    #[default]
    Always,
    /// Unless it ended with 0.
    OnFailure,
    /// Never: somebody must make a new pod.
    Never,
}

/// What the object says about one container.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContainerFacts {
    /// Its name.
    pub name: ContainerName,
    /// What it is for.
    pub role: ContainerRole,
    /// The image that the specification asks for.
    pub image: String,
    /// The digest that runs.
    pub image_id: Option<String>,
    /// Command and arguments in one row.
    pub command_line: Vec<String>,
    /// `restartCount`.
    pub restarts: u32,
    /// Its readiness.
    pub ready: bool,
    /// What it does now.
    pub state: ContainerState,
    /// Its last finished run: the present state where it has ended, else the state before.
    pub last_run: Option<LastRun>,
}

/// What a container does now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ContainerState {
    /// The object does not say.
    Unknown,
    /// It waits to be started.
    Waiting {
        /// `CrashLoopBackOff`, `PodInitializing`, `ImagePullBackOff` …
        reason: String,
        /// The kubelet's sentence.
        message: Option<String>,
        /// The delay in that sentence.
        back_off: Option<BackOff>,
    },
    /// It runs.
    Running {
        /// Since when.
        since: Option<Timestamp>,
    },
    /// It has ended; see `last_run`.
    Terminated,
}

impl Observation {
    /// The container that runs the node.
    #[must_use]
    pub fn node_container(&self) -> Option<&ContainerFacts> {
        self.containers.iter().find(|container| container.role == ContainerRole::Node)
    }

    /// A container by name.
    #[must_use]
    pub fn container(&self, name: &ContainerName) -> Option<&ContainerFacts> {
        self.containers.iter().find(|container| container.name == *name)
    }

    /// Whether the kubelet itself ended the whole pod (eviction, shutdown of the machine …): no crash of the node.
    #[must_use]
    pub fn ended_by_kubelet(&self) -> bool {
        self.phase == "Failed" && self.reason.is_some()
    }
}
