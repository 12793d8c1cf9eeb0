//! Every scenario there is.

mod conformance;
mod facts;
mod observe;
mod rights;

pub(super) use conformance::record;

use super::Scenario;

/// All scenarios, in the order in which they are listed.
pub(crate) fn all() -> Vec<Scenario> {
    let mut all = Vec::new();
    all.extend(observe::ALL);
    all.extend(facts::all());
    all.push(rights::USED);
    all.extend(conformance::ALL);
    all
}

/// Those that `cargo xtask test --cluster` runs.
pub(crate) const CI: &[&str] = &["flipped-table-byte", "bad-config", "rollout"];

/// Those that disturb the whole cluster, so that no other may run beside them. They run after all others; the last one reads
/// what the others have asked for.
pub(crate) const ALONE: &[&str] = &["api-server-restarted", "rights-used"];
