//! A cluster to tell a story with: make it, let time pass, change it, look at it. *Client side of the wire.*
//!
//! The time is tokio's, paused: it jumps to the next thing that is to happen as soon as everybody waits, so hours pass in
//! milliseconds. One current-thread runtime holds the cluster and whatever is run against it ([`simulate`] makes one).

mod build;
mod look;
mod story;
mod surroundings;

use std::{
    collections::BTreeMap,
    fmt,
    future::Future,
    sync::{Arc, Mutex},
    time::Duration,
};

use jiff::{SignedDuration, Timestamp};
use kube::client::retry::RetryPolicy;
use tokio::{
    sync::Notify,
    task::JoinHandle,
    time::{sleep, timeout_at},
};
use tower::{BoxError, Layer, retry::RetryLayer};

pub(crate) use self::look::status_of;
pub use self::story::HUMAN;
pub use self::{
    build::{FullNodeBuilder, SnapshotBuilder, StatefulSetBuilder, Which},
    look::{Refused, Replica},
};
use crate::{
    clock::Clock,
    cluster::{Cluster, Observer, Pace, State},
    faults::{Fault, Requests, WatchFault},
    models,
    service::{Door, lock},
    trace::Entry,
};

/// The user whom [`World::client`] stands for.
pub const OPERATOR: &str = "system:serviceaccount:loopbreaker:loopbreaker";

/// When every story begins, unless it says otherwise.
const BEGIN: &str = "2026-12-01T00:00:00Z";

/// A simulated cluster. Clones are the same cluster.
#[derive(Clone)]
pub struct World {
    inner: Arc<Inner>,
}

struct Inner {
    cluster: Arc<Mutex<Cluster>>,
    clock: Clock,
    driver: JoinHandle<()>,
    /// By user: rung when a fault kills it.
    crashes: Mutex<BTreeMap<String, Arc<Notify>>>,
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.driver.abort();
    }
}

impl fmt::Debug for World {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("World").field("now", &self.now()).finish_non_exhaustive()
    }
}

/// Runs a story in a runtime of its own, in virtual time.
///
/// # Errors
///
/// When the operating system gives no runtime.
pub fn simulate<T>(story: impl Future<Output = T>) -> std::io::Result<T> {
    Ok(tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build()?.block_on(story))
}

impl World {
    /// A cluster with one node, one storage class and one snapshot class, and every model at work. To be called within a
    /// current-thread runtime whose time is paused.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self::starting_at(seed, BEGIN.parse().unwrap_or(Timestamp::UNIX_EPOCH))
    }

    /// The same, with another time to begin.
    #[must_use]
    pub fn starting_at(seed: u64, begin: Timestamp) -> Self {
        Self::with(begin, Cluster::new(seed, models::all()))
    }

    /// A world that begins in the middle, with whatever is put into it: nobody makes or takes away the pods of a workload, and
    /// nothing is delayed by chance, so that it takes the same course however the requests are ordered.
    #[must_use]
    pub fn in_the_middle(begin: Timestamp) -> Self {
        let mut cluster = Cluster::new(0, models::without_owners());
        cluster.state.pace = Pace::Even;
        Self::with(begin, cluster)
    }

    fn with(begin: Timestamp, cluster: Cluster) -> Self {
        let clock = Clock::starting_at(begin);
        let cluster = Arc::new(Mutex::new(cluster));
        let driver = tokio::spawn(drive(Arc::clone(&cluster), clock));
        let world = Self { inner: Arc::new(Inner { cluster, clock, driver, crashes: Mutex::default() }) };
        world.furnish();
        world
    }

    /// The time.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.inner.clock.now()
    }

    /// Lets time pass.
    pub async fn run_for(&self, time: Duration) {
        sleep(time).await;
    }

    /// Lets time pass until something is so, looking every second; whether it came to be within the limit.
    pub async fn run_until(&self, limit: Duration, mut so: impl FnMut(&World) -> bool) -> bool {
        let end = tokio::time::Instant::now().checked_add(limit);
        while !so(self) {
            if end.is_none_or(|end| tokio::time::Instant::now() >= end) {
                return false;
            }
            sleep(Duration::from_secs(1)).await;
        }
        true
    }

    /// Lets something happen later.
    pub fn at(&self, time: Timestamp, action: impl FnOnce(&World) + Send + 'static) {
        let world = Arc::downgrade(&self.inner);
        let instant = self.inner.clock.instant(time);
        tokio::spawn(async move {
            tokio::time::sleep_until(instant).await;
            if let Some(inner) = world.upgrade() {
                action(&World { inner });
            }
        });
    }

    /// Lets something happen after a while.
    pub fn after(&self, time: Duration, action: impl FnOnce(&World) + Send + 'static) {
        let time = SignedDuration::try_from(time).unwrap_or(SignedDuration::MAX);
        self.at(self.now().checked_add(time).unwrap_or(Timestamp::MAX), action);
    }

    /// A client for the operator, with the retries of production.
    #[must_use]
    pub fn client(&self) -> kube::Client {
        self.client_of(OPERATOR)
    }

    /// A client for anybody, with the retries of production (429, 503 and 504, three times).
    #[must_use]
    pub fn client_of(&self, user: &str) -> kube::Client {
        let service =
            RetryLayer::new(RetryPolicy::default()).layer(tower::util::MapErr::new(self.door(user), BoxError::from));
        kube::Client::new(service, "default")
    }

    /// A client that hands every answer on as it is.
    #[must_use]
    pub fn plain_client_of(&self, user: &str) -> kube::Client {
        kube::Client::new(self.door(user), "default")
    }

    fn door(&self, user: &str) -> Door {
        Door {
            cluster: Arc::clone(&self.inner.cluster),
            clock: self.inner.clock,
            user: user.to_owned(),
            crash: self.bell(user),
        }
    }

    fn bell(&self, user: &str) -> Arc<Notify> {
        let mut crashes = self.inner.crashes.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        Arc::clone(crashes.entry(user.to_owned()).or_default())
    }

    /// Waits until a fault kills this user. Whoever drives the story drops the user's future then.
    pub async fn crash_of(&self, user: &str) {
        self.bell(user).notified().await;
    }

    /// Runs somebody's code until it ends, a fault kills it, or time is up; what it returned if it ended.
    pub async fn run_as<T>(&self, user: &str, limit: Duration, code: impl Future<Output = T>) -> Ended<T> {
        tokio::select! {
            biased;
            () = self.crash_of(user) => Ended::Crashed,
            value = code => Ended::Done(value),
            () = sleep(limit) => Ended::OutOfTime,
        }
    }

    /// Lets requests fail: the first `times` that fit.
    pub fn fail(&self, requests: Requests, fault: Fault, times: u32) {
        lock(&self.inner.cluster).state.faults.add(requests, fault, times);
    }

    /// Lets watches go wrong: the first `times` that fit.
    pub fn fail_watches(&self, requests: Requests, fault: WatchFault, times: u32) {
        lock(&self.inner.cluster).state.faults.add_for_watches(requests, fault, times);
    }

    /// Nobody from outside reaches the API server for that long; watches break. The controllers go on.
    pub fn cut_off_api_server(&self, time: Duration) {
        let time = SignedDuration::try_from(time).unwrap_or(SignedDuration::MAX);
        self.change(|now, state| state.away_until = now.checked_add(time).ok());
        lock(&self.inner.cluster).changed.notify_waiters();
    }

    /// Forgets the history of the store, so that older watches and lists are answered with 410.
    pub fn compact(&self) {
        lock(&self.inner.cluster).state.server.store.compact();
    }

    /// Takes a right away, such as `get` on `pods/log`; `*` is every verb.
    pub fn deny(&self, user: &str, verb: &str, place: &str) {
        lock(&self.inner.cluster).state.server.rights.deny(user, verb, place);
    }

    /// Gives a right back.
    pub fn permit(&self, user: &str, verb: &str, place: &str) {
        lock(&self.inner.cluster).state.server.rights.restore(user, verb, place);
    }

    /// Calls somebody after every request and every event, with the store to read.
    pub fn observe(&self, observer: Observer) {
        lock(&self.inner.cluster).state.observe(observer);
    }

    /// All requests so far, in order.
    #[must_use]
    pub fn trace(&self) -> Vec<Entry> {
        lock(&self.inner.cluster).state.trace().to_vec()
    }

    /// What somebody has changed, or tried to.
    #[must_use]
    pub fn writes_of(&self, user: &str) -> Vec<Entry> {
        let cluster = lock(&self.inner.cluster);
        cluster.state.trace().iter().filter(|entry| entry.user == user && entry.is_write()).cloned().collect()
    }

    /// Changes the world outside of the API, and lets the models see what follows.
    pub(crate) fn change<T>(&self, change: impl FnOnce(Timestamp, &mut State) -> T) -> T {
        let now = self.now();
        let mut cluster = lock(&self.inner.cluster);
        let value = change(now, &mut cluster.state);
        cluster.settle(now);
        value
    }
}

/// How [`World::run_as`] ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended<T> {
    /// By itself.
    Done(T),
    /// By a fault.
    Crashed,
    /// Not within the limit.
    OutOfTime,
}

/// Lets the models do what is due, for ever.
async fn drive(cluster: Arc<Mutex<Cluster>>, clock: Clock) {
    let hurry = Arc::clone(&lock(&cluster).hurry);
    loop {
        let next = {
            let mut cluster = lock(&cluster);
            cluster.run_due(clock.now());
            cluster.next()
        };
        match next {
            // Woken by the timer or by something that is due earlier: either way the loop looks again.
            Some(next) => drop(timeout_at(clock.instant(next), hurry.notified()).await),
            None => hurry.notified().await,
        }
    }
}
