//! When a replica counts as sick. *No client.*

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::span::Span;

/// When a replica counts as sick
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Detection {
    /// Crashes without progress in between that make a loop
    ///
    /// One crash is chance and two can be the two ends of an upgrade: fewer than three cannot be asked for.
    #[serde(default = "crashes")]
    #[schemars(range(min = 3, max = 100))]
    pub crashes: u32,
    /// Crashes further apart than this are no loop
    #[serde(default = "window")]
    pub window: Span,
    /// How long a running replica's height may stand still, while siblings advance, before it counts as stuck; 0s never
    #[serde(default = "stuck_for")]
    pub stuck_for: Span,
}

const fn crashes() -> u32 {
    3
}

const fn window() -> Span {
    Span::hours(1)
}

const fn stuck_for() -> Span {
    Span::minutes(15)
}

impl Default for Detection {
    fn default() -> Self {
        Self { crashes: crashes(), window: window(), stuck_for: stuck_for() }
    }
}
