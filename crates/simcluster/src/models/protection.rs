//! Keeps a claim while a pod uses it. *Client `pvc-protection-controller`.*
//!
//! Only a pod that was placed on a node counts, and only until it has ended: a crash-looping pod holds its claim for ever,
//! a Pending one does not.

use jiff::SignedDuration;
use serde_json::Value;

use super::{Model, Wake, kubelet::claims, volume_binder::CLAIMS};
use crate::{
    desk::Desk,
    object::{Fields, drop_finalizer},
    server::{CLAIM_PROTECTION, Event, Key, Store},
};

/// The controller.
#[derive(Debug, Default)]
pub(crate) struct ClaimProtection;

impl Model for ClaimProtection {
    fn user(&self) -> &'static str {
        "pvc-protection-controller"
    }

    fn wakes(&self, event: &Event, store: &Store) -> Vec<Wake> {
        match &*event.key.resource {
            CLAIMS if event.object.is_terminating() => vec![Wake::after(15, event.key.clone())],
            "pods" => claims(&event.object)
                .map(|claim| Key::new(CLAIMS, &event.key.namespace, claim))
                .filter(|claim| store.get(claim).is_some_and(|claim| claim.is_terminating()))
                .map(|claim| Wake::after(15, claim))
                .collect(),
            _ => Vec::new(),
        }
    }

    fn reconcile(&mut self, key: &Key, desk: &mut Desk<'_>) -> Option<SignedDuration> {
        let claim = desk.object(key)?;
        if !claim.is_terminating() || !claim.has_finalizer(CLAIM_PROTECTION) {
            return None;
        }
        let used = desk.list("pods", Some(&key.namespace)).iter().any(|pod| {
            !pod.text("/spec/nodeName").is_empty()
                && !matches!(pod.text("/status/phase"), "Succeeded" | "Failed")
                && claims(pod).any(|name| name == key.name)
        });
        if used {
            return None;
        }
        let mut freed = Value::clone(&claim);
        drop_finalizer(&mut freed, CLAIM_PROTECTION);
        match desk.update(CLAIMS, freed) {
            Ok(_) => None,
            Err(_) => Some(SignedDuration::from_secs(1)),
        }
    }
}
