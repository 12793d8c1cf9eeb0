//! Which differences between a claim and the volume reserved for it end in a blank volume.

use anyhow::{Result, ensure};
use kube::api::{Patch, PatchParams};
use serde_json::{Value, json};

use super::{
    ground::{A_WHILE, Ground, SOON, fact, stand},
    volumes::{Ask, volume_name},
};
use crate::e2e::Scenario;

pub(super) const ALL: [Scenario; 9] = [
    fact(
        "fact-larger-request-is-blank",
        "A claim that asks for more than the reserved volume has gets a blank one",
        |bed| Box::pin(stand(bed, larger)),
    ),
    fact("fact-smaller-request-binds", "A claim that asks for less gets the reserved volume", |bed| {
        Box::pin(stand(bed, smaller))
    }),
    fact(
        "fact-other-access-mode-is-blank",
        "A claim with an access mode that the reserved volume has not gets a blank one",
        |bed| Box::pin(stand(bed, access_mode)),
    ),
    fact("fact-other-class-binds", "The storage class of a reserved volume is not compared", |bed| {
        Box::pin(stand(bed, class))
    }),
    fact(
        "fact-volume-name-binds-unchecked",
        "A claim that names the reserved volume gets it, whatever size, access mode and class it asks for",
        |bed| Box::pin(stand(bed, named)),
    ),
    fact(
        "fact-attributes-class-of-claim-is-blank",
        "A claim with a VolumeAttributesClass gets a blank volume if the reserved one has none",
        |bed| Box::pin(stand(bed, attributes_of_claim)),
    ),
    fact(
        "fact-attributes-class-of-volume-is-blank",
        "A claim without a VolumeAttributesClass gets a blank volume if the reserved one has one",
        |bed| Box::pin(stand(bed, attributes_of_volume)),
    ),
    fact(
        "fact-attributes-class-stays",
        "The VolumeAttributesClass of a volume can be set by a patch and never unset",
        |bed| Box::pin(stand(bed, attributes_stay)),
    ),
    fact(
        "fact-attributes-class-ignored-by-name",
        "A claim that names the reserved volume gets it though their VolumeAttributesClasses differ",
        |bed| Box::pin(stand(bed, attributes_by_name)),
    ),
];

async fn larger(ground: Ground) -> Result<()> {
    let volume = ground.reserved("c").await?;
    ground.gets_blank(Ask::new("c").size("200Mi"), &volume).await
}

async fn smaller(ground: Ground) -> Result<()> {
    let volume = ground.reserved("c").await?;
    ground.gets(Ask::new("c").size("50Mi"), &volume).await
}

async fn access_mode(ground: Ground) -> Result<()> {
    let volume = ground.reserved("c").await?;
    ground.gets_blank(Ask::new("c").with("accessModes", json!(["ReadWriteMany"])), &volume).await
}

async fn class(ground: Ground) -> Result<()> {
    let volume = ground.reserved("c").await?;
    ground.gets(Ask::new("c").with("storageClassName", "no-such-class".into()), &volume).await
}

async fn named(ground: Ground) -> Result<()> {
    let volume = ground.reserved("c").await?;
    let other = Ask::new("c")
        .size("2Gi")
        .with("accessModes", json!(["ReadWriteMany"]))
        .with("storageClassName", "no-such-class".into());
    ground.gets(other.with("volumeName", volume.clone().into()), &volume).await
}

async fn attributes_class(ground: &Ground) -> Result<Value> {
    let class = json!({
        "apiVersion": "storage.k8s.io/v1", "kind": "VolumeAttributesClass", "metadata": {"name": ground.name()},
        "driverName": ground.driver().await?, "parameters": {"tier": "gold"},
    });
    ground.make(class).await?;
    Ok(ground.name().into())
}

async fn set_attributes(ground: &Ground, volume: &str, class: Value) -> Result<()> {
    let patch = json!({"spec": {"volumeAttributesClassName": class}});
    ground.volumes().patch(volume, &PatchParams::default(), &Patch::Merge(patch)).await?;
    Ok(())
}

async fn attributes_of_claim(ground: Ground) -> Result<()> {
    let volume = ground.reserved("c").await?;
    let class = attributes_class(&ground).await?;
    ground.ask(Ask::new("c").with("volumeAttributesClassName", class)).await?;
    // Whether the blank volume is bound depends on whether the provisioner writes the class into it.
    ground
        .bed
        .until("a blank volume is made for the claim", SOON, async || {
            Ok(ground.volumes_for("c").await?.iter().any(|other| *other != volume).then_some(()))
        })
        .await?;
    tokio::time::sleep(A_WHILE / 4).await;
    let got = ground.claim("c").await?;
    ensure!(volume_name(&got) != volume, "the claim was bound to {volume}");
    ensure!(ground.volume_phase(&volume).await? == "Available", "the reserved volume moved");
    Ok(())
}

async fn attributes_of_volume(ground: Ground) -> Result<()> {
    let volume = ground.reserved("c").await?;
    let class = attributes_class(&ground).await?;
    set_attributes(&ground, &volume, class).await?;
    ground.gets_blank(Ask::new("c"), &volume).await
}

async fn attributes_stay(ground: Ground) -> Result<()> {
    let volume = ground.released().await?;
    let class = attributes_class(&ground).await?;
    set_attributes(&ground, &volume, class).await?;
    let unset = set_attributes(&ground, &volume, Value::Null).await;
    ensure!(unset.is_err(), "the class of a volume was unset");
    Ok(())
}

async fn attributes_by_name(ground: Ground) -> Result<()> {
    let volume = ground.reserved("c").await?;
    let class = attributes_class(&ground).await?;
    set_attributes(&ground, &volume, class).await?;
    ground.gets(Ask::new("c").with("volumeName", volume.clone().into()), &volume).await
}
