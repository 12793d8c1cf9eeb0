//! Which replicas of a policy are sick, and how an incident fares. *No client, no clock.* (P7, P12)
//!
//! The index comes in with a policy and the time, a [`Look`] comes out; nothing is remembered here.

mod course;
mod coverage;
mod sick;
mod summary;

use std::sync::Arc;

use api::{Incident, Recovery, RecoveryPolicy, ReplicaMemory, TargetInstance};
use diagnosis::ClaimName;
use jiff::Timestamp;
use kube::ResourceExt;

use crate::index::{Index, Workload};

pub(crate) use course::{course, crash_facts};
pub(crate) use coverage::{Standing, selects};
pub(crate) use sick::{rule, sickness};

/// What a policy's replicas look like.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Look {
    /// Whether the policy is in force.
    pub(crate) standing: Standing,
    /// Workloads that it selects.
    pub(crate) workloads: u32,
    /// Its incidents that have not ended.
    pub(crate) open: u32,
    /// Too many at once.
    pub(crate) storm: Option<Storm>,
    /// Incidents to be opened.
    pub(crate) new: Vec<NewIncident>,
    /// What must be known after our own restart.
    pub(crate) replicas: Vec<ReplicaMemory>,
    /// One sentence.
    pub(crate) summary: String,
}

/// So many replicas are sick at once that a common cause is likelier than damage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Storm {
    /// How many.
    pub(crate) sick: u32,
}

/// An incident to be opened.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct NewIncident {
    /// Its name: the replica's, and a number that no record of the replica has.
    pub(crate) name: String,
    /// Who.
    pub(crate) target: TargetInstance,
    /// The claim that the node keeps its data on.
    pub(crate) claim_name: Option<ClaimName>,
    /// What, and since when.
    pub(crate) incident: Incident,
}

/// Memories that a policy's status holds.
const MEMORIES_MAX: usize = 1_000;

/// Looks at a policy's replicas. `policies` and `recoveries` are all of its namespace.
pub(crate) fn look(
    index: &Index,
    policy: &RecoveryPolicy,
    policies: &[Arc<RecoveryPolicy>],
    recoveries: &[Arc<Recovery>],
    now: Timestamp,
) -> Look {
    let namespace = policy.namespace().unwrap_or_default();
    let workloads: Vec<&Workload> = index.workloads(&namespace).filter(|workload| selects(policy, workload)).collect();
    let standing = coverage::standing(policy, policies, &workloads, index.workloads(&namespace));
    let refused = matches!(standing, Standing::Refused { .. });
    let mut sick = Vec::new();
    let mut replicas = Vec::new();
    for workload in workloads.iter().filter(|_| !refused) {
        for replica in index.replicas_of(workload) {
            replicas.extend(replica.memory(now));
            sick.extend(sickness(index, policy, replica, now).map(|sickness| (*workload, replica, sickness)));
        }
    }
    // A pod that is being made anew while we start: what was known of it is kept until it is there.
    let known = policy.status.iter().flat_map(|status| &status.replicas);
    replicas.extend(known.filter(|memory| !refused && index.awaits(&namespace, &memory.pod)).cloned());
    replicas.truncate(MEMORIES_MAX);
    let count = u32::try_from(sick.len()).unwrap_or(u32::MAX);
    let storm = (count >= policy.spec.limits.storm).then_some(Storm { sick: count });
    let open = recoveries.iter().filter(|recovery| is_open(recovery) && is_of(recovery, policy)).count();
    let open = u32::try_from(open).unwrap_or(u32::MAX);
    let new: Vec<NewIncident> = if policy.spec.suspend {
        Vec::new()
    } else {
        let fresh = sick.iter().filter(|(_, replica, _)| !has_open(recoveries, &replica.history.instance().name));
        fresh
            .map(|(workload, replica, sickness)| sick::incident(workload, replica, sickness, recoveries, now))
            .collect()
    };
    let workloads = u32::try_from(workloads.len()).unwrap_or(u32::MAX);
    let summary = summary::summary(&standing, workloads, count, storm, policy);
    Look { standing, workloads, open, storm, new, replicas, summary }
}

/// Whether an incident has not ended.
pub(crate) fn is_open(recovery: &Recovery) -> bool {
    recovery.status.as_ref().is_none_or(|status| status.ended.is_none())
}

fn is_of(recovery: &Recovery, policy: &RecoveryPolicy) -> bool {
    policy.metadata.uid.as_ref() == Some(&recovery.spec.policy.uid)
}

fn has_open(recoveries: &[Arc<Recovery>], pod: &str) -> bool {
    recoveries.iter().any(|recovery| recovery.spec.target.pod == pod && is_open(recovery))
}

#[cfg(test)]
mod tests;
