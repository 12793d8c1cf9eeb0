//! The recovery explored exhaustively on a small cluster: one replica, two snapshots of which the newest is damaged, and at
//! any moment one crash of the operator, one lost response, one deed of somebody else, and two deadlines that pass.
//!
//! Between a decision and its deed anything else may happen. Every state and every decision is held against `promises`,
//! which is written from the cluster's side and shares nothing with the guards; taking any one guard away must break one.

mod deeds;
mod explore;
mod kube;
mod people;
mod promises;
mod surroundings;

use std::cell::Cell;

use super::Guard;
use explore::{Budget, explore};

thread_local! {
    static TAKEN_AWAY: Cell<Option<Guard>> = const { Cell::new(None) };
}

/// Whether a guard is switched off in this thread: only to see that it is needed.
pub(super) fn is_taken_away(guard: Guard) -> bool {
    TAKEN_AWAY.get() == Some(guard)
}

/// Both kinds of hold: one that also keeps other volumes off the claim, and one that only keeps the pod away.
const CLAIM_RULES: [bool; 2] = [true, false];

#[test]
fn no_promise_is_broken_by_anything_that_can_happen() {
    for claim_rule in CLAIM_RULES {
        let explored = explore(claim_rule, Budget::FULL);
        println!(
            "claim rule {claim_rule}: {} states, {} steps, {} uids",
            explored.states, explored.steps, explored.uids
        );
        assert!(explored.broken.is_none(), "{}", explored.broken.unwrap_or_default());
        assert!(explored.ends.len() >= 5, "few ends were reached: {:?}", explored.ends);
        println!("{:?}", explored.ends);
    }
}

#[test]
fn every_guard_is_needed() {
    for guard in Guard::ALL {
        TAKEN_AWAY.set(Some(guard));
        let broken = CLAIM_RULES.into_iter().find_map(|rule| explore(rule, Budget::ONE_DEED).broken);
        TAKEN_AWAY.set(None);
        let broken = broken.unwrap_or_default();
        println!("{guard:?}: {}", broken.lines().next().unwrap_or("NOTHING BREAKS"));
        assert!(!broken.is_empty(), "nothing breaks without {guard:?}");
    }
}
