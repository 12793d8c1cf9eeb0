//! API server, models and the world outside of them, as one state that moves in steps. *No client.*
//!
//! Synchronous: a request or a due step of a model comes in with the time, and everything that follows from it at once is
//! done when the call returns. What follows later stands in the [`Agenda`](crate::agenda). Nothing here depends on
//! a hash order, a thread or the wall clock, so the same seed and the same requests give the same trace.

use std::{collections::BTreeMap, fmt, sync::Arc};

use fastrand::Rng;
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;
use tokio::sync::Notify;

use crate::{
    agenda::Agenda,
    desk::Desk,
    faults::FaultPlan,
    models::Model,
    outside::Outside,
    server::{Call, Event, Key, Refusal, Reply, Server},
    trace::Entry,
};

/// What an observer is shown.
#[derive(Debug)]
pub enum Seen<'s> {
    /// A request, after it took effect; with what was asked and the object that was answered, if any.
    Request(&'s Entry, &'s Call, Option<&'s Value>),
    /// A change of the store.
    Event(&'s Event),
}

/// The store, to be read by an observer.
#[derive(Debug, Clone, Copy)]
pub struct View<'v> {
    server: &'v Server,
}

impl<'v> View<'v> {
    /// One object.
    #[must_use]
    pub fn get(&self, resource: &str, namespace: &str, name: &str) -> Option<&'v Value> {
        self.server.store.get(&Key::new(resource, namespace, name)).map(|object| &**object)
    }

    /// All objects of a kind, in one namespace or in all.
    pub fn list(&self, resource: &str, namespace: Option<&str>) -> impl Iterator<Item = &'v Value> + use<'v> {
        self.server.store.list(resource, namespace).map(|(_, object)| &**object)
    }
}

/// Called after every request and every event.
pub type Observer = Box<dyn FnMut(&Seen<'_>, View<'_>) + Send>;

/// Whether chance moves things by milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pace {
    /// As in a real cluster.
    Varied,
    /// Always the same.
    Even,
}

/// Everything but the models.
pub(crate) struct State {
    pub(crate) server: Server,
    pub(crate) outside: Outside,
    pub(crate) faults: FaultPlan,
    pub(crate) random: Rng,
    pub(crate) pace: Pace,
    /// Until when nobody from outside reaches the API server.
    pub(crate) away_until: Option<Timestamp>,
    trace: Vec<Entry>,
    /// By user, how many requests there were.
    counts: BTreeMap<String, u64>,
    observers: Vec<Observer>,
    /// Up to which version the observers were told.
    observed: u64,
}

impl fmt::Debug for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("State").field("version", &self.server.store.version()).finish_non_exhaustive()
    }
}

/// The whole cluster.
pub(crate) struct Cluster {
    pub(crate) state: State,
    models: Vec<Box<dyn Model>>,
    agenda: Agenda,
    /// Up to which version the models were told.
    told: u64,
    /// Rung when the store has changed.
    pub(crate) changed: Arc<Notify>,
    /// Rung when there is something to do earlier than before.
    pub(crate) hurry: Arc<Notify>,
}

impl fmt::Debug for Cluster {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cluster").field("state", &self.state).finish_non_exhaustive()
    }
}

impl State {
    fn new(seed: u64) -> Self {
        Self {
            server: Server::new(seed),
            outside: Outside::default(),
            faults: FaultPlan::default(),
            random: Rng::with_seed(seed),
            pace: Pace::Varied,
            away_until: None,
            trace: Vec::new(),
            counts: BTreeMap::new(),
            observers: Vec::new(),
            observed: 0,
        }
    }

    /// Whether the API server is out of reach.
    pub(crate) fn is_away(&self, now: Timestamp) -> bool {
        self.away_until.is_some_and(|until| now < until)
    }

    /// Begins the record of a request.
    pub(crate) fn announce(&mut self, now: Timestamp, user: &str, call: &Call) -> Entry {
        let count = self.counts.entry(user.to_owned()).or_default();
        let entry = Entry::new(0, *count, now, user, call);
        *count += 1;
        entry
    }

    /// Does what a request asks for, and shows it to the observers.
    pub(crate) fn serve(
        &mut self,
        now: Timestamp,
        call: &Call,
        entry: &mut Entry,
        stale: Option<SignedDuration>,
    ) -> Result<Reply, Refusal> {
        entry.at = now;
        let answer = self.server.handle(now, &entry.user, call, stale);
        entry.effect = answer.is_ok();
        entry.code = match &answer {
            Ok(Reply::Object(code, _)) => *code,
            Ok(Reply::Text(_) | Reply::Watch(_)) => 200,
            Err(refusal) => refusal.code,
        };
        let mut observers = std::mem::take(&mut self.observers);
        let view = View { server: &self.server };
        let object = match &answer {
            Ok(Reply::Object(_, object)) => Some(&**object),
            _ => None,
        };
        entry.index = self.trace.len() as u64;
        for observer in &mut observers {
            observer(&Seen::Request(entry, call, object), view);
        }
        let store = &self.server.store;
        for event in store.since(self.observed.max(store.oldest())).into_iter().flatten() {
            for observer in &mut observers {
                observer(&Seen::Event(event), view);
            }
        }
        self.observed = store.version();
        self.observers = observers;
        answer
    }

    /// Ends the record of a request.
    pub(crate) fn note(&mut self, mut entry: Entry) {
        entry.index = self.trace.len() as u64;
        self.trace.push(entry);
    }

    pub(crate) fn trace(&self) -> &[Entry] {
        &self.trace
    }

    pub(crate) fn observe(&mut self, observer: Observer) {
        self.observers.push(observer);
    }
}

impl Cluster {
    pub(crate) fn new(seed: u64, models: Vec<Box<dyn Model>>) -> Self {
        Self {
            state: State::new(seed),
            models,
            agenda: Agenda::default(),
            told: 0,
            changed: Arc::new(Notify::new()),
            hurry: Arc::new(Notify::new()),
        }
    }

    /// Wakes whom a change of the store concerns. To be called after everything that may have changed it.
    pub(crate) fn settle(&mut self, now: Timestamp) {
        let store = &self.state.server.store;
        if store.version() == self.told {
            return;
        }
        let before = self.agenda.next();
        for event in store.since(self.told.max(store.oldest())).into_iter().flatten() {
            for (place, model) in self.models.iter().enumerate() {
                for wake in model.wakes(event, store) {
                    let jitter = match self.state.pace {
                        Pace::Varied => self.state.random.i64(0..=model.jitter().max(0)),
                        Pace::Even => 0,
                    };
                    let after = wake.after.saturating_add(SignedDuration::from_millis(jitter));
                    self.agenda.add(now.checked_add(after).unwrap_or(now), place, wake.key);
                }
            }
        }
        self.told = store.version();
        self.changed.notify_waiters();
        if self.agenda.next() != before {
            self.hurry.notify_one();
        }
    }

    /// Looks at something again without a change of the store, as when a story has changed the world outside.
    pub(crate) fn wake(&mut self, now: Timestamp, user: &str, key: &Key) {
        for place in
            (0..self.models.len()).filter(|place| self.models.get(*place).is_some_and(|model| model.user() == user))
        {
            self.agenda.add(now, place, key.clone());
        }
        self.hurry.notify_one();
    }

    /// When a model has something to do next.
    pub(crate) fn next(&self) -> Option<Timestamp> {
        self.agenda.next()
    }

    /// Does everything that is due.
    pub(crate) fn run_due(&mut self, now: Timestamp) {
        self.settle(now);
        while let Some((place, key)) = self.agenda.take_due(now) {
            let Some(model) = self.models.get_mut(place) else { continue };
            let mut desk = Desk::new(now, model.user(), &mut self.state);
            let again = model.reconcile(&key, &mut desk);
            if let Some(after) = again {
                let after = after.max(SignedDuration::from_millis(1));
                self.agenda.add(now.checked_add(after).unwrap_or(Timestamp::MAX), place, key);
            }
            self.settle(now);
        }
    }
}
