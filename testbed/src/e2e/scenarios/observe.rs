//! Real nodes that are really damaged, or only look it, before an operator in mode Observe.

mod damaged;
mod lookalikes;
mod unharmed;

use crate::e2e::Scenario;

/// In the order in which they are listed.
pub(crate) const ALL: [Scenario; 5] = [
    damaged::FLIPPED_TABLE_BYTE,
    damaged::TRUNCATED_MANIFEST,
    damaged::LOST_JOURNAL,
    lookalikes::BAD_CONFIG,
    unharmed::ROLLOUT,
];
