//! Which kinds the API server knows: the built-in ones, and those that a `CustomResourceDefinition` adds. *No client.*
//!
//! A kind of a definition is known exactly as long as the definition is there, as in a real cluster: delete it, and
//! requests for its objects are answered with 404.

use std::sync::Arc;

use serde_json::{Value, json};

use super::store::Store;
use crate::object::Fields;

/// The name of a resource: `pods`, `statefulsets.apps`, `recoveries.loopbreaker.dev`.
pub type ResourceName = Arc<str>;

/// One kind of objects.
#[expect(clippy::struct_excessive_bools, reason = "four independent facts of a kind, each asked for by its name")]
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Resource {
    pub(crate) name: ResourceName,
    pub(crate) group: String,
    pub(crate) version: String,
    pub(crate) plural: String,
    pub(crate) kind: String,
    pub(crate) namespaced: bool,
    /// Whether status has a place of its own, so that neither write can change the other's part.
    pub(crate) has_status: bool,
    /// Whether a change of the spec counts `metadata.generation` up.
    pub(crate) counts_generations: bool,
    /// Custom kinds take no strategic merge patch.
    pub(crate) is_custom: bool,
}

impl Resource {
    /// `apps/v1`, or `v1` for the core group.
    pub(crate) fn api_version(&self) -> String {
        if self.group.is_empty() { self.version.clone() } else { format!("{}/{}", self.group, self.version) }
    }

    /// As discovery lists it.
    pub(crate) fn discovery(&self) -> Vec<Value> {
        let verbs = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];
        let mut entries = vec![json!({
            "name": self.plural, "singularName": self.kind.to_lowercase(), "namespaced": self.namespaced,
            "kind": self.kind, "verbs": verbs,
        })];
        if self.has_status {
            entries.push(json!({
                "name": format!("{}/status", self.plural), "singularName": "", "namespaced": self.namespaced,
                "kind": self.kind, "verbs": ["get", "patch", "update"],
            }));
        }
        if &*self.name == "pods" {
            entries.push(json!({
                "name": "pods/log", "singularName": "", "namespaced": true, "kind": "Pod", "verbs": ["get"],
            }));
        }
        entries
    }
}

/// The name of a definition's kind in the store.
pub(crate) const DEFINITIONS: &str = "customresourcedefinitions.apiextensions.k8s.io";

/// Group, version, plural, kind, whether namespaced, whether status has a place of its own, whether generations count.
type Row = (&'static str, &'static str, &'static str, &'static str, bool, bool, bool);

const BUILT_IN: [Row; 25] = [
    ("", "v1", "configmaps", "ConfigMap", true, false, false),
    ("", "v1", "events", "Event", true, false, false),
    ("", "v1", "namespaces", "Namespace", false, true, false),
    ("", "v1", "nodes", "Node", false, true, false),
    ("", "v1", "persistentvolumeclaims", "PersistentVolumeClaim", true, true, false),
    ("", "v1", "persistentvolumes", "PersistentVolume", false, true, false),
    ("", "v1", "pods", "Pod", true, true, true),
    ("", "v1", "resourcequotas", "ResourceQuota", true, true, false),
    ("", "v1", "secrets", "Secret", true, false, false),
    ("", "v1", "serviceaccounts", "ServiceAccount", true, false, false),
    ("", "v1", "services", "Service", true, true, false),
    (
        "admissionregistration.k8s.io",
        "v1",
        "validatingadmissionpolicies",
        "ValidatingAdmissionPolicy",
        false,
        true,
        true,
    ),
    (
        "admissionregistration.k8s.io",
        "v1",
        "validatingadmissionpolicybindings",
        "ValidatingAdmissionPolicyBinding",
        false,
        false,
        true,
    ),
    ("apiextensions.k8s.io", "v1", "customresourcedefinitions", "CustomResourceDefinition", false, true, true),
    ("apps", "v1", "controllerrevisions", "ControllerRevision", true, false, false),
    ("apps", "v1", "deployments", "Deployment", true, true, true),
    ("apps", "v1", "replicasets", "ReplicaSet", true, true, true),
    ("apps", "v1", "statefulsets", "StatefulSet", true, true, true),
    ("batch", "v1", "jobs", "Job", true, true, true),
    ("coordination.k8s.io", "v1", "leases", "Lease", true, false, false),
    ("discovery.k8s.io", "v1", "endpointslices", "EndpointSlice", true, false, true),
    ("events.k8s.io", "v1", "events", "Event", true, false, false),
    ("storage.k8s.io", "v1", "csidrivers", "CSIDriver", false, false, false),
    ("storage.k8s.io", "v1", "storageclasses", "StorageClass", false, false, false),
    ("storage.k8s.io", "v1", "volumeattributesclasses", "VolumeAttributesClass", false, false, false),
];

/// The kinds that are served.
#[derive(Debug)]
pub(crate) struct Registry {
    built_in: Vec<Arc<Resource>>,
    defined: Vec<Arc<Resource>>,
}

impl Registry {
    pub(crate) fn new() -> Self {
        let built_in = BUILT_IN.iter().map(|(group, version, plural, kind, namespaced, has_status, generations)| {
            Arc::new(Resource {
                name: name_of(group, plural),
                group: (*group).to_owned(),
                version: (*version).to_owned(),
                plural: (*plural).to_owned(),
                kind: (*kind).to_owned(),
                namespaced: *namespaced,
                has_status: *has_status,
                counts_generations: *generations,
                is_custom: false,
            })
        });
        Self { built_in: built_in.collect(), defined: Vec::new() }
    }

    /// Takes over the definitions that are there; to be called when one has changed.
    pub(crate) fn learn(&mut self, store: &Store) {
        let defined = store.list(DEFINITIONS, None).filter(|(_, definition)| !definition.is_terminating());
        self.defined = defined.filter_map(|(_, definition)| defined_kind(definition)).collect();
    }

    /// The kind at `/apis/GROUP/VERSION/…/PLURAL`.
    pub(crate) fn at(&self, group: &str, version: &str, plural: &str) -> Option<Arc<Resource>> {
        self.all().find(|kind| kind.group == group && kind.version == version && kind.plural == plural).cloned()
    }

    /// The kind of that name.
    pub(crate) fn named(&self, name: &str) -> Option<Arc<Resource>> {
        self.all().find(|kind| &*kind.name == name).cloned()
    }

    /// Every kind that is served now.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Arc<Resource>> {
        self.built_in.iter().chain(&self.defined)
    }
}

/// `pods`, `statefulsets.apps`.
pub(crate) fn name_of(group: &str, plural: &str) -> ResourceName {
    if group.is_empty() { plural.into() } else { format!("{plural}.{group}").into() }
}

/// The kind that a definition adds.
fn defined_kind(definition: &Value) -> Option<Arc<Resource>> {
    let version = stored_version(definition)?;
    let (group, plural) = (definition.text("/spec/group"), definition.text("/spec/names/plural"));
    Some(Arc::new(Resource {
        name: name_of(group, plural),
        group: group.to_owned(),
        version: version.text("/name").to_owned(),
        plural: plural.to_owned(),
        kind: definition.text("/spec/names/kind").to_owned(),
        namespaced: definition.text("/spec/scope") == "Namespaced",
        has_status: version.has("/subresources/status"),
        counts_generations: true,
        is_custom: true,
    }))
}

/// The version of a definition that is served.
pub(crate) fn stored_version(definition: &Value) -> Option<&Value> {
    definition.items("/spec/versions").iter().find(|version| version.is_true("/served"))
}
