//! The API server: what a request does to the store, and what is answered. *No client.*
//!
//! Synchronous and without a clock: the time comes in with the request. Transport, delays and faults are in `service`.

mod admission;
mod call;
mod change;
mod delete;
mod fields;
mod fields_v1;
mod http;
mod kind_rules;
mod logs;
mod names;
mod ownership;
mod patch;
mod read;
mod refusal;
mod resource;
mod rights;
mod schema;
mod selector;
mod store;
mod write;

use std::sync::Arc;

use ::http::request::Parts;
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use self::{admission::HoldsSeen, resource::Registry, rights::Rights, write::Write};
pub(crate) use self::{
    admission::{HOLD_CLAIMS, HOLD_PODS},
    delete::{FOREGROUND, ORPHAN},
    kind_rules::{CLAIM_PROTECTION, VOLUME_PROTECTION},
    logs::{Logs, Output},
    names::Names,
    read::Watch,
    resource::DEFINITIONS,
    selector::Selector,
    store::Store,
};
pub use self::{
    call::{Call, PatchKind, Verb},
    refusal::Refusal,
    resource::ResourceName,
    store::{Change, Event, Key},
};

/// The API server with everything that it keeps.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) store: Store,
    pub(crate) logs: Logs,
    pub(crate) rights: Rights,
    pub(crate) names: Names,
    registry: Registry,
    holds: HoldsSeen,
    /// Up to which version the holds were told.
    told: u64,
}

/// What is answered to a request that was done.
#[derive(Debug, Clone)]
pub(crate) enum Reply {
    /// An object, a list, or a `Status`, with the HTTP status.
    Object(u16, Arc<Value>),
    /// A log.
    Text(String),
    /// A stream of changes.
    Watch(Box<Watch>),
}

impl Server {
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            store: Store::new(),
            logs: Logs::default(),
            rights: Rights::default(),
            names: Names::new(seed),
            registry: Registry::new(),
            holds: HoldsSeen::default(),
            told: 0,
        }
    }

    /// Reads an HTTP request.
    pub(crate) fn read(&self, parts: &Parts, body: &[u8]) -> Result<Call, Refusal> {
        http::read(parts, body, &self.registry)
    }

    /// Does what a request asks for; `stale` is how far behind lists are.
    pub(crate) fn handle(
        &mut self,
        now: Timestamp,
        user: &str,
        call: &Call,
        stale: Option<SignedDuration>,
    ) -> Result<Reply, Refusal> {
        if call.verb == Verb::Discover {
            let path = call.name.as_deref().unwrap_or_default();
            return Ok(Reply::Object(200, Arc::new(http::discovery(path, &self.registry)?)));
        }
        let kind = self.registry.named(&call.resource).ok_or_else(Refusal::no_such_kind)?;
        self.rights.check(user, call)?;
        self.tell_holds();
        let write = Write { now, user, call, kind: &kind };
        let answer = match call.verb {
            Verb::Get => self.get(call, now),
            Verb::List => self.list(call, &kind, now, stale),
            Verb::Watch => self.watch(call, &kind),
            Verb::Create => self.create(&write),
            Verb::Update => self.update(&write),
            Verb::Patch => self.patch(&write),
            Verb::Delete => self.delete(&write),
            Verb::DeleteCollection => self.delete_collection(&write),
            Verb::Discover => Err(Refusal::no_such_kind()),
        };
        if call.verb.writes() && &*call.resource == DEFINITIONS {
            self.registry.learn(&self.store);
        }
        answer
    }

    /// Puts an object into the store as it is, past every rule.
    pub(crate) fn put(&mut self, now: Timestamp, key: Key, object: Value) {
        self.store.put(now, key, object);
        self.registry.learn(&self.store);
    }

    fn tell_holds(&mut self) {
        if let Some(events) = self.store.since(self.told.max(self.store.oldest())) {
            events.for_each(|event| self.holds.note(event));
        }
        self.told = self.store.version();
    }
}
