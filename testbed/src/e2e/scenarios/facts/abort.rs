//! How a proven volume is taken out of the game again, and how it is not.

use anyhow::{Context, Result, bail, ensure};
use k8s_openapi::api::core::v1::PersistentVolume;
use kube::api::{Patch, PatchParams};
use serde_json::{Value, json};

use super::{
    ground::{A_WHILE, Ground, fact, stand},
    volumes::Ask,
};
use crate::e2e::Scenario;

pub(super) const ALL: [Scenario; 5] = [
    fact(
        "fact-abort-by-foreign-claim-keeps",
        "An Available volume given to a claim that does not exist, with a UID, is Released, keeps its data and can be used again",
        |bed| Box::pin(stand(bed, keeps)),
    ),
    fact("fact-abort-with-delete-destroys", "The same with the policy Delete removes the volume", |bed| {
        Box::pin(stand(bed, destroys))
    }),
    fact("fact-dropped-reference-is-taken", "A volume whose claimRef is dropped goes to any claim that fits", |bed| {
        Box::pin(stand(bed, dropped))
    }),
    fact(
        "fact-json-patch-tests-the-reference",
        "A JSON patch with a test on the claimRef is refused once somebody else is bound",
        |bed| Box::pin(stand(bed, tested_reference)),
    ),
    fact(
        "fact-json-patch-tests-the-version",
        "A JSON patch with a test on resourceVersion is refused once the volume has changed",
        |bed| Box::pin(stand(bed, tested_version)),
    ),
];

async fn keeps(ground: Ground) -> Result<()> {
    ground.ask(Ask::new("tmp")).await?;
    let volume = ground.bound("tmp").await?;
    ground.mark("tmp", "kept").await?;
    ground.set_policy(&volume, "Retain").await?;
    ground.remove_claim("tmp").await?;
    ground.becomes(&volume, "Released").await?;
    ground.reserve(&volume, "c").await?;
    ground.refer(&volume, ground.nobody()).await?;
    ground.becomes(&volume, "Released").await?;
    ground.gets_blank(Ask::new("c"), &volume).await?;
    ground.reserve(&volume, "again").await?;
    ground.gets(Ask::new("again"), &volume).await?;
    let mark = ground.mark_of("again").await?;
    ensure!(mark == "kept", "the volume shows {mark:?}");
    Ok(())
}

async fn destroys(ground: Ground) -> Result<()> {
    let volume = ground.reserved("c").await?;
    ground.set_policy(&volume, "Delete").await?;
    ground.refer(&volume, ground.nobody()).await?;
    ground.vanishes(&volume).await
}

async fn dropped(ground: Ground) -> Result<()> {
    let class = ground.late_class().await?;
    ground.ask(Ask::new("waiting").with("storageClassName", class.clone().into())).await?;
    let volume = ground.reserved("c").await?;
    let patch = json!({"spec": {"storageClassName": class, "claimRef": null}});
    ground.volumes().patch(&volume, &PatchParams::default(), &Patch::Merge(patch)).await?;
    ground.becomes(&volume, "Available").await?;
    ground.start(super::pods::shell("consumer", Some("waiting"), "sleep 1")).await?;
    let got = ground.bound("waiting").await?;
    ensure!(got == volume, "the waiting claim got {got}");
    Ok(())
}

/// Tries to give a volume to nobody, if a field of it is still as it was.
async fn neutralise_if(ground: &Ground, volume: &str, field: &str, was: Value) -> Result<()> {
    let steps = json!([
        {"op": "test", "path": field, "value": was}, {"op": "replace", "path": "/spec/claimRef", "value": ground.nobody()},
    ]);
    let steps: json_patch::Patch = serde_json::from_value(steps)?;
    match ground.volumes().patch(volume, &PatchParams::default(), &Patch::Json::<()>(steps)).await {
        Err(kube::Error::Api(status)) if status.code == 422 => Ok(()),
        Err(other) => Err(other.into()),
        Ok(_) => bail!("the patch went through"),
    }
}

/// A volume as it was before a claim took it, which one has by now.
async fn taken(ground: &Ground) -> Result<(String, PersistentVolume)> {
    let volume = ground.reserved("c").await?;
    let before = ground.volume(&volume).await?.context("the volume is there")?;
    ground.gets(Ask::new("c"), &volume).await?;
    Ok((volume, before))
}

async fn unharmed(ground: &Ground, volume: &str) -> Result<()> {
    tokio::time::sleep(A_WHILE / 4).await;
    ensure!(ground.volume_phase(volume).await? == "Bound", "the refused patch moved the volume");
    ensure!(super::volumes::phase(&ground.claim("c").await?) == "Bound", "the claim is Lost");
    Ok(())
}

async fn tested_reference(ground: Ground) -> Result<()> {
    let (volume, before) = taken(&ground).await?;
    let reference = serde_json::to_value(before.spec.and_then(|spec| spec.claim_ref))?;
    neutralise_if(&ground, &volume, "/spec/claimRef", reference).await?;
    unharmed(&ground, &volume).await
}

async fn tested_version(ground: Ground) -> Result<()> {
    let (volume, before) = taken(&ground).await?;
    let version = before.metadata.resource_version.context("a version")?;
    neutralise_if(&ground, &volume, "/metadata/resourceVersion", version.into()).await?;
    unharmed(&ground, &volume).await
}
