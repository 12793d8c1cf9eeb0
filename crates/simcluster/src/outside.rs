//! The world outside of the API: volumes and what is on them, chains, and the processes that run. *No client.*
//!
//! Nothing here is visible to a client except through what a kubelet, a driver or a node makes of it: a status, a log, a
//! report, an answer on RPC. So a wrong decision of the product shows here, as data that is gone.

mod chain;
mod content;
mod running;

use std::{collections::BTreeMap, fmt};

use jiff::Timestamp;

pub(crate) use self::running::Running;
pub use self::{
    chain::{Chain, Upgrade},
    content::{Damage, Heights, Signing, VolumeContent},
    running::{Course, End, Run, Stop},
};
use crate::program::{ChainNode, Program};

/// A volume of the storage backend.
#[derive(Debug, Clone, PartialEq)]
pub struct Volume {
    /// What is on it.
    pub content: VolumeContent,
    /// How large it is.
    pub bytes: u64,
}

/// A copy of a volume, behind a snapshot.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Copy {
    pub(crate) content: VolumeContent,
    pub(crate) bytes: u64,
}

/// All of it.
pub(crate) struct Outside {
    /// By the driver's name of the volume.
    pub(crate) volumes: BTreeMap<String, Volume>,
    /// By the driver's name of the snapshot.
    pub(crate) copies: BTreeMap<String, Copy>,
    /// By chain ID.
    pub(crate) chains: BTreeMap<String, Chain>,
    /// By pod UID and container.
    pub(crate) running: BTreeMap<(String, String), Running>,
    /// What is run.
    pub(crate) program: Box<dyn Program>,
    /// Pods whose RPC answers nobody outside, by namespace and name.
    pub(crate) unreachable: BTreeMap<(String, String), crate::world::Refused>,
    /// Images that no registry has.
    pub(crate) missing_images: std::collections::BTreeSet<String>,
    /// Nodes that are gone from the network: their kubelets do nothing.
    pub(crate) silent_nodes: std::collections::BTreeSet<String>,
}

impl Default for Outside {
    fn default() -> Self {
        Self {
            volumes: BTreeMap::new(),
            copies: BTreeMap::new(),
            chains: BTreeMap::new(),
            running: BTreeMap::new(),
            program: Box::<ChainNode>::default(),
            unreachable: BTreeMap::new(),
            missing_images: std::collections::BTreeSet::new(),
            silent_nodes: std::collections::BTreeSet::new(),
        }
    }
}

impl fmt::Debug for Outside {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Outside").field("volumes", &self.volumes).field("chains", &self.chains).finish_non_exhaustive()
    }
}

impl Outside {
    /// Writes down how far the running nodes have come.
    pub(crate) fn settle(&mut self, now: Timestamp) {
        for running in self.running.values() {
            let Some(volume) = running.volume.as_ref().and_then(|handle| self.volumes.get_mut(handle)) else {
                continue;
            };
            if let Some(height) = running.height(&self.chains, now) {
                volume.content.advance_to(height);
            }
        }
    }

    /// A volume as it is now.
    pub(crate) fn volume(&mut self, handle: &str, now: Timestamp) -> Option<&mut Volume> {
        self.settle(now);
        self.volumes.get_mut(handle)
    }

    /// The process of a container.
    pub(crate) fn process(&self, pod: &str, container: &str) -> Option<&Running> {
        self.running.get(&(pod.to_owned(), container.to_owned()))
    }

    /// Ends a process and writes down how far it came.
    pub(crate) fn stop(&mut self, pod: &str, container: &str, now: Timestamp) -> Option<Running> {
        self.settle(now);
        self.running.remove(&(pod.to_owned(), container.to_owned()))
    }
}
