//! The policies and records of the cluster, as they were last heard of. *No client, no clock.*
//!
//! Only to decide by; whatever is written is read live first.

use std::{collections::BTreeMap, sync::Arc};

use api::{Recovery, RecoveryPolicy};
use kube::{Resource, ResourceExt};

/// Objects of one kind by namespace and name.
#[derive(Debug)]
pub(crate) struct Records<K> {
    objects: BTreeMap<(String, String), Arc<K>>,
    /// Names that a list in progress has not mentioned yet.
    unlisted: Option<std::collections::BTreeSet<(String, String)>>,
}

impl<K> Default for Records<K> {
    fn default() -> Self {
        Self { objects: BTreeMap::new(), unlisted: None }
    }
}

impl<K: Resource<DynamicType = ()>> Records<K> {
    /// A list begins.
    pub(crate) fn begin_list(&mut self) {
        self.unlisted = Some(self.objects.keys().cloned().collect());
    }

    /// An object as it is now.
    pub(crate) fn apply(&mut self, mut object: K) {
        object.meta_mut().managed_fields = None;
        let key = key(&object);
        if let Some(unlisted) = &mut self.unlisted {
            unlisted.remove(&key);
        }
        self.objects.insert(key, Arc::new(object));
    }

    /// An object is gone.
    pub(crate) fn delete(&mut self, object: &K) {
        self.objects.remove(&key(object));
    }

    /// The list was whole: what it did not mention is gone.
    pub(crate) fn end_list(&mut self) {
        for key in self.unlisted.take().unwrap_or_default() {
            self.objects.remove(&key);
        }
    }

    /// All of a namespace, by name.
    pub(crate) fn in_namespace(&self, namespace: &str) -> Vec<Arc<K>> {
        let first = (namespace.to_owned(), String::new());
        self.objects
            .range(first..)
            .take_while(|((of, _), _)| of == namespace)
            .map(|(_, object)| Arc::clone(object))
            .collect()
    }

    /// One of them.
    pub(crate) fn get(&self, namespace: &str, name: &str) -> Option<Arc<K>> {
        self.objects.get(&(namespace.to_owned(), name.to_owned())).cloned()
    }

    /// All of them.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Arc<K>> {
        self.objects.values()
    }
}

fn key<K: Resource<DynamicType = ()>>(object: &K) -> (String, String) {
    (object.namespace().unwrap_or_default(), object.name_any())
}

/// Both kinds.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    /// Who is watched, and how.
    pub(crate) policies: Records<RecoveryPolicy>,
    /// The incidents.
    pub(crate) recoveries: Records<Recovery>,
}
