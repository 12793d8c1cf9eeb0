//! A bundle of what a cluster says about one replica, for whoever looks at it elsewhere. *Client, reads only.* (P8, P13; design 7)
//!
//! Secrets and config maps are never asked for. Of everything else what looks like a secret is taken out before it is
//! returned. What cannot be read is a note, and the rest goes on; only a pod that cannot be read ends it.

mod logs;
mod objects;
mod peers;
mod scrub;

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use jiff::Timestamp;
use kube::Client;
use serde_json::Value;

use super::Rpc;
use crate::Clock;

/// Whose bundle, and how it is collected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BundleOf {
    /// The pod's namespace.
    pub namespace: String,
    /// The pod.
    pub pod: String,
    /// The port of CometBFT's RPC.
    pub rpc_port: u16,
    /// Between the two questions to each replica.
    pub interval: Duration,
}

/// How the replicas are asked for their status.
#[derive(Clone)]
pub enum Asking {
    /// Over the pod network, and where that fails through the API server: from within the cluster.
    PodNetwork(Arc<dyn Rpc>),
    /// Through the API server alone: a pod's address means something else outside the cluster.
    ApiServer,
}

impl std::fmt::Debug for Asking {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::PodNetwork(_) => "PodNetwork",
            Self::ApiServer => "ApiServer",
        })
    }
}

/// What was collected, without secrets.
#[derive(Debug, Clone, PartialEq)]
pub struct CollectedBundle {
    /// When it was begun.
    pub collected_at: Timestamp,
    /// Of the API server, as it says.
    pub kubernetes: Option<String>,
    /// Objects, by the name of the file that they belong into.
    pub objects: BTreeMap<&'static str, Vec<Value>>,
    /// Logs.
    pub logs: Vec<BundleLog>,
    /// Samples of the replicas' status, as `peers.json` has them.
    pub samples: Vec<Value>,
    /// What could not be read, and why; what was left out.
    pub notes: Vec<String>,
}

/// One log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BundleLog {
    /// The pod.
    pub pod: String,
    /// The container.
    pub container: String,
    /// Whether it is that of the run before the present one.
    pub previous: bool,
    /// Its text, without secrets.
    pub text: String,
}

/// Who collects.
struct Collecting<'c> {
    client: &'c Client,
    of: &'c BundleOf,
    notes: Vec<String>,
}

/// Collects it. `tell` hears what is being done. The error is that of reading the pod itself.
pub async fn collect_bundle(
    client: &Client,
    asking: &Asking,
    clock: &Clock,
    of: &BundleOf,
    tell: impl Fn(&str),
) -> Result<CollectedBundle, kube::Error> {
    let collected_at = clock.now();
    let mut collecting = Collecting { client, of, notes: Vec::new() };
    tell("reading objects");
    let objects = collecting.objects().await?;
    tell("asking the replicas for their heights");
    let mut samples = collecting.sample(&objects.pods, asking, clock).await;
    let asked = tokio::time::Instant::now();
    let mut logs = Vec::new();
    for (pod, container) in objects.containers(&of.pod) {
        tell(&format!("reading the logs of {pod}, container {}", container.name));
        collecting.logs(&pod, &container, &mut logs).await;
    }
    if !samples.is_empty() {
        tell("waiting to ask the replicas again");
        tokio::time::sleep_until(asked + of.interval).await;
        samples.extend(collecting.sample(&objects.pods, asking, clock).await);
    }
    let kubernetes = client.apiserver_version().await.ok().map(|version| version.git_version);
    let mut notes = collecting.notes;
    notes.dedup();
    Ok(CollectedBundle { collected_at, kubernetes, objects: objects.into_files(), logs, samples, notes })
}

#[cfg(test)]
mod tests;
