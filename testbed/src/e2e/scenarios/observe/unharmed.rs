//! What happens to healthy nodes every week: no incident may be opened.

use std::time::Duration;

use anyhow::Result;
use serde_json::json;

use crate::e2e::{
    Bed, Family, Scenario,
    node::{Engine, Shape},
    stage::Stage,
};

pub(crate) const ROLLOUT: Scenario = Scenario {
    name: "rollout",
    shows: "every node is restarted by a changed template: no incident",
    family: Family::Observe,
    run: |bed| Box::pin(rollout(bed)),
};

async fn rollout(bed: Bed) -> Result<()> {
    let stage = Stage::open(bed, &Shape::plain(Engine::Goleveldb), &json!({})).await?;
    let before = stage.nodes.uids().await?;
    stage.nodes.change(&json!({ "spec": { "template": { "metadata": { "annotations": { "round": "2" } } } } })).await?;
    stage.nodes.until_all_new(&before).await?;
    stage.nodes.until_all_rise().await?;
    stage.nobody_accused_for(Duration::from_secs(20)).await
}
