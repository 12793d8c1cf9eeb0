//! What an inspector reported: the JSON of `loopbreaker inspect`, read back. *No client, no IO.* (P2, P13)
//!
//! `loopbreaker.dev/inspection/v1`, of any version that names it so: fields that are not known are passed over, and a schema
//! of another name is "could not tell", never a guess.

mod fields;

use diagnosis::{
    Circumstances, DatabaseName, DiskReading, InspectionScope, SigningRisk, Space, StartRole, UpgradePlan,
};
use scene::one_line;
use serde::Deserialize;

use self::fields::{Database, DiskSpace, Finding, Heights, Signing, Store, Trees, Upgrade};

const SCHEMA: &str = "loopbreaker.dev/inspection/v1";

/// Why a log holds no report.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotAReport {
    /// Nothing in it is one.
    #[error("the inspector printed no report: {0}")]
    None(String),
    /// One of another version.
    #[error("the inspector's report is of schema {0}, which this version does not read (use the operator's own image)")]
    Schema(String),
    /// It breaks off, or is no JSON of ours.
    #[error("the inspector's report cannot be read: {0}")]
    Broken(String),
}

/// What an inspector found.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct InspectionReport {
    outcome: String,
    #[serde(default)]
    databases: Vec<Database>,
    #[serde(default)]
    findings: Vec<Finding>,
    #[serde(default)]
    untold: Vec<String>,
    #[serde(default)]
    heights: Heights,
    #[serde(default)]
    chain_id: Option<String>,
    #[serde(default)]
    trees: Option<Trees>,
    #[serde(default)]
    signing: Option<Signing>,
    #[serde(default)]
    upgrade: Option<Upgrade>,
    #[serde(default)]
    space: Option<DiskSpace>,
    #[serde(default)]
    depth: Option<String>,
}

/// Finds the report in an inspector's log; other lines may stand around it.
pub fn read_inspection(log: &str) -> Result<InspectionReport, NotAReport> {
    /// The last words of a log that holds none.
    const QUOTED_MAX: usize = 300;
    #[derive(Deserialize)]
    struct Head {
        schema: String,
    }
    // Pretty-printed it begins with a brace of its own line, else the whole of it is one line.
    let starts = log
        .match_indices('{')
        .map(|(at, _)| at)
        .filter(|at| log.get(..*at).is_some_and(|before| before.is_empty() || before.ends_with('\n')));
    let mut broken = None;
    for at in starts {
        let mut documents = serde_json::Deserializer::from_str(log.get(at..).unwrap_or_default()).into_iter();
        let value: serde_json::Value = match documents.next() {
            Some(Ok(value)) => value,
            Some(Err(error)) => {
                broken.get_or_insert_with(|| error.to_string());
                continue;
            }
            None => continue,
        };
        let Ok(head) = Head::deserialize(&value) else { continue };
        if head.schema != SCHEMA {
            return Err(NotAReport::Schema(one_line(&head.schema)));
        }
        return InspectionReport::deserialize(value).map_err(|error| NotAReport::Broken(error.to_string()));
    }
    let last: String = log.trim().chars().rev().take(QUOTED_MAX).collect::<Vec<_>>().into_iter().rev().collect();
    Err(match broken {
        Some(error) => NotAReport::Broken(error),
        None if last.is_empty() => NotAReport::None("its log is empty".to_owned()),
        None => NotAReport::None(one_line(&last)),
    })
}

impl InspectionReport {
    /// As the judge takes it: reads that differ outweigh damage, damage that stops a node outweighs disagreement, and what is
    /// not proven is "could not tell".
    #[must_use]
    pub fn reading(&self) -> DiskReading {
        let differing = self.names("host_sick");
        if !differing.is_empty() {
            return DiskReading::ReadsDiffer(differing);
        }
        let (damaged, inconsistent) = (self.names("damage"), self.names("inconsistency"));
        let stops = |names: &[DatabaseName]| names.iter().any(|name| name.start_role() == StartRole::ReadAtStart);
        match self.outcome.as_str() {
            "damaged" if !stops(&damaged) && stops(&inconsistent) => DiskReading::Inconsistent(inconsistent),
            "damaged" => DiskReading::Damaged(damaged),
            "inconsistent" => DiskReading::Inconsistent(inconsistent),
            "intact" => DiskReading::Intact { scope: self.scope() },
            "could_not_tell" => DiskReading::CouldNotTell(self.why_untold()),
            other => DiskReading::CouldNotTell(format!("the inspector's outcome {:?} is not known", one_line(other))),
        }
    }

    fn all(&self) -> impl Iterator<Item = &Finding> {
        self.databases.iter().flat_map(|database| &database.findings).chain(&self.findings)
    }

    fn names(&self, severity: &str) -> Vec<DatabaseName> {
        let of_weight = self.all().filter(|finding| finding.severity == severity);
        let mut names: Vec<DatabaseName> = of_weight.map(|finding| DatabaseName::new(&finding.database)).collect();
        names.sort();
        names.dedup();
        names
    }

    fn scope(&self) -> InspectionScope {
        let stores = self.trees.as_ref().map(|trees| trees.stores.as_slice()).unwrap_or_default();
        let whole = |store: &Store| store.root_fits == Some(true) && store.walked_leaves >= store.leaves;
        match self.depth.as_deref() {
            Some("default" | "deep") if !stores.is_empty() && stores.iter().all(whole) => {
                InspectionScope::AllChecksAndIavlHashes
            }
            Some("default" | "deep") => InspectionScope::AllChecks,
            // A report that does not say how deep it looked has looked at the least.
            _ => InspectionScope::Quick,
        }
    }

    /// The first reason, the databases that a node reads at its start before others.
    fn why_untold(&self) -> String {
        let mut reasons: Vec<(bool, String)> = Vec::new();
        for database in &self.databases {
            let later = DatabaseName::new(&database.name).start_role() != StartRole::ReadAtStart;
            let words = database.untold.iter().chain(database.findings.iter().map(|finding| &finding.detail));
            reasons.extend(words.map(|why| (later, format!("{}: {why}", database.name))));
        }
        reasons.extend(self.untold.iter().map(|why| (true, why.clone())));
        let is_later = |finding: &Finding| DatabaseName::new(&finding.database).start_role() != StartRole::ReadAtStart;
        reasons.extend(self.findings.iter().map(|finding| (is_later(finding), finding.detail.clone())));
        reasons.sort_by_key(|(later, _)| *later);
        reasons
            .into_iter()
            .next()
            .map_or_else(|| "the inspector does not say why".to_owned(), |(_, why)| one_line(&why))
    }

    /// Adds what only the disk can tell. It never takes a veto away (P7, P10).
    pub fn complete(&self, circumstances: &mut Circumstances) {
        if let (SigningRisk::Unknown, Some(signing)) = (&circumstances.signing, &self.signing)
            && signing.state == "signed"
            && signing.height > 0
        {
            let why = format!("its signing state says that it signed at height {}", signing.height);
            circumstances.signing = SigningRisk::MaySign(why);
        }
        let due = self.upgrade.as_ref().filter(|upgrade| upgrade.is_due);
        if let (UpgradePlan::Unknown | UpgradePlan::NotDue, Some(upgrade)) = (&circumstances.upgrade, due) {
            let plan = format!("upgrade-info.json names {:?} at block {}", one_line(&upgrade.name), upgrade.height);
            circumstances.upgrade = UpgradePlan::Due(plan);
        }
    }

    /// The room on the inspected volume. Of a replica's own volume, read just now, it is the replica's; that of a copy is
    /// not.
    #[must_use]
    pub fn space(&self) -> Space {
        self.space.as_ref().map_or(Space::Unknown, space_now)
    }

    /// The worst findings in words, the gravest first.
    #[must_use]
    pub fn findings(&self, max: usize) -> Vec<String> {
        let weight = |finding: &Finding| match finding.severity.as_str() {
            "damage" => 0,
            "host_sick" => 1,
            "inconsistency" => 2,
            _ => 3,
        };
        let mut findings: Vec<&Finding> = self.all().collect();
        findings.sort_by_key(|finding| weight(finding));
        let words = findings.into_iter().take(max).map(|finding| {
            let at = finding.offset.map(|offset| format!(" at {offset}")).unwrap_or_default();
            one_line(&format!("{} {}{at}: {}", finding.database, finding.file, finding.detail))
        });
        words.collect()
    }

    /// The last height that the application committed, or the state where that is not known.
    #[must_use]
    pub fn height(&self) -> Option<u64> {
        self.heights.application.or(self.heights.state)
    }

    /// The outcome's word.
    #[must_use]
    pub fn outcome(&self) -> &str {
        &self.outcome
    }

    /// Heights of application, state and block store, in words.
    #[must_use]
    pub fn heights(&self) -> Option<String> {
        let Heights { application, state, blockstore } = self.heights;
        application.or(state).or(blockstore)?;
        let word = |height: Option<u64>| height.map_or_else(|| "?".to_owned(), |height| height.to_string());
        Some(format!("application {}, state {}, block store {}", word(application), word(state), word(blockstore)))
    }

    /// The chain's id, by the node's own state.
    #[must_use]
    pub fn chain_id(&self) -> Option<&str> {
        self.chain_id.as_deref()
    }
}

/// A node needs room for one more block and one more file; less is none.
fn space_now(space: &DiskSpace) -> Space {
    const BYTES_MIN: u64 = 64 * 1024 * 1024;
    const INODES_MIN: u64 = 16;
    if space.free_bytes < BYTES_MIN {
        let (free, total) = (space.free_bytes / 1_048_576, space.total_bytes / 1_048_576);
        return Space::Exhausted(format!("{free} MiB of {total} MiB are free"));
    }
    match space.free_inodes {
        Some(inodes) if inodes < INODES_MIN => Space::Exhausted(format!("{inodes} inodes are free")),
        _ => Space::Free,
    }
}

#[cfg(test)]
mod tests;
