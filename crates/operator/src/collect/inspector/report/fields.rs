//! The parts of `loopbreaker.dev/inspection/v1` that are read. *No client.* Fields may be added to it; each here but the
//! outcome may be missing.

use serde::Deserialize;

#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(super) struct Database {
    pub(super) name: String,
    #[serde(default)]
    pub(super) findings: Vec<Finding>,
    #[serde(default)]
    pub(super) untold: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(super) struct Finding {
    pub(super) severity: String,
    pub(super) database: String,
    #[serde(default)]
    pub(super) file: String,
    #[serde(default)]
    pub(super) offset: Option<u64>,
    #[serde(default)]
    pub(super) detail: String,
}

#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(default)]
pub(super) struct Heights {
    pub(super) application: Option<u64>,
    pub(super) state: Option<u64>,
    pub(super) blockstore: Option<u64>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(super) struct Trees {
    #[serde(default)]
    pub(super) stores: Vec<Store>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(super) struct Store {
    #[serde(default)]
    pub(super) root_fits: Option<bool>,
    #[serde(default)]
    pub(super) leaves: u64,
    #[serde(default)]
    pub(super) walked_leaves: u64,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(super) struct Signing {
    pub(super) state: String,
    #[serde(default)]
    pub(super) height: u64,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(super) struct Upgrade {
    #[serde(default)]
    pub(super) name: String,
    #[serde(default)]
    pub(super) height: i64,
    #[serde(default)]
    pub(super) is_due: bool,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(super) struct DiskSpace {
    pub(super) free_bytes: u64,
    #[serde(default)]
    pub(super) total_bytes: u64,
    #[serde(default)]
    pub(super) free_inodes: Option<u64>,
}
