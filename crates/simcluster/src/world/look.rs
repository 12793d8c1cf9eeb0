//! What a story sees of the cluster. *No client.*

use jiff::Timestamp;
use serde_json::{Value, json};

use super::World;
use crate::{
    object::{Fields, seconds},
    outside::{Outside, VolumeContent},
    server::{Key, Store},
    service::lock,
};

/// Why an RPC was not answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refused {
    /// No process listens: connection refused. Also for one that listens on 127.0.0.1 only.
    Connection,
    /// No answer at all.
    Timeout,
    /// No such pod, or one without an address.
    NoAddress,
}

/// A replica as a story sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replica {
    /// The UID of its pod; nothing where there is none.
    pub pod: Option<String>,
    /// Whether all its containers are ready.
    pub ready: bool,
    /// Restarts of all its containers.
    pub restarts: i64,
    /// Why a container waits, such as `CrashLoopBackOff`.
    pub waits: Option<String>,
}

impl World {
    /// One object, as it is now.
    #[must_use]
    pub fn get(&self, resource: &str, namespace: &str, name: &str) -> Option<Value> {
        let cluster = lock(&self.inner.cluster);
        cluster.state.server.store.get(&Key::new(resource, namespace, name)).map(|object| Value::clone(object))
    }

    /// All objects of a kind in a namespace; of the whole cluster where that is empty.
    #[must_use]
    pub fn list(&self, resource: &str, namespace: &str) -> Vec<Value> {
        let cluster = lock(&self.inner.cluster);
        let namespace = (!namespace.is_empty()).then_some(namespace);
        cluster.state.server.store.list(resource, namespace).map(|(_, object)| Value::clone(object)).collect()
    }

    /// A replica by its pod's name.
    #[must_use]
    pub fn replica(&self, namespace: &str, pod: &str) -> Replica {
        let pod = self.get("pods", namespace, pod).unwrap_or_default();
        let statuses =
            || ["/status/initContainerStatuses", "/status/containerStatuses"].iter().flat_map(|list| pod.items(list));
        let ready = pod
            .items("/status/conditions")
            .iter()
            .any(|condition| condition.text("/type") == "Ready" && condition.text("/status") == "True");
        let waits = statuses().map(|status| status.text("/state/waiting/reason")).find(|reason| !reason.is_empty());
        Replica {
            pod: (!pod.uid().is_empty()).then(|| pod.uid().to_owned()),
            ready,
            restarts: statuses().filter_map(|status| status.number("/restartCount")).sum(),
            waits: waits.map(str::to_owned),
        }
    }

    /// What is on the volume that a claim is bound to; nothing where it is bound to none.
    #[must_use]
    pub fn content(&self, namespace: &str, claim: &str) -> Option<VolumeContent> {
        let volume = self.get("persistentvolumeclaims", namespace, claim)?.text("/spec/volumeName").to_owned();
        self.content_of_volume(&volume)
    }

    /// What is on a volume, by the name of its object.
    #[must_use]
    pub fn content_of_volume(&self, volume: &str) -> Option<VolumeContent> {
        let handle = self.get("persistentvolumes", "", volume)?.text("/spec/csi/volumeHandle").to_owned();
        let now = self.now();
        lock(&self.inner.cluster).state.outside.volume(&handle, now).map(|volume| volume.content.clone())
    }

    /// All volumes of the backend with what is on them, by the driver's names; also those whose objects are gone.
    #[must_use]
    pub fn backend(&self) -> Vec<(String, VolumeContent)> {
        let now = self.now();
        let mut cluster = lock(&self.inner.cluster);
        cluster.state.outside.settle(now);
        let volumes = cluster.state.outside.volumes.iter();
        volumes.map(|(handle, volume)| (handle.clone(), volume.content.clone())).collect()
    }

    /// What CometBFT's `/status` of a pod answers.
    ///
    /// # Errors
    ///
    /// Why there is no answer.
    pub fn rpc_status(&self, namespace: &str, pod: &str) -> Result<Value, Refused> {
        let now = self.now();
        let mut cluster = lock(&self.inner.cluster);
        let state = &mut cluster.state;
        state.outside.settle(now);
        status_of(&state.server.store, &state.outside, now, namespace, pod)
    }

    /// The pod of an address, for whoever asks by address.
    #[must_use]
    pub fn pod_at(&self, address: &str) -> Option<(String, String)> {
        let pods = self.list("pods", "");
        let pod = pods.iter().find(|pod| pod.text("/status/podIP") == address)?;
        Some((pod.namespace().to_owned(), pod.name().to_owned()))
    }
}

/// What a node answers; also what cosmos-operator's own poll sees.
pub(crate) fn status_of(
    store: &Store,
    outside: &Outside,
    now: Timestamp,
    namespace: &str,
    name: &str,
) -> Result<Value, Refused> {
    let pod = store.get(&Key::new("pods", namespace, name)).ok_or(Refused::NoAddress)?;
    if pod.text("/status/podIP").is_empty() {
        return Err(Refused::NoAddress);
    }
    if let Some(refused) = outside.unreachable.get(&(namespace.to_owned(), name.to_owned())) {
        return Err(*refused);
    }
    let first = (pod.uid().to_owned(), String::new());
    let mut processes = outside.running.range(first..).take_while(|((uid, _), _)| uid == pod.uid());
    let (_, running) = processes.find(|(_, running)| running.answers(now)).ok_or(Refused::Connection)?;
    let volume = running.volume.as_ref().and_then(|handle| outside.volumes.get(handle));
    let content = volume.map(|volume| &volume.content).ok_or(Refused::Connection)?;
    let chain = running.run.chain.as_ref().and_then(|id| outside.chains.get(id));
    let (height, top) = (content.height(), chain.map_or(0, |chain| chain.height_at(now)));
    let block_time = chain.and_then(|chain| chain.time_of(height)).map_or(now, |time| time.min(now));
    let id = content.identity.clone().unwrap_or_default();
    Ok(json!({"jsonrpc": "2.0", "id": -1, "result": {
        "node_info": {"id": id, "network": running.run.chain, "version": "0.38.17", "moniker": name,
            "other": {"tx_index": "on", "rpc_address": "tcp://0.0.0.0:26657"}},
        "application_info": {"version": running.run.version},
        "sync_info": {
            "latest_block_hash": format!("{height:064X}"), "latest_app_hash": app_hash(content, height),
            "latest_block_height": height.to_string(), "latest_block_time": seconds(block_time),
            "earliest_block_height": content.base.to_string(), "catching_up": height.saturating_add(2) < top,
        },
        "validator_info": {"address": "", "voting_power": if content.signing.is_some() { "10" } else { "0" }},
    }}))
}

/// The same on every sound node of the chain; a story marks a node whose application differs.
fn app_hash(content: &VolumeContent, height: u64) -> String {
    let sound = || format!("{:064X}", u128::from(height).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    content.marks.get("app_hash").cloned().unwrap_or_else(sound)
}
