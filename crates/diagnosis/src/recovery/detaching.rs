//! The pod is taken off the volume that leaves, and what must not be lost is carried to the one that comes. *No client, no
//! clock.* (P4, P5, P8, P10, P12)
//!
//! Up to the end of this stage nothing is lost: the claim still has the volume that it had, and letting the pod come again is
//! all that is needed to go back.

use super::{
    ClaimNow, Command, Direction, Guard, HoldNow, JobNow, Life, Note, Orders, Patience, PodNow, Reclaim, Record,
    Reserved, Stage, Switch, Undo, VolumeNow, VolumePhase, Why, World,
};
use crate::Uid;

/// What must still hold at every step; nothing that is done here can mend it.
const ALL_THE_WHILE: [Guard; 6] =
    [Guard::Proven, Guard::SameClaim, Guard::SamePod, Guard::Fits, Guard::OneReservation, Guard::FreeWay];

pub(super) fn next(record: &Record, world: &World, orders: Orders) -> Command {
    let give_up = |why| Command::enter(Stage::Returning(why));
    if record.direction == Direction::Forth && (orders.switch != Switch::GoOn || orders.undo == Undo::Asked) {
        return give_up(Why::ToldToStop);
    }
    if record.patience == Patience::Over {
        return give_up(Why::TooLong);
    }
    if let Some(guard) = ALL_THE_WHILE.into_iter().find(|guard| !guard.holds(record, world, orders)) {
        return give_up(Why::Guard(guard));
    }
    let Some(coming) = record.coming() else { return give_up(Why::VolumeGone) };
    let VolumeNow::There { .. } = world.volume(record, coming) else { return give_up(Why::VolumeGone) };
    let step = keep(record, world, orders)
        .or_else(|| hold(record, world, orders))
        .or_else(|| part(record, world, orders))
        .or_else(|| carry(record, world, orders, coming))
        .or_else(|| put_in_place(record, world, orders, coming));
    step.unwrap_or(Command::enter(Stage::Swapping))
}

/// P4: both volumes outlive their claims.
fn keep(record: &Record, world: &World, orders: Orders) -> Option<Command> {
    if Guard::Kept.holds(record, world, orders) {
        return None;
    }
    let volumes = [(Some(&record.original), &world.original), (record.replacement.as_ref(), &world.replacement)];
    let lost = volumes.into_iter().find_map(|(kept, volume)| match volume {
        VolumeNow::There { reclaim: Reclaim::Delete, .. } => kept,
        VolumeNow::There { .. } | VolumeNow::Absent => None,
    });
    Some(match lost {
        Some(kept) => Command::Keep { volume: kept.volume.clone() },
        None => Command::enter(Stage::Returning(Why::VolumeGone)),
    })
}

fn hold(record: &Record, world: &World, orders: Orders) -> Option<Command> {
    if Guard::Held.holds(record, world, orders) {
        return None;
    }
    Some(match world.hold {
        HoldNow::Impossible => Command::enter(Stage::Returning(Why::Guard(Guard::Held))),
        HoldNow::Off => Command::Hold,
        HoldNow::Coming | HoldNow::On(_) => Command::Wait,
    })
}

/// The pod goes; where nobody saw its processes end, that is waited for.
pub(super) fn part(record: &Record, world: &World, orders: Orders) -> Option<Command> {
    if Guard::PodGone.holds(record, world, orders) {
        return None;
    }
    Some(match &world.pod {
        PodNow::There { uid, life: Life::Stays, .. } => Command::DeletePod { uid: uid.clone() },
        PodNow::There { .. } | PodNow::Vanished | PodNow::Ended => Command::Wait,
    })
}

/// P10: what the node is, and what it signed last, is copied while no process of it runs.
fn carry(record: &Record, world: &World, orders: Orders, coming: &Uid) -> Option<Command> {
    if Guard::Carried.holds(record, world, orders) {
        return None;
    }
    if world.temporary.on(coming).is_none() {
        return Some(match record.direction {
            Direction::Forth => Command::enter(Stage::Returning(Why::VolumeGone)),
            Direction::Back => reach(record, world, coming),
        });
    }
    Some(match (world.carrier, &world.hold) {
        (JobNow::Absent, _) => Command::SendCarrier,
        (JobNow::Stale, _) => Command::RemoveJobs,
        (JobNow::Running, _) => Command::Wait,
        (JobNow::Yes, HoldNow::On(hold)) => Command::Write(Note::Carried(hold.clone())),
        (JobNow::Yes | JobNow::No, _) => Command::enter(Stage::Returning(Why::NotCarried)),
    })
}

/// The original has no claim any more: one of ours is made for it.
fn reach(record: &Record, world: &World, coming: &Uid) -> Command {
    match (&world.temporary, world.volume(record, coming)) {
        (
            ClaimNow::Absent,
            VolumeNow::There { reserved: Reserved::ForTheTemporary, phase: VolumePhase::Available, .. },
        ) => Command::Adopt { volume: coming.clone() },
        (ClaimNow::Absent, _) => reserve(record, world, coming, &Reserved::ForTheTemporary).unwrap_or(Command::Wait),
        (ClaimNow::There { .. }, _) => Command::Wait,
    }
}

/// The volume that comes is let go by our claim, and waits for the replica's.
fn put_in_place(record: &Record, world: &World, orders: Orders, coming: &Uid) -> Option<Command> {
    if world.jobs_are_left() {
        return Some(Command::RemoveJobs);
    }
    match &world.temporary {
        ClaimNow::There { uid, life: Life::Stays, .. } => return Some(Command::DeleteTemporary { uid: uid.clone() }),
        ClaimNow::There { .. } => return Some(Command::Wait),
        ClaimNow::Absent => {}
    }
    if Guard::Waiting.holds(record, world, orders) {
        return None;
    }
    Some(reserve(record, world, coming, &Reserved::ForTheName).unwrap_or(Command::Wait))
}

/// Reserves a volume by name, where nobody living has it; none where that must be waited for.
pub(super) fn reserve(record: &Record, world: &World, volume: &Uid, then: &Reserved) -> Option<Command> {
    let VolumeNow::There { reserved, phase, .. } = world.volume(record, volume) else { return None };
    if reserved == then || *phase == VolumePhase::Bound {
        return None;
    }
    Some(Command::Reserve { volume: volume.clone(), seen: reserved.clone(), then: then.clone() })
}
