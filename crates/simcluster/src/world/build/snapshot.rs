//! A VolumeSnapshot. *No client.*

use serde_json::{Value, json};

use super::{SNAPSHOTS, STANDARD, World};
use crate::object::put;

/// What a snapshot is to be like.
#[derive(Debug, Clone)]
#[must_use = "nothing is made before `create`"]
pub struct SnapshotBuilder {
    world: World,
    namespace: String,
    name: String,
    claim: String,
    class: String,
    labels: Value,
}

impl SnapshotBuilder {
    pub(super) fn new(world: &World, namespace: &str, name: &str) -> Self {
        Self {
            world: world.clone(),
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            claim: String::new(),
            class: STANDARD.to_owned(),
            labels: json!({}),
        }
    }

    /// The claim that is copied.
    pub fn of(mut self, claim: &str) -> Self {
        claim.clone_into(&mut self.claim);
        self
    }

    /// The snapshot class, which says what becomes of it.
    pub fn class(mut self, class: &str) -> Self {
        class.clone_into(&mut self.class);
        self
    }

    /// One more label.
    pub fn label(mut self, name: &str, value: &str) -> Self {
        put(&mut self.labels, name, value.into());
        self
    }

    /// Makes it; it is ready a little later, if at all.
    pub fn create(self) {
        self.world.set_up(
            SNAPSHOTS,
            json!({
                "metadata": {"namespace": self.namespace, "name": self.name, "labels": self.labels},
                "spec": {
                    "volumeSnapshotClassName": self.class, "source": {"persistentVolumeClaimName": self.claim},
                },
            }),
        );
    }
}
