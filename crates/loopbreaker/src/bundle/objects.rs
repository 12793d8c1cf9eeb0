//! Kubernetes objects out of files, sorted by kind. *No client.*
//!
//! What cannot be read costs only itself: it becomes a [`Note`] and the rest goes on.

use std::{collections::BTreeMap, path::Path};

use diagnosis::{Observation, observe};
use k8s_openapi::api::{
    apps::v1::StatefulSet,
    core::v1::{Node, PersistentVolumeClaim, Pod},
};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{
    Note, Passed,
    documents::read_documents,
    foreign::{Event, FullNode, Snapshot},
    note::{Place, one_line},
};

/// A `List` holds objects; a list of lists is nothing that `kubectl` prints.
const LISTS_DEEP_MAX: usize = 2;

/// The objects of a bundle.
#[derive(Debug, Default)]
pub(crate) struct Objects {
    /// What each pod object says.
    pub(crate) pods: Vec<Observation>,
    /// Claims.
    pub(crate) claims: Vec<PersistentVolumeClaim>,
    /// Machines.
    pub(crate) nodes: Vec<Node>,
    /// Workloads of Kubernetes' own controller.
    pub(crate) stateful_sets: Vec<StatefulSet>,
    /// Workloads of cosmos-operator.
    pub(crate) full_nodes: Vec<FullNode>,
    /// Snapshots.
    pub(crate) snapshots: Vec<Snapshot>,
    /// Events.
    pub(crate) events: Vec<Event>,
}

impl Objects {
    /// Whether not one was read.
    pub(crate) fn is_empty(&self) -> bool {
        self.pods.is_empty()
            && self.claims.is_empty()
            && self.nodes.is_empty()
            && self.stateful_sets.is_empty()
            && self.full_nodes.is_empty()
            && self.snapshots.is_empty()
            && self.events.is_empty()
    }

    /// Adds all objects of one file.
    pub(super) fn add_file(&mut self, file: &Path, bytes: &[u8], notes: &mut Vec<Note>) {
        let mut intake = Intake { objects: self, file, notes, skipped: BTreeMap::new() };
        for document in read_documents(bytes) {
            let place = Place { document: document.number, item: 0 };
            match document.content {
                Ok(value) => intake.add(value, place, LISTS_DEEP_MAX),
                Err(why) => intake.broken(place, &why),
            }
        }
        intake.finish();
    }
}

/// One file being taken in.
struct Intake<'a> {
    objects: &'a mut Objects,
    file: &'a Path,
    notes: &'a mut Vec<Note>,
    /// Kinds passed over, with their number and the place of the first.
    skipped: BTreeMap<String, (usize, Place)>,
}

impl Intake<'_> {
    fn add(&mut self, mut value: Value, place: Place, lists_left: usize) {
        let kind = text(&value, "kind");
        if kind.ends_with("List")
            && let Some(Value::Array(items)) = value.get_mut("items").map(Value::take)
        {
            self.add_items(&value, &kind, items, place, lists_left);
            return;
        }
        let group = text(&value, "apiVersion");
        let group = group.split_once('/').map_or("", |(group, _)| group);
        match (group, kind.as_str()) {
            ("", "Pod") => self.take::<Pod>(value, place, |objects, pod| objects.pods.push(observe(&pod))),
            ("", "PersistentVolumeClaim") => self.take(value, place, |objects, claim| objects.claims.push(claim)),
            ("", "Node") => self.take(value, place, |objects, node| objects.nodes.push(node)),
            ("apps", "StatefulSet") => self.take(value, place, |objects, set| objects.stateful_sets.push(set)),
            ("cosmos.strange.love", "CosmosFullNode") => {
                self.take(value, place, |objects, node| objects.full_nodes.push(node));
            }
            ("snapshot.storage.k8s.io", "VolumeSnapshot") => {
                self.take(value, place, |objects, snapshot| objects.snapshots.push(snapshot));
            }
            ("" | "events.k8s.io", "Event") => self.take(value, place, |objects, event| objects.events.push(event)),
            (_, "") => self.broken(place, "no Kubernetes object: it has no `kind`"),
            _ => self.skipped.entry(one_line(&kind)).or_insert((0, place)).0 += 1,
        }
    }

    /// `kubectl get` prints a `List` of complete objects, the API server a `PodList` whose items leave kind and version out.
    fn add_items(&mut self, list: &Value, kind: &str, items: Vec<Value>, place: Place, lists_left: usize) {
        if lists_left == 0 {
            self.broken(place, "a list within a list within a list");
            return;
        }
        let item_kind = kind.strip_suffix("List").unwrap_or_default();
        for (index, mut item) in items.into_iter().enumerate() {
            if let Value::Object(fields) = &mut item
                && !item_kind.is_empty()
                && !fields.contains_key("kind")
            {
                fields.insert("kind".to_owned(), item_kind.into());
                fields.entry("apiVersion").or_insert_with(|| text(list, "apiVersion").into());
            }
            self.add(item, Place { item: index + 1, ..place }, lists_left - 1);
        }
    }

    fn take<T: DeserializeOwned>(&mut self, value: Value, place: Place, keep: impl FnOnce(&mut Objects, T)) {
        let kind = text(&value, "kind");
        let name = value.pointer("/metadata/name").and_then(Value::as_str).unwrap_or("without a name").to_owned();
        match serde_json::from_value::<T>(without_nulls(value)) {
            Ok(object) => keep(self.objects, object),
            Err(error) => self.broken(place, &format!("{kind} {name}: {error}")),
        }
    }

    fn broken(&mut self, place: Place, why: &str) {
        self.notes.push(Note::broken(self.file.to_owned(), place, why));
    }

    fn finish(self) {
        let Self { file, notes, skipped, .. } = self;
        notes.extend(skipped.into_iter().map(|(kind, (count, first))| Note {
            file: file.to_owned(),
            place: if count == 1 { first } else { Place::default() },
            what: Passed::Kind { kind, count },
        }));
    }
}

fn text(value: &Value, field: &str) -> String {
    value.get(field).and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// Kubernetes takes a null field for a missing one.
fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(fields) => Value::Object(
            fields
                .into_iter()
                .filter(|(_, value)| !value.is_null())
                .map(|(key, value)| (key, without_nulls(value)))
                .collect(),
        ),
        Value::Array(items) => Value::Array(items.into_iter().map(without_nulls).collect()),
        other => other,
    }
}
