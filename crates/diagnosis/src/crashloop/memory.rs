//! What must be known of a replica's earlier pods when whoever watched it is started anew. *No client, no clock.*
//!
//! A pod's own restart count outlives its watcher; the crashes of pods that are gone, and the crashes that progress has
//! forgiven, do not. Kept as a difference to the pod's own count, so it changes only when the pod does.

use jiff::Timestamp;

use crate::Uid;

/// So much of a history as no object shows any more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remembered {
    /// The pod that was there.
    pub pod: Uid,
    /// Crashes since the last progress, less those that the pod itself shows: above zero for those of earlier pods, below
    /// for those that were forgiven.
    pub offset: i64,
    /// Crashes since the last progress when this was written: what counts once the pod is another one.
    pub crashes: u32,
    /// The earliest of them that was shown.
    pub onset: Option<Timestamp>,
    /// Earlier pods of the same trouble, the oldest first.
    pub pods: Vec<Uid>,
}

impl Remembered {
    /// Pods that are remembered by name.
    pub const PODS_MAX: usize = 16;
}
