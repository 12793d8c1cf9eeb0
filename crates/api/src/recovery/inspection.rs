//! The looks at an incident's evidence, and the inspection that is under way. *No client.* (P11: written before it is done)

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::policy::DiskMethod;

/// One look at the evidence
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Look {
    /// Which one, from 1; 0 while nobody was let look
    pub round: u32,
    /// When it began
    pub begun: Time,
    /// When it ended, if it has
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<Time>,
}

/// How the volume is looked at in this round
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InspectionIntent {
    /// In place, on a snapshot, by guard, or not at all
    pub method: DiskMethod,
    /// The name of the Job, and of the snapshot and the claim that are made for it
    #[schemars(length(max = 63))]
    pub job: String,
    /// When it was decided
    pub asked: Time,
}
