//! The operator, or what it talks to, ends in the middle of an incident: it goes on where it stood (P11).

use std::time::Duration;

use anyhow::{Context, Result, bail};
use k8s_openapi::api::{coordination::v1::Lease, core::v1::Pod};
use kube::api::DeleteParams;
use serde_json::json;

use super::sound;
use crate::{
    cluster,
    e2e::{
        Bed, Family, Scenario, damage,
        node::{Engine, Shape},
        stage::{Stage, must_blame},
    },
};

pub(crate) const OPERATOR_KILLED: Scenario = Scenario {
    name: "operator-killed",
    shows: "the operator is killed while it collects, and its next process comes to the same verdict",
    family: Family::Observe,
    run: |bed| Box::pin(killed(bed)),
};

pub(crate) const TWO_OPERATORS: Scenario = Scenario {
    name: "two-operators",
    shows: "of two operators the leading one is killed while it collects, and the other one takes over",
    family: Family::Observe,
    run: |bed| Box::pin(two(bed)),
};

pub(crate) const API_SERVER_RESTARTED: Scenario = Scenario {
    name: "api-server-restarted",
    shows: "the API server is killed and started while the operator collects",
    family: Family::Observe,
    run: |bed| Box::pin(api_server(bed)),
};

async fn begin(stage: &Stage) -> Result<()> {
    stage
        .nodes
        .process("chain-1")
        .await?
        .between_starts(|victim| damage::flip_in_every_table(&victim.path("/chain/data/application.db"), 600))?;
    stage.opened("chain-1").await.map(drop)
}

/// The same evidence and cause as without any disturbance.
async fn end(stage: &Stage, name: &str) -> Result<()> {
    let recovery = stage.held("chain-1").await?;
    must_blame(&recovery, "physical_corruption")?;
    if stage.recoveries().await?.len() != 1 {
        bail!("one incident has more than one record");
    }
    stage.proves_evidence(name, &recovery)
}

async fn killed(bed: Bed) -> Result<()> {
    let stage = sound(bed).await?;
    begin(&stage).await?;
    for pod in stage.operator.pods().await? {
        let name = pod.metadata.name.context("a pod without a name")?;
        stage.bed.api::<Pod>().delete(&name, &DeleteParams::default().grace_period(0)).await?;
    }
    end(&stage, "operator-killed").await
}

async fn leader(stage: &Stage) -> Result<String> {
    let leases = stage.bed.api::<Lease>();
    stage
        .bed
        .until("somebody leads", Duration::from_secs(30), async || {
            let lease = leases.get_opt("loopbreaker-operator").await?;
            Ok(lease.and_then(|lease| lease.spec?.holder_identity).filter(|holder| !holder.is_empty()))
        })
        .await
}

async fn two(bed: Bed) -> Result<()> {
    let stage = Stage::with_operators(bed, &Shape::plain(Engine::Goleveldb), &json!({}), 2).await?;
    let first = leader(&stage).await?;
    begin(&stage).await?;
    stage.bed.api::<Pod>().delete(&first, &DeleteParams::default().grace_period(0)).await?;
    end(&stage, "two-operators").await?;
    if leader(&stage).await? == first {
        bail!("{first} was killed and still leads");
    }
    Ok(())
}

async fn api_server(bed: Bed) -> Result<()> {
    let stage = sound(bed).await?;
    begin(&stage).await?;
    let folder = stage.bed.folder.clone();
    tokio::task::spawn_blocking(move || cluster::restart(&folder, "kube-apiserver")).await??;
    let answers = async || Ok(stage.bed.client.apiserver_version().await.ok().map(drop));
    stage.bed.until("the API server answers again", Duration::from_mins(1), answers).await?;
    end(&stage, "api-server-restarted").await
}
