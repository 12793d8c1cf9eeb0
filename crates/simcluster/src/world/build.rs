//! What a story begins with: nodes, classes, chains, workloads with volumes that have something on them. *No client.*

use std::time::Duration;

use jiff::SignedDuration;
use serde_json::{Value, json};

use super::World;
use crate::{
    models::{
        snapshots::{SNAPSHOT_CLASSES, SNAPSHOTS},
        volume_binder::{CLAIMS, CLASSES, VOLUMES},
    },
    object::{Fields, bytes_of, put, set},
    outside::{Chain, Volume, VolumeContent},
    program::CHAIN_LABEL,
    server::{Call, DEFINITIONS, HOLD_CLAIMS, HOLD_PODS, Key, Output},
};

mod full_node;
mod snapshot;
mod stateful_set;

pub use self::{full_node::FullNodeBuilder, snapshot::SnapshotBuilder, stateful_set::StatefulSetBuilder};

/// Which of a container's logs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Which {
    /// Of the container that runs, or that ended last.
    Current,
    /// Of the one before.
    Previous,
}

/// Whoever sets the stage.
pub(super) const STAGE: &str = "stage";
/// The class that every world has.
const STANDARD: &str = "standard";
const DRIVER: &str = "dir.csi.simcluster";

impl World {
    /// One node, the classes, the definitions of all custom kinds.
    pub(super) fn furnish(&self) {
        for crd in api::crds() {
            let definition = serde_json::to_value(&crd.definition).unwrap_or_default();
            self.set_up(DEFINITIONS, definition);
        }
        for (group, version, plural, kind, namespaced, has_status) in FOREIGN {
            self.set_up(DEFINITIONS, definition(group, version, plural, kind, namespaced, has_status));
        }
        self.namespace("default");
        self.node("node-1");
        self.storage_class(STANDARD, &json!({"allowVolumeExpansion": true}));
        self.snapshot_class(STANDARD, "");
    }

    pub(super) fn set_up(&self, resource: &str, object: Value) -> Value {
        match self.request(STAGE, &Call::create(resource, object)) {
            Ok(object) => object,
            // A story that sets the stage twice finds it as it was.
            Err(_) => Value::Null,
        }
    }

    /// A namespace.
    pub fn namespace(&self, name: &str) {
        self.set_up("namespaces", json!({"metadata": {"name": name}}));
    }

    /// A node that is Ready.
    pub fn node(&self, name: &str) {
        let labels = json!({"kubernetes.io/hostname": name, "kubernetes.io/os": "linux"});
        let node = self.set_up("nodes", json!({"metadata": {"name": name, "labels": labels}, "spec": {}}));
        self.set_status(
            "nodes",
            &node,
            &json!({
                "conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady"}],
                "nodeInfo": {"kubeletVersion": "v1.34.4", "containerRuntimeVersion": "containerd://1.6.20"},
            }),
        );
    }

    pub(super) fn set_status(&self, resource: &str, object: &Value, status: &Value) {
        let patch = json!({"status": status});
        let call = Call::merge(resource, object.namespace(), object.name(), patch).of_status();
        drop(self.request(STAGE, &call));
    }

    /// A storage class; what is given is merged into the plain one (`Immediate`, `Delete`).
    pub fn storage_class(&self, name: &str, fields: &Value) {
        let mut class = json!({
            "metadata": {"name": name}, "provisioner": DRIVER, "reclaimPolicy": "Delete",
            "volumeBindingMode": "Immediate",
        });
        json_patch::merge(&mut class, fields);
        self.set_up(CLASSES, class);
    }

    /// A snapshot class; `simulate` is empty, `never`, `late:SECONDS`, `no-size` or `error:TEXT`.
    pub fn snapshot_class(&self, name: &str, simulate: &str) {
        let mut class = json!({"metadata": {"name": name}, "driver": DRIVER, "deletionPolicy": "Delete"});
        if !simulate.is_empty() {
            set(&mut class, "/parameters", json!({"simulate": simulate}));
        }
        self.set_up(SNAPSHOT_CLASSES, class);
    }

    /// A chain that is at a height now and makes a block every so often.
    pub fn chain(&self, id: &str, height: u64, block_every: Duration) {
        self.change(|now, state| {
            let block_every = SignedDuration::try_from(block_every).unwrap_or(SignedDuration::from_secs(5));
            let chain = Chain {
                id: id.to_owned(),
                height,
                since: now,
                block_every: block_every.max(SignedDuration::from_millis(1)),
                halted: false,
                upgrades: Vec::new(),
            };
            state.outside.chains.insert(id.to_owned(), chain);
        });
    }

    /// The policies by which the API server itself keeps a [`Hold`](crate::World::hold).
    pub fn hold_policies(&self) {
        for name in [HOLD_PODS, HOLD_CLAIMS] {
            for plural in ["validatingadmissionpolicies", "validatingadmissionpolicybindings"] {
                let spec = json!({"policyName": name, "failurePolicy": "Fail"});
                let resource = format!("{plural}.admissionregistration.k8s.io");
                self.set_up(&resource, json!({"metadata": {"name": name}, "spec": spec}));
            }
        }
    }

    /// A StatefulSet of nodes.
    pub fn stateful_set(&self, namespace: &str, name: &str) -> StatefulSetBuilder {
        StatefulSetBuilder::new(self, namespace, name)
    }

    /// A CosmosFullNode.
    pub fn cosmos_full_node(&self, namespace: &str, name: &str) -> FullNodeBuilder {
        FullNodeBuilder::new(self, namespace, name)
    }

    /// A snapshot.
    pub fn snapshot(&self, namespace: &str, name: &str) -> SnapshotBuilder {
        SnapshotBuilder::new(self, namespace, name)
    }

    /// Puts an object into the store as it is, with its status and its UID: for a world that begins in the middle.
    pub fn put(&self, resource: &str, mut object: Value) {
        self.change(|now, state| {
            if object.uid().is_empty() {
                let uid = state.server.names.uid();
                set(&mut object, "/metadata/uid", uid.into());
            }
            if !object.has("/metadata/creationTimestamp") {
                set(&mut object, "/metadata/creationTimestamp", crate::object::seconds(now));
            }
            let key = Key::new(resource, object.namespace(), object.name());
            state.server.put(now, key, object);
        });
    }

    /// What a container of a pod that is there has printed before the world began: the one before the present one, or the
    /// present one.
    pub fn put_log(&self, namespace: &str, pod: &str, container: &str, which: Which, text: &str) {
        let Some(object) = self.get("pods", namespace, pod) else { return };
        let lists = ["/status/initContainerStatuses", "/status/containerStatuses"];
        let mut statuses = lists.iter().flat_map(|list| object.items(list));
        let Some(status) = statuses.find(|status| status.text("/name") == container) else { return };
        let id = match which {
            Which::Previous => status.text("/lastState/terminated/containerID"),
            Which::Current => status.text("/containerID"),
        };
        self.change(|now, state| {
            let lines = text.lines().map(|line| (now, line.to_owned())).collect();
            state.server.logs.start(object.uid(), container, Output { id: id.to_owned(), lines });
        });
    }

    /// A claim that has long been bound to a volume with something on it; its UID.
    #[must_use]
    pub fn volume(&self, claim: Value, content: VolumeContent) -> String {
        let size = claim.text("/spec/resources/requests/storage").to_owned();
        let uid = self.change(|_, state| state.server.names.uid());
        let (volume, handle) = (format!("pvc-{uid}"), format!("vol-{uid}"));
        let mut bound = claim;
        set(&mut bound, "/metadata/uid", uid.clone().into());
        set(&mut bound, "/spec/volumeName", volume.clone().into());
        set(&mut bound, "/spec/volumeMode", "Filesystem".into());
        set(&mut bound, "/metadata/finalizers", json!(["kubernetes.io/pvc-protection"]));
        for annotation in ["pv.kubernetes.io~1bind-completed", "pv.kubernetes.io~1bound-by-controller"] {
            set(&mut bound, &format!("/metadata/annotations/{annotation}"), "yes".into());
        }
        set(&mut bound, "/apiVersion", "v1".into());
        set(&mut bound, "/kind", "PersistentVolumeClaim".into());
        let capacity = json!({"storage": size});
        let modes = bound.part("/spec/accessModes").clone();
        set(&mut bound, "/status", json!({"phase": "Bound", "capacity": capacity, "accessModes": modes}));
        let bytes = bytes_of(&size).unwrap_or_default();
        self.change(|_, state| state.outside.volumes.insert(handle.clone(), Volume { content, bytes }));
        self.put(VOLUMES, json!({
            "apiVersion": "v1", "kind": "PersistentVolume",
            "metadata": {"name": volume, "finalizers": ["kubernetes.io/pv-protection"], "annotations": {"pv.kubernetes.io/provisioned-by": DRIVER}},
            "spec": {
                "capacity": capacity, "accessModes": modes, "volumeMode": "Filesystem",
                "storageClassName": bound.text("/spec/storageClassName"), "persistentVolumeReclaimPolicy": "Delete",
                "csi": {"driver": DRIVER, "volumeHandle": handle},
                "claimRef": {
                    "apiVersion": "v1", "kind": "PersistentVolumeClaim", "namespace": bound.namespace(),
                    "name": bound.name(), "uid": uid,
                },
            },
            "status": {"phase": "Bound"},
        }));
        self.put(CLAIMS, bound);
        uid
    }
}

/// Group, version, plural, kind, whether namespaced, whether status has a place of its own.
type Foreign = (&'static str, &'static str, &'static str, &'static str, bool, bool);

const FOREIGN: [Foreign; 6] = [
    ("snapshot.storage.k8s.io", "v1", "volumesnapshots", "VolumeSnapshot", true, true),
    ("snapshot.storage.k8s.io", "v1", "volumesnapshotcontents", "VolumeSnapshotContent", false, true),
    ("snapshot.storage.k8s.io", "v1", "volumesnapshotclasses", "VolumeSnapshotClass", false, false),
    ("cosmos.strange.love", "v1", "cosmosfullnodes", "CosmosFullNode", true, true),
    ("cosmos.strange.love", "v1alpha1", "scheduledvolumesnapshots", "ScheduledVolumeSnapshot", true, true),
    ("loopbreaker.dev", "v1alpha1", "holds", "Hold", true, false),
];

/// A definition that takes any fields. Only where the real schema matters to the product is it written out: an entry of
/// `scheduledSnapshotStatus` needs a pod and keeps nothing else.
fn definition(group: &str, version: &str, plural: &str, kind: &str, namespaced: bool, has_status: bool) -> Value {
    let free = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    let schema = if kind == "CosmosFullNode" {
        let candidate = json!({
            "type": "object", "required": ["podCandidate"], "properties": {"podCandidate": {"type": "string"}},
        });
        let status = json!({
            "type": "object", "x-kubernetes-preserve-unknown-fields": true,
            "properties": {"scheduledSnapshotStatus": {"type": "object", "additionalProperties": candidate}},
        });
        json!({"type": "object", "properties": {"spec": free, "status": status}})
    } else {
        free
    };
    let subresources = if has_status { json!({"status": {}}) } else { json!({}) };
    json!({
        "metadata": {"name": format!("{plural}.{group}")},
        "spec": {
            "group": group, "scope": if namespaced { "Namespaced" } else { "Cluster" },
            "names": {"plural": plural, "singular": kind.to_lowercase(), "kind": kind, "listKind": format!("{kind}List")},
            "versions": [{
                "name": version, "served": true, "storage": true, "subresources": subresources,
                "schema": {"openAPIV3Schema": schema},
            }],
        },
    })
}

/// The claim of a replica.
pub(super) fn claim(namespace: &str, name: &str, class: &str, size: &str, labels: &Value) -> Value {
    json!({
        "metadata": {"namespace": namespace, "name": name, "labels": labels},
        "spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": class, "resources": {"requests": {"storage": size}}},
    })
}

/// The label that says which chain a pod's node follows.
pub(super) fn chain_label(labels: &mut Value, chain: &str) {
    put(labels, CHAIN_LABEL, chain.into());
}
