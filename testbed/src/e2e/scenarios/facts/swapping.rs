//! What a StatefulSet's controller and the kubelet do while a claim is exchanged under a pod.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use futures::{StreamExt, TryStreamExt};
use k8s_openapi::api::core::v1::{PersistentVolumeClaim, Pod, ResourceQuota};
use kube::{
    api::{DeleteParams, Patch, PatchParams, PostParams},
    core::WatchEvent,
};
use serde_json::json;

use super::{
    ground::{A_WHILE, Ground, SOON, fact, stand},
    pods::{pod_phase, shell},
    sets::Order,
    volumes::Ask,
};
use crate::e2e::Scenario;

pub(super) const ALL: [Scenario; 5] = [
    fact(
        "fact-swap-and-back",
        "Claim deleted, then pod: the set comes back on the pre-bound volume, and by the same way back on the original; its sibling sees nothing",
        |bed| Box::pin(stand(bed, there_and_back)),
    ),
    fact(
        "fact-pod-deleted-first-keeps-the-claim",
        "When the pod is deleted before the claim, the new pod runs on the old claim, which terminates without end",
        |bed| Box::pin(stand(bed, pod_first)),
    ),
    fact(
        "fact-ordered-ready-waits",
        "In an OrderedReady set neither claim nor pod is made again while a lower ordinal is not ready",
        |bed| Box::pin(stand(bed, ordered)),
    ),
    fact(
        "fact-lowered-quota-keeps-the-claim-away",
        "A quota lowered below its use lets the running pod be and keeps the claim from being made again",
        |bed| Box::pin(stand(bed, lowered_quota)),
    ),
    fact(
        "fact-forced-deletion-leaves-the-process",
        "After a forced deletion the old process writes on beside the new one; the last word about its pod was Running",
        |bed| Box::pin(stand(bed, forced)),
    ),
];

async fn there_and_back(ground: Ground) -> Result<()> {
    ground.pair().await?;
    let original = ground.bound("data-db-0").await?;
    ground.set_policy(&original, "Retain").await?;
    let proven = ground.proven_copy("data-db-0").await?;
    let sibling = ground.versions(1).await?;
    let (claim, pod) = ground.detach(0).await?;
    let got = ground.bound_again(&claim).await?;
    ensure!(got == proven, "swapped to {got}");
    ground.ready("db-0", pod.metadata.uid.as_deref().unwrap_or_default()).await?;
    ensure!(ground.log("db-0").await?.trim() == "first-of-db-0", "not the snapshot's data");
    ground.becomes(&original, "Released").await?;
    ground.reserve(&original, "data-db-0").await?;
    let (claim, pod) = ground.detach(0).await?;
    let got = ground.bound_again(&claim).await?;
    ensure!(got == original, "swapped back to {got}");
    ground.ready("db-0", pod.metadata.uid.as_deref().unwrap_or_default()).await?;
    ensure!(ground.versions(1).await? == sibling, "the sibling was touched");
    Ok(())
}

async fn pod_first(ground: Ground) -> Result<()> {
    ground.start_set(Order::Parallel, 1).await?;
    let old = ground.ready("db-0", "").await?;
    ground.bed.api::<Pod>().delete("db-0", &DeleteParams::default()).await?;
    ground.ready("db-0", old.metadata.uid.as_deref().unwrap_or_default()).await?;
    ground.bed.api::<PersistentVolumeClaim>().delete("data-db-0", &DeleteParams::default()).await?;
    tokio::time::sleep(A_WHILE).await;
    let claim = ground.claim("data-db-0").await?;
    ensure!(claim.metadata.deletion_timestamp.is_some(), "the claim is not marked");
    ensure!(pod_phase(&ground.bed.api::<Pod>().get("db-0").await?) == "Running", "the pod does not run on it");
    Ok(())
}

async fn ordered(ground: Ground) -> Result<()> {
    ground.start_set(Order::Gated, 2).await?;
    ground.appears("db-0").await?;
    ground.gate("db-0", "True").await?;
    let pod = ground.appears("db-1").await?;
    ground.gate("db-1", "True").await?;
    ground.ready("db-1", "").await?;
    ground.gate("db-0", "False").await?;
    let pods = ground.bed.api::<Pod>();
    let unready = async || Ok((!super::pods::is_ready(&pods.get("db-0").await?)).then_some(()));
    ground.bed.until("db-0 is not ready", SOON, unready).await?;
    ground.detach(1).await?;
    ground.stays_away(1, A_WHILE).await?;
    ground.gate("db-0", "True").await?;
    let again = ground.appears("db-1").await?;
    ensure!(again.metadata.uid != pod.metadata.uid, "the pod was never gone");
    ground.bound("data-db-1").await.map(drop)
}

async fn lowered_quota(ground: Ground) -> Result<()> {
    ground.start_set(Order::Parallel, 1).await?;
    let old = ground.ready("db-0", "").await?;
    let hard = |count: &str| json!({"metadata": {"name": "q"}, "spec": {"hard": {"persistentvolumeclaims": count}}});
    let quotas = ground.bed.api::<ResourceQuota>();
    quotas.create(&PostParams::default(), &serde_json::from_value(hard("0"))?).await?;
    let used = async || {
        let used = quotas.get("q").await?.status.and_then(|status| status.used).unwrap_or_default();
        Ok(used.contains_key("persistentvolumeclaims").then_some(()))
    };
    ground.bed.until("the quota is counted", SOON, used).await?;
    ensure!(pod_phase(&ground.bed.api::<Pod>().get("db-0").await?) == "Running", "the quota stopped the pod");
    ground.detach(0).await?;
    ground.stays_away(0, A_WHILE / 2).await?;
    ground.until_told("db", "FailedCreate", "exceeded quota").await?;
    quotas.patch("q", &PatchParams::default(), &Patch::Merge(hard("1"))).await?;
    ground.poke().await?;
    ground.ready("db-0", old.metadata.uid.as_deref().unwrap_or_default()).await.map(drop)
}

/// Writes a line ten times a second and does not hear the signal to stop.
const DEAF: &str = "trap '' TERM; while true; do echo old >>/data/lines; sleep 0.1; done";

async fn forced(ground: Ground) -> Result<()> {
    ground.ask(Ask::new("c")).await?;
    let mut deaf = shell("deaf", Some("c"), DEAF);
    if let Some(spec) = deaf.pointer_mut("/spec").and_then(serde_json::Value::as_object_mut) {
        spec.insert("terminationGracePeriodSeconds".to_owned(), 12.into());
    }
    let made = ground.start(deaf).await?;
    let pods = ground.bed.api::<Pod>();
    let running = async || Ok((pod_phase(&pods.get("deaf").await?) == "Running").then_some(()));
    ground.bed.until("the writer runs", SOON, running).await?;
    let counting = "while true; do wc -l </data/lines 2>/dev/null; sleep 0.2; done";
    ground.start(shell("witness", Some("c"), counting)).await?;
    let counted = async || Ok((lines(&ground).await.unwrap_or_default() > 0).then_some(()));
    ground.bed.until("the witness counts", SOON, counted).await?;
    let version = made.metadata.resource_version.context("a version")?;
    let chosen = kube::api::WatchParams::default().fields("metadata.name=deaf");
    let watch = pods.watch(&chosen, &version).await?.boxed();
    pods.delete("deaf", &DeleteParams::default().grace_period(0)).await?;
    ensure!(pods.get_opt("deaf").await?.is_none(), "the object is still there");
    let last = last_word(watch).await?;
    ensure!(pod_phase(&last) == "Running", "the last word about the pod was {}", pod_phase(&last));
    let ended = last.status.and_then(|status| status.container_statuses).unwrap_or_default();
    let ended = ended.iter().any(|each| each.state.as_ref().is_some_and(|state| state.terminated.is_some()));
    ensure!(!ended, "the last word claims that the container ended");
    let before = lines(&ground).await?;
    tokio::time::sleep(Duration::from_secs(1)).await;
    let after = lines(&ground).await?;
    ensure!(after > before, "the old process wrote nothing after the deletion: {before} and {after} lines");
    Ok(())
}

/// How many lines the witness has counted last.
async fn lines(ground: &Ground) -> Result<u64> {
    let log = ground.log("witness").await?;
    Ok(log.lines().last().and_then(|line| line.trim().parse().ok()).unwrap_or_default())
}

/// The object as it was in the DELETED event.
async fn last_word(mut watch: futures::stream::BoxStream<'_, kube::Result<WatchEvent<Pod>>>) -> Result<Pod> {
    let found = async {
        while let Some(event) = watch.try_next().await? {
            if let WatchEvent::Deleted(pod) = event {
                return Ok(Some(pod));
            }
        }
        anyhow::Ok(None)
    };
    tokio::time::timeout(SOON, found).await.context("a DELETED event")??.context("the watch ended before")
}
