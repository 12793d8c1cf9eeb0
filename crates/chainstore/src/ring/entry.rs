//! One entry of the ring, as `entry.json` in its directory tells it. *No files.* `loopbreaker.dev/ring/v1`:
//! docs/guard-ring.md says it field by field.
//!
//! Fields may be added; none is renamed or dropped within v1, and a reader ignores those it does not know. All paths are
//! relative to the node's home.

use serde::{Deserialize, Serialize};

use crate::ring::facts::DatabaseFacts;
use crate::ring::identity::FileIdentity;
use crate::{Attribution, Finding, FindingKind};

/// The name of this format.
pub const RING_SCHEMA: &str = "loopbreaker.dev/ring/v1";

/// What the guard kept of one start.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RingEntry {
    /// [`RING_SCHEMA`].
    pub schema: String,
    /// Its number; each start has a higher one.
    pub sequence: u64,
    /// When the guard began, as people read it (RFC 3339, UTC).
    pub started_at: String,
    /// The same in seconds since 1970.
    pub started_at_seconds: i64,
    /// Version of the program that wrote it.
    pub program: String,
    /// Whose start it was.
    pub mark: Mark,
    /// The entry's own directory, so that a copy of the ring is known as one.
    #[serde(default)]
    pub place: Option<FileIdentity>,
    /// How far the checks came.
    pub checked: Checked,
    /// What they add up to (`intact`, `damaged`, `inconsistent`, `could_not_tell`); none if none was made.
    #[serde(default)]
    pub outcome: Option<String>,
    /// Each database.
    #[serde(default)]
    pub databases: Vec<RingDatabase>,
    /// Databases that this node had at this start or at an earlier one, by their paths below the home.
    #[serde(default)]
    pub had: Vec<String>,
    /// Heights, where they were read.
    #[serde(default)]
    pub heights: RingHeights,
    /// The chain, where it was read.
    #[serde(default)]
    pub chain_id: Option<String>,
    /// Height, round and step of `priv_validator_state.json`; never more of it.
    #[serde(default)]
    pub signing: Option<RingSigning>,
    /// What `upgrade-info.json` names.
    #[serde(default)]
    pub upgrade: Option<RingUpgrade>,
    /// Copies in this entry.
    #[serde(default)]
    pub files: Vec<KeptFile>,
    /// What was to be copied and is not, with the reason.
    #[serde(default)]
    pub left_out: Vec<String>,
    /// Findings of earlier starts whose traces the engine has erased since, as far as this start could tell.
    #[serde(default)]
    pub earlier: Vec<crate::ring::carry::Kept>,
}

/// Who started.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Mark {
    /// The pod's UID, by the downward API.
    #[serde(default)]
    pub pod_uid: Option<String>,
    /// The host's name; a pod's own name within a pod.
    #[serde(default)]
    pub host: Option<String>,
    /// The machine's boot, by its kernel.
    #[serde(default)]
    pub boot_id: Option<String>,
}

impl Mark {
    /// Whether two starts were of one pod, or without a pod's UID of one host between two boots. An empty mark is
    /// nobody's.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        match (&self.pod_uid, &other.pod_uid) {
            (Some(a), Some(b)) => a == b,
            (None, None) => self.host.is_some() && self.host == other.host && self.boot_id == other.boot_id,
            _ => false,
        }
    }

    /// Whether two starts were of one replica, over its pods and boots: a StatefulSet gives each its host name back.
    #[must_use]
    pub fn is_same_node(&self, other: &Self) -> bool {
        self.is_same(other) || (self.host.is_some() && self.host == other.host)
    }
}

/// How far the checks of a start came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Checked {
    /// Files were copied, nothing was checked.
    Nothing,
    /// Entry points, manifests, sizes, footers, journals and heights.
    Quick,
    /// As much of every checksum as the deadline allowed.
    Partly,
    /// Every checksum.
    Everything,
}

/// One database at that start.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RingDatabase {
    /// What tells this state from others.
    pub facts: DatabaseFacts,
    /// What its checks add up to, as far as they came.
    #[serde(default)]
    pub outcome: Option<String>,
    /// What was wrong; the heaviest first, a bounded number.
    #[serde(default)]
    pub findings: Vec<RingFinding>,
}

/// One finding, as an inspection reports it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RingFinding {
    /// The kind's name, which scripts may rely on.
    pub kind: String,
    /// The file, below the home.
    pub file: String,
    /// Where in it.
    #[serde(default)]
    pub offset: Option<u64>,
    /// What should be there.
    #[serde(default)]
    pub expected: Option<String>,
    /// What was there.
    #[serde(default)]
    pub computed: Option<String>,
    /// By what it was likely made, in words.
    #[serde(default)]
    pub attribution: Option<String>,
    /// One sentence for a human.
    pub detail: String,
}

impl RingFinding {
    /// From an inspection's finding; `file` is its path below the home.
    #[must_use]
    pub fn of(finding: &Finding, file: &std::path::Path) -> Self {
        Self {
            kind: finding.kind.name().to_owned(),
            file: file.to_string_lossy().into_owned(),
            offset: finding.offset,
            expected: finding.expected.clone(),
            computed: finding.computed.clone(),
            attribution: (finding.attribution != Attribution::Unknown).then(|| finding.attribution.to_string()),
            detail: finding.detail.clone(),
        }
    }

    /// Its kind, if this version has a name for it.
    #[must_use]
    pub fn kind(&self) -> Option<FindingKind> {
        FindingKind::named(&self.kind)
    }

    /// The name of its file within the database's directory.
    #[must_use]
    pub fn file_name(&self) -> &str {
        self.file.rsplit('/').next().unwrap_or_default()
    }
}

/// How far each database had come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct RingHeights {
    /// The application's last version.
    #[serde(default)]
    pub application: Option<u64>,
    /// The last block applied.
    #[serde(default)]
    pub state: Option<u64>,
    /// The last block stored.
    #[serde(default)]
    pub blockstore: Option<u64>,
}

/// What was signed last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RingSigning {
    /// The height.
    pub height: u64,
    /// The round.
    pub round: i64,
    /// 1 a proposal, 2 a prevote, 3 a precommit.
    pub step: i64,
}

/// The upgrade that was reached last.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RingUpgrade {
    /// Its name.
    pub name: String,
    /// Its height.
    pub height: i64,
}

/// A file of which an entry holds copies.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptFile {
    /// The original, below the home.
    pub file: String,
    /// How long it was.
    pub bytes: u64,
    /// Which parts are here.
    pub kept: Vec<KeptRange>,
}

/// A part of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptRange {
    /// Where it begins in the original.
    pub offset: u64,
    /// How many bytes.
    pub bytes: u64,
    /// The copy's path in the entry's directory.
    pub copy: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark(pod: Option<&str>, host: Option<&str>, boot: Option<&str>) -> Mark {
        let owned = |text: Option<&str>| text.map(str::to_owned);
        Mark { pod_uid: owned(pod), host: owned(host), boot_id: owned(boot) }
    }

    #[test]
    fn a_pods_uid_outweighs_its_name() {
        let first = mark(Some("a"), Some("gaia-0"), Some("b1"));
        assert!(first.is_same(&mark(Some("a"), Some("other"), None)));
        let second = mark(Some("b"), Some("gaia-0"), Some("b1"));
        assert!(!first.is_same(&second) && first.is_same_node(&second));
        assert!(!first.is_same(&mark(None, Some("gaia-0"), Some("b1"))));
        let host = mark(None, Some("box"), Some("b1"));
        assert!(host.is_same(&host) && !host.is_same(&mark(None, Some("box"), Some("b2"))));
        assert!(!Mark::default().is_same(&Mark::default()) && !Mark::default().is_same_node(&Mark::default()));
    }

    #[test]
    fn an_entry_of_a_later_version_is_still_read() {
        let text = r#"{"schema":"loopbreaker.dev/ring/v1","sequence":3,"started_at":"x","started_at_seconds":1,
            "program":"9","mark":{"pod_uid":null,"later":1},"checked":"quick","new_field":[{}]}"#;
        let entry: RingEntry = serde_json::from_str(text).unwrap();
        assert_eq!((entry.sequence, entry.checked, entry.databases.len()), (3, Checked::Quick, 0));
    }
}
