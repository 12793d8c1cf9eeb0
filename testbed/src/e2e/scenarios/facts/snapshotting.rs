//! What snapshots promise and what they do to the claims around them.

use anyhow::{Result, ensure};
use k8s_openapi::api::core::v1::PersistentVolumeClaim;
use kube::api::DeleteParams;
use serde_json::{Value, json};

use super::{
    ground::{A_WHILE, Ground, fact, stand},
    snapshots::status,
    volumes::Ask,
};
use crate::e2e::Scenario;

pub(super) const ALL: [Scenario; 5] = [
    fact(
        "fact-unready-snapshot-keeps-its-claim",
        "The claim of a snapshot that never gets ready cannot be deleted until the snapshot is",
        |bed| Box::pin(stand(bed, never_ready)),
    ),
    fact(
        "fact-restore-size-may-be-absent",
        "A ready snapshot whose driver tells no size has no restoreSize at all",
        |bed| Box::pin(stand(bed, no_size)),
    ),
    fact(
        "fact-smaller-than-the-snapshot-waits",
        "A claim smaller than its snapshot stays Pending with ProvisioningFailed",
        |bed| Box::pin(stand(bed, too_small)),
    ),
    fact(
        "fact-unready-snapshot-makes-no-volume",
        "A claim from a snapshot that is not ready stays Pending with ProvisioningFailed",
        |bed| Box::pin(stand(bed, not_ready)),
    ),
    fact(
        "fact-creation-time-has-whole-seconds",
        "The creationTime of a snapshot has whole seconds, that of its content nanoseconds",
        |bed| Box::pin(stand(bed, creation_time)),
    ),
];

/// A bound claim `c` and a snapshot `s` of it.
async fn snapshot_of_a_claim(ground: &Ground, parameters: Value) -> Result<()> {
    let class = ground.snapshot_class(parameters).await?;
    ground.ask(Ask::new("c")).await?;
    ground.bound("c").await?;
    ground.snapshot("s", &class, "c").await
}

async fn never_ready(ground: Ground) -> Result<()> {
    snapshot_of_a_claim(&ground, json!({"neverReady": "true"})).await?;
    ground.taken("s").await?;
    let claims = ground.bed.api::<PersistentVolumeClaim>();
    claims.delete("c", &DeleteParams::default()).await?;
    tokio::time::sleep(A_WHILE).await;
    let locks = ground.claim("c").await?.metadata.finalizers.unwrap_or_default();
    ensure!(locks.iter().any(|lock| lock.contains("snapshot")), "no snapshot keeps the claim: {locks:?}");
    ground.snapshots().delete("s", &DeleteParams::default()).await?;
    ground
        .bed
        .until("the claim is gone after its snapshot", super::ground::SOON, async || {
            Ok(claims.get_opt("c").await?.is_none().then_some(()))
        })
        .await
}

async fn no_size(ground: Ground) -> Result<()> {
    snapshot_of_a_claim(&ground, json!({"size": "0"})).await?;
    let snapshot = ground.snapshot_ready("s").await?;
    let size = status(&snapshot, "restoreSize");
    ensure!(size.is_none(), "restoreSize is {size:?}");
    Ok(())
}

async fn too_small(ground: Ground) -> Result<()> {
    snapshot_of_a_claim(&ground, json!({})).await?;
    let snapshot = ground.snapshot_ready("s").await?;
    let size = status(&snapshot, "restoreSize").cloned();
    ensure!(size == Some("100Mi".into()), "restoreSize is {size:?}");
    ground.ask(Ask::new("small").restored_from("s").size("50Mi")).await?;
    ground.until_told("small", "ProvisioningFailed", "").await?;
    ground.stays_pending("small", A_WHILE).await
}

async fn not_ready(ground: Ground) -> Result<()> {
    snapshot_of_a_claim(&ground, json!({"neverReady": "true"})).await?;
    ground.taken("s").await?;
    ground.ask(Ask::new("early").restored_from("s")).await?;
    ground.until_told("early", "ProvisioningFailed", "").await?;
    ground.stays_pending("early", A_WHILE).await
}

async fn creation_time(ground: Ground) -> Result<()> {
    snapshot_of_a_claim(&ground, json!({})).await?;
    let snapshot = ground.snapshot_ready("s").await?;
    let time = status(&snapshot, "creationTime").and_then(Value::as_str).unwrap_or_default().to_owned();
    ensure!(time.parse::<jiff::Timestamp>().is_ok() && !time.contains('.'), "the snapshot's time is {time:?}");
    let content = ground.content_of(&snapshot).await?;
    let exact = status(&content, "creationTime").and_then(Value::as_i64).unwrap_or_default();
    ensure!(exact > 1_000_000_000_000_000_000, "the content's time is {exact}");
    let seconds = time.parse::<jiff::Timestamp>()?.as_second();
    ensure!(exact / 1_000_000_000 == seconds, "{exact} ns is not {seconds} s");
    Ok(())
}
