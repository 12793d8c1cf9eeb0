//! Asks the replicas of a bundle for their status. *Client and network, reads only.* (P6, P13)

use diagnosis::{InstanceName, Observation};
use futures::{AsyncReadExt, StreamExt, stream};
use jiff::Timestamp;
use k8s_openapi::api::core::v1::Pod;
use kube::ResourceExt;
use scene::Sample;
use serde_json::{Value, json};

use super::{Asking, Collecting};
use crate::{
    Clock,
    collect::{RpcAddress, in_words, status_of},
};

/// Replicas asked at once.
const ASKED_AT_ONCE: usize = 16;
/// A status has two kilobytes.
const ANSWER_MAX: u64 = 256 * 1024;

impl Collecting<'_> {
    /// One sample of each replica that answers.
    pub(super) async fn sample(&mut self, pods: &[(Pod, Observation)], asking: &Asking, clock: &Clock) -> Vec<Value> {
        let this = &*self;
        let answers: Vec<_> = stream::iter(pods)
            .map(|(pod, seen)| async move { (this.ask(pod, asking).await, clock.now(), seen) })
            .buffered(ASKED_AT_ONCE)
            .collect()
            .await;
        let mut samples = Vec::new();
        for (answer, at, seen) in answers {
            match answer {
                Ok(sample) => samples.push(as_json(&sample, at, seen)),
                Err(why) => {
                    let note = format!("{} did not tell its height: {why}", seen.instance.name);
                    if !self.notes.contains(&note) {
                        self.notes.push(note);
                    }
                }
            }
        }
        samples
    }

    async fn ask(&self, pod: &Pod, asking: &Asking) -> Result<Sample, String> {
        let ip = pod.status.as_ref().and_then(|status| status.pod_ip.clone()).ok_or("its pod has no address")?;
        let instance = InstanceName { namespace: self.of.namespace.clone(), name: pod.name_any() };
        let to = RpcAddress { instance, ip, port: self.of.rpc_port };
        match asking {
            Asking::ApiServer => self.ask_by_api_server(&to).await,
            Asking::PodNetwork(rpc) => match rpc.status(&to).await {
                Ok(sample) => Ok(sample),
                Err(directly) => {
                    let other_way = self.ask_by_api_server(&to).await;
                    other_way.map_err(|through| format!("{directly}; and through the API server: {through}"))
                }
            },
        }
    }

    /// The API server asks the pod for us: a right of its own (`get` on `pods/proxy`).
    async fn ask_by_api_server(&self, to: &RpcAddress) -> Result<Sample, String> {
        let RpcAddress { instance: InstanceName { namespace, name }, port, .. } = to;
        let path = format!("/api/v1/namespaces/{namespace}/pods/{name}:{port}/proxy/status");
        let request = http::Request::get(path).body(Vec::new()).map_err(|error| error.to_string())?;
        let body = self.client.request_stream(request).await;
        let body = body.map_err(|error| in_words("get", &format!("pods/proxy of {name}:{port}"), &error))?;
        let mut bytes = Vec::new();
        body.take(ANSWER_MAX).read_to_end(&mut bytes).await.map_err(|error| error.to_string())?;
        let answer: Value = serde_json::from_slice(&bytes).map_err(|_| "its answer is no JSON".to_owned())?;
        status_of(&answer, to).map_err(|error| error.to_string())
    }
}

/// As `peers.json` has it.
fn as_json(sample: &Sample, at: Timestamp, seen: &Observation) -> Value {
    let image_id = seen.node_container().and_then(|node| node.image_id.clone());
    json!({
        "pod": sample.pod,
        "image_id": image_id,
        "time": at,
        "height": sample.height,
        "earliest_height": sample.earliest_height,
        "catching_up": sample.catching_up,
        "version": sample.version,
        "app_hash": sample.app_hash,
    })
}
