//! Kubernetes objects, sorted by kind. *No client.*

use api::{CosmosFullNode, VolumeSnapshot};
use diagnosis::{Observation, observe};
use k8s_openapi::api::{
    apps::v1::StatefulSet,
    core::v1::{Node, PersistentVolumeClaim, Pod},
};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::Event;

/// The objects that say something about a replica or about what stands around it.
#[derive(Debug, Default)]
pub struct Objects {
    /// What each pod object says.
    pub pods: Vec<Observation>,
    /// Claims.
    pub claims: Vec<PersistentVolumeClaim>,
    /// Machines.
    pub nodes: Vec<Node>,
    /// Workloads of Kubernetes' own controller.
    pub stateful_sets: Vec<StatefulSet>,
    /// Workloads of cosmos-operator.
    pub full_nodes: Vec<CosmosFullNode>,
    /// Snapshots.
    pub snapshots: Vec<VolumeSnapshot>,
    /// Events.
    pub events: Vec<Event>,
}

/// What became of an object that was handed in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Taken {
    /// It is kept.
    Kept,
    /// Its kind says nothing about a crash loop.
    Passed,
}

impl Objects {
    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.pods.is_empty()
            && self.claims.is_empty()
            && self.nodes.is_empty()
            && self.stateful_sets.is_empty()
            && self.full_nodes.is_empty()
            && self.snapshots.is_empty()
            && self.events.is_empty()
    }

    /// Sorts an object in; the error says, in words, why it cannot be read.
    pub fn add(&mut self, value: Value) -> Result<Taken, String> {
        let kind = text(&value, "kind");
        let group = text(&value, "apiVersion");
        let group = group.split_once('/').map_or("", |(group, _)| group);
        match (group, kind.as_str()) {
            ("", "Pod") => self.pods.push(observe(&read::<Pod>(value)?)),
            ("", "PersistentVolumeClaim") => self.claims.push(read(value)?),
            ("", "Node") => self.nodes.push(read(value)?),
            ("apps", "StatefulSet") => self.stateful_sets.push(read(value)?),
            ("cosmos.strange.love", "CosmosFullNode") => self.full_nodes.push(read(value)?),
            ("snapshot.storage.k8s.io", "VolumeSnapshot") => self.snapshots.push(read(value)?),
            ("" | "events.k8s.io", "Event") => self.events.push(read(value)?),
            (_, "") => return Err("no Kubernetes object: it has no `kind`".to_owned()),
            _ => return Ok(Taken::Passed),
        }
        Ok(Taken::Kept)
    }
}

fn read<T: DeserializeOwned>(value: Value) -> Result<T, String> {
    let kind = text(&value, "kind");
    let name = value.pointer("/metadata/name").and_then(Value::as_str).unwrap_or("without a name").to_owned();
    serde_json::from_value(without_nulls(value)).map_err(|error| format!("{kind} {name}: {error}"))
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
