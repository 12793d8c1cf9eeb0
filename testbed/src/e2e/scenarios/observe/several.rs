//! Damage that is real, in circumstances that forbid a restore (P7).

use anyhow::Result;
use k8s_openapi::api::core::v1::Pod;
use kube::api::DeleteParams;
use serde_json::json;

use super::sound;
use crate::e2e::{
    Bed, Family, Scenario, damage,
    node::{Engine, Shape, Victim},
    stage::{Stage, must_blame, must_forbid, must_hold},
};

pub(crate) const TWO_VICTIMS: Scenario = Scenario {
    name: "two-victims",
    shows: "two of three nodes with the same damage: a common cause is likelier, both are held",
    family: Family::Observe,
    run: |bed| Box::pin(two(bed)),
};

pub(crate) const CHAIN_HALT: Scenario = Scenario {
    name: "chain-halt",
    shows: "one node is damaged while the chain stands still: nobody advances, held",
    family: Family::Observe,
    run: |bed| Box::pin(halt(bed)),
};

fn flip(victim: &Victim) -> Result<()> {
    damage::flip_in_every_table(&victim.path("/chain/data/application.db"), 600)
}

async fn two(bed: Bed) -> Result<()> {
    let stage = sound(bed).await?;
    for pod in ["chain-0", "chain-1"] {
        stage.nodes.process(pod).await?.between_starts(flip)?;
    }
    stage.held("chain-0").await?;
    let recovery = stage.held("chain-1").await?;
    must_hold(&recovery)?;
    stage.wrote_nothing_else()?;
    // Which of the two was judged first, and knew of one victim only, is chance: the second one is compared.
    let both = [stage.held("chain-0").await?, recovery];
    let judged = |recovery: &api::Recovery| {
        recovery.status.as_ref().and_then(|status| status.verdict.as_ref()).map(|verdict| verdict.judged.0)
    };
    let [first, second] = both;
    let last = if judged(&first) > judged(&second) { first } else { second };
    must_forbid(&last, "other_victims")
}

async fn halt(bed: Bed) -> Result<()> {
    // Ten seconds without a block are a halt, fewer are not: the second question comes later than that.
    let policy = json!({ "evidence": { "peers": { "interval": "12s" }, "disk": { "deadline": "2m" } } });
    let stage = Stage::open(bed, &Shape::plain(Engine::Goleveldb), &policy).await?;
    stage.bed.api::<Pod>().delete("validator", &DeleteParams::default().grace_period(0)).await?;
    tokio::time::sleep(std::time::Duration::from_secs(5)).await;
    // While no block comes, a damaged table may be read by nobody: the MANIFEST is, at every start.
    let harm = |victim: &Victim| damage::truncate_manifest(&victim.path("/chain/data/state.db"));
    stage.nodes.process("chain-1").await?.between_starts(harm)?;
    let recovery = stage.held("chain-1").await?;
    must_hold(&recovery)?;
    must_blame(&recovery, "physical_corruption")?;
    must_forbid(&recovery, "nobody_advances")?;
    stage.proves("chain-halt", &recovery).await
}
