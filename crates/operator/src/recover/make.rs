//! Makes one object of an inspection. *Client, reads; writes go through the writer.* (P5, P11)

use api::{DiskMethod, Recovery, RecoveryPolicy, VolumeSnapshot};
use diagnosis::{Make, Symptom};
use jiff::SignedDuration;
use k8s_openapi::api::core::v1::{PersistentVolumeClaim, Pod};
use kube::{Api, ResourceExt};

use super::{ActError, desk::Leading, incidents::instance_of, situation::inspection_name};
use crate::collect::{AskedDepth, InspectRequest, Machine, forensic_claim, forensic_snapshot, inspector_job};

/// Why it was not made.
#[derive(Debug, thiserror::Error)]
pub(super) enum CannotMake {
    /// The API server refused.
    #[error(transparent)]
    Act(#[from] ActError),
    /// What it is made from could not be read.
    #[error("get {what}: {source}")]
    Unread {
        /// What.
        what: String,
        /// The API server's answer.
        source: Box<kube::Error>,
    },
    /// It cannot be made for this pod.
    #[error("{0}")]
    Refused(String),
}

impl CannotMake {
    /// Whether trying again changes nothing.
    pub(super) fn is_final(&self) -> bool {
        match self {
            Self::Act(error) => error.is_forbidden() || error.is_rejected(),
            Self::Unread { source, .. } => super::code(source) == Some(403),
            Self::Refused(_) => true,
        }
    }
}

/// Makes it.
pub(super) async fn make(
    leading: &Leading,
    recovery: &Recovery,
    policy: &RecoveryPolicy,
    object: Make,
) -> Result<(), CannotMake> {
    let round = recovery.status.as_ref().and_then(|status| status.look.as_ref()).map_or(0, |look| look.round);
    let name = inspection_name(recovery, round);
    let (pod, claim) = (pod(leading, recovery).await?, claim(leading, recovery).await?);
    // P5: not another claim of that name.
    if recovery.spec.target.claim.as_ref().is_some_and(|recorded| claim.uid().as_ref() != Some(&recorded.uid)) {
        return Err(CannotMake::Refused(format!(
            "claim {} is another one than when the incident began",
            claim.name_any()
        )));
    }
    let disk = &policy.spec.evidence.disk;
    match object {
        Make::Snapshot => {
            let class = disk.snapshot_class_name.as_deref().unwrap_or_default();
            leading.writer.take_snapshot(&forensic_snapshot(recovery, &name, &claim, class)).await?;
        }
        Make::Claim => {
            let snapshots: Api<VolumeSnapshot> =
                Api::namespaced(leading.desk.client.clone(), &recovery.namespace().unwrap_or_default());
            let snapshot = snapshots.get(&name).await.map_err(unread("the snapshot to be inspected"))?;
            leading.writer.make_claim(&forensic_claim(recovery, &name, &claim, &snapshot)).await?;
        }
        Make::Job => {
            let request = request(leading, recovery, policy, name);
            let job = inspector_job(&pod, &request, &leading.desk.settings)
                .map_err(|error| CannotMake::Refused(error.to_string()))?;
            leading.writer.send_inspector(&job).await?;
        }
    }
    Ok(())
}

fn request<'r>(leading: &Leading, recovery: &'r Recovery, policy: &RecoveryPolicy, name: String) -> InspectRequest<'r> {
    let disk = &policy.spec.evidence.disk;
    let intent = recovery.status.as_ref().and_then(|status| status.inspection.as_ref());
    let copy = intent.is_some_and(|intent| intent.method == DiskMethod::Snapshot);
    let claim = recovery.spec.target.claim.as_ref().map(|claim| claim.name.clone()).unwrap_or_default();
    let instance = instance_of(recovery);
    let logs = leading.desk.seen().log_book.of(&instance).0;
    let asks_for_hashes = logs
        .iter()
        .filter_map(|kept| crashlog::read(&kept.log.examined.finding.reading))
        .any(|it| it.symptoms.contains(&Symptom::AppHashMismatch));
    let facts = leading.desk.crash_facts(recovery);
    InspectRequest {
        recovery,
        claim: if copy { name.clone() } else { claim },
        name,
        on: if copy { Machine::Any } else { Machine::OfTheReplica },
        depth: if asks_for_hashes { AskedDepth::Deep } else { AskedDepth::AllChecks },
        pods: facts.pod_uids,
        max_read_rate: disk.max_read_rate.clone(),
        deadline: SignedDuration::try_from(disk.deadline.as_duration()).unwrap_or(SignedDuration::from_hours(2)),
    }
}

async fn pod(leading: &Leading, recovery: &Recovery) -> Result<Pod, CannotMake> {
    let pods: Api<Pod> = Api::namespaced(leading.desk.client.clone(), &recovery.namespace().unwrap_or_default());
    pods.get(&recovery.spec.target.pod).await.map_err(unread("the replica's pod"))
}

async fn claim(leading: &Leading, recovery: &Recovery) -> Result<PersistentVolumeClaim, CannotMake> {
    let Some(claim) = &recovery.spec.target.claim else {
        return Err(CannotMake::Refused("it is not known on which claim the replica keeps its data".to_owned()));
    };
    let claims: Api<PersistentVolumeClaim> =
        Api::namespaced(leading.desk.client.clone(), &recovery.namespace().unwrap_or_default());
    claims.get(&claim.name).await.map_err(unread("the replica's claim"))
}

fn unread(what: &str) -> impl FnOnce(kube::Error) -> CannotMake {
    let what = what.to_owned();
    move |source| CannotMake::Unread { what, source: Box::new(source) }
}
