//! A changed template that breaks the first node it reaches: never its data.

use anyhow::Result;
use serde_json::{Value, json};

use super::sound;
use crate::{
    e2e::{
        Bed, Family, Scenario,
        stage::{must_blame, must_hold},
    },
    image::OPERATOR,
};

pub(crate) const WRONG_IMAGE: Scenario = Scenario {
    name: "wrong-image",
    shows: "the new image has no such program: the image is to blame, held",
    family: Family::Observe,
    run: |bed| Box::pin(rolled_out(bed, "wrong-image", "image_or_runtime", json!({ "image": OPERATOR }))),
};

pub(crate) const OUT_OF_MEMORY: Scenario = Scenario {
    name: "out-of-memory",
    shows: "the new memory limit is too low, and the kernel kills every start: held",
    family: Family::Observe,
    run: |bed| {
        Box::pin(rolled_out(bed, "out-of-memory", "oom", json!({ "resources": { "limits": { "memory": "40Mi" } } })))
    },
};

async fn rolled_out(bed: Bed, name: &str, cause: &str, change: Value) -> Result<()> {
    let stage = sound(bed).await?;
    let mut node = json!({ "name": "node" });
    if let (Some(node), Some(change)) = (node.as_object_mut(), change.as_object()) {
        node.extend(change.clone());
    }
    stage.nodes.change(&json!({ "spec": { "template": { "spec": { "containers": [node] } } } })).await?;
    // The highest ordinal is the first, and the others wait for it.
    let recovery = stage.held("chain-2").await?;
    must_hold(&recovery)?;
    must_blame(&recovery, cause)?;
    stage.proves(name, &recovery).await
}
