//! Crash-loop facts, told from pod objects alone. *No client, no clock.* (design 3, "detect")

use jiff::Timestamp;

use crate::ContainerName;

/// A crash loop of one instance, told from one or more observations of its pods.
#[derive(Debug, Clone, PartialEq)]
pub struct CrashLoop {
    /// The container that dies: the node's own, or an init container that never completes.
    pub container: ContainerName,
    /// What it is for.
    pub role: ContainerRole,
    /// How often it died, as far as the objects tell.
    pub crashes: u32,
    /// Its last finished run.
    pub last_run: Option<LastRun>,
    /// The kubelet's present delay before the next try.
    pub back_off: Option<BackOff>,
    /// How fast it dies, where two or more observations allow to say.
    pub rate: Option<RestartRate>,
    /// The earliest crash that the observations show.
    pub onset: Option<Timestamp>,
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

/// One finished run of a container.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LastRun {
    /// How it ended.
    pub exit: ExitStatus,
    /// Kubernetes' word for it (`Error`, `Completed`, `OOMKilled`, `ContainerCannotRun` …).
    pub reason: String,
    /// When it began.
    pub started: Option<Timestamp>,
    /// When it ended.
    pub finished: Option<Timestamp>,
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExitStatus {
    /// The exit code as Kubernetes gives it (128 + signal for a kill).
    pub code: i32,
    /// The signal, where the status or the code tells it.
    pub signal: Option<i32>,
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
