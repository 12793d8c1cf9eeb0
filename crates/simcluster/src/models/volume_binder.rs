//! The volume binder of kube-controller-manager, with the provisioner of the driver. *Client `volume-binder`.* (P8)
//!
//! One look at a claim: is a volume reserved for it, is there one that fits, or is a new one to be made? The traps of the
//! swap are here, as they were run (real-cluster facts): a reserved volume that is too small, of another access mode or
//! attributes class is passed over **and an empty one is made, silently**; a reserved volume with the UID of another claim
//! is passed over as well; `volumeName` on the claim bypasses every check; two reserved for one name: either may win.
//! A Pending claim does not notice that a volume was reserved for it: the next resync does, 15 s at most.

mod provision;
mod release;

use std::{collections::BTreeSet, sync::Arc};

use jiff::SignedDuration;
use serde_json::{Value, json};

use super::{Model, Wake, scheduler::SELECTED_NODE};
use crate::{
    desk::Desk,
    object::{Fields, bytes_of, put},
    server::{Change, Event, Key, Store},
};

pub(crate) const CLAIMS: &str = "persistentvolumeclaims";
pub(crate) const VOLUMES: &str = "persistentvolumes";
pub(crate) const CLASSES: &str = "storageclasses.storage.k8s.io";

/// How often a claim is looked at that still waits.
const RESYNC: SignedDuration = SignedDuration::from_secs(15);
/// How long a driver takes to make an empty volume: a wrong claim is bound before anybody looks.
const PROVISIONING: SignedDuration = SignedDuration::from_millis(30);
/// How long it takes to make one from a copy.
const COPYING: SignedDuration = SignedDuration::from_millis(1500);
const BIND_COMPLETED: &str = "pv.kubernetes.io/bind-completed";
const BOUND_BY_CONTROLLER: &str = "pv.kubernetes.io/bound-by-controller";

/// Binder and provisioner.
#[derive(Debug, Default)]
pub(crate) struct VolumeBinder {
    /// UIDs of claims that a volume is being made for, and since when.
    making: std::collections::BTreeMap<String, jiff::Timestamp>,
    /// Claims whose volume was found to be gone.
    lost: BTreeSet<String>,
}

impl Model for VolumeBinder {
    fn user(&self) -> &'static str {
        "volume-binder"
    }

    fn wakes(&self, event: &Event, _: &Store) -> Vec<Wake> {
        match &*event.key.resource {
            CLAIMS if event.change == Change::Deleted => {
                vec![Wake::after(20, Key::new(VOLUMES, "", event.object.text("/spec/volumeName")))]
            }
            CLAIMS => vec![Wake::after(30, event.key.clone())],
            VOLUMES => {
                let mut wakes = vec![Wake::after(20, event.key.clone())];
                // A change of a volume wakes the claim that it is bound to, and no other.
                let claim = event.object.part("/spec/claimRef");
                if event.change == Change::Deleted || claim.has("/uid") {
                    wakes.push(Wake::after(40, Key::new(CLAIMS, claim.text("/namespace"), claim.text("/name"))));
                }
                wakes
            }
            _ => Vec::new(),
        }
    }

    fn reconcile(&mut self, key: &Key, desk: &mut Desk<'_>) -> Option<SignedDuration> {
        match &*key.resource {
            VOLUMES => release::look_at(key, desk),
            _ => self.look_at_claim(key, desk),
        }
    }
}

impl VolumeBinder {
    fn look_at_claim(&mut self, key: &Key, desk: &mut Desk<'_>) -> Option<SignedDuration> {
        let claim = desk.object(key)?;
        let volume_name = claim.text("/spec/volumeName").to_owned();
        if !claim.annotation(BIND_COMPLETED).is_empty() {
            if desk.get(VOLUMES, "", &volume_name).is_none() && self.lost.insert(claim.uid().to_owned()) {
                drop(desk.merge_status(CLAIMS, &claim, &json!({"phase": "Lost"})));
                desk.event(
                    &claim,
                    "Warning",
                    "ClaimLost",
                    "Bound claim has lost its PersistentVolume. Data on the volume is lost!",
                );
            }
            return None;
        }
        if claim.is_terminating() {
            return None;
        }
        if !volume_name.is_empty() {
            return Self::bind_to_named(&claim, &volume_name, desk);
        }
        let waits = waits_for_consumer(&claim, desk) && claim.annotation(SELECTED_NODE).is_empty();
        match find(&claim, waits, desk) {
            Some(volume) => bind(&claim, &volume, desk),
            None if waits => Some(RESYNC),
            None => self.provision(&claim, desk),
        }
    }

    /// A claim that names its volume gets it, whatever either asks for.
    fn bind_to_named(claim: &Arc<Value>, name: &str, desk: &mut Desk<'_>) -> Option<SignedDuration> {
        let Some(volume) = desk.get(VOLUMES, "", name) else { return Some(RESYNC) };
        let reserved = volume.part("/spec/claimRef");
        let free = !volume.has("/spec/claimRef")
            || (is_for(reserved, claim) && (!reserved.has("/uid") || reserved.text("/uid") == claim.uid()));
        if !free {
            let message = format!("volume {name:?} already bound to a different claim.");
            desk.event(claim, "Warning", "FailedBinding", &message);
            return Some(RESYNC);
        }
        bind(claim, &volume, desk)
    }

    fn provision(&mut self, claim: &Arc<Value>, desk: &mut Desk<'_>) -> Option<SignedDuration> {
        let Some(class) = desk.get(CLASSES, "", claim.text("/spec/storageClassName")) else {
            let message = format!("storageclass.storage.k8s.io {:?} not found", claim.text("/spec/storageClassName"));
            desk.event(claim, "Warning", "ProvisioningFailed", &message);
            return Some(RESYNC);
        };
        let since = *self.making.entry(claim.uid().to_owned()).or_insert(desk.now);
        let takes = if claim.has("/spec/dataSource") { COPYING } else { PROVISIONING };
        let rest = takes.saturating_sub(desk.since(since));
        if rest.is_positive() {
            return Some(rest);
        }
        self.making.remove(claim.uid());
        match provision::source(claim, desk) {
            Ok(content) => {
                provision::make_volume(claim, &class, content, desk);
                None
            }
            Err(why) => {
                let name = claim.text("/spec/storageClassName");
                let message = format!("failed to provision volume with StorageClass {name:?}: {why}");
                desk.event(claim, "Warning", "ProvisioningFailed", &message);
                Some(RESYNC)
            }
        }
    }
}

fn waits_for_consumer(claim: &Value, desk: &Desk<'_>) -> bool {
    let class = desk.get(CLASSES, "", claim.text("/spec/storageClassName"));
    class.is_some_and(|class| class.text("/volumeBindingMode") == "WaitForFirstConsumer")
}

fn is_for(reserved: &Value, claim: &Value) -> bool {
    reserved.text("/namespace") == claim.namespace() && reserved.text("/name") == claim.name()
}

/// Bytes that a claim asks for.
pub(crate) fn asked(claim: &Value) -> u64 {
    bytes_of(claim.text("/spec/resources/requests/storage")).unwrap_or_default()
}

fn capacity(volume: &Value) -> u64 {
    bytes_of(volume.text("/spec/capacity/storage")).unwrap_or_default()
}

/// The volume for a claim, by the order of `FindMatchingVolume`: one that is reserved for it wins before any other, also
/// while the claim waits for its consumer and whatever its class; then the smallest free one of the same class.
fn find(claim: &Value, waits: bool, desk: &mut Desk<'_>) -> Option<Arc<Value>> {
    let fits = |volume: &Value| {
        let modes = volume.items("/spec/accessModes");
        capacity(volume) >= asked(claim)
            && claim.items("/spec/accessModes").iter().all(|mode| modes.contains(mode))
            && volume.text("/spec/volumeMode") == claim.text("/spec/volumeMode")
            && volume.text("/spec/volumeAttributesClassName") == claim.text("/spec/volumeAttributesClassName")
            && !volume.is_terminating()
    };
    let volumes: Vec<Arc<Value>> = desk.list(VOLUMES, None).into_iter().filter(|volume| fits(volume)).collect();
    let reserved = |volume: &&Arc<Value>| {
        let reference = volume.part("/spec/claimRef");
        is_for(reference, claim) && (!reference.has("/uid") || reference.text("/uid") == claim.uid())
    };
    let mine: Vec<&Arc<Value>> = volumes.iter().filter(reserved).collect();
    if !mine.is_empty() {
        // Which of several wins is the order of the binder's own map: chance.
        let at = desk.random().usize(..mine.len());
        return mine.get(at).map(|volume| Arc::clone(volume));
    }
    if waits {
        return None;
    }
    let free = volumes.iter().filter(|volume| {
        !volume.has("/spec/claimRef")
            && volume.text("/status/phase") == "Available"
            && volume.text("/spec/storageClassName") == claim.text("/spec/storageClassName")
    });
    free.min_by_key(|volume| (capacity(volume), volume.name().to_owned())).cloned()
}

/// Binds both ways: volume first, claim second. What admission refuses leaves a volume that waits.
fn bind(claim: &Arc<Value>, volume: &Arc<Value>, desk: &mut Desk<'_>) -> Option<SignedDuration> {
    let reserved = volume.has("/spec/claimRef");
    let reference = json!({
        "apiVersion": "v1", "kind": "PersistentVolumeClaim", "namespace": claim.namespace(), "name": claim.name(),
        "uid": claim.uid(), "resourceVersion": claim.text("/metadata/resourceVersion"),
    });
    let mut patch = json!({"spec": {"claimRef": reference}});
    if !reserved {
        put(&mut patch, "metadata", json!({"annotations": {BOUND_BY_CONTROLLER: "yes"}}));
    }
    let same = volume.text("/spec/claimRef/uid") == claim.uid();
    if !same && desk.merge(VOLUMES, volume, patch).is_err() {
        return Some(SignedDuration::from_secs(1));
    }
    drop(desk.merge_status(VOLUMES, volume, &json!({"phase": "Bound"})));
    let mut annotations = json!({BIND_COMPLETED: "yes"});
    if claim.text("/spec/volumeName").is_empty() {
        put(&mut annotations, BOUND_BY_CONTROLLER, "yes".into());
    }
    let patch = json!({"metadata": {"annotations": annotations}, "spec": {"volumeName": volume.name()}});
    if let Err(refusal) = desk.merge(CLAIMS, claim, patch) {
        desk.event(claim, "Warning", "FailedBinding", &refusal.message);
        return Some(SignedDuration::from_secs(1));
    }
    let capacity = json!({
        "phase": "Bound", "accessModes": volume.part("/spec/accessModes"), "capacity": volume.part("/spec/capacity"),
    });
    drop(desk.merge_status(CLAIMS, claim, &capacity));
    None
}
