//! What forbids an act even where the witnesses agree. *No client.* (P6, P7, P9, P10)

use kube::KubeSchema;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::span::Span;

/// What is done about a node that may sign blocks, or of which nobody knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
pub enum SigningNodes {
    /// Its data is never replaced
    #[default]
    Refuse,
}

/// What forbids an act even where the witnesses agree
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Limits {
    /// Recoveries of one replica, successful or not, within the cool-down
    #[serde(default = "attempts")]
    #[schemars(range(min = 1, max = 10))]
    pub attempts: u32,
    /// After a recovery the same replica is left alone for so long
    #[serde(default = "cool_down")]
    pub cool_down: Span,
    /// Other replicas that must be advancing, the victim not counted
    #[serde(default = "min_advancing")]
    #[schemars(range(min = 1, max = 100))]
    pub min_advancing: u32,
    /// So many sick replicas of this policy at once are a storm: all are held
    #[serde(default = "storm")]
    #[schemars(range(min = 2, max = 1000))]
    pub storm: u32,
    /// What is done about a node that may sign blocks
    #[serde(default)]
    pub signing_nodes: SigningNodes,
    /// Times of day in which an act may begin; any time, if empty
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 16))]
    pub windows: Vec<Window>,
}

const fn attempts() -> u32 {
    1
}

const fn cool_down() -> Span {
    Span::hours(24)
}

const fn min_advancing() -> u32 {
    1
}

const fn storm() -> u32 {
    5
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            attempts: attempts(),
            cool_down: cool_down(),
            min_advancing: min_advancing(),
            storm: storm(),
            signing_nodes: SigningNodes::default(),
            windows: Vec::new(),
        }
    }
}

/// A time of day, in UTC; one that ends before it begins goes over midnight
#[derive(Debug, Clone, PartialEq, Eq, KubeSchema, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[x_kube(validation = Rule::new("self.from != self.until").message("a window must not end when it begins"))]
#[cfg_attr(test, x_kube(cel))]
pub struct Window {
    /// The first minute, such as 22:00
    #[schemars(regex(pattern = r"^([01][0-9]|2[0-3]):[0-5][0-9]$"))]
    pub from: String,
    /// The first minute after it, such as 06:00
    #[schemars(regex(pattern = r"^([01][0-9]|2[0-3]):[0-5][0-9]$"))]
    pub until: String,
}
