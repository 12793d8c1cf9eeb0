//! A node whose process stays up while its height stands still and the others rise.

use std::time::Duration;

use anyhow::{Context, Result, bail};
use api::{IncidentKind, VolumeSnapshotClass};
use kube::{Api, ResourceExt, api::ListParams};
use serde_json::json;

use crate::e2e::{
    Bed, Family, Scenario, damage,
    node::{Chain, Engine, Shape},
    stage::{Stage, must_blame, must_testify},
};

pub(crate) const STUCK_NODE: Scenario = Scenario {
    name: "stuck-node",
    shows: "a block that needs damaged data halts the consensus of one node, whose process stays up",
    family: Family::Observe,
    run: |bed| Box::pin(stuck(bed)),
};

async fn stuck(bed: Bed) -> Result<()> {
    // What runs is not read in place, but on a snapshot.
    let classes = Api::<VolumeSnapshotClass>::all(bed.client.clone()).list(&ListParams::default()).await?;
    let class =
        classes.into_iter().map(|class| class.name_any()).min_by_key(String::len).context("no snapshot class")?;
    let disk = json!({ "method": "Snapshot", "snapshotClassName": class, "deadline": "2m" });
    let policy = json!({ "evidence": { "peers": { "interval": "3s" }, "disk": disk } });
    let stage = Stage::open(bed, &Shape::plain(Engine::Goleveldb), &policy).await?;
    // A process that has just started has none of its tables in memory.
    let victim = stage.nodes.process("chain-1").await?;
    victim.kill()?;
    tokio::time::sleep(Duration::from_secs(2)).await;
    stage.nodes.until_rises("chain-1").await?;
    let victim = stage.nodes.process("chain-1").await?;
    damage::flip_in_every_block(&victim.path("/chain/data/application.db"))?;
    let validator = stage.nodes.address_of("validator").await?;
    tokio::task::spawn_blocking(move || Chain::get()?.move_a_coin(validator)).await??;
    let recovery = stage.held("chain-1").await?;
    if recovery.spec.incident.kind != IncidentKind::Stuck {
        bail!("the incident is {:?}", recovery.spec.incident.kind);
    }
    must_blame(&recovery, "physical_corruption")?;
    must_testify(&recovery, &["disk", "peers"])?;
    stage.proves("stuck-node", &recovery).await
}
