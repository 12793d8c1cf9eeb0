//! What happens to healthy nodes every week: no incident may be opened.

use std::time::Duration;

use anyhow::Result;
use k8s_openapi::api::core::v1::Pod;
use kube::api::EvictParams;
use serde_json::json;

use super::sound;
use crate::e2e::{Bed, Family, Scenario};

pub(crate) const ROLLOUT: Scenario = Scenario {
    name: "rollout",
    shows: "every node is restarted by a changed template: no incident",
    family: Family::Observe,
    run: |bed| Box::pin(rollout(bed)),
};

pub(crate) const DRAINED: Scenario = Scenario {
    name: "node-drained",
    shows: "every node is evicted, as a drain of its machine does: no incident",
    family: Family::Observe,
    run: |bed| Box::pin(drained(bed)),
};

/// After the last start there would be a record within it, if there were one.
const WATCHED: Duration = Duration::from_secs(20);

async fn rollout(bed: Bed) -> Result<()> {
    let stage = sound(bed).await?;
    let before = stage.nodes.uids().await?;
    stage.nodes.change(&json!({ "spec": { "template": { "metadata": { "annotations": { "round": "2" } } } } })).await?;
    stage.nodes.until_all_new(&before).await?;
    stage.nodes.until_all_rise().await?;
    stage.nobody_accused_for(WATCHED).await
}

async fn drained(bed: Bed) -> Result<()> {
    let stage = sound(bed).await?;
    let before = stage.nodes.uids().await?;
    for pod in stage.nodes.pods() {
        stage.bed.api::<Pod>().evict(&pod, &EvictParams::default()).await?;
    }
    stage.nodes.until_all_new(&before).await?;
    stage.nodes.until_all_rise().await?;
    stage.nobody_accused_for(WATCHED).await
}
