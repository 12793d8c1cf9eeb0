//! What the recovery assumes of Kubernetes, each as a check that fails where a version behaves otherwise.
//!
//! What was seen on which version stands in `docs/kubernetes-facts.md`.

mod abort;
mod admission;
mod ground;
mod holding;
mod logging;
mod matching;
mod pods;
mod prebinding;
mod reclaim;
mod rehearsing;
mod sets;
mod snapshots;
mod snapshotting;
mod swapping;
mod volumes;

use super::Scenario;

/// All checks, in the order in which they are listed.
pub(super) fn all() -> impl Iterator<Item = Scenario> {
    let first = prebinding::ALL.into_iter().chain(matching::ALL).chain(reclaim::ALL).chain(abort::ALL);
    let then = swapping::ALL.into_iter().chain(holding::ALL).chain(snapshotting::ALL);
    first.chain(then).chain(rehearsing::ALL).chain(logging::ALL)
}
