//! What cosmos-operator learns from the nodes' RPC and writes into `status.sync` and `status.height`. *Client `cosmos-operator-status`.*
//!
//! Seen: about four writes in 90 s at rest, twenty a minute with a crash loop; a node that does not answer has an `error`
//! and keeps its last `height` (cosmos-operator facts).

use jiff::SignedDuration;
use serde_json::{Map, Value, json};

use super::{FULL_NODES, ordinals, pod_name};
use crate::{
    desk::Desk,
    models::{Model, Wake},
    object::{Fields, put, seconds},
    server::{Change, Event, Key, Store},
    world::Refused,
};

const AT_REST: SignedDuration = SignedDuration::from_secs(20);
const WITH_ERRORS: SignedDuration = SignedDuration::from_secs(3);

/// The poll.
#[derive(Debug, Default)]
pub(crate) struct CosmosPoll;

impl Model for CosmosPoll {
    fn user(&self) -> &'static str {
        "cosmos-operator-status"
    }

    fn wakes(&self, event: &Event, _: &Store) -> Vec<Wake> {
        let fresh = &*event.key.resource == FULL_NODES && event.change == Change::Added;
        fresh.then(|| Wake::after(5000, event.key.clone())).into_iter().collect()
    }

    fn reconcile(&mut self, key: &Key, desk: &mut Desk<'_>) -> Option<SignedDuration> {
        let node = desk.object(key)?;
        let now = desk.now;
        desk.outside().settle(now);
        let (mut sync, mut heights) = (Map::new(), Map::new());
        let mut silent = false;
        for ordinal in ordinals(&node) {
            let name = pod_name(&node, ordinal);
            let Some(pod) = desk.get("pods", &key.namespace, &name) else { continue };
            let answer = desk.ask(&key.namespace, &name);
            let entry = match answer {
                Ok(status) => {
                    let height: u64 = status.text("/result/sync_info/latest_block_height").parse().unwrap_or_default();
                    if !node.items("/spec/chain/versions").is_empty() {
                        heights.insert(name.clone(), height.saturating_add(1).into());
                    }
                    let in_sync = !status.is_true("/result/sync_info/catching_up");
                    json!({"timestamp": seconds(now), "height": height, "inSync": in_sync, "error": null})
                }
                Err(refused) => {
                    silent = true;
                    json!({"timestamp": seconds(now), "error": why(&pod, refused), "height": null, "inSync": null})
                }
            };
            sync.insert(name, entry);
        }
        // The real one puts the whole map in place of the old one.
        for gone in node.part("/status/sync").as_object().into_iter().flatten().map(|(name, _)| name) {
            sync.entry(gone.clone()).or_insert(Value::Null);
        }
        let mut status = json!({"sync": sync});
        if !heights.is_empty() {
            put(&mut status, "height", heights.into());
        }
        drop(desk.merge_status(FULL_NODES, &node, &status));
        Some(if silent { WITH_ERRORS } else { AT_REST })
    }
}

fn why(pod: &Value, refused: Refused) -> String {
    let address = pod.text("/status/podIP");
    match refused {
        Refused::Timeout => {
            format!(
                "Get \"http://{address}:26657/status\": context deadline exceeded (Client.Timeout exceeded while awaiting headers)"
            )
        }
        Refused::NoAddress => "pod has no IP assigned".to_owned(),
        Refused::Connection => {
            format!("Get \"http://{address}:26657/status\": dial tcp {address}:26657: connect: connection refused")
        }
    }
}
