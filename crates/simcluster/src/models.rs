//! Models of the controllers around a chain node, each with the timings and the traps of the real one. *No client.*
//!
//! Each looks at one object at a time and brings the cluster one step nearer to what is wanted, through the API server and
//! under its own name. A model keeps no state that the real one would not keep in memory.

pub(crate) use self::stateful_set::owner_reference;
pub(crate) mod cosmos;
mod garbage_collector;
mod jobs;
mod kubelet;
mod protection;
mod scheduler;
pub(crate) mod snapshots;
mod stateful_set;
pub(crate) mod volume_binder;

use jiff::SignedDuration;

use crate::{
    desk::Desk,
    server::{Event, Key, Store},
};

/// A controller.
pub(crate) trait Model: Send {
    /// Its name as a client.
    fn user(&self) -> &'static str;

    /// What is to be looked at because of a change.
    fn wakes(&self, event: &Event, store: &Store) -> Vec<Wake>;

    /// Looks at something; when to look again without a change.
    fn reconcile(&mut self, key: &Key, desk: &mut Desk<'_>) -> Option<SignedDuration>;

    /// By how many milliseconds its looks vary.
    fn jitter(&self) -> i64 {
        10
    }
}

/// Something to be looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Wake {
    pub(crate) key: Key,
    pub(crate) after: SignedDuration,
}

impl Wake {
    /// After some milliseconds.
    pub(crate) fn after(milliseconds: i64, key: Key) -> Self {
        Self { key, after: SignedDuration::from_millis(milliseconds) }
    }
}

/// Every model but those that make and take away the pods of workloads: where a world begins in the middle with some of a
/// workload's objects, its owner would make up the rest.
pub(crate) fn without_owners() -> Vec<Box<dyn Model>> {
    vec![
        Box::<scheduler::Scheduler>::default(),
        Box::<kubelet::Kubelet>::default(),
        Box::<jobs::Jobs>::default(),
        Box::<volume_binder::VolumeBinder>::default(),
        Box::<protection::ClaimProtection>::default(),
        Box::<snapshots::Snapshots>::default(),
    ]
}

/// Every model.
pub(crate) fn all() -> Vec<Box<dyn Model>> {
    vec![
        Box::<scheduler::Scheduler>::default(),
        Box::<kubelet::Kubelet>::default(),
        Box::<stateful_set::StatefulSets>::default(),
        Box::<cosmos::CosmosOperator>::default(),
        Box::<cosmos::CosmosPoll>::default(),
        Box::<cosmos::ScheduledSnapshots>::default(),
        Box::<jobs::Jobs>::default(),
        Box::<volume_binder::VolumeBinder>::default(),
        Box::<protection::ClaimProtection>::default(),
        Box::<snapshots::Snapshots>::default(),
        Box::<garbage_collector::GarbageCollector>::default(),
    ]
}
