//! What was seen of every replica and every workload, as it comes in. *No client, no clock.*
//!
//! Eats objects, gives [`CrashNotice`]s; whoever asks gets histories. Of a pod only what the judge needs is kept, and of a
//! replica's past only what still counts. A pod that is gone stays known for as long as its incident may go on.

mod notices;
mod replica;
mod workload;

use std::collections::{BTreeMap, BTreeSet};

use api::{RecoveryPolicy, ReplicaMemory, WorkloadKind};
use diagnosis::{InstanceName, PeersLook, observe};
use jiff::{SignedDuration, Timestamp};
use k8s_openapi::api::core::v1::Pod;
use scene::Sample;

pub(crate) use notices::CrashNotice;
pub(crate) use replica::{Presence, Replica, STEADY, Standstill};
pub(crate) use workload::Workload;

use crate::{collect::RpcAddress, detect::selects};

/// Kinds that are listed as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Pods,
    StatefulSets,
    CosmosFullNodes,
}

impl Kind {
    /// The kind of a workload.
    pub(crate) fn of(workload: WorkloadKind) -> Self {
        match workload {
            WorkloadKind::StatefulSet => Self::StatefulSets,
            WorkloadKind::CosmosFullNode => Self::CosmosFullNodes,
        }
    }

    /// As the API server calls it.
    pub(crate) fn plural(self) -> &'static str {
        match self {
            Self::Pods => "pods",
            Self::StatefulSets => "statefulsets",
            Self::CosmosFullNodes => "cosmosfullnodes",
        }
    }
}

/// Everything that was seen.
#[derive(Debug, Default)]
pub(crate) struct Index {
    replicas: BTreeMap<InstanceName, Replica>,
    /// By namespace, kind and name.
    workloads: BTreeMap<(String, WorkloadKind, String), Workload>,
    /// Replicas whose memory from before our own start was handed in.
    recalled: BTreeSet<InstanceName>,
    /// Memories of replicas whose pods were not seen yet, and when they were handed in.
    memories: BTreeMap<InstanceName, (ReplicaMemory, Timestamp)>,
    /// What a list in progress has not mentioned yet.
    unlisted_pods: Option<BTreeSet<InstanceName>>,
    unlisted_workloads: BTreeMap<WorkloadKind, BTreeSet<(String, String)>>,
}

/// A replica that was gone for so long is forgotten.
const FORGOTTEN_AFTER: SignedDuration = SignedDuration::from_hours(24);

impl Index {
    /// Takes in a pod as it is now.
    pub(crate) fn apply_pod(&mut self, pod: &Pod, at: Timestamp) -> Vec<CrashNotice> {
        let seen = observe(pod);
        let instance = seen.instance.clone();
        if let Some(unlisted) = &mut self.unlisted_pods {
            unlisted.remove(&instance);
        }
        // Pods of Jobs and of bare hands are nobody's replicas.
        if seen.owner.as_ref().is_none_or(|owner| WorkloadKind::of(&owner.kind).is_none()) {
            return Vec::new();
        }
        let address = pod.status.as_ref().and_then(|status| status.pod_ip.clone()).filter(|ip| !ip.is_empty());
        if let Some(replica) = self.replicas.get_mut(&instance) {
            return replica.is_now(seen, address, at);
        }
        let mut replica = Replica::new(seen, address, at);
        if let Some((memory, _)) = self.memories.remove(&instance) {
            replica.recall(&memory);
        }
        let notices = replica.first_notices();
        self.replicas.insert(instance, replica);
        notices
    }

    /// A pod is gone.
    pub(crate) fn delete_pod(&mut self, pod: &Pod, at: Timestamp) {
        let seen = observe(pod);
        if let Some(replica) = self.replicas.get_mut(&seen.instance)
            && replica.history.latest().uid == seen.uid
        {
            replica.is_gone(Some(seen), at);
        }
    }

    /// Takes in a workload as it is now.
    pub(crate) fn apply_workload(&mut self, workload: Workload) {
        if let Some(unlisted) = self.unlisted_workloads.get_mut(&workload.kind) {
            unlisted.remove(&(workload.namespace.clone(), workload.name.clone()));
        }
        for (pod, next) in &workload.heights {
            let instance = InstanceName { namespace: workload.namespace.clone(), name: pod.clone() };
            if let Some(replica) = self.replicas.get_mut(&instance) {
                replica.has_height(next.saturating_sub(1));
            }
        }
        let key = (workload.namespace.clone(), workload.kind, workload.name.clone());
        self.workloads.insert(key, workload);
    }

    /// A workload is gone.
    pub(crate) fn delete_workload(&mut self, workload: &Workload) {
        self.workloads.remove(&(workload.namespace.clone(), workload.kind, workload.name.clone()));
    }

    /// A list begins: what it does not mention is gone at its end.
    pub(crate) fn begin_list(&mut self, kind: Kind) {
        let Some(of) = workload_kind(kind) else {
            self.unlisted_pods = Some(self.replicas.keys().cloned().collect());
            return;
        };
        let there = self.workloads.keys().filter(|(_, kind, _)| *kind == of);
        let there = there.map(|(namespace, _, name)| (namespace.clone(), name.clone())).collect();
        self.unlisted_workloads.insert(of, there);
    }

    /// The list was whole.
    pub(crate) fn end_list(&mut self, kind: Kind, at: Timestamp) {
        let Some(of) = workload_kind(kind) else {
            for instance in self.unlisted_pods.take().unwrap_or_default() {
                if let Some(replica) = self.replicas.get_mut(&instance) {
                    replica.is_gone(None, at);
                }
            }
            return;
        };
        for (namespace, name) in self.unlisted_workloads.remove(&of).unwrap_or_default() {
            self.workloads.remove(&(namespace, of, name));
        }
    }

    /// What a node answered when it was asked for its status, or why it did not, in words.
    pub(crate) fn sampled(&mut self, instance: &InstanceName, at: Timestamp, answer: Result<Sample, String>) {
        if let Some(replica) = self.replicas.get_mut(instance) {
            replica.sampled(at, answer);
        }
    }

    /// What is remembered from before our own start; of each replica the first memory counts.
    pub(crate) fn recall(&mut self, namespace: &str, memories: &[ReplicaMemory], at: Timestamp) {
        for memory in memories {
            let instance = InstanceName { namespace: namespace.to_owned(), name: memory.pod.clone() };
            if !self.recalled.insert(instance.clone()) {
                continue;
            }
            match self.replicas.get_mut(&instance) {
                Some(replica) => replica.recall(memory),
                None => drop(self.memories.insert(instance, (memory.clone(), at))),
            }
        }
    }

    /// What we ourselves have told of these replicas comes back to us, and is none of the past.
    pub(crate) fn told(&mut self, namespace: &str, memories: &[ReplicaMemory]) {
        let pods = memories.iter().map(|memory| memory.pod.clone());
        self.recalled.extend(pods.map(|name| InstanceName { namespace: namespace.to_owned(), name }));
    }

    /// Whether a memory waits for its replica, which has no pod at the moment.
    pub(crate) fn awaits(&self, namespace: &str, pod: &str) -> bool {
        self.memories.contains_key(&InstanceName { namespace: namespace.to_owned(), name: pod.to_owned() })
    }

    /// Lets the time pass: what has been ready for long is forgiven, what has been gone for long is forgotten.
    pub(crate) fn settle(&mut self, now: Timestamp) {
        for replica in self.replicas.values_mut() {
            replica.settle(now);
        }
        self.memories.retain(|_, (_, at)| now.duration_since(*at) < FORGOTTEN_AFTER);
        self.replicas.retain(|_, replica| match replica.presence {
            Presence::Here => true,
            Presence::Gone { since } => now.duration_since(since) < FORGOTTEN_AFTER,
        });
    }

    /// One replica.
    pub(crate) fn replica(&self, instance: &InstanceName) -> Option<&Replica> {
        self.replicas.get(instance)
    }

    /// The other replicas of the same workload.
    pub(crate) fn beside<'i>(&'i self, instance: &'i InstanceName) -> impl Iterator<Item = &'i Replica> {
        let owner = self.replicas.get(instance).and_then(|replica| replica.history.latest().owner.as_ref());
        self.in_namespace(&instance.namespace).filter(move |other| {
            other.history.instance() != instance
                && owner.is_some()
                && other.history.latest().owner.as_ref().map(|owner| &owner.uid) == owner.map(|owner| &owner.uid)
        })
    }

    /// Whether the siblings were asked often enough to tell whether they advance.
    pub(crate) fn peers_look(&self, instance: &InstanceName) -> PeersLook {
        let reachable: Vec<&Replica> =
            self.beside(instance).filter(|other| other.address.is_some() && other.mute.is_none()).collect();
        let told = reachable.iter().any(|other| other.was_asked_twice());
        if told || reachable.is_empty() { PeersLook::Known } else { PeersLook::NotYet }
    }

    /// The replicas of one workload, by name.
    pub(crate) fn replicas_of<'i>(&'i self, workload: &'i Workload) -> impl Iterator<Item = &'i Replica> {
        self.in_namespace(&workload.namespace).filter(|replica| workload.owns(replica.history.latest()))
    }

    /// The workloads of a namespace.
    pub(crate) fn workloads<'i>(&'i self, namespace: &str) -> impl Iterator<Item = &'i Workload> + use<'i> {
        let first = (namespace.to_owned(), WorkloadKind::StatefulSet, String::new());
        let namespace = namespace.to_owned();
        self.workloads.range(first..).take_while(move |((of, ..), _)| *of == namespace).map(|(_, workload)| workload)
    }

    /// Whom to ask for their status: the replicas that any of these policies is about, with an address.
    pub(crate) fn to_sample(&self, policies: &[std::sync::Arc<RecoveryPolicy>]) -> Vec<RpcAddress> {
        let mut addresses = BTreeMap::new();
        for policy in policies {
            let namespace = policy.metadata.namespace.as_deref().unwrap_or_default();
            for workload in self.workloads(namespace).filter(|workload| selects(policy, workload)) {
                for replica in self.replicas_of(workload) {
                    let (Presence::Here, Some(ip)) = (&replica.presence, &replica.address) else { continue };
                    let instance = replica.history.instance().clone();
                    let port = policy.spec.evidence.peers.rpc_port;
                    addresses.insert(instance.clone(), RpcAddress { instance, ip: ip.clone(), port });
                }
            }
        }
        addresses.into_values().collect()
    }

    fn in_namespace<'i>(&'i self, namespace: &str) -> impl Iterator<Item = &'i Replica> + use<'i> {
        let first = InstanceName { namespace: namespace.to_owned(), name: String::new() };
        let namespace = namespace.to_owned();
        self.replicas
            .range(first..)
            .take_while(move |(instance, _)| instance.namespace == namespace)
            .map(|(_, replica)| replica)
    }
}

fn workload_kind(kind: Kind) -> Option<WorkloadKind> {
    match kind {
        Kind::Pods => None,
        Kind::StatefulSets => Some(WorkloadKind::StatefulSet),
        Kind::CosmosFullNodes => Some(WorkloadKind::CosmosFullNode),
    }
}
