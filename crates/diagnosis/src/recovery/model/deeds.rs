//! What a command does, as the API server does it: with its preconditions, on the cluster as it is by then.

use super::super::{Command, JobNow, Reclaim, Record, Reserved, VolumePhase};
use super::kube::{Claim, For, Kube, Which, name, uid};
use crate::Uid;

// tidy: long function, because it is one arm a command.
/// The cluster after a command, unless a precondition does not hold any more.
pub(super) fn done(kube: &Kube, record: &Record, command: &Command) -> Option<Kube> {
    let mut kube = kube.clone();
    match command {
        Command::Write(_) | Command::Wait | Command::Rest => {}
        Command::Restore { snapshot } => {
            let number = (0..2_u8).find(|number| uid("snapshot", *number) == *snapshot)?;
            make_temporary(&mut kube, Some(usize::from(number)))?;
        }
        Command::Adopt { .. } => make_temporary(&mut kube, None)?,
        Command::SendProver if kube.prover == JobNow::Absent => kube.prover = JobNow::Running,
        Command::SendCarrier if kube.carrier == JobNow::Absent => {
            kube.carrier = JobNow::Running;
            kube.carrier_under = kube.hold.map_or(0, |(number, _)| number);
        }
        Command::SendProver | Command::SendCarrier => return None,
        Command::RemoveJobs => {
            kube.prover = JobNow::Absent;
            kube.carrier = JobNow::Absent;
        }
        Command::LookAgain => kube.confirmation = super::super::Confirmation::Allows,
        Command::Keep { volume } => kube.volume_mut(which(volume)?).as_mut()?.reclaim = Reclaim::Retain,
        Command::GiveBackReclaim { volume } => {
            let bound = kube.claim.is_some_and(|claim| claim.volume == which(volume));
            if !bound {
                return None;
            }
            kube.volume_mut(which(volume)?).as_mut()?.reclaim = Reclaim::Delete;
        }
        Command::Hold => {
            if kube.hold.is_some() {
                return None;
            }
            let number = kube.take_uid();
            kube.hold = Some((number, false));
        }
        Command::Release { claim, volume } => {
            let right = kube.claim.filter(|it| uid("claim", it.uid) == *claim && !it.terminating)?;
            if right.volume != Some(which(volume)?) {
                return None;
            }
            kube.hold = None;
        }
        Command::ReleaseByForce => {
            kube.hold = None;
            kube.excuse = true;
        }
        Command::DeletePod { uid: of } => {
            let pod = kube.pod.as_mut().filter(|pod| uid("pod", pod.uid) == *of)?;
            pod.terminating = true;
        }
        Command::DeleteTemporary { uid: of } => {
            kube.temporary.as_mut().filter(|claim| uid("claim", claim.uid) == *of)?.terminating = true;
        }
        Command::DeleteClaim { uid: of } => {
            let claim = kube.claim.as_mut().filter(|claim| uid("claim", claim.uid) == *of && !claim.terminating)?;
            claim.terminating = true;
            kube.deleted += 1;
        }
        Command::Reserve { volume, seen, then } => {
            let volume = kube.volume_mut(which(volume)?).as_mut()?;
            if reserved(seen)? != volume.reserved {
                return None;
            }
            volume.reserved = reserved(then)?;
            if volume.phase == VolumePhase::Available {
                volume.phase = VolumePhase::Released;
            }
        }
        Command::Withdraw { volume, seen } => {
            let volume = kube.volume_mut(which(volume)?).as_mut()?;
            if reserved(seen)? != volume.reserved {
                return None;
            }
            volume.reserved = For::Nobody;
            volume.phase = VolumePhase::Released;
        }
        Command::Drop { volume } => {
            let volume = kube.volume_mut(which(volume)?).as_mut()?;
            let ours_alone = volume.phase == VolumePhase::Released
                || !matches!(volume.reserved, For::Claim(it)
                if Some(uid("claim", it)) == Some(record.claim.clone()));
            if !ours_alone {
                return None;
            }
            volume.reclaim = Reclaim::Delete;
        }
    }
    Some(kube)
}

fn make_temporary(kube: &mut Kube, snapshot: Option<usize>) -> Option<()> {
    if kube.temporary.is_some() {
        return None;
    }
    let uid = kube.take_uid();
    kube.temporary = Some(Claim { uid, volume: None, terminating: false });
    kube.restores = snapshot;
    Some(())
}

fn which(volume: &Uid) -> Option<Which> {
    [Which::Original, Which::Restored, Which::Blank].into_iter().find(|which| name(*which) == volume.as_str())
}

fn reserved(reserved: &Reserved) -> Option<For> {
    match reserved {
        Reserved::ForTheName => Some(For::Name),
        Reserved::ForTheTemporary => Some(For::Temporary),
        Reserved::ForNobody => Some(For::Nobody),
        Reserved::For(of) => (0..=u8::MAX).find(|number| uid("claim", *number) == *of).map(For::Claim),
        Reserved::ForAnybody => None,
    }
}
