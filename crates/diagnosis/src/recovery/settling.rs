//! The claim is brought under one of the two volumes while the pod is held away: forth, back, or back again. *No client, no
//! clock.* (P4, P8)

use super::{
    Binding, ClaimNow, Command, Direction, End, Guard, HoldNow, Life, Note, Orders, Patience, PodNow, Record, Reserved,
    Stage, Switch, Undo, VolumeNow, Why, World,
    detaching::{part, reserve},
};
use crate::Uid;

/// What must hold when the claim is deleted: the one deed after which the old volume is off.
const BEFORE_THE_CLAIM_GOES: [Guard; 10] = [
    Guard::Proven,
    Guard::SameClaim,
    Guard::Fits,
    Guard::OneReservation,
    Guard::FreeWay,
    Guard::Kept,
    Guard::Held,
    Guard::PodGone,
    Guard::Carried,
    Guard::Waiting,
];

/// To the volume that comes.
pub(super) fn swapping(record: &Record, world: &World, orders: Orders) -> Command {
    let (Some(coming), Some(leaving)) = (record.coming(), record.leaving()) else {
        return Command::enter(Stage::Blocked);
    };
    if world.claim_on(coming).is_some() && Guard::RightVolume.holds(record, world, orders) {
        return settled(world);
    }
    if *world.volume(record, coming) == VolumeNow::Absent {
        return Command::enter(Stage::Returning(Why::VolumeGone));
    }
    if world.claim_on(leaving).is_some() {
        let told_to_stop = orders.switch != Switch::GoOn || orders.undo == Undo::Asked;
        if record.direction == Direction::Forth && told_to_stop {
            return Command::enter(Stage::Returning(Why::ToldToStop));
        }
        let broken = BEFORE_THE_CLAIM_GOES.into_iter().find(|guard| !guard.holds(record, world, orders));
        return match broken {
            Some(guard) => Command::enter(Stage::Returning(Why::Guard(guard))),
            None => Command::DeleteClaim { uid: record.claim.clone() },
        };
    }
    bring(record, world, orders, coming, leaving)
}

/// The node may start on it.
fn settled(world: &World) -> Command {
    match &world.claim {
        ClaimNow::There { uid, .. } => Command::Write(Note::Swapped(uid.clone())),
        ClaimNow::Absent => Command::Wait,
    }
}

/// To the volume that was to leave: nothing of the attempt stays.
pub(super) fn returning(record: &Record, world: &World, orders: Orders, why: Why) -> Command {
    let (Some(coming), Some(leaving)) = (record.coming(), record.leaving()) else {
        return Command::enter(Stage::TidyingUp(End::Abandoned(why)));
    };
    if world.claim_on(coming).is_some() && Guard::RightVolume.holds(record, world, orders) {
        return settled(world);
    }
    if let Some(command) = withdraw(record, world, coming) {
        return command;
    }
    if let Some(claim) = world.claim_on(leaving)
        && Guard::RightVolume.holds(record, world, orders)
    {
        if world.jobs_are_left() {
            return Command::RemoveJobs;
        }
        return match (&world.hold, record.direction) {
            (HoldNow::On(_) | HoldNow::Coming, _) => Command::Release { claim: claim.clone(), volume: leaving.clone() },
            (_, Direction::Forth) if *claim == record.claim => Command::enter(Stage::TidyingUp(End::Abandoned(why))),
            (_, Direction::Forth) => Command::enter(Stage::TidyingUp(End::RolledBack)),
            (_, Direction::Back) => Command::enter(Stage::TidyingUp(End::NeedsHuman(why))),
        };
    }
    if *world.volume(record, leaving) == VolumeNow::Absent {
        return Command::enter(Stage::Blocked);
    }
    bring(record, world, orders, leaving, coming)
}

/// What is reserved for the name must not be there when the other one is wanted: which of two is taken is chance.
pub(super) fn withdraw(record: &Record, world: &World, volume: &Uid) -> Option<Command> {
    match world.volume(record, volume).reserved() {
        Some(seen @ (Reserved::ForTheName | Reserved::ForTheTemporary)) => {
            Some(Command::Withdraw { volume: volume.clone(), seen: seen.clone() })
        }
        _ => None,
    }
}

/// The claim is gone, or going, or has not got the volume yet.
fn bring(record: &Record, world: &World, orders: Orders, goal: &Uid, other: &Uid) -> Command {
    let sound = [Guard::OneReservation, Guard::SamePod].into_iter().all(|guard| guard.holds(record, world, orders));
    if record.patience == Patience::Over || !sound {
        return Command::enter(Stage::Blocked);
    }
    if let Some(command) = withdraw(record, world, other) {
        return command;
    }
    match &world.hold {
        HoldNow::Off => return Command::Hold,
        HoldNow::Impossible => return Command::enter(Stage::Blocked),
        HoldNow::Coming => return Command::Wait,
        HoldNow::On(_) => {}
    }
    if matches!(world.pod, PodNow::There { .. })
        && let Some(command) = part(record, world, orders)
    {
        return command;
    }
    let ready = world.volume(record, goal).waits_for_the_name();
    match &world.claim {
        ClaimNow::There { life: Life::Terminating, .. } => Command::Wait,
        ClaimNow::There { binding: Binding::To(_) | Binding::Broken, uid, .. } if world.claim_on(goal).is_none() => {
            // A claim that the owner made in our absence, on a volume that nobody proved.
            if ready && orders.undo == Undo::Asked && Guard::PodGone.holds(record, world, orders) {
                Command::DeleteClaim { uid: uid.clone() }
            } else if orders.undo == Undo::Asked {
                place(record, world, goal)
            } else {
                Command::enter(Stage::Blocked)
            }
        }
        ClaimNow::Absent | ClaimNow::There { .. } => place(record, world, goal),
    }
}

/// The wanted volume is made to wait for the name; our own claim lets go of it first.
fn place(record: &Record, world: &World, goal: &Uid) -> Command {
    match world.temporary.on(goal) {
        Some(_) if world.jobs_are_left() => Command::RemoveJobs,
        Some(uid) => Command::DeleteTemporary { uid: uid.clone() },
        None => reserve(record, world, goal, &Reserved::ForTheName).unwrap_or(Command::Wait),
    }
}

/// Waits for a human (P8), or goes on where the claim has a right volume again.
pub(super) fn blocked(record: &Record, world: &World, orders: Orders) -> Command {
    if orders.release == super::ForcedRelease::Asked {
        return match world.hold {
            HoldNow::On(_) | HoldNow::Coming => Command::ReleaseByForce,
            HoldNow::Off | HoldNow::Impossible => {
                Command::enter(Stage::TidyingUp(End::NeedsHuman(Why::ReleasedByForce)))
            }
        };
    }
    let (Some(coming), Some(leaving)) = (record.coming(), record.leaving()) else { return Command::Wait };
    if Guard::RightVolume.holds(record, world, orders) {
        if world.claim_on(coming).is_some() {
            return settled(world);
        }
        if world.claim_on(leaving).is_some() {
            return Command::enter(Stage::Returning(Why::Guard(Guard::RightVolume)));
        }
    }
    // Where it has to wait it must be held.
    if world.hold == HoldNow::Off {
        return Command::Hold;
    }
    let wanted = orders.undo == Undo::Asked || orders.switch == Switch::Leave;
    let possible = Guard::OneReservation.holds(record, world, orders)
        && *world.volume(record, leaving) != VolumeNow::Absent
        && world.hold != HoldNow::Impossible;
    let another_claim = matches!(&world.claim, ClaimNow::There { binding: Binding::To(_) | Binding::Broken, .. });
    if wanted && possible && (!another_claim || orders.undo == Undo::Asked) {
        Command::enter(Stage::Returning(Why::Guard(Guard::RightVolume)))
    } else {
        Command::Wait
    }
}
