//! Collects what is still missing, and lets the judge speak. *Client, reads only.* (P2, P13, P14)

use api::{DiskMethod, EvidenceReport, Recovery, RecoveryPolicy, VerdictReport};
use crashlog::LogPart;
use diagnosis::{
    ContainerName, ContainerState, CrashLoopReading, Decision, EvidenceAge, ImageFreshness, InstanceHistory,
    InstanceName, Observation, Policy, detect_by, judge as judge_evidence,
};
use jiff::Timestamp;
use kube::ResourceExt;
use scene::{KnownNames, LogCauses, Sample};

use super::{desk::Desk, incidents::instance_of, inspection::Inspection, limits};
use crate::{
    collect::{Around, DiskFound, JobOutcome, LogOf, Parts, assemble},
    detect,
    index::STEADY,
    log_book::Kept,
    record::{self, Condition, Truth},
};

/// What was said, and on what.
pub(super) struct Judged {
    pub(super) report: EvidenceReport,
    pub(super) verdict: VerdictReport,
    decision: Decision,
}

impl Judged {
    /// The condition that a script waits for.
    pub(super) fn would_restore(&self) -> Condition {
        let (is, reason) = match self.decision {
            Decision::Restore => (Truth::True, "Restore"),
            Decision::Propose => (Truth::True, "AfterApproval"),
            Decision::Hold => (Truth::False, "Hold"),
        };
        Condition { about: "WouldRestore", is, reason, message: self.verdict.reason.clone() }
    }
}

/// Collects and judges. Nothing here fails: what cannot be got is said in the record.
pub(super) async fn judge(desk: &Desk, recovery: &Recovery, policy: &RecoveryPolicy, inspection: Inspection) -> Judged {
    let instance = instance_of(recovery);
    let seen = Watched::of(desk, &instance);
    let (logs, no_log) = logs(desk, recovery, &instance).await;
    let pod = seen.history.as_ref().map(InstanceHistory::latest);
    let histories = seen.history.iter().chain(&seen.siblings).cloned().collect();
    let Around { mut scene, lock, missing, circumstances: in_words } =
        desk.collector.around(&instance, &recovery.spec.target, pod, histories).await;
    scene.peers = seen.samples;
    // Its own height, by whoever knew it: whether others are ahead is asked of it.
    let by_disk = match &inspection.end {
        Ok(JobOutcome::Reported { report, .. }) => report.height(),
        _ => None,
    };
    if let Some(height) = seen.height.max(by_disk) {
        scene.peers.push(Sample { pod: instance.to_string(), height: Some(height), ..Sample::default() });
    }
    let mut part = LogPart::default();
    for kept in &logs {
        part.add(kept.log.examined.clone());
    }
    let log_at = chosen_at(&part, &logs);
    let causes = causes(desk, &seen.siblings, &instance, &part);
    let siblings = scene.siblings(&instance);
    let now = desk.clock.now();
    let recoveries = desk.seen().ledger.recoveries.in_namespace(&instance.namespace);
    let mut circumstances =
        seen.history.as_ref().map(|history| scene.circumstances(history, &causes)).unwrap_or_default();
    if circumstances.image == ImageFreshness::Unknown && pod.is_some_and(|pod| ran_before_the_onset(recovery, pod)) {
        circumstances.image = ImageFreshness::Unchanged;
    }
    circumstances.limits = limits::limits(policy, recovery, &recoveries, &siblings, now);
    circumstances.recurrence = limits::recurrence(recovery, &recoveries);
    let crash_loop =
        seen.history.as_ref().map_or(CrashLoopReading::NotRead, |history| detect_by(history, &detect::rule(policy)));
    let (on_disk, age) = disk_found(recovery, inspection, &logs, pod, now);
    let about = format!("{}/{}", instance.namespace, recovery.name_any());
    let assembled = assemble(Parts {
        crash_loop,
        log: part,
        log_at,
        disk: on_disk,
        siblings,
        asked: seen.asked,
        mute: seen.mute,
        circumstances,
        in_words,
        missing: missing.into_iter().chain(no_log).collect(),
        lock,
        age,
        now,
        about: &about,
    });
    let verdict = judge_evidence(&assembled.evidence, &Policy::default());
    let names = KnownNames::of(&scene, &instance, seen.history.as_ref());
    let report = record::report(&assembled.evidence, &verdict, &names, now);
    Judged { report: assembled.report, verdict: report, decision: verdict.decision }
}

/// What the watch has seen of the replica and of those beside it.
struct Watched {
    history: Option<InstanceHistory>,
    siblings: Vec<InstanceHistory>,
    samples: Vec<Sample>,
    height: Option<u64>,
    asked: u32,
    mute: Vec<String>,
}

impl Watched {
    fn of(desk: &Desk, instance: &InstanceName) -> Self {
        let seen = desk.seen();
        let own = seen.index.replica(instance);
        let beside: Vec<_> = seen.index.beside(instance).collect();
        let samples = own.iter().flat_map(|own| &own.samples).chain(beside.iter().flat_map(|other| &other.samples));
        let mute = beside.iter().filter_map(|other| {
            let why = other.mute.as_ref()?;
            Some(format!("{} does not answer: {why}", other.history.instance()))
        });
        Self {
            history: own.map(|own| own.history.clone()),
            siblings: beside.iter().map(|other| other.history.clone()).collect(),
            samples: samples.cloned().collect(),
            height: own.and_then(|own| own.height_max),
            asked: u32::try_from(beside.iter().filter(|other| other.address.is_some()).count()).unwrap_or(u32::MAX),
            mute: mute.take(8).collect(),
        }
    }
}

/// The logs that were kept; where there is none, one is read now.
async fn logs(desk: &Desk, recovery: &Recovery, instance: &InstanceName) -> (Vec<Kept>, Option<String>) {
    let (kept, failed) = desk.seen().log_book.of(instance);
    if !kept.is_empty() {
        return (kept, failed);
    }
    let container = ContainerName::new(recovery.spec.incident.container.clone());
    let of = match recovery.spec.incident.kind {
        api::IncidentKind::CrashLoop => LogOf::Crash,
        api::IncidentKind::Stuck => LogOf::Now,
    };
    match desk.collector.log(instance, &container, of).await {
        Ok(log) => {
            let kept = Kept { at: desk.clock.now(), log: std::sync::Arc::new(log) };
            desk.seen().log_book.keep(instance, kept.clone());
            (vec![kept], None)
        }
        Err(error) => (Vec::new(), Some(format!("no log: {error}"))),
    }
}

fn chosen_at(part: &LogPart, logs: &[Kept]) -> Option<Timestamp> {
    let label = &part.chosen.as_ref()?.label;
    logs.iter().find(|kept| kept.log.examined.label == *label).map(|kept| kept.at)
}

/// What the logs of the replica and of its siblings name as their causes, where they are sure.
fn causes(desk: &Desk, siblings: &[InstanceHistory], instance: &InstanceName, own: &LogPart) -> LogCauses {
    let seen = desk.seen();
    let of_others = siblings.iter().filter_map(|history| {
        let mut part = LogPart::default();
        for kept in seen.log_book.of(history.instance()).0 {
            part.add(kept.log.examined.clone());
        }
        Some((history.instance().clone(), part.sure_cause()?))
    });
    let own = own.sure_cause().map(|cause| (instance.clone(), cause));
    of_others.chain(own).collect()
}

/// The very pod ran for long before its first crash, though we may not have been there to see it ready: neither image nor
/// arguments nor configuration can be other ones since.
fn ran_before_the_onset(recovery: &Recovery, pod: &Observation) -> bool {
    let same = pod.uid.as_ref().is_some_and(|uid| uid.as_str() == recovery.spec.target.pod_uid);
    let onset = recovery.spec.incident.onset.0;
    same && pod.started.is_some_and(|started| onset.duration_since(started) >= STEADY)
}

/// What is known of the disk, and whether a run since then could have changed it.
fn disk_found(
    recovery: &Recovery,
    inspection: Inspection,
    logs: &[Kept],
    pod: Option<&Observation>,
    now: Timestamp,
) -> (DiskFound, EvidenceAge) {
    let method = recovery.status.as_ref().and_then(|status| status.inspection.as_ref()).map(|intent| intent.method);
    if method == Some(DiskMethod::Guard) {
        // Of the last start: every guard looks anew.
        let last = logs.iter().rev().find_map(|kept| Some((kept.log.guard.clone()?, kept)));
        let Some((words, kept)) = last else {
            let why = "the node runs under the guard, but no log of it has the guard's words".to_owned();
            return (DiskFound::Not(why), EvidenceAge::Current);
        };
        let is_newest = logs.last().is_some_and(|newest| newest.at == kept.at);
        let age = if is_newest { EvidenceAge::Current } else { EvidenceAge::OlderThanARestart };
        return (DiskFound::Guard { words, at: kept.at }, age);
    }
    match inspection.end {
        Ok(JobOutcome::Reported { report, began, ended }) => {
            let method = method.unwrap_or_default();
            // A copy does not change any more; it is as old as the snapshot, which is younger than the intent.
            let since = if method == DiskMethod::Snapshot { ended } else { began };
            let age = if ran_since(pod, since) { EvidenceAge::OlderThanARestart } else { EvidenceAge::Current };
            (DiskFound::Reported { method, report, at: ended.unwrap_or(now) }, age)
        }
        Ok(JobOutcome::Failed(why)) | Err(why) => (DiskFound::Not(why), EvidenceAge::Current),
        Ok(JobOutcome::Absent | JobOutcome::Waiting { .. } | JobOutcome::Running) => {
            (DiskFound::Not("the inspector did not come to an end".to_owned()), EvidenceAge::Current)
        }
    }
}

/// Whether a container of the node was started after a time, by the kubelet's own clock, which both times are of.
fn ran_since(pod: Option<&Observation>, time: Option<Timestamp>) -> bool {
    let (Some(pod), Some(time)) = (pod, time) else { return true };
    pod.containers.iter().filter(|container| container.role != diagnosis::ContainerRole::SideCar).any(|container| {
        let running = matches!(container.state, ContainerState::Running { since: Some(since) } if since > time);
        let ran = container.last_run.as_ref().and_then(|run| run.started).is_some_and(|started| started > time);
        running || ran
    })
}
