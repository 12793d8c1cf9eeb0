//! Where a replacement may come from, and what becomes of the original. *No client.* (P3, P4)

use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::span::Span;

/// How a restored volume is proven before it replaces the original.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
pub enum Proof {
    /// Every checksum, the heights, and whether a node can start from them
    #[default]
    AllChecks,
    /// The order of all keys and the hash of every tree node too
    Deep,
}

/// Where a replacement may come from
#[derive(Debug, Clone, PartialEq, Default, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RestoreSettings {
    /// Which snapshots may be restored
    #[serde(default)]
    pub snapshots: SnapshotChoice,
    /// How the restored volume is proven
    #[serde(default)]
    pub proof: Proof,
}

/// Which snapshots may be restored
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SnapshotChoice {
    /// Labels that a snapshot must carry; every one in the namespace fits, if not set
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selector: Option<LabelSelector>,
    /// Only snapshots of the same replica's claim. A sibling's snapshot carries the sibling's keys and signing state
    #[serde(default = "yes")]
    pub match_instance: bool,
    /// Older ones are not taken: the node would need longer to catch up than a fresh one
    #[serde(default = "max_age")]
    pub max_age: Span,
    /// How many older snapshots are tried where the newest does not stand the proof
    #[serde(default = "fallbacks")]
    #[schemars(range(max = 10))]
    pub fallbacks: u32,
}

const fn yes() -> bool {
    true
}

const fn max_age() -> Span {
    Span::hours(168)
}

const fn fallbacks() -> u32 {
    2
}

impl Default for SnapshotChoice {
    fn default() -> Self {
        Self { selector: None, match_instance: yes(), max_age: max_age(), fallbacks: fallbacks() }
    }
}

/// What becomes of the original volume
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Quarantine {
    /// How long the original is kept after a recovery; in every other state it stays until a human says otherwise
    #[serde(default = "keep_for")]
    pub keep_for: Span,
}

const fn keep_for() -> Span {
    Span::hours(168)
}

impl Default for Quarantine {
    fn default() -> Self {
        Self { keep_for: keep_for() }
    }
}
