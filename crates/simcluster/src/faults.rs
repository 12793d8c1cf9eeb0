//! What goes wrong between a client and the API server, request by request. *No client.*
//!
//! A fault is addressed by the place of the request among all of its user's requests, by what it asks for, or by both. The
//! usual sweep learns from a clean run how many requests there are and then hits each one with each fault.

use std::time::Duration;

use crate::{server::Verb, trace::Entry};

/// What happens to one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The client dies before the request arrives.
    CrashBefore,
    /// The request is done, and the client dies before it hears so.
    CrashAfter,
    /// 409: the object was changed meanwhile.
    Conflict,
    /// 404.
    NotFound,
    /// 429 with `Retry-After` in seconds.
    TooManyRequests(u32),
    /// 500.
    Internal,
    /// 504, and nothing was done.
    TimeoutBefore,
    /// 504, and it was done.
    TimeoutAfter,
    /// The network delivers it twice; the client hears of the first.
    Doubled,
    /// It arrives late, also when the client that sent it is gone by then: a stalled leader's write.
    Late(Duration),
    /// A list as it was that long ago, as from a cache that is behind.
    Stale(Duration),
}

impl Fault {
    /// Its name in the trace.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::CrashBefore => "crash before effect",
            Self::CrashAfter => "crash after effect",
            Self::Conflict => "conflict",
            Self::NotFound => "not found",
            Self::TooManyRequests(_) => "too many requests",
            Self::Internal => "internal error",
            Self::TimeoutBefore => "timeout before effect",
            Self::TimeoutAfter => "timeout after effect",
            Self::Doubled => "doubled",
            Self::Late(_) => "late",
            Self::Stale(_) => "stale list",
        }
    }
}

/// What happens to one watch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WatchFault {
    /// Everything comes that much later.
    Delay(Duration),
    /// Everything comes that much later, and of each object only the newest state by then.
    Coalesce(Duration),
    /// Everything comes twice.
    Duplicate,
    /// After that long the server says 410 and ends it.
    Disconnect(Duration),
}

/// Which requests a fault hits. Whatever is not said fits every request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Requests {
    user: Option<String>,
    nth: Option<u64>,
    verb: Option<Verb>,
    place: Option<String>,
    name: Option<String>,
}

impl Requests {
    /// Every request.
    #[must_use]
    pub fn all() -> Self {
        Self::default()
    }

    /// Of this user.
    #[must_use]
    pub fn of(mut self, user: &str) -> Self {
        self.user = Some(user.to_owned());
        self
    }

    /// The one at this place among its user's requests, from 0.
    #[must_use]
    pub fn nth(mut self, nth: u64) -> Self {
        self.nth = Some(nth);
        self
    }

    /// Of this verb.
    #[must_use]
    pub fn verb(mut self, verb: Verb) -> Self {
        self.verb = Some(verb);
        self
    }

    /// To this kind: `pods`, `pods/log`, `recoveries.loopbreaker.dev/status`.
    #[must_use]
    pub fn to(mut self, place: &str) -> Self {
        self.place = Some(place.to_owned());
        self
    }

    /// About the object of this name.
    #[must_use]
    pub fn named(mut self, name: &str) -> Self {
        self.name = Some(name.to_owned());
        self
    }

    fn hit(&self, request: &Entry) -> bool {
        self.user.as_ref().is_none_or(|user| *user == request.user)
            && self.nth.is_none_or(|nth| nth == request.nth)
            && self.verb.is_none_or(|verb| verb == request.verb)
            && self.place.as_ref().is_none_or(|place| *place == request.place)
            && self.name.as_ref().is_none_or(|name| *name == request.name)
    }
}

/// All faults that are to come.
#[derive(Debug, Default)]
pub(crate) struct FaultPlan {
    requests: Vec<(Requests, Fault, u32)>,
    watches: Vec<(Requests, WatchFault, u32)>,
}

impl FaultPlan {
    pub(crate) fn add(&mut self, requests: Requests, fault: Fault, times: u32) {
        self.requests.push((requests, fault, times));
    }

    pub(crate) fn add_for_watches(&mut self, requests: Requests, fault: WatchFault, times: u32) {
        self.watches.push((requests, fault, times));
    }

    /// The fault that hits a request; it is spent by that.
    pub(crate) fn next(&mut self, request: &Entry) -> Option<Fault> {
        spend(&mut self.requests, request)
    }

    /// The fault that hits a watch.
    pub(crate) fn next_for_watch(&mut self, request: &Entry) -> Option<WatchFault> {
        spend(&mut self.watches, request)
    }
}

fn spend<F: Copy>(rules: &mut [(Requests, F, u32)], request: &Entry) -> Option<F> {
    let (_, fault, left) = rules.iter_mut().find(|(requests, _, left)| *left > 0 && requests.hit(request))?;
    *left -= 1;
    Some(*fault)
}
