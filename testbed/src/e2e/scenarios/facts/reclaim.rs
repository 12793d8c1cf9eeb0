//! When a volume's data stays and when it goes.

use anyhow::{Context, Result, ensure};
use kube::api::DeleteParams;

use super::{
    ground::{A_WHILE, Ground, fact, stand},
    volumes::Ask,
};
use crate::e2e::Scenario;

pub(super) const ALL: [Scenario; 5] = [
    fact("fact-retain-forgotten-removes", "Without Retain the volume is removed with the temporary claim", |bed| {
        Box::pin(stand(bed, forgotten))
    }),
    fact(
        "fact-policy-back-to-delete",
        "A bound volume set back to Delete stays, and is removed when its claim is deleted",
        |bed| Box::pin(stand(bed, back)),
    ),
    fact(
        "fact-released-set-to-delete-is-removed",
        "A Released volume whose policy becomes Delete is removed at once",
        |bed| Box::pin(stand(bed, released)),
    ),
    fact(
        "fact-available-object-deleted-keeps-data",
        "Deleting the object of an Available volume leaves the data with the driver, whatever the policy says",
        |bed| Box::pin(stand(bed, orphaned)),
    ),
    fact(
        "fact-bound-object-deleted-stays",
        "Deleting the object of a bound volume only marks it: it stays until the claim is gone",
        |bed| Box::pin(stand(bed, protected)),
    ),
];

async fn forgotten(ground: Ground) -> Result<()> {
    ground.ask(Ask::new("c")).await?;
    let volume = ground.bound("c").await?;
    ground.remove_claim("c").await?;
    ground.vanishes(&volume).await
}

async fn back(ground: Ground) -> Result<()> {
    let volume = ground.reserved("c").await?;
    ground.gets(Ask::new("c"), &volume).await?;
    ground.set_policy(&volume, "Delete").await?;
    tokio::time::sleep(A_WHILE).await;
    ensure!(ground.volume_phase(&volume).await? == "Bound", "the policy alone moved the volume");
    ground.remove_claim("c").await?;
    ground.vanishes(&volume).await
}

async fn released(ground: Ground) -> Result<()> {
    let volume = ground.released().await?;
    let begun = tokio::time::Instant::now();
    ground.set_policy(&volume, "Delete").await?;
    ground.vanishes(&volume).await?;
    let took = begun.elapsed();
    ensure!(took.as_secs() < 5, "removed only after {took:?}");
    Ok(())
}

async fn orphaned(ground: Ground) -> Result<()> {
    ground.ask(Ask::new("tmp")).await?;
    let volume = ground.bound("tmp").await?;
    ground.mark("tmp", "kept").await?;
    ground.set_policy(&volume, "Retain").await?;
    ground.remove_claim("tmp").await?;
    ground.becomes(&volume, "Released").await?;
    ground.reserve(&volume, "c").await?;
    ground.set_policy(&volume, "Delete").await?;
    let object = ground.volume(&volume).await?.context("the volume is there")?;
    ground.volumes().delete(&volume, &DeleteParams::default()).await?;
    ground.vanishes(&volume).await?;
    let second = ground.second_object(&object, "c").await?;
    ground.gets(Ask::new("c"), &second).await?;
    let mark = ground.mark_of("c").await?;
    ensure!(mark == "kept", "the driver's data shows {mark:?}");
    Ok(())
}

async fn protected(ground: Ground) -> Result<()> {
    ground.ask(Ask::new("c")).await?;
    let volume = ground.bound("c").await?;
    ground.volumes().delete(&volume, &DeleteParams::default()).await?;
    tokio::time::sleep(A_WHILE).await;
    let object = ground.volume(&volume).await?.context("the volume of a claim went")?;
    ensure!(object.metadata.deletion_timestamp.is_some(), "the volume is not marked");
    ensure!(super::volumes::phase(&ground.claim("c").await?) == "Bound", "the claim lost its volume");
    Ok(())
}
