//! Before the end: nothing of ours is left, no hold, no reservation, and the reclaim policies are as they were. *No client, no
//! clock.* (P4, P8, P12)

use super::{
    ClaimNow, Command, End, Guard, HoldNow, Life, OnExpiry, Orders, Patience, Reclaim, Record, Stage, VolumeNow,
    VolumePhase, World, settling::withdraw,
};
use crate::Uid;

pub(super) fn next(record: &Record, world: &World, orders: Orders, end: End) -> Command {
    if matches!(world.hold, HoldNow::On(_) | HoldNow::Coming) {
        return release(record, world, orders);
    }
    // P8: no reservation outlives this, however long it takes.
    if let Some(command) = record.volumes().find_map(|kept| withdraw(record, world, &kept.volume)) {
        return command;
    }
    // Whatever else resists is named in the record; the end does not wait for it for ever.
    if record.patience == Patience::Over {
        return Command::enter(Stage::Ended(end));
    }
    if world.jobs_are_left() {
        return Command::RemoveJobs;
    }
    for kept in record.volumes() {
        if is_to_go(record, world, orders, end, &kept.volume) {
            if let Some(command) = drop_it(record, world, &kept.volume) {
                return command;
            }
        } else if kept.reclaim_before == Reclaim::Delete
            && world.claim_on(&kept.volume).is_some()
            && matches!(world.volume(record, &kept.volume), VolumeNow::There { reclaim: Reclaim::Retain, .. })
        {
            return Command::GiveBackReclaim { volume: kept.volume.clone() };
        }
    }
    match &world.temporary {
        ClaimNow::There { uid, life: Life::Stays, .. } => Command::DeleteTemporary { uid: uid.clone() },
        ClaimNow::There { .. } => Command::Wait,
        ClaimNow::Absent => Command::enter(Stage::Ended(end)),
    }
}

fn release(record: &Record, world: &World, orders: Orders) -> Command {
    if !Guard::RightVolume.holds(record, world, orders) {
        return Command::enter(Stage::Blocked);
    }
    let on = record.volumes().find_map(|kept| Some((world.claim_on(&kept.volume)?, &kept.volume)));
    match on {
        Some((claim, volume)) => Command::Release { claim: claim.clone(), volume: volume.clone() },
        None => Command::enter(Stage::Blocked),
    }
}

/// Whether a volume has no further use: the replacement where the original stays, the original when its time is over.
fn is_to_go(record: &Record, world: &World, orders: Orders, end: End, volume: &Uid) -> bool {
    let is_original = record.original.volume == *volume;
    let original_is_in_use = world.claim_on(&record.original.volume).is_some();
    match end {
        End::Recovered => is_original && orders.on_expiry == OnExpiry::Delete,
        End::Held(_) | End::Abandoned(_) | End::RolledBack => !is_original && original_is_in_use,
        End::NeedsHuman(_) => false,
    }
}

/// None where it is gone, or goes by itself with our claim.
fn drop_it(record: &Record, world: &World, volume: &Uid) -> Option<Command> {
    let VolumeNow::There { reclaim, phase, .. } = world.volume(record, volume) else { return None };
    if !Guard::is_unused(record, world, volume) {
        return None;
    }
    match (reclaim, phase) {
        (Reclaim::Retain, _) => Some(Command::Drop { volume: volume.clone() }),
        (Reclaim::Delete, VolumePhase::Released) => Some(Command::Wait),
        (Reclaim::Delete, VolumePhase::Available | VolumePhase::Bound) => None,
    }
}
