//! The kubelets of all nodes. *Client `kubelet`.*
//!
//! From the pod that a scheduler placed to processes and back: volumes, image, init containers one after the other, the
//! containers together, crash back-off, one kept dead container, readiness, stopping within the grace period. Timings and
//! traps: real-cluster facts (logs in the `Error` moment, a look every 10–15 s while a container waits, force-deleted pods
//! whose processes write on).

mod back_off;
mod container;
mod resume;
mod slot;
mod start;
mod status;
mod stop;

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use self::slot::{Slot, State};
pub(crate) use self::start::claims;
use super::{Model, Wake};
use crate::{
    desk::Desk,
    object::Fields,
    server::{Change, Event, Key, Store},
};

/// A pod as its kubelet remembers it.
#[derive(Debug)]
struct Pod {
    uid: String,
    slots: Vec<Slot>,
    started: Timestamp,
    address: String,
    /// When volumes and sandbox are set up.
    set_up_at: Timestamp,
    /// When the last process had ended, of a pod on its way out.
    ended: Option<Timestamp>,
    /// When a container that is not ready is probed again.
    next_probe: Option<Timestamp>,
}

/// All kubelets.
#[derive(Debug, Default)]
pub(crate) struct Kubelet {
    /// By the pod's key; a pod whose object is gone may still have processes.
    pods: BTreeMap<Key, Pod>,
    /// Processes of pods that were deleted by force: pod UID and container.
    strays: Vec<(String, String)>,
    addresses: u32,
}

pub(crate) const PODS: &str = "pods";
/// Cosmos-operator's side-car that is ready while the node answers.
const HEALTH_CHECK: &str = "healthcheck";
const PROBE_EVERY: SignedDuration = SignedDuration::from_secs(10);
/// The real kubelet counts such an Event up at every probe; once a minute tells as much.
const SAY_EVERY: SignedDuration = SignedDuration::from_secs(60);

impl Model for Kubelet {
    fn user(&self) -> &'static str {
        "kubelet"
    }

    fn wakes(&self, event: &Event, _: &Store) -> Vec<Wake> {
        let placed = !event.object.text("/spec/nodeName").is_empty();
        let about_pod = &*event.key.resource == PODS && (placed || event.change == Change::Deleted);
        about_pod.then(|| Wake::after(5, event.key.clone())).into_iter().collect()
    }

    fn reconcile(&mut self, key: &Key, desk: &mut Desk<'_>) -> Option<SignedDuration> {
        let strays = self.reap_strays(desk);
        let next = self.look_at(key, desk);
        match (strays, next) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        }
    }
}

impl Kubelet {
    fn look_at(&mut self, key: &Key, desk: &mut Desk<'_>) -> Option<SignedDuration> {
        let object = desk.object(key);
        let known = self.pods.get(key).map(|pod| pod.uid.clone());
        if let Some(uid) = known
            && object.as_ref().is_none_or(|object| object.uid() != uid)
        {
            self.lost(key, desk);
            return Some(SignedDuration::from_millis(1));
        }
        let object = object?;
        let node = object.text("/spec/nodeName");
        if node.is_empty() {
            return None;
        }
        if desk.outside().silent_nodes.contains(node) {
            return Some(SignedDuration::from_secs(10));
        }
        if !self.pods.contains_key(key) {
            if object.is_terminating() {
                drop(desk.call(&stop::final_delete(&object)));
                return None;
            }
            self.admit(key, &object, desk);
        }
        let pod = self.pods.get_mut(key)?;
        if object.is_terminating() {
            return pod.wind_down(&object, desk);
        }
        if matches!(object.text("/status/phase"), "Succeeded" | "Failed") {
            return None;
        }
        let next = pod.advance(&object, desk);
        let status = status::status(&object, &pod.slots, &pod.address, pod.started, desk.now);
        if status_differs(&object, &status) {
            drop(desk.merge_status(PODS, &object, &status));
        }
        next
    }

    fn admit(&mut self, key: &Key, object: &Value, desk: &mut Desk<'_>) {
        let named = |list: &str, is_init: bool| -> Vec<Slot> {
            let containers = object.items(list).iter();
            containers.map(|container| Slot::new(container.text("/name"), container.text("/image"), is_init)).collect()
        };
        let mut slots = named("/spec/initContainers", true);
        slots.extend(named("/spec/containers", false));
        for slot in &mut slots {
            resume::take_up(slot, object, desk);
        }
        self.addresses += 1;
        let set_up = SignedDuration::from_millis(desk.random().i64(700..=1200));
        let known = object.text("/status/podIP");
        let address = format!("10.244.{}.{}", self.addresses / 250, self.addresses % 250 + 1);
        let pod = Pod {
            uid: object.uid().to_owned(),
            slots,
            started: object.time("/status/startTime").unwrap_or(desk.now),
            address: if known.is_empty() { address } else { known.to_owned() },
            set_up_at: if known.is_empty() { desk.now.checked_add(set_up).unwrap_or(desk.now) } else { desk.now },
            ended: None,
            next_probe: None,
        };
        self.pods.insert(key.clone(), pod);
    }

    /// The object is gone but its processes are not: they get the grace period that they would have had.
    fn lost(&mut self, key: &Key, desk: &mut Desk<'_>) {
        let Some(pod) = self.pods.remove(key) else { return };
        for slot in &pod.slots {
            let name = (pod.uid.clone(), slot.name.clone());
            let now = desk.now;
            if let Some(running) = desk.outside().running.get_mut(&name) {
                let latest = now.checked_add(SignedDuration::from_secs(30)).unwrap_or(now);
                running.stopping.get_or_insert((now, latest));
                self.strays.push(name);
            }
        }
        if self.strays.iter().all(|(uid, _)| *uid != pod.uid) {
            desk.server().logs.forget(&pod.uid);
        }
    }

    fn reap_strays(&mut self, desk: &mut Desk<'_>) -> Option<SignedDuration> {
        let now = desk.now;
        let mut next: Option<Timestamp> = None;
        self.strays.retain(|(uid, container)| {
            let Some(end) = desk.outside().process(uid, container).and_then(crate::outside::Running::ends_at) else {
                return false;
            };
            if end <= now {
                desk.outside().stop(uid, container, end);
                desk.server().logs.forget(uid);
                return false;
            }
            next = Some(next.map_or(end, |next| next.min(end)));
            true
        });
        next.map(|next| next.duration_since(now))
    }
}

impl Pod {
    /// Brings every container one step on; when the next step is due.
    fn advance(&mut self, object: &Value, desk: &mut Desk<'_>) -> Option<SignedDuration> {
        if desk.now < self.set_up_at {
            return Some(self.set_up_at.duration_since(desk.now));
        }
        if let Some(wait) = start::volumes_missing(object, desk) {
            return Some(wait);
        }
        let mut next: Option<Timestamp> = None;
        let mut sooner = |at: Option<Timestamp>| {
            next = match (next, at) {
                (Some(one), Some(other)) => Some(one.min(other)),
                (one, other) => one.or(other),
            };
        };
        for place in 0..self.slots.len() {
            sooner(self.step(place, object, desk));
            if self.slots.get(place).is_some_and(|slot| slot.is_init && !slot.is_done()) {
                break;
            }
        }
        sooner(self.probe(object, desk));
        next.map(|next| next.duration_since(desk.now).max(SignedDuration::from_millis(1)))
    }

    /// Readiness of every container; what runs and is not ready is said once a minute. When to probe again.
    fn probe(&mut self, object: &Value, desk: &mut Desk<'_>) -> Option<Timestamp> {
        let now = desk.now;
        let node_answers = {
            let outside = desk.outside();
            self.slots.iter().any(|slot| {
                outside
                    .process(&self.uid, &slot.name)
                    .is_some_and(|running| running.answers(now) && running.is_ready(now))
            })
        };
        let mut unready = None;
        for slot in self.slots.iter_mut().filter(|slot| !slot.is_init) {
            let running = desk.outside().process(&self.uid, &slot.name);
            let passed = running.is_some_and(|running| running.is_ready(now));
            slot.ready = slot.is_running() && passed && (slot.name != HEALTH_CHECK || node_answers);
            let probed = object
                .items("/spec/containers")
                .iter()
                .any(|container| container.text("/name") == slot.name && container.has("/readinessProbe"));
            if let (State::Running { since }, false, true) = (&slot.state, slot.ready, probed) {
                unready.get_or_insert((slot.name.clone(), *since));
            }
        }
        let Some((container, since)) = unready else {
            self.next_probe = None;
            return None;
        };
        let due = self.next_probe.unwrap_or_else(|| since.checked_add(PROBE_EVERY).unwrap_or(now));
        if due > now {
            self.next_probe = Some(due);
            return Some(due);
        }
        let why =
            if container == HEALTH_CHECK { "HTTP probe failed with statuscode: 503" } else { "connection refused" };
        desk.event(object, "Warning", "Unhealthy", &format!("Readiness probe failed: {why}"));
        self.next_probe = now.checked_add(SAY_EVERY).ok();
        self.next_probe
    }
}

fn status_differs(object: &Value, status: &Value) -> bool {
    let mut merged = object.part("/status").clone();
    json_patch::merge(&mut merged, status);
    json!(merged) != *object.part("/status")
}
