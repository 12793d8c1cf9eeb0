//! Each right, and what it is for.

/// Verbs on one resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Right {
    /// The API group; empty for the core.
    pub(crate) group: &'static str,
    pub(crate) resource: &'static str,
    pub(crate) verbs: &'static [&'static str],
    /// The only object, where one is enough.
    pub(crate) name: Option<&'static str>,
    pub(crate) reach: Reach,
    /// What it is for.
    pub(crate) purpose: &'static str,
}

/// Where a right holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Reach {
    /// In every namespace that is watched.
    Watched,
    /// There too, where a policy lets volumes be inspected on a copy.
    Copies,
    /// Of the cluster as a whole: machines belong to no namespace.
    Machines,
    /// In the namespace where Events about machines are kept.
    MachineEvents,
    /// In the operator's own namespace.
    Own,
}

impl Right {
    const fn watched(
        group: &'static str,
        resource: &'static str,
        verbs: &'static [&'static str],
        purpose: &'static str,
    ) -> Self {
        Self { group, resource, verbs, name: None, reach: Reach::Watched, purpose }
    }

    const fn at(self, reach: Reach) -> Self {
        Self { reach, ..self }
    }

    const fn named(self, name: &'static str) -> Self {
        Self { name: Some(name), ..self }
    }
}

const OURS: &str = "loopbreaker.dev";
const SNAPSHOTS: &str = "snapshot.storage.k8s.io";
const LEASES: &str = "coordination.k8s.io";

const RIGHTS: &[Right] = &[
    Right::watched(OURS, "recoverypolicies", &["list", "watch"], "what is selected"),
    Right::watched(OURS, "recoverypolicies/status", &["update"], "how a policy stands"),
    Right::watched(OURS, "recoveries", &["get", "list", "watch", "create"], "an incident"),
    Right::watched(OURS, "recoveries/status", &["update"], "its record"),
    Right::watched("", "pods", &["get", "list", "watch"], "crashes"),
    Right::watched("", "pods/log", &["get"], "logs of crashes, and the inspector's report"),
    Right::watched("apps", "statefulsets", &["get", "list", "watch"], "who makes the pods"),
    Right::watched(
        "cosmos.strange.love",
        "cosmosfullnodes",
        &["get", "list", "watch"],
        "who makes the pods; the kind may be absent",
    ),
    Right::watched("", "persistentvolumeclaims", &["get"], "the node's claim"),
    Right::watched("", "events", &["list"], "what was said about pod and claim"),
    Right::watched(SNAPSHOTS, "volumesnapshots", &["get", "list"], "snapshots in flight"),
    Right::watched("batch", "jobs", &["get", "list", "watch", "create", "delete"], "inspectors"),
    Right::watched("events.k8s.io", "events", &["create"], "one Event a transition"),
    Right::watched("", "persistentvolumeclaims", &["create", "delete"], "a copy to be inspected").at(Reach::Copies),
    Right::watched(SNAPSHOTS, "volumesnapshots", &["create", "delete"], "a snapshot to be inspected").at(Reach::Copies),
    Right::watched("", "nodes", &["get"], "the machine's health").at(Reach::Machines),
    Right::watched("", "events", &["list"], "what was said about the machine").at(Reach::MachineEvents),
    Right::watched(LEASES, "leases", &["create"], "who leads: made once").at(Reach::Own),
    Right::watched(LEASES, "leases", &["get", "update"], "who leads").named("loopbreaker-operator").at(Reach::Own),
];

/// All of them, in the order in which they are told.
pub(crate) fn rights() -> &'static [Right] {
    RIGHTS
}
