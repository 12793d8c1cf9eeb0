//! What was collected about an incident, how and when, and what could not be. *No client.* (P2, P13, P14)
//!
//! Excerpts only, with secrets taken out: the record is read by many, and etcd keeps it small.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::policy::DiskMethod;

/// The crashes of a replica, over all its pods
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CrashFacts {
    /// Crashes counted in this incident
    pub crashes: u32,
    /// The last one's exit code
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// The kubelet's word for it, such as Error or OOMKilled
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// When it last crashed
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_crash: Option<Time>,
    /// UIDs of its pods in this incident, the oldest first
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64))]
    pub pod_uids: Vec<String>,
}

/// How and when a piece of evidence was got
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Gathered {
    /// When
    pub at: Time,
    /// From where, in words
    pub from: String,
}

/// What was collected, how and when, and what could not be
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EvidenceReport {
    /// Names this evidence: an approval is of it and of no other
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The logs
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log: Option<LogReport>,
    /// The replica's volume
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk: Option<DiskReport>,
    /// The siblings
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peers: Option<PeersReport>,
    /// What stands around the replica, in words
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64))]
    pub circumstances: Vec<String>,
    /// What could not be got, and why
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64))]
    pub missing: Vec<String>,
}

/// A line of a log that decided
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DecisiveLine {
    /// Its number in the log, from 1
    pub line: u64,
    /// The line, cut where it is long
    #[schemars(length(max = 1024))]
    pub text: String,
}

/// What the logs say
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LogReport {
    /// How and when the log that decides was got
    pub gathered: Gathered,
    /// Whether the log is a witness of damage
    pub witness: bool,
    /// What it says, in one sentence
    pub says: String,
    /// Logs that were kept, one for each crash
    pub logs: u32,
    /// The lines that decided
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 16))]
    pub decisive: Vec<DecisiveLine>,
}

/// What the volume says
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DiskReport {
    /// How and when it was read
    pub gathered: Gathered,
    /// In place, on a snapshot, by guard, or not at all
    pub method: DiskMethod,
    /// intact, damaged, inconsistent or `could_not_tell`
    pub outcome: String,
    /// What it says, in one sentence
    pub says: String,
    /// The worst findings, in words
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 16))]
    pub findings: Vec<String>,
    /// Heights of application, state and block store, in words
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heights: Option<String>,
}

/// What the siblings say
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PeersReport {
    /// How and when they were asked
    pub gathered: Gathered,
    /// Siblings whose height rose
    pub advancing: u32,
    /// Siblings that were asked
    pub asked: u32,
    /// The highest of their heights
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub height: Option<u64>,
    /// What they say, in one sentence
    pub says: String,
}
