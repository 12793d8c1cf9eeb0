//! The guards: each of them must hold before something is done that can lose something. *No client, no clock.* (P2–P8, P10)
//!
//! One name a guard, one rule a name. The plan asks them in its own order, so that each one that does not hold yet says what
//! is to be done next; none is implied by another. Tests take each away in turn and see a promise broken (`model`).

use super::{
    Binding, Carried, ClaimNow, Confirmation, Consent, Direction, Fit, HoldNow, Kin, Life, Orders, PodNow, Proof,
    Reclaim, Record, Reservations, Reserved, VolumeNow, VolumePhase, Way, World,
};
use crate::Uid;

/// What must hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Guard {
    /// The replacement was inspected and found whole (P3). An undo needs none: the original is what it was.
    Proven,
    /// The last look at the evidence allows it (P2, P6, P7).
    Confirmed,
    /// Whoever must agree has agreed, to this verdict (P1).
    Agreed,
    /// The claim is the recorded one, stays, and is bound to the recorded volume (P5).
    SameClaim,
    /// The pod is the diagnosed replica's (P5).
    SamePod,
    /// The volume that comes is what the owner of the claim will ask for (P8).
    Fits,
    /// No third volume is reserved for the claim's name (P8).
    OneReservation,
    /// Nothing else stands in the way.
    FreeWay,
    /// Both volumes are set to `Retain` (P4).
    Kept,
    /// The pod is held away (P8).
    Held,
    /// The pod is gone, and so are its processes (P10).
    PodGone,
    /// Identity and signing state were carried over while this very hold was in force (P10).
    Carried,
    /// The volume that comes waits for the claim's name (P8).
    Waiting,
    /// The claim is bound, both ways, to the original or to the proven replacement (P8).
    RightVolume,
    /// Nobody uses the volume (P4).
    Unused,
}

impl Guard {
    /// All of them.
    pub const ALL: [Self; 15] = [
        Self::Proven,
        Self::Confirmed,
        Self::Agreed,
        Self::SameClaim,
        Self::SamePod,
        Self::Fits,
        Self::OneReservation,
        Self::FreeWay,
        Self::Kept,
        Self::Held,
        Self::PodGone,
        Self::Carried,
        Self::Waiting,
        Self::RightVolume,
        Self::Unused,
    ];

    /// Whether it holds.
    #[must_use]
    pub fn holds(self, record: &Record, world: &World, orders: Orders) -> bool {
        #[cfg(test)]
        if super::model::is_taken_away(self) {
            return true;
        }
        match self {
            Self::Proven => record.direction == Direction::Back || is_proven(record, world),
            Self::Confirmed => record.direction == Direction::Back || world.confirmation == Confirmation::Allows,
            Self::Agreed => {
                record.direction == Direction::Back || matches!(orders.consent, Consent::NotNeeded | Consent::Given)
            }
            Self::SameClaim => record.leaving().is_some_and(|volume| world.claim_on(volume) == Some(&record.claim)),
            Self::SamePod => !matches!(world.pod, PodNow::There { kin: Kin::Foreign, .. }),
            Self::Fits => world.fit == Fit::Fits,
            Self::OneReservation => world.reservations == Reservations::OnlyOurs,
            Self::FreeWay => world.way == Way::Free,
            Self::Kept => is_kept(&world.original) && is_kept(&world.replacement),
            Self::Held => matches!(world.hold, HoldNow::On(_)),
            Self::PodGone => world.pod == PodNow::Ended,
            Self::Carried => match (&record.carried, &world.hold) {
                (Carried::Under(then), HoldNow::On(now)) => then == now,
                (Carried::NotYet | Carried::Under(_), _) => false,
            },
            Self::Waiting => record.coming().is_some_and(|volume| world.volume(record, volume).waits_for_the_name()),
            Self::RightVolume => is_right(record, world),
            Self::Unused => true,
        }
    }

    /// Whether nobody uses this volume: asked of one volume, where the others are asked of the whole.
    pub(super) fn is_unused(record: &Record, world: &World, volume: &Uid) -> bool {
        #[cfg(test)]
        if super::model::is_taken_away(Self::Unused) {
            return true;
        }
        let ours_alone = match (world.volume(record, volume), &world.temporary) {
            (VolumeNow::There { phase: VolumePhase::Released, .. }, _) => true,
            (VolumeNow::There { reserved: Reserved::For(of), .. }, ClaimNow::There { uid, .. }) => of == uid,
            _ => false,
        };
        ours_alone && world.claim_on(volume).is_none()
    }
}

fn is_proven(record: &Record, world: &World) -> bool {
    record.proof == Proof::Stands && record.replacement.is_some() && world.replacement != VolumeNow::Absent
}

fn is_kept(volume: &VolumeNow) -> bool {
    matches!(volume, VolumeNow::There { reclaim: Reclaim::Retain, .. })
}

/// Bound both ways: the claim names the volume, and the volume the claim.
fn is_right(record: &Record, world: &World) -> bool {
    let ClaimNow::There { uid, binding: Binding::To(volume), life: Life::Stays } = &world.claim else { return false };
    let proven = record.proof == Proof::Stands
        && record.replacement.as_ref().is_some_and(|replacement| replacement.volume == *volume);
    let known = proven || record.original.volume == *volume;
    known && world.volume(record, volume).reserved() == Some(&Reserved::For(uid.clone()))
}
