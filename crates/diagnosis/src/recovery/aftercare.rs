//! After the swap: the node starts, must advance, and the original is kept for a while. *No client, no clock.* (P4, P9, P12)

use super::{
    Command, Direction, End, Guard, HoldNow, NodeNow, Note, OnFailure, Orders, Patience, Record, Stage, Switch, Undo,
    Why, World,
};

/// The hold is released onto the right volume, and the node starts.
pub(super) fn starting(record: &Record, world: &World, orders: Orders) -> Command {
    let Some(coming) = record.coming() else { return Command::enter(Stage::Blocked) };
    let is_right = Guard::RightVolume.holds(record, world, orders);
    if matches!(world.hold, HoldNow::On(_) | HoldNow::Coming) {
        return match world.claim_on(coming) {
            Some(claim) if is_right => Command::Release { claim: claim.clone(), volume: coming.clone() },
            _ if is_right => Command::enter(Stage::Swapping),
            _ => Command::enter(Stage::Blocked),
        };
    }
    if let Some(command) = changed(record, world, orders) {
        return command;
    }
    if record.direction == Direction::Back {
        return Command::enter(Stage::TidyingUp(End::RolledBack));
    }
    match (world.node, record.patience) {
        (NodeNow::Advances, _) => Command::enter(Stage::Soaking),
        (NodeNow::Gone, _) => Command::enter(Stage::TidyingUp(End::NeedsHuman(Why::ReplicaChanged))),
        (NodeNow::Sick, Patience::Over) => failed(orders),
        (NodeNow::Sick, Patience::Left) => Command::Wait,
    }
}

/// It must advance until the soak is over.
pub(super) fn soaking(record: &Record, world: &World, orders: Orders) -> Command {
    if let Some(command) = changed(record, world, orders) {
        return command;
    }
    match (world.node, record.patience) {
        (NodeNow::Advances, Patience::Over) => Command::enter(Stage::Quarantine),
        (NodeNow::Advances, Patience::Left) => Command::Wait,
        (NodeNow::Gone, _) => Command::enter(Stage::TidyingUp(End::NeedsHuman(Why::ReplicaChanged))),
        (NodeNow::Sick, _) => failed(orders),
    }
}

/// The original is kept until its time is over.
pub(super) fn quarantine(record: &Record, world: &World, orders: Orders) -> Command {
    if let Some(command) = changed(record, world, orders) {
        return command;
    }
    if record.patience == Patience::Over && orders.switch == Switch::GoOn && world.node == NodeNow::Advances {
        return Command::enter(Stage::TidyingUp(End::Recovered));
    }
    Command::Wait
}

/// What ends the watching over a swapped replica, whatever the stage.
fn changed(record: &Record, world: &World, orders: Orders) -> Option<Command> {
    if orders.undo == Undo::Asked && record.direction == Direction::Forth {
        return Some(Command::Write(Note::TurnBack));
    }
    let coming = record.coming()?;
    if world.claim_on(coming) != Some(&record.claim) {
        return Some(Command::enter(Stage::TidyingUp(End::NeedsHuman(Why::Guard(Guard::SameClaim)))));
    }
    (orders.switch == Switch::Leave).then_some(Command::enter(Stage::TidyingUp(End::NeedsHuman(Why::ToldToStop))))
}

/// P9: never a second restore. The original comes back, or a human decides.
fn failed(orders: Orders) -> Command {
    match (orders.on_failure, orders.switch) {
        (OnFailure::Undo, Switch::GoOn) => Command::Write(Note::TurnBack),
        (OnFailure::Undo | OnFailure::Stop, _) => Command::enter(Stage::TidyingUp(End::NeedsHuman(Why::DidNotAdvance))),
    }
}
