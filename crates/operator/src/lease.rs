//! Who leads: a Lease of `coordination.k8s.io/v1`. *Client; writes this one object and nothing else.* (P11)
//!
//! Taken and renewed by PUT with the resourceVersion that was read, so of two that try at once one gets 409. Whether a holder
//! has gone is told by our own clock: since when has its Lease not changed *as we saw it*; clocks of other machines count for
//! nothing. Every write of the operator spends a [`Permit`], asked for after its last wait; a permit is not given when the
//! renewal is older than the Lease lasts. The API server knows no lease: a write that left before and arrives late is made
//! harmless by its preconditions.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use k8s_openapi::{
    api::coordination::v1::{Lease as LeaseObject, LeaseSpec},
    apimachinery::pkg::apis::meta::v1::MicroTime,
};
use kube::{
    Api, Client,
    api::{ObjectMeta, PostParams},
};
use tokio::time::{Instant, sleep};

use crate::{Clock, Settings};

/// The Lease's name.
pub const LEASE: &str = "loopbreaker-operator";

/// The right to one write, with the number of the leadership under which it is made.
#[derive(Debug)]
#[must_use = "a permit that is not spent was asked for too early"]
pub(crate) struct Permit {
    /// How often the Lease had changed hands: the fencing token in the records.
    pub(crate) token: i64,
}

/// This process does not lead, or no longer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "this operator does not hold Lease {LEASE} any more; nothing was written (another one goes on from the records)"
)]
pub struct NotLeading;

/// Our side of the Lease. Clones are the same one.
#[derive(Clone)]
pub(crate) struct Lease {
    client: Client,
    settings: Arc<Settings>,
    clock: Clock,
    held: Arc<Mutex<Option<Held>>>,
}

impl std::fmt::Debug for Lease {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Lease").field("held", &self.held()).finish_non_exhaustive()
    }
}

/// A leadership.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Held {
    token: i64,
    until: Instant,
}

/// No Lease is believed to last for longer, whatever is written in it.
const BELIEVED_MAX: Duration = Duration::from_mins(10);

/// Another holder as we last saw it change.
struct Rival {
    version: Option<String>,
    since: Instant,
}

impl Lease {
    /// A Lease that is not held.
    pub(crate) fn new(client: Client, settings: Arc<Settings>, clock: Clock) -> Self {
        Self { client, settings, clock, held: Arc::default() }
    }

    /// The right to write once, now.
    pub(crate) fn permit(&self) -> Result<Permit, NotLeading> {
        match self.held() {
            Some(held) if Instant::now() < held.until => Ok(Permit { token: held.token }),
            _ => Err(NotLeading),
        }
    }

    /// Waits until this process leads.
    pub(crate) async fn acquire(&self) {
        let mut rival = None;
        loop {
            match self.attempt(&mut rival).await {
                Ok(true) => return,
                Ok(false) => {}
                Err(error) => tracing::warn!(%error, "Lease {LEASE} could not be read or written; it is tried again"),
            }
            sleep(self.settings.lease.renew_every).await;
        }
    }

    /// Renews for as long as that succeeds; returns when this process leads no longer.
    pub(crate) async fn keep(&self) {
        loop {
            sleep(self.settings.lease.renew_every).await;
            match self.attempt(&mut None).await {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) => tracing::warn!(%error, "Lease {LEASE} could not be renewed; it is tried again"),
            }
            if self.permit().is_err() {
                break;
            }
        }
        self.set(None);
    }

    /// Gives it up, so that the next one need not wait.
    pub(crate) async fn release(&self) {
        let Some(held) = self.held() else { return };
        self.set(None);
        let leases = self.api();
        let Ok(Some(mut object)) = leases.get_opt(LEASE).await else { return };
        let spec = object.spec.get_or_insert_default();
        if spec.holder_identity.as_deref() != Some(&self.settings.identity)
            || spec.lease_transitions.map(i64::from) != Some(held.token)
        {
            return;
        }
        spec.holder_identity = None;
        if let Err(error) = leases.replace(LEASE, &PostParams::default(), &object).await {
            tracing::info!(%error, "Lease {LEASE} was not given up; it runs out by itself");
        }
    }

    /// One try: create it, take it over, or renew it. Whether this process leads then.
    async fn attempt(&self, rival: &mut Option<Rival>) -> Result<bool, kube::Error> {
        let leases = self.api();
        // From before the request: the server's renewal cannot be older than this.
        let asked = Instant::now();
        let Some(object) = leases.get_opt(LEASE).await? else {
            let fresh = self.ours(&LeaseObject::default(), 0);
            return self.settled(asked, leases.create(&PostParams::default(), &fresh).await);
        };
        let spec = object.spec.clone().unwrap_or_default();
        let holder = spec.holder_identity.as_deref().unwrap_or_default();
        let transitions = spec.lease_transitions.unwrap_or_default();
        let is_ours = holder == self.settings.identity;
        if !is_ours && !holder.is_empty() && !self.has_gone(&object, rival) {
            self.set(None);
            return Ok(false);
        }
        // Our name without our memory is the process before this one: a new leadership.
        let goes_on = is_ours && self.held().is_some_and(|held| held.token == i64::from(transitions));
        let transitions = if goes_on { transitions } else { transitions.saturating_add(1) };
        let renewed = self.ours(&object, transitions);
        self.settled(asked, leases.replace(LEASE, &PostParams::default(), &renewed).await)
    }

    /// Whether a holder's Lease has stood unchanged for its whole duration while we looked.
    fn has_gone(&self, object: &LeaseObject, rival: &mut Option<Rival>) -> bool {
        let version = &object.metadata.resource_version;
        // Its own word for how long it lasts may be longer than ours, after an upgrade or by another setting.
        let theirs = object.spec.as_ref().and_then(|spec| spec.lease_duration_seconds).unwrap_or_default();
        let theirs = Duration::from_secs(u64::try_from(theirs).unwrap_or_default()).min(BELIEVED_MAX);
        let duration = self.settings.lease.duration.max(theirs);
        match rival {
            Some(rival) if rival.version == *version => rival.since.elapsed() >= duration,
            _ => {
                *rival = Some(Rival { version: version.clone(), since: Instant::now() });
                false
            }
        }
    }

    fn settled(&self, asked: Instant, answer: Result<LeaseObject, kube::Error>) -> Result<bool, kube::Error> {
        match answer {
            Ok(object) => {
                let transitions = object.spec.and_then(|spec| spec.lease_transitions).unwrap_or_default();
                let until = asked.checked_add(self.settings.lease.duration).unwrap_or(asked);
                self.set(Some(Held { token: i64::from(transitions), until }));
                Ok(true)
            }
            // Somebody was faster, or our own write had come through behind a timeout: the next look tells.
            Err(kube::Error::Api(status)) if status.code == 409 => Ok(self.permit().is_ok()),
            Err(error) => Err(error),
        }
    }

    fn ours(&self, object: &LeaseObject, transitions: i32) -> LeaseObject {
        let now = MicroTime(self.clock.now());
        let before = object.spec.clone().unwrap_or_default();
        let new = before.lease_transitions != Some(transitions) || before.acquire_time.is_none();
        let seconds = i32::try_from(self.settings.lease.duration.as_secs()).unwrap_or(i32::MAX);
        LeaseObject {
            metadata: ObjectMeta {
                name: Some(LEASE.to_owned()),
                namespace: Some(self.settings.namespace.clone()),
                ..object.metadata.clone()
            },
            spec: Some(LeaseSpec {
                holder_identity: Some(self.settings.identity.clone()),
                lease_duration_seconds: Some(seconds),
                acquire_time: if new { Some(now.clone()) } else { before.acquire_time },
                renew_time: Some(now),
                lease_transitions: Some(transitions),
                ..before
            }),
        }
    }

    fn api(&self) -> Api<LeaseObject> {
        Api::namespaced(self.client.clone(), &self.settings.namespace)
    }

    fn held(&self) -> Option<Held> {
        *self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set(&self, held: Option<Held>) {
        *self.held.lock().unwrap_or_else(PoisonError::into_inner) = held;
    }
}

#[cfg(test)]
mod tests;
