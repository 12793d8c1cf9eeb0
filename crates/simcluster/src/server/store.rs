//! All objects, one counter of versions, and the log of what happened. *No client.*
//!
//! As etcd behind a real API server: every write gets the next version of the whole store, and the log is what watches
//! read. From the log an older state can be made again, which is what a stale read returns.

use std::{
    collections::{BTreeMap, VecDeque},
    ops::Bound,
    sync::Arc,
};

use jiff::Timestamp;
use serde_json::Value;

use super::resource::ResourceName;
use crate::object::set;

/// Where an object is kept. Ordered as lists are: by kind, namespace, name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    /// The kind.
    pub resource: ResourceName,
    /// The namespace; empty for an object of the whole cluster.
    pub namespace: String,
    /// The name.
    pub name: String,
}

impl Key {
    /// The key of an object.
    #[must_use]
    pub fn new(resource: &str, namespace: &str, name: &str) -> Self {
        Self { resource: resource.into(), namespace: namespace.to_owned(), name: name.to_owned() }
    }
}

/// What became of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// It was made.
    Added,
    /// It was changed.
    Modified,
    /// It is gone.
    Deleted,
}

/// One change of the store.
#[derive(Debug, Clone)]
pub struct Event {
    /// The store's version after it, which is the object's resourceVersion.
    pub version: u64,
    /// When.
    pub at: Timestamp,
    /// What became of the object.
    pub change: Change,
    /// Which object.
    pub key: Key,
    /// The object afterwards; of a deleted one, how it was last.
    pub object: Arc<Value>,
    /// The object before; nothing for one that was made.
    pub before: Option<Arc<Value>>,
}

pub(crate) type Objects = BTreeMap<Key, Arc<Value>>;

/// The store.
#[derive(Debug)]
pub(crate) struct Store {
    objects: Objects,
    version: u64,
    log: VecDeque<Event>,
    /// How many events are remembered.
    remembered: usize,
    /// The version below which nothing is remembered.
    compacted: u64,
}

/// As many as a small cluster writes in the five minutes that etcd remembers, and more.
const REMEMBERED: usize = 4096;

impl Store {
    pub(crate) fn new() -> Self {
        Self { objects: BTreeMap::new(), version: 1, log: VecDeque::new(), remembered: REMEMBERED, compacted: 1 }
    }

    /// The version of the newest write.
    pub(crate) fn version(&self) -> u64 {
        self.version
    }

    /// The oldest version from which a watch can go on.
    pub(crate) fn oldest(&self) -> u64 {
        self.compacted
    }

    /// One object.
    pub(crate) fn get(&self, key: &Key) -> Option<&Arc<Value>> {
        self.objects.get(key)
    }

    /// All objects of a kind, in one namespace or in all.
    pub(crate) fn list<'s>(
        &'s self,
        resource: &str,
        namespace: Option<&str>,
    ) -> impl Iterator<Item = (&'s Key, &'s Arc<Value>)> + use<'s> {
        in_kind(&self.objects, resource, namespace)
    }

    /// Writes an object with the next version; the object as it is kept.
    pub(crate) fn put(&mut self, at: Timestamp, key: Key, mut object: Value) -> Arc<Value> {
        self.version += 1;
        set(&mut object, "/metadata/resourceVersion", self.version.to_string().into());
        let object = Arc::new(object);
        let before = self.objects.insert(key.clone(), Arc::clone(&object));
        let change = if before.is_some() { Change::Modified } else { Change::Added };
        self.note(Event { version: self.version, at, change, key, object: Arc::clone(&object), before });
        object
    }

    /// Removes an object; how it was last.
    pub(crate) fn remove(&mut self, at: Timestamp, key: &Key) -> Option<Arc<Value>> {
        let before = self.objects.remove(key)?;
        self.version += 1;
        let mut last = Value::clone(&before);
        set(&mut last, "/metadata/resourceVersion", self.version.to_string().into());
        let object = Arc::new(last);
        self.note(Event {
            version: self.version,
            at,
            change: Change::Deleted,
            key: key.clone(),
            object: Arc::clone(&object),
            before: Some(before),
        });
        Some(object)
    }

    fn note(&mut self, event: Event) {
        self.log.push_back(event);
        while self.log.len() > self.remembered {
            if let Some(forgotten) = self.log.pop_front() {
                self.compacted = forgotten.version;
            }
        }
    }

    /// Forgets everything up to now: a watch from an older version is answered with 410.
    pub(crate) fn compact(&mut self) {
        self.log.clear();
        self.compacted = self.version;
    }

    /// What happened after a version; nothing where that is no longer remembered.
    pub(crate) fn since(&self, version: u64) -> Option<impl Iterator<Item = &Event> + use<'_>> {
        let first = self.log.partition_point(|event| event.version <= version);
        (version >= self.compacted).then(|| self.log.range(first..))
    }

    /// All objects as they were at a version; nothing where that is no longer remembered.
    pub(crate) fn at(&self, version: u64) -> Option<Objects> {
        let mut objects = self.objects.clone();
        for event in self.since(version)?.collect::<Vec<_>>().into_iter().rev() {
            match &event.before {
                Some(before) => objects.insert(event.key.clone(), Arc::clone(before)),
                None => objects.remove(&event.key),
            };
        }
        Some(objects)
    }

    /// The newest version that was there at a time.
    pub(crate) fn version_at(&self, time: Timestamp) -> u64 {
        let later = self.log.partition_point(|event| event.at <= time);
        later.checked_sub(1).and_then(|last| self.log.get(last)).map_or(self.compacted, |event| event.version)
    }
}

/// The objects of a kind within a state of the store.
pub(crate) fn in_kind<'o>(
    objects: &'o Objects,
    resource: &str,
    namespace: Option<&str>,
) -> impl Iterator<Item = (&'o Key, &'o Arc<Value>)> + use<'o> {
    let first = Key::new(resource, namespace.unwrap_or_default(), "");
    let namespace = namespace.map(str::to_owned);
    let resource = Arc::clone(&first.resource);
    objects.range((Bound::Included(first), Bound::Unbounded)).take_while(move |(key, _)| {
        key.resource == resource && namespace.as_ref().is_none_or(|namespace| key.namespace == *namespace)
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn put(store: &mut Store, name: &str, mark: u32) -> u64 {
        store.put(Timestamp::UNIX_EPOCH, Key::new("pods", "a", name), json!({"mark": mark}));
        store.version()
    }

    #[test]
    fn an_older_state_can_be_made_again() {
        let mut store = Store::new();
        put(&mut store, "x", 1);
        let then = put(&mut store, "y", 1);
        put(&mut store, "x", 2);
        store.remove(Timestamp::UNIX_EPOCH, &Key::new("pods", "a", "y"));
        put(&mut store, "z", 1);
        let old = store.at(then).expect("remembered");
        let names: Vec<&str> = old.keys().map(|key| key.name.as_str()).collect();
        assert_eq!(names, ["x", "y"]);
        assert_eq!(old[&Key::new("pods", "a", "x")]["mark"], 1);
    }

    #[test]
    fn what_is_forgotten_is_not_made_up() {
        let mut store = Store::new();
        let then = put(&mut store, "x", 1);
        put(&mut store, "x", 2);
        store.compact();
        assert!(store.at(then).is_none() && store.since(then).is_none());
        assert_eq!(store.since(store.version()).map(Iterator::count), Some(0));
    }

    #[test]
    fn lists_stay_within_kind_and_namespace() {
        let mut store = Store::new();
        for (resource, namespace) in [("pods", "a"), ("pods", "b"), ("podsx", "a"), ("services", "a")] {
            store.put(Timestamp::UNIX_EPOCH, Key::new(resource, namespace, "n"), json!({}));
        }
        assert_eq!(store.list("pods", None).count(), 2);
        assert_eq!(store.list("pods", Some("a")).count(), 1);
    }
}
