//! What happens by itself: the owner, the binder, the kubelet, the Jobs. Each gives every next state there may be.

use super::super::{JobNow, Reclaim, VolumePhase};
use super::kube::{Claim, Data, For, Kube, Pod, Volume, Which};

/// Every state that one controller may make of this one.
pub(super) fn moves(kube: &Kube) -> Vec<(&'static str, Kube)> {
    let mut next = Vec::new();
    owner(kube, &mut next);
    binder(kube, &mut next);
    provisioner(kube, &mut next);
    protection(kube, &mut next);
    volumes(kube, &mut next);
    kubelet(kube, &mut next);
    jobs(kube, &mut next);
    if let Some((number, false)) = kube.hold {
        next.push(("hold in force", Kube { hold: Some((number, true)), ..kube.clone() }));
    }
    next
}

type Next = Vec<(&'static str, Kube)>;

/// Makes a claim that is missing; makes a pod that is missing unless its claim goes, or the pod is held away.
fn owner(kube: &Kube, next: &mut Next) {
    match kube.claim {
        None => {
            let mut made = kube.clone();
            let uid = made.take_uid();
            made.claim = Some(Claim { uid, volume: None, terminating: false });
            next.push(("owner makes the claim", made));
        }
        Some(claim) if !claim.terminating && kube.pod.is_none() && !kube.is_held() => {
            let mut made = kube.clone();
            let uid = made.take_uid();
            made.pod = Some(Pod { uid, claim: claim.uid, ours: true, terminating: false, runs: false });
            next.push(("owner makes the pod", made));
        }
        Some(_) => {}
    }
}

/// Gives a pending claim a volume that waits for it; which one of several is chance. One that names its volume gets that.
fn binder(kube: &Kube, next: &mut Next) {
    if let Some(Claim { uid, volume: Some(which), terminating: false }) = kube.claim
        && kube.volume(which).is_some_and(|it| it.reserved == For::Name && it.phase == VolumePhase::Available)
    {
        let mut bound = kube.clone();
        if let Some(volume) = bound.volume_mut(which) {
            volume.reserved = For::Claim(uid);
            volume.phase = VolumePhase::Bound;
        }
        next.push(("binder binds what the claim names", bound));
    }
    let Some(claim) = kube.claim.filter(|claim| claim.volume.is_none() && !claim.terminating) else { return };
    let waiting: Vec<Which> = [Which::Original, Which::Restored]
        .into_iter()
        .filter(|which| {
            kube.volume(*which).is_some_and(|it| it.reserved == For::Name && it.phase == VolumePhase::Available)
        })
        .filter(|which| *which == Which::Original || kube.fits)
        .collect();
    for which in &waiting {
        let mut bound = kube.clone();
        bound.claim = Some(Claim { volume: Some(*which), ..claim });
        if let Some(volume) = bound.volume_mut(*which) {
            volume.reserved = For::Claim(claim.uid);
            volume.phase = VolumePhase::Bound;
        }
        next.push(("binder binds", bound));
    }
    // An empty volume for whom nothing waits; a third one that is reserved is as good as empty.
    let refused = kube.claim_rule && kube.is_held();
    if (waiting.is_empty() || kube.third_reservation) && !refused && kube.blank.is_none() {
        let mut bound = kube.clone();
        bound.claim = Some(Claim { volume: Some(Which::Blank), ..claim });
        bound.blank = Some(Volume {
            reserved: For::Claim(claim.uid),
            reclaim: Reclaim::Delete,
            phase: VolumePhase::Bound,
            data: Data::Blank,
            signed: 0,
        });
        next.push(("provisioner makes an empty volume", bound));
    }
}

/// Makes the temporary claim's volume from its snapshot, or gives it the one that is reserved for it.
fn provisioner(kube: &Kube, next: &mut Next) {
    let Some(claim) = kube.temporary.filter(|claim| claim.volume.is_none() && !claim.terminating) else { return };
    let mut bound = kube.clone();
    if let Some(snapshot) = kube.restores {
        if kube.restored.is_some() || !kube.snapshots.get(snapshot).copied().unwrap_or_default() {
            return;
        }
        bound.temporary = Some(Claim { volume: Some(Which::Restored), ..claim });
        bound.restored = Some(Volume {
            reserved: For::Claim(claim.uid),
            reclaim: Reclaim::Delete,
            phase: VolumePhase::Bound,
            data: if snapshot == 0 { Data::Damaged } else { Data::Whole },
            signed: 1,
        });
        next.push(("snapshot restored", bound));
    } else if let Some(volume) = &mut bound.original
        && volume.reserved == For::Temporary
        && volume.phase == VolumePhase::Available
    {
        volume.reserved = For::Claim(claim.uid);
        volume.phase = VolumePhase::Bound;
        bound.temporary = Some(Claim { volume: Some(Which::Original), ..claim });
        next.push(("temporary claim takes the original", bound));
    }
}

/// A claim that goes is gone once no pod uses it.
fn protection(kube: &Kube, next: &mut Next) {
    let is_used = |uid: u8| kube.pod.is_some_and(|pod| pod.claim == uid);
    let job_runs = kube.carrier == JobNow::Running;
    if let Some(claim) = kube.claim.filter(|claim| claim.terminating && !is_used(claim.uid) && !job_runs) {
        let mut gone = Kube { claim: None, ..kube.clone() };
        release(&mut gone, claim);
        next.push(("the claim is gone", gone));
    }
    let job_runs = job_runs || kube.prover == JobNow::Running;
    if let Some(claim) = kube.temporary.filter(|claim| claim.terminating && !job_runs) {
        let mut gone = Kube { temporary: None, restores: None, ..kube.clone() };
        release(&mut gone, claim);
        next.push(("the temporary claim is gone", gone));
    }
}

fn release(kube: &mut Kube, claim: Claim) {
    let Some(which) = claim.volume else { return };
    if let Some(volume) = kube.volume_mut(which)
        && volume.reserved == For::Claim(claim.uid)
    {
        volume.phase = VolumePhase::Released;
    }
}

/// A volume that waits for a name becomes available; one whose claim is gone is destroyed unless it is to be kept.
fn volumes(kube: &Kube, next: &mut Next) {
    for which in [Which::Original, Which::Restored, Which::Blank] {
        let Some(volume) = kube.volume(which) else { continue };
        if matches!(volume.reserved, For::Name | For::Temporary) && volume.phase == VolumePhase::Released {
            let mut available = kube.clone();
            if let Some(volume) = available.volume_mut(which) {
                volume.phase = VolumePhase::Available;
            }
            next.push(("a volume is available", available));
        } else if volume.phase == VolumePhase::Released && volume.reclaim == Reclaim::Delete {
            let mut destroyed = kube.clone();
            *destroyed.volume_mut(which) = None;
            next.push(("a volume is destroyed", destroyed));
        }
    }
}

/// Starts the node, which signs once; ends a pod that goes.
fn kubelet(kube: &Kube, next: &mut Next) {
    let Some(pod) = kube.pod else { return };
    if pod.terminating {
        next.push(("the pod has ended", Kube { pod: None, seen_to_end: true, advances: false, ..kube.clone() }));
        return;
    }
    let Some(volume) = kube.under_pod() else { return };
    if !pod.runs {
        let mut started = kube.clone();
        started.pod = Some(Pod { runs: true, ..pod });
        let signs = volume.signed.saturating_add(1);
        started.signed = started.signed.max(signs);
        if let Some(which) = kube.claim.and_then(|claim| claim.volume)
            && let Some(volume) = started.volume_mut(which)
        {
            volume.signed = signs;
        }
        next.push(("the node starts", started));
    } else if volume.data == Data::Whole && !kube.advances {
        next.push(("the node advances", Kube { advances: true, ..kube.clone() }));
    } else if volume.data == Data::Whole && kube.advances {
        next.push(("the node crashes again", Kube { advances: false, ..kube.clone() }));
    }
}

fn jobs(kube: &Kube, next: &mut Next) {
    if kube.prover == JobNow::Running
        && let Some(volume) = &kube.restored
    {
        let says = if volume.data == Data::Whole { JobNow::Yes } else { JobNow::No };
        next.push(("the inspector reports", Kube { prover: says, ..kube.clone() }));
    }
    if kube.carrier == JobNow::Running {
        next.push(("the carrier fails", Kube { carrier: JobNow::No, ..kube.clone() }));
        let from = kube.claim.and_then(|claim| claim.volume).and_then(|which| kube.volume(which)).map(|it| it.signed);
        let to = kube.temporary.and_then(|claim| claim.volume);
        if let (Some(signed), Some(to)) = (from, to) {
            let mut done = Kube { carrier: JobNow::Yes, ..kube.clone() };
            if let Some(volume) = done.volume_mut(to) {
                volume.signed = volume.signed.max(signed);
            }
            next.push(("the carrier is done", done));
        }
    }
}
