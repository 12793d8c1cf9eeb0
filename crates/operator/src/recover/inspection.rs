//! How the look at a replica's disk stands. *Client, reads only.* (P12)

use api::{DiskMethod, Phase, Recovery, RecoveryPolicy, VolumeSnapshot};
use diagnosis::{ContainerState, DiskLook, Make, Method, Observation};
use jiff::SignedDuration;
use k8s_openapi::api::{
    batch::v1::Job,
    core::v1::{PersistentVolumeClaim, Pod},
};
use kube::{Api, ResourceExt, api::ListParams};

use super::{act::OWNED, desk::Desk, incidents::instance_of};
use crate::collect::{CannotInspect, JobOutcome, can_inspect_in_place};

/// After the Job's own deadline its end is waited for so long, and no longer.
const GRACE: SignedDuration = SignedDuration::from_mins(5);
/// A Job of which no pod is made for so long is not going to run.
const REFUSED_FOR: SignedDuration = SignedDuration::from_mins(3);
/// What cannot be read is read again for so long.
const READ_AGAIN_FOR: SignedDuration = SignedDuration::from_mins(5);
/// A snapshot that is not ready after so long, or a claim, is given up.
const SNAPSHOT_WAIT: SignedDuration = SignedDuration::from_mins(30);

/// How it stands, and what is known of its end.
#[derive(Debug)]
pub(super) struct Inspection {
    /// What the plan is told.
    pub(super) look: DiskLook,
    /// The Job's end, where it has one; else why there is none, in words.
    pub(super) end: Result<JobOutcome, String>,
}

impl Inspection {
    fn new(look: DiskLook, why: impl Into<String>) -> Self {
        Self { look, end: Err(why.into()) }
    }

    /// Reads it. What cannot be read is tried again until the look's end, so nothing here fails.
    pub(super) async fn read(desk: &Desk, recovery: &Recovery, policy: Option<&RecoveryPolicy>) -> Self {
        let status = recovery.status.as_ref();
        if status.and_then(|status| status.phase) != Some(Phase::Collecting) {
            return Self::new(DiskLook::Over, "nobody looks at the moment");
        }
        let intent = status.and_then(|status| status.inspection.as_ref());
        let Some(policy) = policy else { return Self::new(DiskLook::Over, "the policy is gone") };
        let Some(intent) = intent else { return to_do(desk, recovery, policy).await };
        let since = desk.clock.now().duration_since(intent.asked.0);
        match intent.method {
            DiskMethod::Guard => Self::new(DiskLook::Over, "the guard's own words count"),
            DiskMethod::None => Self::new(DiskLook::Over, "the policy says that the disk is not read"),
            DiskMethod::InPlace => job(desk, recovery, policy, &intent.job, since).await,
            DiskMethod::Snapshot => {
                let made = snapshot_and_claim(desk, recovery, &intent.job).await;
                match made {
                    Ok(None) => job(desk, recovery, policy, &intent.job, since).await,
                    Ok(Some(_)) | Err(_) if since > SNAPSHOT_WAIT => {
                        Self::new(DiskLook::Over, "the snapshot to be inspected did not become ready")
                    }
                    Ok(Some(next)) => Self::new(DiskLook::UnderWay { next: next.make() }, "the snapshot is being made"),
                    Err(why) => Self::new(DiskLook::UnderWay { next: None }, why),
                }
            }
        }
    }
}

/// Nobody has been sent: who could be, and is it time?
async fn to_do(desk: &Desk, recovery: &Recovery, policy: &RecoveryPolicy) -> Inspection {
    let asked = &policy.spec.evidence.disk;
    let instance = instance_of(recovery);
    let pod = desk.seen().index.replica(&instance).map(|replica| replica.history.latest().clone());
    let Some(pod) = pod else {
        return Inspection::new(DiskLook::CannotBe("its pod is not there".to_owned()), "its pod is not there");
    };
    let method = match asked.method {
        DiskMethod::None => {
            let why = "the policy says that the disk is not read";
            return Inspection::new(DiskLook::CannotBe(why.to_owned()), why);
        }
        DiskMethod::Guard => Method::Guard,
        DiskMethod::Snapshot => Method::Snapshot,
        // Its guard looks before every start: a Job could only see less (design 4).
        DiskMethod::InPlace if runs_under_guard(&pod) => Method::Guard,
        DiskMethod::InPlace => match in_place(desk, recovery).await {
            Ok(()) => Method::InPlace,
            // A second pod cannot have it; a copy can be had where the policy names a class for it.
            Err(CannotInspect::ReadWriteOncePod(_)) if asked.snapshot_class_name.is_some() => Method::Snapshot,
            // A pod or a claim that is being made anew is there a moment later, and so is a server that was busy.
            Err(why @ (CannotInspect::Unread(_) | CannotInspect::ClaimGone | CannotInspect::NoNode))
                if look_lasts(desk, recovery) < READ_AGAIN_FOR =>
            {
                return Inspection::new(DiskLook::UnderWay { next: None }, why.to_string());
            }
            Err(why) => return Inspection::new(DiskLook::CannotBe(why.to_string()), why.to_string()),
        },
    };
    if method != Method::Guard && !has_a_turn(desk).await {
        return Inspection::new(DiskLook::WaitsForATurn, "as many inspectors as are allowed were at work");
    }
    let look = if method == Method::InPlace && is_up(&pod) {
        DiskLook::WaitsForTheContainer(method)
    } else {
        DiskLook::ToDo(method)
    };
    Inspection::new(look, "nobody was sent yet")
}

/// How long the look has lasted.
fn look_lasts(desk: &Desk, recovery: &Recovery) -> SignedDuration {
    let begun = recovery.status.as_ref().and_then(|status| status.look.as_ref()).map(|look| look.begun.0);
    begun.map_or(SignedDuration::ZERO, |begun| desk.clock.now().duration_since(begun))
}

async fn in_place(desk: &Desk, recovery: &Recovery) -> Result<(), CannotInspect> {
    let namespace = recovery.namespace().unwrap_or_default();
    let pods: Api<Pod> = Api::namespaced(desk.client.clone(), &namespace);
    let claims: Api<PersistentVolumeClaim> = Api::namespaced(desk.client.clone(), &namespace);
    let unread = |error: kube::Error| CannotInspect::Unread(error.to_string());
    let pod = pods.get_opt(&recovery.spec.target.pod).await.map_err(unread)?;
    let pod = pod.ok_or_else(|| CannotInspect::Unread("its pod is not there".to_owned()))?;
    let claim = match &recovery.spec.target.claim {
        Some(claim) => claims.get_opt(&claim.name).await.map_err(unread)?,
        None => None,
    };
    can_inspect_in_place(&pod, claim.as_ref())
}

fn runs_under_guard(pod: &Observation) -> bool {
    pod.node_container().is_some_and(|node| {
        let is_ours = |word: &String| word.rsplit('/').next() == Some("loopbreaker");
        let mut words = node.command_line.iter().skip_while(|word| !is_ours(word));
        words.next().is_some() && words.next().is_some_and(|word| word == "guard")
    })
}

/// Whether the node's own container may be writing.
fn is_up(pod: &Observation) -> bool {
    pod.node_container().is_some_and(|node| matches!(node.state, ContainerState::Running { .. }))
}

/// No thousand Jobs: the whole cluster has so many at once.
async fn has_a_turn(desk: &Desk) -> bool {
    let jobs: Api<Job> = desk.api_of_watched();
    let ours = ListParams::default().labels(&format!("{}={}", OWNED.0, OWNED.1));
    let Ok(jobs) = jobs.list(&ours).await else { return false };
    let at_work = jobs
        .iter()
        .filter(|job| job.status.as_ref().is_none_or(|status| status.succeeded.is_none() && status.failed.is_none()));
    at_work.count() < usize::try_from(desk.settings.inspector.at_once_max).unwrap_or(usize::MAX)
}

async fn job(
    desk: &Desk,
    recovery: &Recovery,
    policy: &RecoveryPolicy,
    name: &str,
    since: SignedDuration,
) -> Inspection {
    let outcome = desk.collector.inspection(&recovery.namespace().unwrap_or_default(), name).await;
    let deadline = SignedDuration::try_from(policy.spec.evidence.disk.deadline.as_duration())
        .unwrap_or(SignedDuration::MAX)
        .saturating_add(GRACE);
    match outcome {
        Ok(JobOutcome::Absent) if since <= deadline => {
            Inspection::new(DiskLook::UnderWay { next: Some(Make::Job) }, "the inspector was not sent yet")
        }
        Ok(JobOutcome::Waiting { refused: Some(why) }) if since > REFUSED_FOR => Inspection::new(DiskLook::Over, why),
        Ok(JobOutcome::Waiting { .. } | JobOutcome::Running) if since <= deadline => {
            Inspection::new(DiskLook::UnderWay { next: None }, "the inspector was still at work")
        }
        Ok(JobOutcome::Absent | JobOutcome::Waiting { .. } | JobOutcome::Running) => {
            Inspection::new(DiskLook::Over, "the inspector did not come to an end within its deadline")
        }
        Ok(end @ (JobOutcome::Reported { .. } | JobOutcome::Failed(_))) => {
            Inspection { look: DiskLook::Over, end: Ok(end) }
        }
        Err(why) if since <= deadline => Inspection::new(DiskLook::UnderWay { next: None }, why),
        Err(why) => Inspection::new(DiskLook::Over, why),
    }
}

/// What is still to come before the Job.
enum Before {
    Snapshot,
    SnapshotReady,
    Claim,
}

impl Before {
    fn make(self) -> Option<Make> {
        match self {
            Self::Snapshot => Some(Make::Snapshot),
            Self::SnapshotReady => None,
            Self::Claim => Some(Make::Claim),
        }
    }
}

async fn snapshot_and_claim(desk: &Desk, recovery: &Recovery, name: &str) -> Result<Option<Before>, String> {
    let namespace = recovery.namespace().unwrap_or_default();
    let snapshots: Api<VolumeSnapshot> = Api::namespaced(desk.client.clone(), &namespace);
    let claims: Api<PersistentVolumeClaim> = Api::namespaced(desk.client.clone(), &namespace);
    let unread = |error: kube::Error| format!("the snapshot to be inspected cannot be read: {error}");
    let Some(snapshot) = snapshots.get_opt(name).await.map_err(unread)? else { return Ok(Some(Before::Snapshot)) };
    if let Some(why) = crate::collect::snapshot_error(&snapshot) {
        return Err(why);
    }
    if !crate::collect::snapshot_is_ready(&snapshot) {
        return Ok(Some(Before::SnapshotReady));
    }
    let claim = claims.get_opt(name).await.map_err(unread)?;
    Ok(if claim.is_none() { Some(Before::Claim) } else { None })
}
