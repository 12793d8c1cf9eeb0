//! Nodes that crash on every start though their data is sound: nothing may be restored, whatever a human would say.

use std::fs;

use anyhow::Result;
use serde_json::json;

use crate::e2e::{
    Bed, Family, Scenario,
    node::{Engine, Shape, Victim},
    stage::{Stage, must_blame, must_hold},
};

pub(crate) const BAD_CONFIG: Scenario = Scenario {
    name: "bad-config",
    shows: "config.toml cannot be parsed: a configuration error, held",
    family: Family::Observe,
    run: |bed| {
        Box::pin(hold(bed, "bad-config", "config_error", |victim| {
            Ok(fs::write(victim.path("/chain/config/config.toml"), "db_backend = \"goleveldb\nproxy_app =")?)
        }))
    },
};

/// Makes one of three nodes fail between two starts.
async fn hold(bed: Bed, name: &str, cause: &str, harm: impl FnOnce(&Victim) -> Result<()>) -> Result<()> {
    let stage = Stage::open(bed, &Shape::plain(Engine::Goleveldb), &json!({})).await?;
    stage.nodes.process("chain-1").await?.between_starts(harm)?;
    let recovery = stage.held("chain-1").await?;
    must_hold(&recovery)?;
    must_blame(&recovery, cause)?;
    stage.proves(name, &recovery).await
}
