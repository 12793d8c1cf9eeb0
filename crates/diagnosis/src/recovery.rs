//! The recovery: from a snapshot to a node that advances, one command at a time. *No client, no clock, cannot fail.* (P3–P12)
//!
//! [`next`] takes what is written down ([`Record`]), what is so ([`World`]), and what people want ([`Orders`]), and gives one
//! [`Command`]. Whoever runs it does that one command, with the UIDs that it names as preconditions, and asks again. All that
//! a later step must know is in the record *before* the deed, so it may be killed anywhere.
//!
//! ```text
//! Restoring → Proving → AwaitingApproval → Confirming → Detaching → Swapping → Starting → Soaking → Quarantine → Ended
//!     └───────────┴──────────────┴─────────────┘           └── Returning ──┘        └── Detaching (back) … TidyingUp → Ended
//!                 TidyingUp → Ended                              └── Blocked: held, until a human says how
//! ```
//!
//! Until `Swapping` deletes the claim, the replica has its original volume, and going back is letting its pod come again.

mod aftercare;
mod command;
mod detaching;
mod guards;
mod orders;
mod preparing;
mod record;
mod settling;
mod tidying;
mod world;

pub use command::Command;
pub use guards::Guard;
pub use orders::{Consent, ForcedRelease, OnExpiry, OnFailure, Orders, Switch, Undo};
pub use record::{Carried, Direction, End, Kept, Note, Patience, Proof, Record, Stage, Why};
pub use world::{
    Binding, ClaimNow, Confirmation, Fit, HoldNow, JobNow, Kin, Life, NodeNow, PodNow, Reclaim, Reservations, Reserved,
    VolumeNow, VolumePhase, Way, World,
};

/// The next command.
#[must_use]
pub fn next(record: &Record, world: &World, orders: Orders) -> Command {
    match record.stage {
        Stage::Restoring | Stage::Proving | Stage::AwaitingApproval | Stage::Confirming => {
            preparing::next(record, world, orders)
        }
        Stage::Detaching => detaching::next(record, world, orders),
        Stage::Swapping => settling::swapping(record, world, orders),
        Stage::Returning(why) => settling::returning(record, world, orders, why),
        Stage::Starting => aftercare::starting(record, world, orders),
        Stage::Soaking => aftercare::soaking(record, world, orders),
        Stage::Quarantine => aftercare::quarantine(record, world, orders),
        Stage::Blocked => settling::blocked(record, world, orders),
        Stage::TidyingUp(end) => tidying::next(record, world, orders, end),
        Stage::Ended(_) => Command::Rest,
    }
}

#[cfg(test)]
mod model;
#[cfg(test)]
mod tests;
