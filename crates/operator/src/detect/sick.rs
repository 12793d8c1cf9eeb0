//! Is a replica sick, and how? *No client, no clock.* (P6, P7)

use std::sync::Arc;

use api::{Incident, IncidentKind, Recovery, RecoveryPolicy, TargetInstance};
use diagnosis::{CrashLoop, CrashLoopReading, LoopRule, detect_by};
use jiff::{SignedDuration, Timestamp};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::ResourceExt;

use super::NewIncident;
use crate::index::{Index, Presence, Replica, Standstill, Workload};

/// How a replica is sick.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Sickness {
    /// It crashes on every start.
    CrashLoop(Box<CrashLoop>),
    /// It runs, its height stands still, and its siblings advance.
    Stuck(Standstill),
}

/// The rule of a policy.
pub(crate) fn rule(policy: &RecoveryPolicy) -> LoopRule {
    let detection = &policy.spec.detection;
    LoopRule { crashes_min: detection.crashes, window_seconds: detection.window.as_seconds() }
}

/// How a replica is sick, if it is.
pub(crate) fn sickness(index: &Index, policy: &RecoveryPolicy, replica: &Replica, now: Timestamp) -> Option<Sickness> {
    if replica.presence != Presence::Here {
        return None;
    }
    // What has been ready for long crashes no more, whatever its counts say.
    if !replica.is_steady(now)
        && let CrashLoopReading::Looping(found) = detect_by(&replica.history, &rule(policy))
    {
        return Some(Sickness::CrashLoop(found));
    }
    stuck(index, policy, replica, now).map(Sickness::Stuck)
}

fn stuck_for(policy: &RecoveryPolicy) -> Option<SignedDuration> {
    let span = policy.spec.detection.stuck_for;
    (span.as_seconds() > 0).then(|| SignedDuration::try_from(span.as_duration()).unwrap_or(SignedDuration::MAX))
}

/// Answers that are older than this say nothing about now.
const FRESH: SignedDuration = SignedDuration::from_mins(3);

/// It answers, it has answered the same height for long, and enough others went on meanwhile and are ahead.
fn stuck(index: &Index, policy: &RecoveryPolicy, replica: &Replica, now: Timestamp) -> Option<Standstill> {
    let limit = stuck_for(policy)?;
    let stand = replica.standstill.filter(|_| replica.is_running())?;
    let long = stand.until.duration_since(stand.since) >= limit && now.duration_since(stand.until) <= FRESH;
    let advances = |other: &&Replica| {
        let fresh = |at: Option<Timestamp>| at.is_some_and(|at| now.duration_since(at) <= FRESH);
        let heights: Vec<u64> =
            other.samples.iter().filter(|sample| fresh(sample.time)).filter_map(|sample| sample.height).collect();
        let (first, last) = (heights.iter().min(), heights.iter().max());
        matches!((first, last), (Some(first), Some(last)) if last > first && *last > stand.height)
    };
    if !long {
        return None;
    }
    let enough = index.beside(replica.history.instance()).filter(advances).count()
        >= usize::try_from(policy.spec.limits.min_advancing).unwrap_or(usize::MAX);
    enough.then_some(stand)
}

/// The incident that a sick replica gets.
pub(super) fn incident(
    workload: &Workload,
    replica: &Replica,
    sickness: &Sickness,
    recoveries: &[Arc<Recovery>],
    now: Timestamp,
) -> NewIncident {
    let latest = replica.history.latest();
    let pod = latest.instance.name.clone();
    let (kind, onset, container) = match sickness {
        Sickness::CrashLoop(found) => {
            // A kubelet whose clock is ahead of ours has seen nothing of the future.
            let onset = found.onset.or(found.counted_since).unwrap_or(now).min(now);
            (IncidentKind::CrashLoop, onset, found.container.to_string())
        }
        Sickness::Stuck(stand) => (IncidentKind::Stuck, stand.since, replica.node().unwrap_or_default()),
    };
    let first_pod = replica.history.pods().first().or(latest.uid.as_ref()).map(ToString::to_string);
    NewIncident {
        name: name(&pod, recoveries),
        target: TargetInstance {
            kind: workload.kind,
            workload: workload.name.clone(),
            workload_uid: workload.uid.to_string(),
            pod,
            pod_uid: first_pod.unwrap_or_default(),
            claim: None,
        },
        claim_name: latest.data_claim.clone(),
        incident: Incident { kind, onset: Time(whole_seconds(onset)), container },
    }
}

/// Objects keep whole seconds.
fn whole_seconds(time: Timestamp) -> Timestamp {
    Timestamp::from_second(time.as_second()).unwrap_or(time)
}

/// FNV-1a of 32 bits, the same on every machine and in every version.
fn sum(text: &str) -> String {
    let sum = text.bytes().fold(0x811c_9dc5_u32, |sum, byte| (sum ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    format!("{sum:08x}")
}

/// The replica's name and the next number; the same for whoever sees the same records, so that one of two that write fails.
fn name(pod: &str, recoveries: &[Arc<Recovery>]) -> String {
    /// A name is also put into labels.
    const LENGTH_MAX: usize = 63;
    let numbers = recoveries.iter().filter(|recovery| recovery.spec.target.pod == pod).filter_map(|recovery| {
        let name = recovery.name_any();
        name.rsplit_once('-').and_then(|(_, number)| number.parse::<u64>().ok())
    });
    let number = numbers.max().unwrap_or_default().saturating_add(1).to_string();
    let room = LENGTH_MAX.saturating_sub(number.len() + 1);
    if pod.len() <= room {
        return format!("{pod}-{number}");
    }
    // The ordinal stands at the end: what is cut off must still tell two replicas apart.
    let sum = sum(pod);
    let stem: String = pod.chars().take(room.saturating_sub(sum.len() + 1)).collect();
    format!("{}-{sum}-{number}", stem.trim_end_matches(['-', '.']))
}
