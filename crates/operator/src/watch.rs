//! Watches pods and the workloads that make them, and tells the index. *Client, reads only.*
//!
//! Lists come from a quorum, never from a cache that may be behind. Of each object only what the index keeps stays in
//! memory. An object that cannot be read is counted and passed over; a kind that the cluster does not have, or that we may
//! not watch, is said once and tried again, and the others go on.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Debug,
    time::Duration,
};

use futures::{StreamExt, TryStreamExt, pin_mut};
use kube::{
    Api, Resource,
    core::DeserializeGuard,
    runtime::{
        WatchStreamExt,
        utils::Backoff,
        watcher::{self, Event},
    },
};
use serde::de::DeserializeOwned;

use crate::recover::code;

/// What became of a kind's watch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Health {
    /// All that is there has been seen.
    Synced,
    /// The cluster has no such kind.
    Absent,
    /// The right is missing; the server's words.
    Forbidden(String),
    /// It is out of reach; why.
    Failing(String),
}

/// The watches by the plural of their kinds.
#[derive(Debug, Clone, Default)]
pub(crate) struct Watches {
    health: BTreeMap<&'static str, Health>,
    /// Those that were seen whole once: a watch that fails later makes them old, not unknown.
    whole: BTreeSet<&'static str>,
}

impl Watches {
    /// Notes what became of a watch; whether that is news.
    pub(crate) fn note(&mut self, plural: &'static str, health: &Health) -> bool {
        if matches!(health, Health::Synced | Health::Absent) {
            self.whole.insert(plural);
        }
        self.health.insert(plural, health.clone()).is_none_or(|before| before != *health)
    }

    /// The kinds that may not be watched: verb, kind and the server's words.
    pub(crate) fn forbidden(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.health.iter().filter_map(|(plural, health)| match health {
            Health::Forbidden(words) => Some((*plural, words.as_str())),
            _ => None,
        })
    }

    /// Whether this kind has been seen whole, or is known not to be there.
    pub(crate) fn is_settled(&self, plural: &str) -> bool {
        self.whole.contains(plural) && !matches!(self.health.get(plural), Some(Health::Forbidden(_)))
    }
}

/// One thing heard of a kind.
#[derive(Debug)]
pub(crate) enum Heard<K> {
    /// A list begins: what does not come before its end is gone.
    ListBegins,
    /// An object as it is now.
    Is(K),
    /// The last state of an object that is gone.
    Gone(K),
    /// The list was whole.
    ListEnds,
    /// An object that cannot be read: by name, and why.
    Broken(String),
    /// News of the watch itself.
    Health(Health),
}

/// Objects of a list at a time: while they are read they take many times the memory of what is kept of them, and holes are left
/// between.
const PAGE: u32 = 50;

/// Hears of a kind for ever.
pub(crate) async fn hear<K>(objects: Api<DeserializeGuard<K>>, mut tell: impl FnMut(Heard<K>))
where
    K: Resource<DynamicType = ()> + Clone + Debug + DeserializeOwned + Send + 'static,
{
    let config = watcher::Config::default().page_size(PAGE);
    // That a list begins is no success: it would end the wait for a kind that the cluster does not have.
    let stream = watcher::watcher(objects, config)
        .try_filter(|event| std::future::ready(!matches!(event, Event::Init)))
        .backoff(Doubling::default());
    pin_mut!(stream);
    let (mut failed, mut listing) = (false, false);
    while let Some(event) = stream.next().await {
        // A watch that goes on where it broke off lists nothing anew.
        if failed && matches!(event, Ok(Event::Apply(_) | Event::Delete(_))) {
            tell(Heard::Health(Health::Synced));
        }
        failed = event.is_err();
        let of_a_list = matches!(event, Ok(Event::Init | Event::InitApply(_) | Event::InitDone));
        if of_a_list && !listing {
            tell(Heard::ListBegins);
        }
        listing = of_a_list;
        match event {
            Ok(Event::Init) => {}
            Ok(Event::InitApply(object) | Event::Apply(object)) => {
                tell(read(object).map_or_else(Heard::Broken, Heard::Is));
            }
            Ok(Event::Delete(object)) => tell(read(object).map_or_else(Heard::Broken, Heard::Gone)),
            Ok(Event::InitDone) => {
                listing = false;
                tell(Heard::ListEnds);
                tell(Heard::Health(Health::Synced));
            }
            Err(error) => tell(Heard::Health(health(&error))),
        }
    }
}

fn read<K: Resource<DynamicType = ()>>(object: DeserializeGuard<K>) -> Result<K, String> {
    let name = object.meta().name.clone().unwrap_or_default();
    let namespace = object.meta().namespace.clone().unwrap_or_default();
    object.0.map_err(|error| format!("{} {namespace}/{name} cannot be read: {}", K::kind(&()), error.error))
}

fn health(error: &watcher::Error) -> Health {
    let (watcher::Error::InitialListFailed(source)
    | watcher::Error::WatchStartFailed(source)
    | watcher::Error::WatchFailed(source)) = error
    else {
        return Health::Failing(error.to_string());
    };
    match (source, code(source)) {
        (_, Some(404)) => Health::Absent,
        (kube::Error::Api(status), Some(403)) => Health::Forbidden(status.message.clone()),
        _ => Health::Failing(source.to_string()),
    }
}

/// Waits between tries: doubled each time up to half a minute, without chance, so that a rehearsal repeats itself.
#[derive(Debug, Clone)]
pub(crate) struct Doubling {
    next: Duration,
}

impl Doubling {
    const FIRST: Duration = Duration::from_secs(1);
    const LAST: Duration = Duration::from_secs(30);
}

impl Default for Doubling {
    fn default() -> Self {
        Self { next: Self::FIRST }
    }
}

impl Iterator for Doubling {
    type Item = Duration;

    fn next(&mut self) -> Option<Duration> {
        let wait = self.next;
        self.next = wait.saturating_mul(2).min(Self::LAST);
        Some(wait)
    }
}

impl Backoff for Doubling {
    fn reset(&mut self) {
        self.next = Self::FIRST;
    }
}
