//! What somebody else does meanwhile: one such deed in a run.

use super::super::{
    Confirmation, Consent, ForcedRelease, OnFailure, Orders, Reclaim, Stage, Switch, Undo, VolumePhase,
};
use super::kube::{Claim, For, Kube, Pod, Which};

// tidy: long function, because it is one paragraph a deed.
/// Every state that one deed of a person may make; the name says which.
pub(super) fn deeds(kube: &Kube, orders: Orders, stage: Stage) -> Vec<(&'static str, Kube, Orders)> {
    let mut next = Vec::new();
    let mut edit = |name, change: &dyn Fn(&mut Kube)| {
        let mut changed = kube.clone();
        change(&mut changed);
        next.push((name, changed, orders));
    };
    edit("somebody deletes the pod", &|kube| {
        if let Some(pod) = &mut kube.pod {
            pod.terminating = true;
        }
    });
    edit("somebody deletes the pod by force", &|kube| {
        if kube.pod.take().is_some() {
            kube.seen_to_end = false;
            kube.advances = false;
        }
    });
    edit("somebody makes another pod of the name", &|kube| {
        if kube.pod.is_none()
            && !kube.is_held()
            && let Some(claim) = kube.claim
        {
            let uid = kube.take_uid();
            kube.pod = Some(Pod { uid, claim: claim.uid, ours: false, terminating: false, runs: false });
        }
    });
    edit("somebody deletes the claim", &|kube| {
        let held = kube.is_held();
        if let Some(claim) = &mut kube.claim {
            claim.terminating = true;
            // Whoever deletes the only claim of data, or a claim that nothing holds, has done it himself.
            kube.excuse |= !held || kube.original.as_ref().is_some_and(|it| it.reclaim == Reclaim::Delete);
        }
    });
    edit("somebody makes the claim anew on its volume", &|kube| {
        let uid = kube.take_uid();
        if let (Some(claim), Some(original)) = (&mut kube.claim, &mut kube.original)
            && claim.volume == Some(Which::Original)
            && !claim.terminating
        {
            claim.uid = uid;
            original.reserved = For::Claim(uid);
            if let Some(pod) = &mut kube.pod {
                pod.claim = uid;
            }
        }
    });
    edit("somebody names a volume in the new claim by hand", &|kube| {
        if let Some(claim) = &mut kube.claim
            && claim.volume.is_none()
        {
            claim.volume = Some(Which::Restored);
        }
    });
    edit("somebody swaps back by hand", &|kube| {
        let uid = kube.take_uid();
        if let (Some(claim), Some(original), Some(restored)) = (&mut kube.claim, &mut kube.original, &mut kube.restored)
            && claim.volume == Some(Which::Restored)
            && original.phase == VolumePhase::Released
            && original.reclaim == Reclaim::Retain
        {
            *claim = Claim { uid, volume: Some(Which::Original), terminating: false };
            (original.reserved, original.phase) = (For::Claim(uid), VolumePhase::Bound);
            restored.phase = VolumePhase::Released;
            kube.pod = None;
            kube.advances = false;
            kube.seen_to_end = true;
            kube.excuse = true;
        }
    });
    edit("somebody deletes the temporary claim", &|kube| {
        if let Some(claim) = &mut kube.temporary {
            claim.terminating = true;
        }
    });
    edit("somebody deletes the restored volume's object", &|kube| {
        if kube.restored.as_ref().is_some_and(|it| it.phase != VolumePhase::Bound) {
            kube.restored = None;
        }
    });
    edit("somebody removes the hold", &|kube| {
        if kube.hold.take().is_some() {
            // While the claim is away nobody can keep a blank volume off then.
            kube.excuse |= kube.claim.is_none_or(|claim| {
                claim.terminating || !matches!(claim.volume, Some(Which::Original | Which::Restored))
            });
        }
    });
    edit("somebody reserves a third volume", &|kube| kube.third_reservation = true);
    edit("the template grows", &|kube| kube.fits = false);
    edit("a quota is lowered", &|kube| kube.way_is_free = false);
    edit("the newest snapshot is deleted", &|kube| kube.snapshots = [false, kube.snapshots[1]]);
    edit("the older snapshot is deleted", &|kube| kube.snapshots = [kube.snapshots[0], false]);
    edit("a sibling falls", &|kube| kube.confirmation = Confirmation::Forbids);
    edit("the last look grows old", &|kube| kube.confirmation = Confirmation::Stale);
    next.extend(words(orders, stage).into_iter().map(|(name, changed)| (name, kube.clone(), changed)));
    next.retain(|(_, changed, order)| changed != kube || *order != orders);
    next
}

/// What somebody may ask for.
fn words(orders: Orders, stage: Stage) -> Vec<(&'static str, Orders)> {
    let mut words = vec![
        ("suspended", Orders { switch: Switch::Stop, ..orders }),
        ("the Recovery is deleted", Orders { switch: Switch::Leave, ..orders }),
        ("undo", Orders { undo: Undo::Asked, ..orders }),
        ("rejected", Orders { consent: Consent::Refused, ..orders }),
        ("the verdict changes", Orders { consent: Consent::Awaited, ..orders }),
        ("a failed soak is to stop", Orders { on_failure: OnFailure::Stop, ..orders }),
    ];
    if stage == Stage::Blocked {
        words.push(("released by force", Orders { release: ForcedRelease::Asked, ..orders }));
    }
    words
}
