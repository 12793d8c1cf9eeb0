//! What a volume that is reserved for a claim's name gives to whom, and when.

use anyhow::{Result, ensure};
use kube::api::{DeleteParams, PostParams};
use serde_json::json;

use super::{
    ground::{A_WHILE, Ground, fact, stand},
    volumes::Ask,
};
use crate::e2e::Scenario;

pub(super) const ALL: [Scenario; 9] = [
    fact("fact-prebound-volume-is-taken", "A claim takes the Available volume whose claimRef has its name", |bed| {
        Box::pin(stand(bed, taken))
    }),
    fact(
        "fact-prebound-uid-kept-blocks",
        "With the UID of an older claim in claimRef, the claim that names the volume stays Pending",
        |bed| Box::pin(stand(bed, uid_kept)),
    ),
    fact(
        "fact-released-volume-is-not-taken",
        "While the volume is still Released, the claim made by a template gets a blank one",
        |bed| Box::pin(stand(bed, released)),
    ),
    fact(
        "fact-prebound-stale-version-binds",
        "A stale resourceVersion in claimRef does not matter as long as there is no UID",
        |bed| Box::pin(stand(bed, stale_version)),
    ),
    fact(
        "fact-claim-before-reservation-waits",
        "A claim that is there before the volume is reserved binds at the binder's next look",
        |bed| Box::pin(stand(bed, claim_first)),
    ),
    fact(
        "fact-reserved-volume-ignores-late-binding",
        "A reserved volume is bound without a pod, though the claim's class waits for one",
        |bed| Box::pin(stand(bed, late_binding)),
    ),
    fact(
        "fact-late-binding-needs-a-scheduled-pod",
        "A claim of a waiting class binds for a pod that the scheduler placed, not for one with spec.nodeName",
        |bed| Box::pin(stand(bed, scheduled)),
    ),
    fact(
        "fact-second-object-adopts",
        "A second volume object with the same handle, reserved for a claim, gives it the same data",
        |bed| Box::pin(stand(bed, second_object)),
    ),
    fact(
        "fact-vanished-volume-is-blank",
        "When the reserved volume is gone before the claim is made, the claim gets a blank one",
        |bed| Box::pin(stand(bed, vanished)),
    ),
];

async fn taken(ground: Ground) -> Result<()> {
    let volume = ground.reserved("c").await?;
    let begun = tokio::time::Instant::now();
    ground.gets(Ask::new("c"), &volume).await?;
    let took = begun.elapsed();
    ensure!(took.as_secs() < 5, "bound only after {took:?}");
    Ok(())
}

async fn uid_kept(ground: Ground) -> Result<()> {
    let volume = ground.released().await?;
    let mut reference = ground.somebody("c");
    if let Some(reference) = reference.as_object_mut() {
        reference.insert("uid".to_owned(), "00000000-0000-4000-8000-000000000001".into());
    }
    ground.refer(&volume, reference).await?;
    ground.ask(Ask::new("c").with("volumeName", volume.clone().into())).await?;
    ground.until_told("c", "FailedBinding", "already bound to a different claim").await?;
    ground.stays_pending("c", A_WHILE).await
}

async fn released(ground: Ground) -> Result<()> {
    let volume = ground.released().await?;
    ground.gets_blank(Ask::new("tmp"), &volume).await?;
    ensure!(ground.volume_phase(&volume).await? == "Released", "the old volume moved");
    Ok(())
}

async fn stale_version(ground: Ground) -> Result<()> {
    let volume = ground.released().await?;
    let mut reference = ground.somebody("c");
    if let Some(reference) = reference.as_object_mut() {
        reference.insert("resourceVersion".to_owned(), "1".into());
    }
    ground.refer(&volume, reference).await?;
    ground.becomes(&volume, "Available").await?;
    ground.gets(Ask::new("c"), &volume).await
}

async fn claim_first(ground: Ground) -> Result<()> {
    let volume = ground.released().await?;
    ground.ask(Ask::new("c").with("volumeName", volume.clone().into())).await?;
    ground.stays_pending("c", A_WHILE).await?;
    ground.refer(&volume, ground.somebody("c")).await?;
    let got = ground.bound("c").await?;
    ensure!(got == volume, "bound to {got}");
    Ok(())
}

async fn late_binding(ground: Ground) -> Result<()> {
    let class = ground.late_class().await?;
    let volume = ground.reserved("c").await?;
    ground.gets(Ask::new("c").with("storageClassName", class.into()), &volume).await
}

async fn scheduled(ground: Ground) -> Result<()> {
    let class = ground.late_class().await?;
    let nodes = kube::Api::<k8s_openapi::api::core::v1::Node>::all(ground.bed.client.clone());
    let node =
        nodes.list(&kube::api::ListParams::default()).await?.items.into_iter().find_map(|node| node.metadata.name);
    for claim in ["placed", "asked"] {
        ground.ask(Ask::new(claim).with("storageClassName", class.clone().into())).await?;
    }
    let mut pod = super::pods::shell("placed", Some("placed"), "sleep 1");
    if let Some(spec) = pod.pointer_mut("/spec").and_then(serde_json::Value::as_object_mut) {
        spec.insert("nodeName".to_owned(), json!(node));
    }
    ground.start(pod).await?;
    let mut pod = super::pods::shell("asked", Some("asked"), "sleep 1");
    if let Some(spec) = pod.pointer_mut("/spec").and_then(serde_json::Value::as_object_mut) {
        let field = json!({"key": "metadata.name", "operator": "In", "values": [node]});
        let terms = json!({"nodeSelectorTerms": [{"matchFields": [field]}]});
        spec.insert(
            "affinity".to_owned(),
            json!({"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}),
        );
    }
    ground.start(pod).await?;
    ground.bound("asked").await?;
    ground.stays_pending("placed", A_WHILE).await
}

async fn second_object(ground: Ground) -> Result<()> {
    ground.ask(Ask::new("tmp")).await?;
    let first = ground.bound("tmp").await?;
    ground.mark("tmp", "kept").await?;
    ground.set_policy(&first, "Retain").await?;
    let Some(object) = ground.volume(&first).await? else { anyhow::bail!("volume {first} is gone") };
    ground.remove_claim("tmp").await?;
    ground.becomes(&first, "Released").await?;
    let second = ground.second_object(&object, "c").await?;
    ground.gets(Ask::new("c"), &second).await?;
    let mark = ground.mark_of("c").await?;
    ensure!(mark == "kept", "the second object shows {mark:?}");
    Ok(())
}

async fn vanished(ground: Ground) -> Result<()> {
    let volume = ground.reserved("c").await?;
    ground.volumes().delete(&volume, &DeleteParams::default()).await?;
    ground.bed.api().create(&PostParams::default(), &Ask::new("c").claim()?).await?;
    let got = ground.bound("c").await?;
    ensure!(got != volume, "bound to the deleted volume");
    Ok(())
}
