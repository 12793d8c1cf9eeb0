//! Real nodes that are really damaged, or only look it, before an operator in mode Observe.

mod damaged;
mod lookalikes;
mod operators;
mod rollouts;
mod several;
mod stuck;
mod unharmed;
mod upgrade;

use anyhow::Result;
use serde_json::json;

use crate::e2e::{
    Bed, Scenario,
    node::{Engine, Shape},
    stage::Stage,
};

/// In the order in which they are listed.
pub(crate) const ALL: [Scenario; 20] = [
    damaged::FLIPPED_TABLE_BYTE,
    damaged::TRUNCATED_MANIFEST,
    damaged::LOST_JOURNAL,
    damaged::NO_LOG,
    damaged::PEBBLE_UNDER_GUARD,
    stuck::STUCK_NODE,
    several::TWO_VICTIMS,
    several::CHAIN_HALT,
    lookalikes::BAD_CONFIG,
    lookalikes::DISK_FULL,
    lookalikes::PORT_IN_USE,
    lookalikes::LOCK_HELD,
    rollouts::WRONG_IMAGE,
    rollouts::OUT_OF_MEMORY,
    upgrade::UPGRADE_NEEDED,
    unharmed::ROLLOUT,
    unharmed::DRAINED,
    operators::OPERATOR_KILLED,
    operators::TWO_OPERATORS,
    operators::API_SERVER_RESTARTED,
];

/// Three sound nodes, watched.
async fn sound(bed: Bed) -> Result<Stage> {
    Stage::open(bed, &Shape::plain(Engine::Goleveldb), &json!({})).await
}
