//! What a dry run tells beforehand, and what it cannot see.

use anyhow::{Result, bail, ensure};
use k8s_openapi::api::core::v1::{Namespace, PersistentVolumeClaim, Pod, ResourceQuota};
use kube::{
    Api,
    api::{DeleteParams, Patch, PatchParams, PostParams, Preconditions},
};
use serde_json::json;

use super::{
    ground::{Ground, SOON, fact, stand},
    pods::shell,
    volumes::Ask,
};
use crate::e2e::Scenario;

pub(super) const ALL: [Scenario; 4] = [
    fact("fact-dry-run-tells-quota", "A dry run of a claim over the quota is refused with 403", |bed| {
        Box::pin(stand(bed, quota))
    }),
    fact(
        "fact-dry-run-tells-pod-security",
        "A dry run of a pod that the namespace's security level forbids is refused with 403",
        |bed| Box::pin(stand(bed, pod_security)),
    ),
    fact(
        "fact-dry-run-tells-the-wrong-uid",
        "A dry run of a delete with the UID of another object is refused with 409",
        |bed| Box::pin(stand(bed, wrong_uid)),
    ),
    fact(
        "fact-dry-run-is-blind-to-storage",
        "A dry run of a claim with a missing class, an impossible size or a missing volume is accepted, and keeps nothing",
        |bed| Box::pin(stand(bed, blind)),
    ),
];

fn rehearsal() -> PostParams {
    PostParams { dry_run: true, ..PostParams::default() }
}

fn refused_with<T>(answer: kube::Result<T>, code: u16) -> Result<()> {
    match answer {
        Err(kube::Error::Api(status)) if status.code == code => Ok(()),
        Err(other) => Err(other.into()),
        Ok(_) => bail!("accepted; {code} was expected"),
    }
}

async fn quota(ground: Ground) -> Result<()> {
    let hard = json!({"metadata": {"name": "q"}, "spec": {"hard": {"persistentvolumeclaims": "1"}}});
    let quotas = ground.bed.api::<ResourceQuota>();
    quotas.create(&PostParams::default(), &serde_json::from_value(hard)?).await?;
    let counted = async || Ok(quotas.get("q").await?.status.and_then(|status| status.used).map(drop));
    ground.bed.until("the quota is counted", SOON, counted).await?;
    let claims = ground.bed.api::<PersistentVolumeClaim>();
    claims.create(&rehearsal(), &Ask::new("dry").claim()?).await?;
    ground.ask(Ask::new("one")).await?;
    ground.bound("one").await?;
    refused_with(claims.create(&rehearsal(), &Ask::new("two").claim()?).await, 403)
}

async fn pod_security(ground: Ground) -> Result<()> {
    let level = json!({"metadata": {"labels": {"pod-security.kubernetes.io/enforce": "restricted"}}});
    let namespaces = Api::<Namespace>::all(ground.bed.client.clone());
    namespaces.patch(ground.name(), &PatchParams::default(), &Patch::Merge(level)).await?;
    let pod: Pod = serde_json::from_value(shell("p", None, "true"))?;
    // The level is read from a cache that lags behind the label a little.
    let pods = ground.bed.api::<Pod>();
    let told = async || Ok(refused_with(pods.create(&rehearsal(), &pod).await, 403).ok());
    ground.bed.until("the level is enforced", SOON, told).await
}

async fn wrong_uid(ground: Ground) -> Result<()> {
    ground.ask(Ask::new("c")).await?;
    let other = Some("00000000-0000-4000-8000-000000000002".to_owned());
    let mut delete = DeleteParams::default().preconditions(Preconditions { uid: other, resource_version: None });
    delete.dry_run = true;
    refused_with(ground.bed.api::<PersistentVolumeClaim>().delete("c", &delete).await, 409)
}

async fn blind(ground: Ground) -> Result<()> {
    let claims = ground.bed.api::<PersistentVolumeClaim>();
    let odd = [
        Ask::new("c").with("storageClassName", "no-such-class".into()),
        Ask::new("c").size("8Ei"),
        Ask::new("c").with("volumeName", "no-such-volume".into()),
        Ask::new("c").restored_from("no-such-snapshot"),
    ];
    for ask in odd {
        claims.create(&rehearsal(), &ask.claim()?).await?;
    }
    ensure!(claims.get_opt("c").await?.is_none(), "a dry run kept a claim");
    Ok(())
}
