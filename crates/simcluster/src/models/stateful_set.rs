//! The StatefulSet controller. *Client `statefulset-controller`.*
//!
//! For each ordinal the claims of the templates, then the pod. What the product leans on (real-cluster facts): while a
//! claim terminates the pod is not made; `OrderedReady` makes neither claim nor pod while a lower ordinal is not ready; a
//! CREATE that is denied sends the set into back-off (5 ms doubling to 1,000 s), from which any change of the set wakes it.

use std::{collections::BTreeMap, sync::Arc};

use jiff::SignedDuration;
use serde_json::{Value, json};

use super::{Model, Wake};
use crate::{
    desk::Desk,
    object::{Fields, set},
    server::{Event, Key, Refusal, Selector, Store},
};

const SETS: &str = "statefulsets.apps";
const FIRST_RETRY: SignedDuration = SignedDuration::from_millis(5);
const LAST_RETRY: SignedDuration = SignedDuration::from_secs(1000);

/// The controller.
#[derive(Debug, Default)]
pub(crate) struct StatefulSets {
    /// By set: how long it waited after the last failure. Any event of the set or its pods is looked at all the same.
    waits: BTreeMap<Key, SignedDuration>,
}

impl Model for StatefulSets {
    fn user(&self) -> &'static str {
        "statefulset-controller"
    }

    fn wakes(&self, event: &Event, _: &Store) -> Vec<Wake> {
        match &*event.key.resource {
            SETS => vec![Wake::after(15, event.key.clone())],
            "pods" => owners(&event.object, "StatefulSet")
                .map(|name| Wake::after(15, Key::new(SETS, &event.key.namespace, name)))
                .collect(),
            // Only its own retries and its pods tell the real controller of claims; a claim that is gone is found by the
            // retry that it keeps up while one terminates.
            _ => Vec::new(),
        }
    }

    fn reconcile(&mut self, key: &Key, desk: &mut Desk<'_>) -> Option<SignedDuration> {
        let Some(set) = desk.object(key) else {
            self.waits.remove(key);
            return None;
        };
        if set.is_terminating() {
            return None;
        }
        let outcome = bring_on(&set, desk);
        write_status(&set, desk);
        if outcome.is_ok() {
            self.waits.remove(key);
            return None;
        }
        let wait = self.waits.get(key).map_or(FIRST_RETRY, |wait| wait.saturating_mul(2).min(LAST_RETRY));
        self.waits.insert(key.clone(), wait);
        Some(wait)
    }
}

/// A set cannot be brought on now.
struct Refused;

/// The names of an object's owners of a kind.
pub(super) fn owners<'o>(object: &'o Value, kind: &'o str) -> impl Iterator<Item = &'o str> {
    let owners = object.items("/metadata/ownerReferences").iter();
    owners
        .filter(move |owner| owner.text("/kind") == kind && owner.is_true("/controller"))
        .map(|owner| owner.text("/name"))
}

/// `data-osmo-0` of template `data`.
fn claim_name(template: &Value, set: &Value, ordinal: i64) -> String {
    format!("{}-{}-{ordinal}", template.name(), set.name())
}

/// A name for the template, which pods carry as a label.
fn revision(set: &Value) -> String {
    let fold = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    let hash = set.part("/spec/template").to_string().bytes().fold(0x811c_9dc5, fold);
    format!("{}-{hash:08x}", set.name())
}

fn is_ready(pod: &Value) -> bool {
    !pod.is_terminating()
        && pod
            .items("/status/conditions")
            .iter()
            .any(|condition| condition.text("/type") == "Ready" && condition.text("/status") == "True")
}

fn ordinals(set: &Value) -> std::ops::Range<i64> {
    let start = set.number("/spec/ordinals/start").unwrap_or_default();
    start..start.saturating_add(set.number("/spec/replicas").unwrap_or(1))
}

fn pod_of(set: &Value, ordinal: i64, desk: &Desk<'_>) -> Option<Arc<Value>> {
    desk.get("pods", set.namespace(), &format!("{}-{ordinal}", set.name()))
}

fn bring_on(set: &Arc<Value>, desk: &mut Desk<'_>) -> Result<(), Refused> {
    let in_order = set.text("/spec/podManagementPolicy") != "Parallel";
    let mut hindrance = None;
    for ordinal in ordinals(set) {
        let result = match pod_of(set, ordinal, desk) {
            Some(pod) if !pod.is_terminating() && matches!(pod.text("/status/phase"), "Failed" | "Succeeded") => {
                drop(desk.delete("pods", &pod));
                Ok(())
            }
            Some(pod) if pod.is_terminating() => Ok(()),
            // A pod that waits for its claim gets it made again (kubernetes PR 113270).
            Some(pod) if pod.text("/status/phase") == "Pending" => make_claims(set, ordinal, desk),
            Some(_) => Ok(()),
            None => make_claims(set, ordinal, desk).and_then(|()| make_pod(set, ordinal, desk)),
        };
        if let Err(why) = result {
            hindrance.get_or_insert(why);
        }
        if in_order && !pod_of(set, ordinal, desk).is_some_and(|pod| is_ready(&pod)) {
            return hindrance.map_or(Ok(()), Err);
        }
    }
    if let Some(why) = hindrance {
        return Err(why);
    }
    if remove_surplus(set, desk) {
        return Ok(());
    }
    roll_on(set, desk);
    Ok(())
}

fn make_claims(set: &Arc<Value>, ordinal: i64, desk: &mut Desk<'_>) -> Result<(), Refused> {
    for template in set.items("/spec/volumeClaimTemplates") {
        let name = claim_name(template, set, ordinal);
        if let Some(claim) = desk.get("persistentvolumeclaims", set.namespace(), &name) {
            if claim.is_terminating() {
                return Err(Refused);
            }
            continue;
        }
        let mut claim = json!({"metadata": {"name": name, "namespace": set.namespace()}, "spec": template["spec"]});
        for field in ["/metadata/labels", "/metadata/annotations"] {
            if template.has(field) {
                set_field(&mut claim, field, template.part(field));
            }
        }
        for (label, value) in set.part("/spec/selector/matchLabels").as_object().into_iter().flatten() {
            let pointer = format!("/metadata/labels/{}", label.replace('~', "~0").replace('/', "~1"));
            set_field(&mut claim, &pointer, value);
        }
        let made = desk.create("persistentvolumeclaims", claim);
        tell(set, &format!("Claim {name}"), &format!("{}-{ordinal}", set.name()), made, desk)?;
    }
    Ok(())
}

fn set_field(object: &mut Value, pointer: &str, value: &Value) {
    set(object, pointer, value.clone());
}

fn make_pod(set: &Arc<Value>, ordinal: i64, desk: &mut Desk<'_>) -> Result<(), Refused> {
    let name = format!("{}-{ordinal}", set.name());
    let mut pod = set.part("/spec/template").clone();
    set_field(&mut pod, "/metadata/name", &name.clone().into());
    set_field(&mut pod, "/metadata/namespace", &set.namespace().into());
    set_field(&mut pod, "/metadata/labels/controller-revision-hash", &revision(set).into());
    set_field(&mut pod, "/metadata/labels/statefulset.kubernetes.io~1pod-name", &name.clone().into());
    set_field(&mut pod, "/metadata/labels/apps.kubernetes.io~1pod-index", &ordinal.to_string().into());
    set_field(&mut pod, "/metadata/ownerReferences", &json!([owner_reference(set)]));
    let mut volumes = pod.items("/spec/volumes").to_vec();
    for template in set.items("/spec/volumeClaimTemplates") {
        volumes.retain(|volume| volume.text("/name") != template.name());
        let claim = claim_name(template, set, ordinal);
        volumes.push(json!({"name": template.name(), "persistentVolumeClaim": {"claimName": claim}}));
    }
    set_field(&mut pod, "/spec/volumes", &volumes.into());
    set_field(&mut pod, "/spec/hostname", &name.clone().into());
    let made = desk.create("pods", pod);
    tell(set, &format!("Pod {name}"), set.name(), made, desk)
}

/// `ownerReferences` entry of a controller.
pub(crate) fn owner_reference(owner: &Value) -> Value {
    json!({
        "apiVersion": owner.text("/apiVersion"), "kind": owner.text("/kind"), "name": owner.name(), "uid": owner.uid(),
        "controller": true, "blockOwnerDeletion": true,
    })
}

/// Writes the Event of a create that went well or not.
fn tell(
    set: &Arc<Value>,
    what: &str,
    in_: &str,
    made: Result<Arc<Value>, Refusal>,
    desk: &mut Desk<'_>,
) -> Result<(), Refused> {
    match made {
        Ok(_) => {
            let message = format!("create {what} in StatefulSet {} successful", set.name());
            desk.event(set, "Normal", "SuccessfulCreate", &message);
            Ok(())
        }
        // Somebody else was faster; the next look finds what is there.
        Err(refusal) if refusal.reason == "AlreadyExists" => Err(Refused),
        Err(refusal) => {
            let message = format!("create {what} in StatefulSet {in_} failed error: {}", refusal.message);
            desk.event(set, "Warning", "FailedCreate", &message);
            Err(Refused)
        }
    }
}

/// Deletes the pod of the highest ordinal that is not wanted; whether there was one.
fn remove_surplus(set: &Arc<Value>, desk: &mut Desk<'_>) -> bool {
    let wanted = ordinals(set);
    let mut surplus: Vec<(i64, Arc<Value>)> = desk
        .list("pods", Some(set.namespace()))
        .into_iter()
        .filter(|pod| owners(pod, "StatefulSet").any(|owner| owner == set.name()))
        .filter_map(|pod| Some((pod.name().rsplit_once('-')?.1.parse().ok()?, pod)))
        .filter(|(ordinal, _)| !wanted.contains(ordinal))
        .collect();
    surplus.sort_by_key(|(ordinal, _)| *ordinal);
    match surplus.pop() {
        Some((_, pod)) if !pod.is_terminating() => {
            drop(desk.delete("pods", &pod));
            true
        }
        last => last.is_some(),
    }
}

/// A rolling update: from the highest ordinal down, one pod at a time, and not on while one is not ready.
fn roll_on(set: &Arc<Value>, desk: &mut Desk<'_>) {
    if set.text("/spec/updateStrategy/type") == "OnDelete" {
        return;
    }
    let partition = set.number("/spec/updateStrategy/rollingUpdate/partition").unwrap_or_default();
    let target = revision(set);
    for ordinal in ordinals(set).rev().filter(|ordinal| *ordinal >= partition) {
        let Some(pod) = pod_of(set, ordinal, desk) else { return };
        if pod.label("controller-revision-hash") != target && !pod.is_terminating() {
            drop(desk.delete("pods", &pod));
            return;
        }
        if !is_ready(&pod) {
            return;
        }
    }
}

fn write_status(set: &Arc<Value>, desk: &mut Desk<'_>) {
    let selector = Selector::of_object(set.part("/spec/selector"));
    let pods: Vec<Arc<Value>> =
        desk.list("pods", Some(set.namespace())).into_iter().filter(|pod| selector.takes(pod)).collect();
    let target = revision(set);
    let updated = pods.iter().filter(|pod| pod.label("controller-revision-hash") == target).count();
    let ready = pods.iter().filter(|pod| is_ready(pod)).count();
    let wanted = usize::try_from(set.number("/spec/replicas").unwrap_or(1)).unwrap_or_default();
    let current = match set.text("/status/currentRevision") {
        "" => target.clone(),
        current if updated < wanted => current.to_owned(),
        _ => target.clone(),
    };
    let status = json!({
        "observedGeneration": set.number("/metadata/generation").unwrap_or(1), "replicas": pods.len(),
        "readyReplicas": ready, "availableReplicas": ready, "updatedReplicas": updated,
        "currentReplicas": pods.iter().filter(|pod| pod.label("controller-revision-hash") == current).count(),
        "currentRevision": current, "updateRevision": target,
    });
    if *set.part("/status") != status {
        drop(desk.merge_status(SETS, set, &status));
    }
}
