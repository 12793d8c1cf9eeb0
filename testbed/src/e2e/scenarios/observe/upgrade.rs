//! A chain that has agreed on a program which nobody has.

use std::time::Duration;

use anyhow::Result;

use super::sound;
use crate::e2e::{
    Bed, Family, Scenario,
    node::Chain,
    stage::{must_blame, must_hold},
};

pub(crate) const UPGRADE_NEEDED: Scenario = Scenario {
    name: "upgrade-needed",
    shows: "the height of an upgrade is reached, and a node that restarts does so in vain: held",
    family: Family::Observe,
    run: |bed| Box::pin(upgrade(bed)),
};

/// Until the vote is over, and some blocks more.
const BLOCKS: u64 = 30;

async fn upgrade(bed: Bed) -> Result<()> {
    let stage = sound(bed).await?;
    let validator = stage.nodes.address_of("validator").await?;
    let height = stage.nodes.until_rises("validator").await? + BLOCKS;
    let in_a_block = async |hash: String| {
        stage
            .bed
            .until("the transaction is in a block", Duration::from_secs(30), async || {
                let hash = hash.clone();
                let found = tokio::task::spawn_blocking(move || {
                    Chain::get().is_ok_and(|chain| chain.is_in_a_block(validator, &hash))
                });
                Ok(found.await?.then_some(()))
            })
            .await
    };
    let proposed = tokio::task::spawn_blocking(move || Chain::get()?.propose_upgrade(validator, height)).await??;
    in_a_block(proposed).await?;
    let vote = move || Chain::get()?.send(validator, &["gov", "vote", "1", "yes"]);
    in_a_block(tokio::task::spawn_blocking(vote).await??).await?;
    stage.nodes.until_reaches("chain-1", height - 1).await?;
    tokio::time::sleep(Duration::from_secs(3)).await;
    stage.nodes.process("chain-1").await?.kill()?;
    let recovery = stage.held("chain-1").await?;
    must_hold(&recovery)?;
    must_blame(&recovery, "upgrade_needed")?;
    stage.proves("upgrade-needed", &recovery).await
}
