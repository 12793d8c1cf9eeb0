//! What whoever starts the operator says about it. *No client.*

use std::time::Duration;

/// Settings of one operator process; a policy can change none of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// Who this process is, its pod's name: the holder of the Lease.
    pub identity: String,
    /// Where the Lease lies, the operator's own namespace.
    pub namespace: String,
    /// The only namespace that is watched; all of them, if none.
    pub watched: Option<String>,
    /// The inspector's Job.
    pub inspector: Inspector,
    /// The Lease.
    pub lease: LeaseTimes,
}

/// What an inspector's Job is made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inspector {
    /// The image that holds `loopbreaker`.
    pub image: String,
    /// The service account of its pod, which needs no right at all; the namespace's default, if none.
    pub service_account: Option<String>,
    /// Secrets by which the image is pulled, in the replica's namespace.
    pub pull_secrets: Vec<String>,
    /// What it asks for, such as `256Mi`.
    pub memory_request: String,
    /// Jobs at once in the whole cluster.
    pub at_once_max: u32,
}

/// How leadership goes over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LeaseTimes {
    /// A leader that has not renewed for so long is none any more.
    pub duration: Duration,
    /// How often it renews.
    pub renew_every: Duration,
}

impl Default for Inspector {
    fn default() -> Self {
        Self {
            image: String::new(),
            service_account: None,
            pull_secrets: Vec::new(),
            memory_request: "256Mi".to_owned(),
            at_once_max: 4,
        }
    }
}

impl Default for LeaseTimes {
    fn default() -> Self {
        Self { duration: Duration::from_secs(15), renew_every: Duration::from_secs(5) }
    }
}
