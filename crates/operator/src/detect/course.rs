//! How a replica fares since its incident was opened. *No client, no clock.* (P12)

use api::{CrashFacts, IncidentKind, Recovery, RecoveryPolicy};
use diagnosis::{Course, CrashLoopReading, InstanceName, detect_by};
use jiff::{SignedDuration, Timestamp};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::ResourceExt;

use super::{rule, selects};
use crate::index::{Index, Presence, Replica};

/// A pod that is made anew is away for a while; one that is taken away for a snapshot, longer.
const GONE_FOR: SignedDuration = SignedDuration::from_mins(15);
/// So long above all heights before is progress, ready or not.
const RISES_FOR: SignedDuration = SignedDuration::from_mins(10);

/// How it fares.
pub(crate) fn course(index: &Index, recovery: &Recovery, policy: &RecoveryPolicy, now: Timestamp) -> Course {
    let target = &recovery.spec.target;
    let instance = InstanceName { namespace: recovery.namespace().unwrap_or_default(), name: target.pod.clone() };
    let workload = index.workloads(&instance.namespace).find(|workload| workload.uid.as_str() == target.workload_uid);
    let Some(workload) = workload else {
        return Course::Gone(format!("{} {} is gone", target.kind.as_str(), target.workload));
    };
    if !selects(policy, workload) {
        return Course::Gone(format!("policy {} selects {} no more", policy.name_any(), workload.name));
    }
    let Some(replica) = index.replica(&instance) else {
        // Not seen since our own start, though everything was listed.
        return if long_ago(&recovery.spec.incident.onset, now) && !workload.taken_for_snapshot.contains(&target.pod) {
            Course::Gone(format!("pod {} is not there", target.pod))
        } else {
            Course::StillSick
        };
    };
    match replica.presence {
        Presence::Gone { since } => {
            let on_purpose = workload.taken_for_snapshot.contains(&target.pod);
            if !on_purpose && now.duration_since(since) >= GONE_FOR {
                Course::Gone(format!("pod {} has been away since {}", target.pod, at(since)))
            } else {
                Course::StillSick
            }
        }
        Presence::Here => progress(replica, recovery, now),
    }
}

fn progress(replica: &Replica, recovery: &Recovery, now: Timestamp) -> Course {
    let rises = replica.rises_for(now).filter(|rises| *rises >= RISES_FOR);
    match recovery.spec.incident.kind {
        IncidentKind::CrashLoop if replica.is_steady(now) => {
            Course::Recovered("it has been ready for ten minutes".to_owned())
        }
        IncidentKind::CrashLoop | IncidentKind::Stuck if rises.is_some() => {
            Course::Recovered("its height has been rising for ten minutes".to_owned())
        }
        IncidentKind::CrashLoop | IncidentKind::Stuck => Course::StillSick,
    }
}

fn long_ago(onset: &Time, now: Timestamp) -> bool {
    now.duration_since(onset.0) >= GONE_FOR
}

/// To the second, as people read it.
fn at(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// The crashes of an incident, as far as they are known; what is recorded already is never taken back.
pub(crate) fn crash_facts(index: &Index, recovery: &Recovery, policy: Option<&RecoveryPolicy>) -> CrashFacts {
    /// Pods that a record names.
    const PODS_MAX: usize = 64;
    let recorded = recovery.status.as_ref().and_then(|status| status.crash_loop.clone()).unwrap_or_default();
    let instance =
        InstanceName { namespace: recovery.namespace().unwrap_or_default(), name: recovery.spec.target.pod.clone() };
    let Some(replica) = index.replica(&instance) else { return recorded };
    let reading = detect_by(&replica.history, &policy.map(rule).unwrap_or_default());
    let mut pod_uids = recorded.pod_uids.clone();
    for uid in replica.history.pods().iter().map(ToString::to_string) {
        if !pod_uids.contains(&uid) {
            pod_uids.push(uid);
        }
    }
    pod_uids.drain(..pod_uids.len().saturating_sub(PODS_MAX));
    let CrashLoopReading::Looping(found) = reading else { return CrashFacts { pod_uids, ..recorded } };
    let run = found.last_run.as_ref();
    CrashFacts {
        crashes: found.crashes.max(recorded.crashes),
        exit_code: run.map(|run| run.exit.code).or(recorded.exit_code),
        reason: run.map(|run| run.reason.clone()).filter(|reason| !reason.is_empty()).or(recorded.reason),
        last_crash: run.and_then(|run| run.finished).map(Time).or(recorded.last_crash),
        pod_uids,
    }
}
