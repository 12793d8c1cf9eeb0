//! Puts everything into the world, in the order in which one thing needs another. *No IO.*

use std::collections::BTreeSet;

use chainstore::{Depth, Options};
use diagnosis::{ContainerState, Observation};
use jiff::SignedDuration;
use serde_json::{Value, json};
use simcluster::{Inspection, Report, VolumeContent, Which, World};

use super::{Plan, Replica};
use crate::{inspect::CannotLook, report::inspection_json::InspectionJson, words::clean};

/// Reasons for which a container's image is the trouble.
const NO_IMAGE: [&str; 3] = ["ImagePullBackOff", "ErrImagePull", "InvalidImageName"];

impl Plan {
    /// Builds the world.
    pub(in crate::rehearse) fn build(&self, world: &World) {
        world.chain(&self.chain.id, self.chain.height, self.chain.block_every);
        world.halt_chain(&self.chain.id, self.chain.halted);
        world.namespace("loopbreaker");
        for namespace in self.namespaces() {
            world.namespace(&namespace);
        }
        self.machines(world);
        self.owners(world);
        for replica in &self.replicas {
            self.claims(world, replica);
        }
        for (kind, place) in [("VolumeSnapshot", "volumesnapshots.snapshot.storage.k8s.io"), ("Event", "events")] {
            for object in self.of_kind(kind) {
                world.put(place, object.clone());
            }
        }
        self.inspector(world);
        for replica in &self.replicas {
            self.pod(world, replica);
        }
    }

    fn of_kind<'p>(&'p self, kind: &'p str) -> impl Iterator<Item = &'p Value> {
        self.objects.iter().filter(move |object| text(object, "/kind") == kind)
    }

    fn machines(&self, world: &World) {
        let mut named: BTreeSet<String> =
            self.replicas.iter().filter_map(|replica| replica.pod.node.as_ref()).map(ToString::to_string).collect();
        for node in self.of_kind("Node") {
            named.remove(text(node, "/metadata/name"));
            world.put("nodes", node.clone());
        }
        for name in &named {
            world.node(name);
        }
    }

    fn owners(&self, world: &World) {
        let mut there = BTreeSet::new();
        for (kind, place) in
            [("StatefulSet", "statefulsets.apps"), ("CosmosFullNode", "cosmosfullnodes.cosmos.strange.love")]
        {
            for object in self.of_kind(kind) {
                // The newest of several prints stands.
                there.insert((kind.to_owned(), text(object, "/metadata/name").to_owned()));
                world.put(place, object.clone());
            }
            for replica in &self.replicas {
                let Some(owner) = replica.pod.owner.as_ref().filter(|owner| owner.kind == kind) else { continue };
                if !there.insert((kind.to_owned(), owner.name.clone())) {
                    continue;
                }
                // One more than are known, so that nobody takes the victim for the only one.
                let replicas = self.replicas.len() + 1;
                let spec = if kind == "StatefulSet" { json!({"replicas": replicas}) } else { json!({}) };
                world.put(place, json!({
                    "kind": kind,
                    "metadata": {"namespace": replica.pod.instance.namespace, "name": owner.name, "uid": owner.uid.as_str()},
                    "spec": spec,
                }));
            }
        }
    }

    fn claims(&self, world: &World, replica: &Replica) {
        let namespace = &replica.pod.instance.namespace;
        let Some(pod) = self.raw_pod(&replica.pod) else { return };
        for volume in pod.pointer("/spec/volumes").and_then(Value::as_array).into_iter().flatten() {
            let claim = text(volume, "/persistentVolumeClaim/claimName");
            if claim.is_empty() || world.get("persistentvolumeclaims", namespace, claim).is_some() {
                continue;
            }
            let in_bundle = self.of_kind("PersistentVolumeClaim").find(|object| {
                text(object, "/metadata/name") == claim && text(object, "/metadata/namespace") == namespace
            });
            let made_up = json!({
                "metadata": {"namespace": namespace, "name": claim},
                "spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": "standard",
                    "resources": {"requests": {"storage": "10Gi"}}},
            });
            let height =
                self.chain.heights.get(&replica.pod.instance.to_string()).copied().unwrap_or(self.chain.height);
            let content = VolumeContent::node(&replica.pod.instance.name, &self.chain.id, height);
            drop(world.volume(in_bundle.cloned().unwrap_or(made_up), content));
        }
    }

    fn raw_pod(&self, pod: &Observation) -> Option<&Value> {
        let mut same = self.of_kind("Pod").filter(|object| {
            text(object, "/metadata/name") == pod.instance.name
                && text(object, "/metadata/namespace") == pod.instance.namespace
                && pod.uid.as_ref().is_none_or(|uid| uid.as_str() == text(object, "/metadata/uid"))
        });
        // Of several prints the one that was observed last.
        same.by_ref().last()
    }

    fn pod(&self, world: &World, replica: &Replica) {
        let (namespace, name) = (&replica.pod.instance.namespace, &replica.pod.instance.name);
        let Some(object) = self.raw_pod(&replica.pod) else { return };
        for container in &replica.pod.containers {
            if let ContainerState::Waiting { reason, .. } = &container.state
                && NO_IMAGE.contains(&reason.as_str())
            {
                world.image_missing(&container.image, true);
            }
        }
        for ails in &replica.ails {
            for (ailment, times) in &ails.what {
                world.ail(namespace, name, &ails.container, ailment.clone(), *times);
            }
        }
        world.put("pods", object.clone());
        for (container, [previous, current]) in &replica.logs {
            for (which, text) in [(Which::Previous, previous), (Which::Current, current)] {
                if let Some(text) = text {
                    world.put_log(namespace, name, container, which, text);
                }
            }
        }
        if self.chain.standing.contains(&replica.pod.instance.to_string())
            && let Some(node) = replica.pod.node_container()
        {
            world.get_stuck(namespace, name, node.name.as_str(), &[]);
        }
    }

    /// An inspector prints what is really in the bundle.
    fn inspector(&self, world: &World) {
        let mut data = std::collections::BTreeMap::new();
        for replica in &self.replicas {
            let Some(claim) = &replica.pod.data_claim else { continue };
            let namespace = replica.pod.instance.namespace.clone();
            if let Some(directory) = self.data_of(&namespace, claim.as_str()) {
                data.insert((namespace, claim.to_string()), directory.clone());
            }
        }
        world.inspect_by(move |inspection: &Inspection<'_>| {
            let pod = inspection.start.pod;
            let claim = text(pod, "/spec/volumes/0/persistentVolumeClaim/claimName").to_owned();
            let directory = data.get(&(text(pod, "/metadata/namespace").to_owned(), claim));
            let (line, exit_code) = match directory {
                None => (not_in_the_bundle(), 0),
                Some(directory) => match chainstore::inspect(directory, &Options::default()) {
                    Ok(inspection) => {
                        (serde_json::to_string(&InspectionJson::of(&inspection, Depth::Default)).unwrap_or_default(), 0)
                    }
                    Err(error) => (format!("error: {}", clean(&CannotLook(error).in_words())), 1),
                },
            };
            Report { lines: vec![line], exit_code, takes: SignedDuration::from_secs(10) }
        });
    }
}

fn text<'o>(object: &'o Value, pointer: &str) -> &'o str {
    object.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

/// The report about data that nobody has: of the inspector's own form, so that it reads as "could not tell".
fn not_in_the_bundle() -> String {
    let why = "the bundle holds no data directory of this replica (put it into data/POD/)";
    json!({
        "schema": "loopbreaker.dev/inspection/v1", "outcome": "could_not_tell", "databases": [], "findings": [], "notes": [],
        "untold": [why],
    })
    .to_string()
}
