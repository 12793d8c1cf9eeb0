//! Data that is really damaged: the verdict must be that it is, and nothing may be done.

use std::{fs, time::Duration};

use anyhow::{Context, Result};
use serde_json::json;

use super::sound;
use crate::e2e::{
    Bed, Family, Scenario, damage,
    node::{Engine, Shape, Victim},
    stage::{Stage, must_blame, must_testify},
};

pub(crate) const FLIPPED_TABLE_BYTE: Scenario = Scenario {
    name: "flipped-table-byte",
    shows: "one flipped bit in each table of application.db: physical corruption, said by log, disk and peers",
    family: Family::Observe,
    run: |bed| Box::pin(flipped(bed)),
};

pub(crate) const TRUNCATED_MANIFEST: Scenario = Scenario {
    name: "truncated-manifest",
    shows: "state.db has lost the second half of its MANIFEST, and the first start has hidden it",
    family: Family::Observe,
    run: |bed| Box::pin(manifest(bed)),
};

pub(crate) const LOST_JOURNAL: Scenario = Scenario {
    name: "lost-journal",
    shows: "state.db has lost its journal: the heights disagree",
    family: Family::Observe,
    run: |bed| Box::pin(journal(bed)),
};

pub(crate) const NO_LOG: Scenario = Scenario {
    name: "log-not-to-be-had",
    shows: "the logs of a damaged node are gone: the disk testifies alone with the peers",
    family: Family::Observe,
    run: |bed| Box::pin(no_log(bed)),
};

pub(crate) const PEBBLE_UNDER_GUARD: Scenario = Scenario {
    name: "pebble-under-guard",
    shows: "Pebble drops a damaged block and its table; the guard saw it before the first start",
    family: Family::Observe,
    run: |bed| Box::pin(pebble(bed)),
};

fn flip(victim: &Victim) -> Result<()> {
    damage::flip_in_every_table(&victim.path("/chain/data/application.db"), 600)
}

async fn flipped(bed: Bed) -> Result<()> {
    let stage = sound(bed).await?;
    stage.nodes.process("chain-1").await?.between_starts(flip)?;
    let recovery = stage.held("chain-1").await?;
    must_blame(&recovery, "physical_corruption")?;
    must_testify(&recovery, &["log", "disk", "peers"])?;
    stage.proves("flipped-table-byte", &recovery).await
}

async fn manifest(bed: Bed) -> Result<()> {
    let stage = sound(bed).await?;
    let harm = |victim: &Victim| damage::truncate_manifest(&victim.path("/chain/data/state.db"));
    stage.nodes.process("chain-1").await?.between_starts(harm)?;
    let recovery = stage.held("chain-1").await?;
    must_blame(&recovery, "physical_corruption")?;
    stage.proves("truncated-manifest", &recovery).await
}

async fn journal(bed: Bed) -> Result<()> {
    let stage = sound(bed).await?;
    let harm = |victim: &Victim| damage::lose_journals(&victim.path("/chain/data/state.db"));
    stage.nodes.process("chain-1").await?.between_starts(harm)?;
    let recovery = stage.held("chain-1").await?;
    must_blame(&recovery, "logical_inconsistency")?;
    stage.proves("lost-journal", &recovery).await
}

async fn no_log(bed: Bed) -> Result<()> {
    let stage = sound(bed).await?;
    let uid = stage.nodes.pod("chain-1").await?.metadata.uid.context("a pod without UID")?;
    let logs = stage.bed.folder.join(format!("pod-logs/{}_chain-1_{uid}/node", stage.bed.namespace));
    stage.nodes.process("chain-1").await?.between_starts(flip)?;
    let lose = async {
        loop {
            for file in fs::read_dir(&logs).into_iter().flatten().flatten() {
                // Another one comes with the next start.
                let _ = fs::remove_file(file.path());
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    let recovery = tokio::select! {
        biased;
        recovery = stage.held("chain-1") => recovery?,
        () = lose => return Ok(()),
    };
    must_testify(&recovery, &["disk", "peers"])?;
    stage.proves("log-not-to-be-had", &recovery).await
}

async fn pebble(bed: Bed) -> Result<()> {
    let shape = Shape { guard: true, ..Shape::plain(Engine::Pebble) };
    let stage = Stage::open(bed, &shape, &json!({})).await?;
    stage.nodes.process("chain-1").await?.between_starts(flip)?;
    let recovery = stage.held("chain-1").await?;
    must_blame(&recovery, "physical_corruption")?;
    stage.proves("pebble-under-guard", &recovery).await
}
