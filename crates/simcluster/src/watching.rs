//! A watch: the store's changes as lines of JSON, as they happen, or as a fault bends them. *No client.*
//!
//! It reads from the store's log by version, so a slow watch is never lost: it is behind, or it is told 410 when the log no
//! longer reaches back to where it stands.

use std::{
    collections::VecDeque,
    convert::Infallible,
    sync::{Arc, Mutex},
    time::Duration,
};

use bytes::Bytes;
use futures::Stream;
use http_body::Frame;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use tokio::time::timeout_at;

use crate::{
    clock::Clock,
    cluster::Cluster,
    faults::WatchFault,
    server::{Key, Refusal, Watch},
    service::lock,
};

/// How often a watch with bookmarks is told where it stands.
const BOOKMARK_EVERY: SignedDuration = SignedDuration::from_secs(60);

struct Waiting {
    at: Timestamp,
    key: Option<Key>,
    what: &'static str,
    object: Arc<Value>,
}

struct Position {
    cluster: Arc<Mutex<Cluster>>,
    clock: Clock,
    watch: Watch,
    fault: Option<WatchFault>,
    /// Up to which version everything was looked at.
    version: u64,
    /// Lines that are to be sent, and from when on.
    waiting: VecDeque<Waiting>,
    began: Timestamp,
    next_bookmark: Timestamp,
    ended: bool,
}

/// The body of a watch, line by line.
pub(crate) fn lines(
    cluster: Arc<Mutex<Cluster>>,
    clock: Clock,
    watch: Watch,
    fault: Option<WatchFault>,
) -> impl Stream<Item = Result<Frame<Bytes>, Infallible>> + Send {
    let now = clock.now();
    let mut position = Position {
        version: watch.from,
        cluster,
        clock,
        fault,
        waiting: VecDeque::new(),
        began: now,
        next_bookmark: plus(now, BOOKMARK_EVERY),
        ended: false,
        watch,
    };
    for object in std::mem::take(&mut position.watch.first) {
        position.send(now, None, "ADDED", object);
    }
    futures::stream::unfold(position, |mut position| async move {
        let line = position.next().await?;
        Some((Ok(Frame::data(line)), position))
    })
}

fn plus(time: Timestamp, by: SignedDuration) -> Timestamp {
    time.checked_add(by).unwrap_or(Timestamp::MAX)
}

impl Position {
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            let changed = Arc::clone(&lock(&self.cluster).changed);
            let news = changed.notified();
            let now = self.clock.now();
            if lock(&self.cluster).state.is_away(now) {
                // The connection breaks without a word.
                return None;
            }
            self.catch_up();
            if self.waiting.front().is_some_and(|waiting| waiting.at <= now) {
                return self.waiting.pop_front().map(|waiting| line(waiting.what, &waiting.object));
            }
            if self.ended {
                return None;
            }
            if now >= self.ends_at() {
                self.end();
                continue;
            }
            if self.watch.bookmarks && now >= self.next_bookmark && self.waiting.is_empty() {
                self.next_bookmark = plus(now, BOOKMARK_EVERY);
                return Some(line("BOOKMARK", &self.watch.bookmark(self.version)));
            }
            let wake = self.clock.instant(self.next_wake());
            // Whichever comes first, the loop looks at everything again.
            drop(timeout_at(wake, news).await);
        }
    }

    fn next_wake(&self) -> Timestamp {
        let mut wake = self.ends_at();
        if self.watch.bookmarks && self.waiting.is_empty() {
            wake = wake.min(self.next_bookmark);
        }
        self.waiting.front().map_or(wake, |waiting| wake.min(waiting.at))
    }

    fn ends_at(&self) -> Timestamp {
        let seconds = i64::try_from(self.watch.timeout).unwrap_or(i64::MAX);
        let timeout = plus(self.began, SignedDuration::from_secs(seconds));
        match self.fault {
            Some(WatchFault::Disconnect(after)) => timeout.min(plus(self.began, signed(after))),
            _ => timeout,
        }
    }

    fn end(&mut self) {
        self.ended = true;
        self.waiting.clear();
        let now = self.clock.now();
        if matches!(self.fault, Some(WatchFault::Disconnect(after)) if now >= plus(self.began, signed(after))) {
            self.fail(now);
        }
    }

    fn fail(&mut self, now: Timestamp) {
        let refusal = Refusal::expired(self.version, lock(&self.cluster).state.server.store.version());
        self.ended = true;
        self.waiting.push_back(Waiting { at: now, key: None, what: "ERROR", object: Arc::new(refusal.status()) });
    }

    /// Takes over what has happened since the last look.
    fn catch_up(&mut self) {
        if self.ended {
            return;
        }
        let cluster = Arc::clone(&self.cluster);
        let cluster = lock(&cluster);
        let store = &cluster.state.server.store;
        let now = self.clock.now();
        let Some(events) = store.since(self.version) else {
            drop(cluster);
            self.fail(now);
            return;
        };
        let seen: Vec<(Key, &'static str, Arc<Value>)> = events
            .filter_map(|event| self.watch.sees(event).map(|(what, object)| (event.key.clone(), what, object)))
            .collect();
        self.version = store.version();
        drop(cluster);
        for (key, what, object) in seen {
            self.send(now, Some(key), what, object);
        }
    }

    fn send(&mut self, now: Timestamp, key: Option<Key>, what: &'static str, object: Arc<Value>) {
        let at = match self.fault {
            Some(WatchFault::Delay(by) | WatchFault::Coalesce(by)) => plus(now, signed(by)),
            _ => now,
        };
        if matches!(self.fault, Some(WatchFault::Coalesce(_))) && self.coalesce(key.as_ref(), what, &object) {
            return;
        }
        if self.fault == Some(WatchFault::Duplicate) {
            self.waiting.push_back(Waiting { at, key: key.clone(), what, object: Arc::clone(&object) });
        }
        self.waiting.push_back(Waiting { at, key, what, object });
    }

    /// Lets news take the place of what waits about the same object, as somebody would see it who looks only now and then;
    /// whether it did.
    fn coalesce(&mut self, key: Option<&Key>, what: &'static str, object: &Arc<Value>) -> bool {
        let Some(place) = self.waiting.iter().position(|waiting| key.is_some() && waiting.key.as_ref() == key) else {
            return false;
        };
        let Some(older) = self.waiting.get_mut(place) else { return false };
        older.what = match (older.what, what) {
            ("ADDED", "DELETED") => {
                self.waiting.remove(place);
                return true;
            }
            ("ADDED", _) => "ADDED",
            ("DELETED", "ADDED") => "MODIFIED",
            (_, newer) => newer,
        };
        older.object = Arc::clone(object);
        true
    }
}

fn signed(duration: Duration) -> SignedDuration {
    SignedDuration::try_from(duration).unwrap_or(SignedDuration::MAX)
}

fn line(what: &str, object: &Value) -> Bytes {
    let mut text = json!({"type": what, "object": object}).to_string();
    text.push('\n');
    text.into()
}
