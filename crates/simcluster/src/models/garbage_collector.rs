//! Removes what has lost its owner, and Events after an hour. *Client `generic-garbage-collector`.*
//!
//! Background: an object goes when none of its owners is left, each known by UID. Foreground: the owner waits for the
//! dependents that block it. Orphan: the dependents forget the owner, then it goes.

use std::sync::Arc;

use jiff::SignedDuration;
use serde_json::{Value, json};

use super::{Model, Wake};
use crate::{
    desk::Desk,
    object::{Fields, drop_finalizer},
    server::{Change, Event, FOREGROUND, Key, ORPHAN, Store},
};

/// How long the API server keeps an Event.
const EVENT_LIFE: SignedDuration = SignedDuration::from_secs(3600);

/// The collector.
#[derive(Debug, Default)]
pub(crate) struct GarbageCollector;

/// The kinds that can be owners or owned here, by the store's names.
const KINDS: [(&str, &str); 11] = [
    ("Pod", "pods"),
    ("PersistentVolumeClaim", "persistentvolumeclaims"),
    ("ConfigMap", "configmaps"),
    ("Secret", "secrets"),
    ("Job", "jobs.batch"),
    ("StatefulSet", "statefulsets.apps"),
    ("CosmosFullNode", "cosmosfullnodes.cosmos.strange.love"),
    ("VolumeSnapshot", "volumesnapshots.snapshot.storage.k8s.io"),
    ("RecoveryPolicy", "recoverypolicies.loopbreaker.dev"),
    ("Recovery", "recoveries.loopbreaker.dev"),
    ("Hold", "holds.loopbreaker.dev"),
];

fn resource_of(kind: &str) -> Option<&'static str> {
    KINDS.iter().find(|(known, _)| *known == kind).map(|(_, resource)| *resource)
}

impl Model for GarbageCollector {
    fn user(&self) -> &'static str {
        "generic-garbage-collector"
    }

    fn jitter(&self) -> i64 {
        50
    }

    fn wakes(&self, event: &Event, store: &Store) -> Vec<Wake> {
        if matches!(&*event.key.resource, "events" | "events.events.k8s.io") {
            return vec![Wake { key: event.key.clone(), after: EVENT_LIFE }];
        }
        let mut wakes = Vec::new();
        if !event.object.items("/metadata/ownerReferences").is_empty() {
            wakes.push(Wake::after(50, event.key.clone()));
        }
        let waits = event.object.has_finalizer(FOREGROUND) || event.object.has_finalizer(ORPHAN);
        if waits && event.object.is_terminating() {
            wakes.push(Wake::after(20, event.key.clone()));
        }
        if event.change == Change::Deleted {
            let owned = dependents(event.object.uid(), store);
            wakes.extend(owned.map(|key| Wake::after(50, key)));
            let owners = event.object.items("/metadata/ownerReferences").iter();
            wakes.extend(owners.filter_map(|owner| {
                let resource = resource_of(owner.text("/kind"))?;
                Some(Wake::after(20, Key::new(resource, &event.key.namespace, owner.text("/name"))))
            }));
        }
        wakes
    }

    fn reconcile(&mut self, key: &Key, desk: &mut Desk<'_>) -> Option<SignedDuration> {
        let object = desk.object(key)?;
        if matches!(&*key.resource, "events" | "events.events.k8s.io") {
            let last = object.time("/lastTimestamp").or_else(|| object.time("/metadata/creationTimestamp"))?;
            let age = desk.since(last);
            if age < EVENT_LIFE {
                return Some(EVENT_LIFE.saturating_sub(age));
            }
            // As etcd does it when the lease of an Event runs out: no request, no right needed.
            let now = desk.now;
            desk.server().store.remove(now, key);
            return None;
        }
        if object.is_terminating() {
            return end_owner(key, &object, desk);
        }
        collect(key, &object, desk);
        None
    }
}

fn dependents<'s>(uid: &'s str, store: &'s Store) -> impl Iterator<Item = Key> + 's {
    KINDS.iter().flat_map(move |(_, resource)| {
        let owned = store.list(resource, None).filter(move |(_, object)| is_owned_by(object, uid));
        owned.map(|(key, _)| key.clone())
    })
}

fn is_owned_by(object: &Value, uid: &str) -> bool {
    object.items("/metadata/ownerReferences").iter().any(|owner| owner.text("/uid") == uid)
}

/// Deletes an object all of whose owners are gone.
fn collect(key: &Key, object: &Arc<Value>, desk: &mut Desk<'_>) {
    let owners = object.items("/metadata/ownerReferences");
    let known = owners.iter().all(|owner| resource_of(owner.text("/kind")).is_some());
    if owners.is_empty() || !known {
        return;
    }
    let mut all_gone = true;
    let mut foreground = false;
    for owner in owners {
        let Some(resource) = resource_of(owner.text("/kind")) else { continue };
        let live = desk.get(resource, &key.namespace, owner.text("/name"));
        if let Some(live) = live.filter(|live| live.uid() == owner.text("/uid")) {
            if live.is_terminating() && live.has_finalizer(FOREGROUND) {
                foreground = true;
            } else {
                all_gone = false;
            }
        }
    }
    if all_gone || foreground {
        drop(desk.delete(&key.resource, object));
    }
}

/// Lets an owner go that waits for its dependents.
fn end_owner(key: &Key, object: &Arc<Value>, desk: &mut Desk<'_>) -> Option<SignedDuration> {
    let owned: Vec<Key> = dependents(object.uid(), &desk.server().store).collect();
    let mut freed = Value::clone(object);
    if object.has_finalizer(ORPHAN) {
        for dependent in owned {
            let Some(live) = desk.object(&dependent) else { continue };
            let mut owners = live.items("/metadata/ownerReferences").to_vec();
            owners.retain(|owner| owner.text("/uid") != object.uid());
            drop(desk.merge(&dependent.resource, &live, json!({"metadata": {"ownerReferences": owners}})));
        }
        drop_finalizer(&mut freed, ORPHAN);
    } else if object.has_finalizer(FOREGROUND) {
        for dependent in &owned {
            if let Some(live) = desk.object(dependent).filter(|live| !live.is_terminating()) {
                drop(desk.delete(&dependent.resource, &live));
            }
        }
        if owned.iter().any(|dependent| desk.object(dependent).is_some()) {
            return Some(SignedDuration::from_millis(500));
        }
        drop_finalizer(&mut freed, FOREGROUND);
    } else {
        return None;
    }
    drop(desk.update(&key.resource, freed));
    None
}
