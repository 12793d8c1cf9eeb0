//! Crash-loop facts, told from pod objects alone. *No client, no clock.* (design 3, "detect")
//!
//! [`observe`] reads one pod object, [`InstanceHistory`] lines up what was seen of one replica over time and over pod UIDs,
//! [`detect`] decides. `CrashLoopBackOff` is one hint among others: the kubelet shows it only between two tries, and a
//! pod that is deleted and made again never shows it at all.

mod back_off;
mod crash;
mod detect;
mod history;
mod memory;
mod observation;
mod observe;
mod role;
mod rule;
mod run;

#[cfg(test)]
mod tests;

use jiff::Timestamp;

pub use detect::{detect, detect_by};
pub use history::InstanceHistory;
pub use memory::Remembered;
pub use observation::{ContainerFacts, ContainerState, Observation, Owner, RestartPolicy, Revision, RevisionScope};
pub use observe::observe;
pub use rule::LoopRule;
pub use run::{ExitStatus, LastRun};

use crate::ContainerName;

/// A crash loop of one instance, told from one or more observations of its pods.
#[derive(Debug, Clone, PartialEq)]
pub struct CrashLoop {
    /// The container that dies: the node's own, or an init container that never completes.
    pub container: ContainerName,
    /// What it is for.
    pub role: ContainerRole,
    /// How often it died, as far as the objects tell: Kubernetes' restart counts, added up over the pods. The death whose
    /// back-off is just being waited out is not in them yet.
    pub crashes: u32,
    /// Its last finished run.
    pub last_run: Option<LastRun>,
    /// The kubelet's present delay before the next try.
    pub back_off: Option<BackOff>,
    /// How fast it dies, where two or more observations allow to say.
    pub rate: Option<RestartRate>,
    /// The earliest crash that an object *shows*. Restart counts know of earlier ones without their times, so the true
    /// onset lies between `counted_since` and this.
    pub onset: Option<Timestamp>,
    /// Before this time none of the counted crashes happened: the start of the first pod, or the last sign of progress.
    pub counted_since: Option<Timestamp>,
}

/// What a container of a node's pod is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ContainerRole {
    /// Runs the chain's binary.
    Node,
    /// Runs beside it (health check, version check interval, sentinel …).
    SideCar,
    /// An init container that prepares files.
    Init,
    /// Cosmos-operator's init container that fails on purpose while an image swap is due.
    VersionCheck,
}

/// The kubelet's delay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BackOff {
    /// Seconds.
    pub seconds: u64,
}

/// Crashes per time between the first and the last observation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RestartRate {
    /// Crashes between the two.
    pub crashes: u32,
    /// Seconds between the two.
    pub seconds: u64,
}
