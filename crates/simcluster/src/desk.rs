//! What a model works with: the API server under its own name, the time, chance, and the world outside. *No client.*

use std::sync::Arc;

use fastrand::Rng;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use crate::{
    cluster::State,
    object::{Fields, seconds},
    outside::Outside,
    server::{Call, Key, Refusal, Reply, Server},
    world::{Refused, status_of},
};

/// One step of one model.
#[derive(Debug)]
pub(crate) struct Desk<'d> {
    pub(crate) now: Timestamp,
    user: &'static str,
    state: &'d mut State,
}

impl<'d> Desk<'d> {
    pub(crate) fn new(now: Timestamp, user: &'static str, state: &'d mut State) -> Self {
        Self { now, user, state }
    }

    pub(crate) fn random(&mut self) -> &mut Rng {
        &mut self.state.random
    }

    pub(crate) fn outside(&mut self) -> &mut Outside {
        &mut self.state.outside
    }

    pub(crate) fn server(&mut self) -> &mut Server {
        &mut self.state.server
    }

    /// One object, as it is now: a model's cache is never behind.
    pub(crate) fn get(&self, resource: &str, namespace: &str, name: &str) -> Option<Arc<Value>> {
        self.state.server.store.get(&Key::new(resource, namespace, name)).cloned()
    }

    /// The object of a key.
    pub(crate) fn object(&self, key: &Key) -> Option<Arc<Value>> {
        self.state.server.store.get(key).cloned()
    }

    /// All objects of a kind, in one namespace or in all.
    pub(crate) fn list(&self, resource: &str, namespace: Option<&str>) -> Vec<Arc<Value>> {
        self.state.server.store.list(resource, namespace).map(|(_, object)| Arc::clone(object)).collect()
    }

    /// Sends a request, which is traced like everybody's.
    pub(crate) fn call(&mut self, call: &Call) -> Result<Arc<Value>, Refusal> {
        let mut entry = self.state.announce(self.now, self.user, call);
        let answer = self.state.serve(self.now, call, &mut entry, None);
        self.state.note(entry);
        match answer? {
            Reply::Object(_, object) => Ok(object),
            Reply::Text(_) | Reply::Watch(_) => Ok(Arc::new(Value::Null)),
        }
    }

    /// Makes an object.
    pub(crate) fn create(&mut self, resource: &str, object: Value) -> Result<Arc<Value>, Refusal> {
        self.call(&Call::create(resource, object))
    }

    /// Merges into an object; a failure is found out at the next look.
    pub(crate) fn merge(&mut self, resource: &str, object: &Value, patch: Value) -> Result<Arc<Value>, Refusal> {
        self.call(&Call::merge(resource, object.namespace(), object.name(), patch))
    }

    /// Merges into an object's status.
    pub(crate) fn merge_status(
        &mut self,
        resource: &str,
        object: &Value,
        status: &Value,
    ) -> Result<Arc<Value>, Refusal> {
        let patch = json!({"status": status});
        self.call(&Call::merge(resource, object.namespace(), object.name(), patch).of_status())
    }

    /// Puts an object in place of the one that was read.
    pub(crate) fn update(&mut self, resource: &str, object: Value) -> Result<Arc<Value>, Refusal> {
        self.call(&Call::update(resource, object))
    }

    /// Deletes an object, if it is still the one that was read.
    pub(crate) fn delete(&mut self, resource: &str, object: &Value) -> Result<Arc<Value>, Refusal> {
        let call = Call::delete(resource, object.namespace(), object.name());
        self.call(&call.with_body(json!({"preconditions": {"uid": object.uid()}})))
    }

    /// What a pod's RPC answers.
    pub(crate) fn ask(&self, namespace: &str, pod: &str) -> Result<Value, Refused> {
        status_of(&self.state.server.store, &self.state.outside, self.now, namespace, pod)
    }

    /// How long ago something was.
    pub(crate) fn since(&self, time: Timestamp) -> SignedDuration {
        self.now.duration_since(time)
    }

    /// Writes an Event about an object; the same one again only counts up.
    pub(crate) fn event(&mut self, about: &Value, kind: &str, reason: &str, message: &str) {
        let namespace = if about.namespace().is_empty() { "default" } else { about.namespace() };
        let same = self.list("events", Some(namespace)).into_iter().find(|event| {
            event.text("/involvedObject/uid") == about.uid()
                && event.text("/reason") == reason
                && event.text("/message") == message
        });
        let time = seconds(self.now);
        let written = if let Some(event) = same {
            let count = event.number("/count").unwrap_or(1) + 1;
            self.merge("events", &event, json!({"count": count, "lastTimestamp": time}))
        } else {
            let mark = self.random().u64(..);
            let event = json!({
                "metadata": {"namespace": namespace, "name": format!("{}.{mark:016x}", about.name())},
                "involvedObject": {
                    "apiVersion": about.text("/apiVersion"), "kind": about.text("/kind"),
                    "namespace": about.namespace(), "name": about.name(), "uid": about.uid(),
                },
                "type": kind, "reason": reason, "message": message, "count": 1,
                "source": {"component": self.user}, "reportingComponent": self.user,
                "firstTimestamp": time, "lastTimestamp": time,
            });
            self.create("events", event)
        };
        // An Event that cannot be written is lost, as in a real cluster.
        drop(written);
    }
}
