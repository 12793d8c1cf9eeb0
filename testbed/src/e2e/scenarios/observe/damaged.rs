//! Data that is really damaged: the verdict must be that a restore is right, and nothing may be done.

use anyhow::Result;
use serde_json::json;

use crate::e2e::{
    Bed, Family, Scenario, damage,
    node::{Engine, Shape, Victim},
    stage::{Stage, must_blame, must_restore},
};

pub(crate) const FLIPPED_TABLE_BYTE: Scenario = Scenario {
    name: "flipped-table-byte",
    shows: "one flipped bit in each table of application.db: physical corruption, a restore would be right",
    family: Family::Observe,
    run: |bed| {
        Box::pin(restore(bed, "flipped-table-byte", "physical_corruption", |victim| {
            damage::flip_in_every_table(&victim.path("/chain/data/application.db"), 600)
        }))
    },
};

pub(crate) const TRUNCATED_MANIFEST: Scenario = Scenario {
    name: "truncated-manifest",
    shows: "state.db has lost the second half of its MANIFEST: a restore would be right",
    family: Family::Observe,
    run: |bed| {
        Box::pin(restore(bed, "truncated-manifest", "physical_corruption", |victim| {
            damage::truncate_manifest(&victim.path("/chain/data/state.db"))
        }))
    },
};

pub(crate) const LOST_JOURNAL: Scenario = Scenario {
    name: "lost-journal",
    shows: "state.db has lost its journal: the heights disagree, a restore would be right",
    family: Family::Observe,
    run: |bed| {
        Box::pin(restore(bed, "lost-journal", "logical_inconsistency", |victim| {
            damage::lose_journals(&victim.path("/chain/data/state.db"))
        }))
    },
};

/// Damages one of three nodes between two starts.
async fn restore(bed: Bed, name: &str, cause: &str, harm: impl FnOnce(&Victim) -> Result<()>) -> Result<()> {
    let stage = Stage::open(bed, &Shape::plain(Engine::Goleveldb), &json!({})).await?;
    stage.nodes.process("chain-1").await?.between_starts(harm)?;
    let recovery = stage.held("chain-1").await?;
    must_restore(&recovery)?;
    must_blame(&recovery, cause)?;
    stage.proves(name, &recovery).await
}
