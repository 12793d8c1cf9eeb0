//! What the judge said, as it is kept in the record. *No client.* (design 4; P14)

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What may be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Decision {
    /// May act alone in Auto
    Restore,
    /// Only after a human's approval
    Propose,
    /// Nothing is done
    Hold,
}

/// What the judge says
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct VerdictReport {
    /// The most probable cause, or unknown
    pub cause: String,
    /// How probable it is, in percent
    #[schemars(range(max = 100))]
    pub probability_percent: u8,
    /// restore, propose or hold
    pub decision: Decision,
    /// Why, in one sentence
    pub reason: String,
    /// log, disk, peers: who testifies that this replica's own data is damaged
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 3))]
    pub witnesses: Vec<String>,
    /// What forbids a restore; all of them
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 32))]
    pub vetoes: Vec<VetoReport>,
    /// Facts that would settle it
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 32))]
    pub missing: Vec<AdviceStep>,
    /// What to do next
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 32))]
    pub advice: Vec<AdviceStep>,
    /// When it was judged
    pub judged: Time,
}

/// One reason that forbids a restore
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct VetoReport {
    /// Its name, for metrics and scripts
    pub name: String,
    /// In words
    pub text: String,
}

/// One thing to do or to find out
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AdviceStep {
    /// What, in words
    pub text: String,
    /// The command, where one does it
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
}
