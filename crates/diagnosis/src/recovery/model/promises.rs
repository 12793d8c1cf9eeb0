//! What must never be, whatever happens: written a second time, from the cluster's own state, without the plan's guards.

use super::super::{
    Command, Confirmation, Consent, Direction, End, JobNow, Note, Orders, Proof, Reclaim, Record, Stage, VolumePhase,
};
use super::kube::{Data, For, Kube, Which, uid};

/// No run makes more objects.
const UIDS_MAX: u8 = 16;

/// The promise that a state breaks.
pub(super) fn broken_by(kube: &Kube, record: &Record, gave_up: bool) -> Option<&'static str> {
    let runs_on = kube.pod.filter(|pod| pod.runs).and(kube.under_pod());
    if let Some(volume) = runs_on.filter(|_| !kube.excuse) {
        if matches!(volume.data, Data::Blank | Data::Damaged) {
            return Some("P8: a node runs on a volume that nobody proved");
        }
        if volume.signed < kube.signed {
            return Some("P10: a node runs on a signing state that is older than what it has signed");
        }
    }
    let original = kube.original.as_ref().is_some_and(|it| it.data == Data::Original);
    let may_go = matches!(record.stage, Stage::TidyingUp(End::Recovered) | Stage::Ended(End::Recovered));
    if !original && !may_go && !kube.excuse {
        return Some("P4: the original's data is gone");
    }
    if kube.next_uid > UIDS_MAX {
        return Some("P12: the same is done again and again");
    }
    if let Stage::Ended(end) = record.stage {
        return at_the_end(kube, end, gave_up);
    }
    None
}

fn at_the_end(kube: &Kube, end: End, gave_up: bool) -> Option<&'static str> {
    if kube.hold.is_some() {
        return Some("P12: a hold is left");
    }
    if kube.excuse {
        return None;
    }
    let volumes = [&kube.original, &kube.restored];
    if volumes.into_iter().flatten().any(|it| matches!(it.reserved, For::Name | For::Temporary)) {
        return Some("P8: a volume is left reserved for a name");
    }
    let claim = kube.claim.filter(|claim| !claim.terminating && claim.volume.is_some());
    let which = claim.and_then(|claim| claim.volume)?;
    let used = kube.volume(which)?;
    if used.reclaim == Reclaim::Retain && !gave_up {
        return Some("P12: the reclaim policy of the volume in use is not what it was");
    }
    match end {
        End::RolledBack if which != Which::Original => Some("P4: an undo did not bring the original back"),
        End::Held(_) | End::Abandoned(_) if which != Which::Original => Some("P12: nothing was to be swapped"),
        End::Recovered if which != Which::Restored => Some("P12: recovered, on another volume"),
        _ if gave_up => None,
        _ if kube.temporary.is_some() || kube.carrier != JobNow::Absent || kube.prover != JobNow::Absent => {
            Some("P12: something of ours is left")
        }
        _ => None,
    }
}

/// The promise that a decision breaks, at the moment when it is made.
pub(super) fn broken_by_deciding(
    kube: &Kube,
    record: &Record,
    orders: Orders,
    command: &Command,
) -> Option<&'static str> {
    match command {
        Command::DeleteClaim { uid: of } => {
            if kube.deleted >= 2 && orders.undo == super::super::Undo::NotAsked {
                return Some("P9: more than one swap forth and one back");
            }
            let claim = kube.claim?;
            if uid("claim", claim.uid) != *of {
                return Some("P5: a claim that is not the one that was read");
            }
            if claim.volume == Some(Which::Blank) {
                return (orders.undo != super::super::Undo::Asked).then_some("P5: somebody else's claim, unasked");
            }
            if *of != record.claim {
                return Some("P5: a claim that was not diagnosed");
            }
            let (leaves, comes) = match record.direction {
                Direction::Forth => (Which::Original, Which::Restored),
                Direction::Back => (Which::Restored, Which::Original),
            };
            if claim.volume != Some(leaves) {
                return Some("P5: the claim has another volume than was diagnosed");
            }
            may_go(kube, record, leaves, comes)
        }
        Command::DeletePod { uid: of } => {
            let pod = kube.pod?;
            let right = pod.ours && uid("pod", pod.uid) == *of;
            (!right).then_some("P5: a pod that is not the replica's")
        }
        Command::SendCarrier if kube.pod.is_some() || !kube.seen_to_end => {
            Some("P10: signing state copied while the node may still run")
        }
        Command::Release { .. } => {
            let claim = kube.claim.filter(|claim| !claim.terminating)?;
            let both_ways = |it: &&super::kube::Volume| it.reserved == For::Claim(claim.uid);
            let volume = claim.volume.and_then(|which| kube.volume(which)).filter(both_ways);
            let right = volume.is_some_and(|it| matches!(it.data, Data::Original | Data::Whole));
            (!right).then_some("P8: a hold released onto a volume that nobody proved, or that is not bound")
        }
        Command::Drop { volume } => {
            let used = kube.claim.and_then(|claim| claim.volume).map(super::kube::name);
            let expired = matches!(record.stage, Stage::TidyingUp(End::Recovered));
            (used == Some(volume.as_str()) || (volume.as_str() == super::kube::ORIGINAL && !expired))
                .then_some("P4: a volume in use, or the original, destroyed")
        }
        Command::Write(Note::Enter(Stage::Detaching)) => {
            let agreed = matches!(orders.consent, Consent::NotNeeded | Consent::Given);
            if !agreed {
                return Some("P1: begun without the word that is needed");
            }
            if kube.confirmation != Confirmation::Allows {
                return Some("P2: begun on evidence that was not confirmed");
            }
            if record.proof != Proof::Stands || kube.restored.as_ref().is_none_or(|it| it.data != Data::Whole) {
                return Some("P3: begun without a proven replacement");
            }
            None
        }
        _ => None,
    }
}

/// Everything that must be so when the claim is deleted.
fn may_go(kube: &Kube, record: &Record, leaves: Which, comes: Which) -> Option<&'static str> {
    let (Some(old), Some(new)) = (kube.volume(leaves), kube.volume(comes)) else {
        return Some("P3: one of the two volumes is not there");
    };
    if record.direction == Direction::Forth && new.data != Data::Whole {
        return Some("P3: detached before a proven replacement exists");
    }
    if old.reclaim != Reclaim::Retain || new.reclaim != Reclaim::Retain {
        return Some("P4: a volume would be destroyed with its claim");
    }
    if kube.pod.is_some() || !kube.seen_to_end {
        return Some("P10: the claim is deleted while the node may still run");
    }
    if !kube.is_held() {
        return Some("P8: the claim is deleted while nothing holds the pod");
    }
    if new.signed < kube.signed {
        return Some("P10: the volume that comes has an older signing state");
    }
    if new.reserved != For::Name || new.phase != VolumePhase::Available {
        return Some("P8: the volume that comes does not wait for the claim: an empty one would be made");
    }
    if kube.third_reservation {
        return Some("P8: two volumes wait for one name");
    }
    if record.direction == Direction::Forth && !kube.fits {
        return Some("P8: the volume that comes does not fit what the owner asks for: an empty one would be made");
    }
    (!kube.way_is_free).then_some("P12: something stands in the way of the owner")
}
