//! What the API server says where a log should be.

use std::time::Duration;

use anyhow::{Result, bail};
use k8s_openapi::api::core::v1::Pod;
use kube::api::LogParams;

use super::{
    ground::{Ground, SOON, fact, stand},
    pods::shell,
};
use crate::e2e::Scenario;

pub(super) const ALL: [Scenario; 2] = [
    fact(
        "fact-kept-log-of-a-crash",
        "The log of the crashed container is there while the next one waits in CrashLoopBackOff",
        |bed| Box::pin(stand(bed, kept)),
    ),
    fact(
        "fact-failure-text-comes-as-a-log",
        "In the short moment of a terminated container the kept log is a sentence about a failure, with status 200",
        |bed| Box::pin(stand(bed, sentence)),
    ),
];

/// A pod that crashes and is started again.
async fn crash(ground: &Ground) -> Result<()> {
    let mut pod = shell("crash", None, "echo the node says so >&2; exit 2");
    if let Some(spec) = pod.pointer_mut("/spec").and_then(serde_json::Value::as_object_mut) {
        spec.insert("restartPolicy".to_owned(), "Always".into());
    }
    ground.start(pod).await.map(drop)
}

fn previous() -> LogParams {
    LogParams { previous: true, ..LogParams::default() }
}

async fn kept(ground: Ground) -> Result<()> {
    crash(&ground).await?;
    let pods = ground.bed.api::<Pod>();
    ground
        .bed
        .until("the kept log in CrashLoopBackOff", SOON, async || {
            let status = pods.get("crash").await?.status.unwrap_or_default();
            let waits = status.container_statuses.unwrap_or_default().into_iter().any(|each| {
                let waiting = each.state.and_then(|state| state.waiting);
                waiting.and_then(|waiting| waiting.reason).as_deref() == Some("CrashLoopBackOff")
            });
            if !waits {
                return Ok(None);
            }
            let log = pods.logs("crash", &previous()).await.unwrap_or_default();
            Ok((log.trim() == "the node says so").then_some(()))
        })
        .await
}

async fn sentence(ground: Ground) -> Result<()> {
    crash(&ground).await?;
    let pods = ground.bed.api::<Pod>();
    let begun = tokio::time::Instant::now();
    while begun.elapsed() < SOON {
        if let Ok(log) = pods.logs("crash", &previous()).await
            && log.contains("unable to retrieve container logs for ")
        {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    bail!("the sentence never came in {} s: this kubelet keeps the log", SOON.as_secs())
}
