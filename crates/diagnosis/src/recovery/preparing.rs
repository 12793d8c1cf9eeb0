//! Before anything is touched: a snapshot is restored beside the original, proven, agreed to, and confirmed. *No client, no
//! clock.* (P1, P2, P3, P9)

use super::{
    Binding, ClaimNow, Command, Confirmation, Consent, End, Guard, JobNow, Kept, Life, NodeNow, Note, Orders, Patience,
    Reclaim, Record, Stage, Switch, Undo, VolumeNow, Why, World,
};

/// What must hold before the pod is taken away.
const BEFORE_DETACHING: [Guard; 7] = [
    Guard::Proven,
    Guard::Confirmed,
    Guard::Agreed,
    Guard::SameClaim,
    Guard::Fits,
    Guard::OneReservation,
    Guard::FreeWay,
];

/// Why it must not go on, whatever the stage.
fn stop(record: &Record, world: &World, orders: Orders) -> Option<End> {
    if orders.switch != Switch::GoOn || orders.undo == Undo::Asked {
        return Some(End::Abandoned(Why::ToldToStop));
    }
    if orders.consent == Consent::Refused {
        return Some(End::Abandoned(Why::Rejected));
    }
    if world.node != NodeNow::Sick {
        return Some(End::Abandoned(Why::ReplicaChanged));
    }
    (!Guard::SameClaim.holds(record, world, orders)).then_some(End::Abandoned(Why::Guard(Guard::SameClaim)))
}

pub(super) fn next(record: &Record, world: &World, orders: Orders) -> Command {
    if let Some(end) = stop(record, world, orders) {
        return Command::enter(Stage::TidyingUp(end));
    }
    match record.stage {
        Stage::Restoring => restoring(record, world),
        Stage::Proving => proving(record, world, orders),
        Stage::AwaitingApproval => awaiting(record, orders),
        _ => confirming(record, world, orders),
    }
}

fn restoring(record: &Record, world: &World) -> Command {
    let Some(source) = &record.source else { return choose(record, world) };
    match &world.temporary {
        ClaimNow::Absent if !world.sources.contains(source) => Command::Write(Note::IsBad(source.clone())),
        ClaimNow::Absent => Command::Restore { snapshot: source.clone() },
        ClaimNow::There { binding: Binding::To(volume), life: Life::Stays, .. } => match &world.replacement {
            VolumeNow::There { reclaim, .. } if record.replacement.is_none() => {
                let kept = Kept { volume: volume.clone(), reclaim_before: *reclaim };
                Command::Write(Note::RestoredInto(kept))
            }
            _ => Command::enter(Stage::Proving),
        },
        ClaimNow::There { .. } if record.patience == Patience::Over => Command::Write(Note::IsBad(source.clone())),
        // Where the volume is only made for a pod that uses it, the inspector is that pod.
        ClaimNow::There { binding: Binding::Pending, life: Life::Stays, .. } if world.prover == JobNow::Absent => {
            Command::SendProver
        }
        ClaimNow::There { .. } => Command::Wait,
    }
}

/// The best one that has not failed. What the failed one left is taken away first: the name is used again.
fn choose(record: &Record, world: &World) -> Command {
    if world.jobs_are_left() {
        return Command::RemoveJobs;
    }
    match &world.temporary {
        ClaimNow::There { binding: Binding::To(volume), life: Life::Stays, .. }
            if matches!(world.replacement, VolumeNow::There { reclaim: Reclaim::Retain, .. }) =>
        {
            return Command::Drop { volume: volume.clone() };
        }
        ClaimNow::There { uid, life: Life::Stays, .. } => return Command::DeleteTemporary { uid: uid.clone() },
        ClaimNow::There { .. } if record.patience == Patience::Left => return Command::Wait,
        ClaimNow::There { .. } => return Command::enter(Stage::TidyingUp(End::Abandoned(Why::TooLong))),
        ClaimNow::Absent => {}
    }
    match world.sources.iter().find(|snapshot| !record.bad.contains(snapshot)) {
        Some(snapshot) => Command::Write(Note::Chose(snapshot.clone())),
        None => Command::enter(Stage::TidyingUp(End::Abandoned(Why::NoSource))),
    }
}

fn proving(record: &Record, world: &World, orders: Orders) -> Command {
    let is_bad = || {
        let source = record.source.clone();
        source.map_or(Command::enter(Stage::TidyingUp(End::Abandoned(Why::NoSource))), |source| {
            Command::Write(Note::IsBad(source))
        })
    };
    let is_there = record.replacement.as_ref().is_some_and(|kept| world.temporary.on(&kept.volume).is_some());
    if !is_there || world.replacement == VolumeNow::Absent {
        return is_bad();
    }
    match (Guard::Proven.holds(record, world, orders), world.prover) {
        (true, _) => Command::enter(Stage::AwaitingApproval),
        (false, JobNow::Absent) => Command::SendProver,
        (false, JobNow::Yes) => Command::Write(Note::Proven),
        (false, JobNow::No) => is_bad(),
        (false, JobNow::Stale) => Command::RemoveJobs,
        (false, JobNow::Running) if record.patience == Patience::Over => is_bad(),
        (false, JobNow::Running) => Command::Wait,
    }
}

fn awaiting(record: &Record, orders: Orders) -> Command {
    match orders.consent {
        Consent::NotNeeded | Consent::Given => Command::enter(Stage::Confirming),
        Consent::Awaited if record.patience == Patience::Left => Command::Wait,
        Consent::Awaited | Consent::Refused => Command::enter(Stage::TidyingUp(End::Abandoned(Why::NotApproved))),
    }
}

fn confirming(record: &Record, world: &World, orders: Orders) -> Command {
    if !Guard::Agreed.holds(record, world, orders) {
        // The verdict is another one than was agreed to.
        return Command::enter(Stage::AwaitingApproval);
    }
    match world.confirmation {
        Confirmation::Forbids => return Command::enter(Stage::TidyingUp(End::Held(Why::NotConfirmed))),
        Confirmation::Stale if record.patience == Patience::Over => {
            return Command::enter(Stage::TidyingUp(End::Held(Why::TooLong)));
        }
        Confirmation::Stale if !Guard::Confirmed.holds(record, world, orders) => return Command::LookAgain,
        Confirmation::Stale | Confirmation::Allows => {}
    }
    match BEFORE_DETACHING.into_iter().find(|guard| !guard.holds(record, world, orders)) {
        Some(guard) => Command::enter(Stage::TidyingUp(End::Held(Why::Guard(guard)))),
        None => Command::enter(Stage::Detaching),
    }
}
