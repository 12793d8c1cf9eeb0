//! The logs of a replica's crashes, read at once because the kubelet keeps one only. *No client.* (P13)
//!
//! Of each replica the first log of its trouble stays, for the first failure decides and what follows may be its
//! consequence; and the last few. They are kept as what the log witness makes of them, not as bytes.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
};

use diagnosis::InstanceName;
use jiff::Timestamp;

use crate::collect::ReadLog;

/// Logs kept of one replica beside the first.
const LAST_MAX: usize = 3;
/// Replicas of which logs are kept.
const REPLICAS_MAX: usize = 2_000;

/// A log that was read.
#[derive(Debug, Clone)]
pub(crate) struct Kept {
    /// When.
    pub(crate) at: Timestamp,
    /// What it says.
    pub(crate) log: Arc<ReadLog>,
}

/// All logs that are kept.
#[derive(Debug, Default)]
pub(crate) struct LogBook {
    replicas: BTreeMap<InstanceName, Pages>,
}

#[derive(Debug, Default)]
struct Pages {
    first: Option<Kept>,
    last: VecDeque<Kept>,
    failed: Option<String>,
}

impl LogBook {
    /// Keeps the log of a crash.
    pub(crate) fn keep(&mut self, instance: &InstanceName, kept: Kept) {
        let Some(pages) = self.pages(instance) else { return };
        pages.failed = None;
        if pages.first.is_none() {
            pages.first = Some(kept);
            return;
        }
        pages.last.push_back(kept);
        while pages.last.len() > LAST_MAX {
            pages.last.pop_front();
        }
    }

    /// Notes that the newest log could not be had, and why.
    pub(crate) fn failed(&mut self, instance: &InstanceName, why: String) {
        if let Some(pages) = self.pages(instance) {
            pages.failed = Some(why);
        }
    }

    /// The logs of a replica, the oldest first, and why the newest is not among them.
    pub(crate) fn of(&self, instance: &InstanceName) -> (Vec<Kept>, Option<String>) {
        let Some(pages) = self.replicas.get(instance) else { return (Vec::new(), None) };
        (pages.first.iter().chain(&pages.last).cloned().collect(), pages.failed.clone())
    }

    /// The trouble is over; the next one begins anew.
    pub(crate) fn forget(&mut self, instance: &InstanceName) {
        self.replicas.remove(instance);
    }

    fn pages(&mut self, instance: &InstanceName) -> Option<&mut Pages> {
        if self.replicas.len() >= REPLICAS_MAX && !self.replicas.contains_key(instance) {
            return None;
        }
        Some(self.replicas.entry(instance.clone()).or_default())
    }
}
