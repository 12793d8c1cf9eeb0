//! From a bundle to the world in which it is rehearsed. *Files are read, nothing else.* (P13)
//!
//! What stands in the bundle stands in the world, with its counts, states and times. What a world needs and a bundle does not
//! hold (a claim's object, a machine's, an owner's) is made as plain as can be, so that nothing follows from it.

mod ailments;
mod build;
mod peers;

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
};

use anyhow::bail;
use api::{RecoveryPolicy, RecoveryPolicySpec, Target, WorkloadKind};
use diagnosis::{InstanceHistory, Observation};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use simcluster::{Call, World};

use crate::bundle::Bundle;
use ailments::Ails;
use peers::Chain;

/// Everything that is put into the world.
#[derive(Debug)]
pub(super) struct Plan {
    /// When the rehearsal begins.
    pub(super) begins: Timestamp,
    /// The bundle's directory, as it was given.
    pub(super) label: String,
    objects: Vec<Value>,
    replicas: Vec<Replica>,
    chain: Chain,
}

/// One pod of the bundle.
#[derive(Debug)]
struct Replica {
    pod: Observation,
    ails: Vec<Ails>,
    /// Its home or data directory.
    data: Option<PathBuf>,
    /// Logs by container: of the run before, and of the present one.
    logs: BTreeMap<String, [Option<String>; 2]>,
}

impl Plan {
    /// Plans it.
    pub(super) fn of(bundle: &Bundle) -> anyhow::Result<Self> {
        let label = bundle.path.display().to_string();
        let latest: Vec<&Observation> = bundle.scene.instances.iter().map(InstanceHistory::latest).collect();
        if latest.is_empty() {
            bail!(
                "{label}: no pod to rehearse with: a rehearsal needs at least the sick pod's object in objects/ \
                 (`kubectl get pod NAME -o yaml`); logs and data alone are for `loopbreaker diagnose`"
            );
        }
        let newest = latest.iter().filter_map(|pod| pod.seen).max();
        let Some(begins) = bundle.about.collected_at.or(newest) else {
            bail!("{label}: neither bundle.json nor any pod says when it was (objects need their status)");
        };
        let mut replicas = Vec::new();
        for pod in latest {
            replicas.push(Replica {
                ails: ailments::of(bundle, pod)?,
                data: bundle.data.iter().find(|data| data.pod == pod.instance.name).map(|data| data.path.clone()),
                logs: ailments::logs(bundle, pod)?,
                pod: pod.clone(),
            });
        }
        // A moment later, so that nothing in it is of the future.
        let begins = begins.checked_add(SignedDuration::from_secs(1))?;
        Ok(Self { begins, label, objects: bundle.raw_objects()?, replicas, chain: peers::chain(bundle) })
    }

    /// The namespace of its first sick pod, else of any.
    pub(super) fn namespace(&self) -> &str {
        let sick = self.replicas.iter().find(|replica| !replica.ails.is_empty());
        sick.or(self.replicas.first()).map_or("default", |replica| replica.pod.instance.namespace.as_str())
    }

    /// The workloads of its pods, in words.
    pub(super) fn workloads(&self) -> Vec<String> {
        let owner = |replica: &Replica| {
            let owner = replica.pod.owner.as_ref()?;
            WorkloadKind::of(&owner.kind)?;
            Some(format!("{} {}/{}", owner.kind, replica.pod.instance.namespace, owner.name))
        };
        self.replicas.iter().filter_map(owner).collect::<BTreeSet<String>>().into_iter().collect()
    }

    /// The namespaces of its pods.
    pub(super) fn namespaces(&self) -> BTreeSet<String> {
        self.replicas.iter().map(|replica| replica.pod.instance.namespace.clone()).collect()
    }

    /// Its replicas by namespace and name, the sick ones marked by what ails them.
    pub(super) fn replicas_whose_course_is_known(&self) -> BTreeSet<String> {
        self.chain.known.clone()
    }

    /// Where a claim's data lies on this machine.
    fn data_of(&self, namespace: &str, claim: &str) -> Option<&PathBuf> {
        let replica = self.replicas.iter().find(|replica| {
            replica.pod.instance.namespace == namespace
                && replica.pod.data_claim.as_ref().is_some_and(|own| own.as_str() == claim)
        })?;
        replica.data.as_ref()
    }

    /// One policy for each namespace, that watches what the bundle holds.
    pub(super) fn default_policies(&self) -> Vec<RecoveryPolicy> {
        let mut targets: BTreeMap<&str, BTreeSet<(WorkloadKind, &str)>> = BTreeMap::new();
        for replica in &self.replicas {
            let Some(owner) = &replica.pod.owner else { continue };
            if let Some(kind) = WorkloadKind::of(&owner.kind) {
                targets.entry(&replica.pod.instance.namespace).or_default().insert((kind, &owner.name));
            }
        }
        let policy = |(namespace, targets): (&str, BTreeSet<(WorkloadKind, &str)>)| {
            let targets =
                targets.into_iter().map(|(kind, name)| Target { kind, name: Some(name.to_owned()), selector: None });
            let targets: Vec<Target> = targets.take(16).collect();
            let spec: RecoveryPolicySpec = serde_json::from_value(json!({"targets": targets})).ok()?;
            let mut policy = RecoveryPolicy::new("rehearsal", spec);
            policy.metadata.namespace = Some(namespace.to_owned());
            Some(policy)
        };
        targets.into_iter().filter_map(policy).collect()
    }
}

/// Whether a policy watches anything, as the operator itself says: one that watches nothing shows nothing.
pub(super) fn selects(world: &World) -> bool {
    let policies = world.list("recoverypolicies.loopbreaker.dev", "");
    let watches = |policy: &Value| policy.pointer("/status/workloads").and_then(Value::as_u64).unwrap_or_default() > 0;
    policies.iter().any(watches)
}

/// Puts a policy into the world as a human would.
pub(super) fn put_policy(world: &World, policy: &RecoveryPolicy) {
    let mut object = serde_json::to_value(policy).unwrap_or_default();
    if let Value::Object(fields) = &mut object {
        fields.remove("status");
    }
    if let Err(refusal) = world.request(simcluster::HUMAN, &Call::create("recoverypolicies.loopbreaker.dev", object)) {
        anstream::eprintln!("note: the policy was refused: {refusal:?}");
    }
}
