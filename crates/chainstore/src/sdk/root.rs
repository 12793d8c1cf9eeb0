//! The root of application.db: the latest version, its commit, and the commits before it. *No files of its own.*
//!
//! Source: SDK `store/rootmulti/store.go` (`GetLatestVersion`, `GetCommitInfo`, `flushMetadata`: `s/latest` and `s/<version>`
//! in one synced batch); formats 8.4. Records of amino (before SDK 0.40), of store v2 (`c/latest`) and trees that are kept
//! elsewhere are named and not judged.

use crate::heights::Level;
use crate::records::{Records, Source, Untold, note};
use crate::sdk::commit_info::{CommitInfo, int64_value, is_length_prefixed};
use crate::{Checks, FindingKind, Reason};

/// Commits before the latest that are looked up: they were written one after the other, so a hole among them is a loss.
const COMMITS_BEFORE: u64 = 32;

/// What the root of the application says.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Root {
    /// The latest version.
    pub latest: Level,
    /// Its commit.
    pub commit: Option<CommitInfo>,
}

fn commit_key(version: u64) -> Vec<u8> {
    format!("s/{version}").into_bytes()
}

impl Root {
    /// Reads the root.
    #[must_use]
    pub fn read(source: Source<'_>, checks: &mut Checks) -> Self {
        let mut root = Self::default();
        match source {
            Source::Here(records) => {
                // What could not be read is in the checks; what was read before it stays.
                let _ = root.fill(&records, checks);
            }
            Source::Absent => root.latest = Level::Empty,
            Source::Unread => {}
        }
        root
    }

    fn fill(&mut self, records: &Records<'_>, checks: &mut Checks) -> Result<(), Untold> {
        let Some(record) = records.get(b"s/latest", checks)?.filter(|record| !record.is_empty()) else {
            return self.without_latest(records, checks);
        };
        let latest = match int64_value(&record) {
            Ok(latest) => latest,
            Err(_) if is_length_prefixed(&record) => return amino(checks),
            Err(error) => {
                checks.add(records.finding(FindingKind::RecordMalformed, format!("s/latest cannot be read: {error}")));
                return Err(Untold);
            }
        };
        self.latest = Level::At(latest);
        if latest == 0 {
            return Ok(());
        }
        self.commit = read_commit(records, latest, checks)?;
        if self.commit.is_none() && records.get(&commit_key(latest), checks)?.is_none() {
            let detail = format!(
                "s/latest says {latest}, but the commit s/{latest} is missing: the node ends with \"no commit info found\""
            );
            checks.add(records.finding(FindingKind::RecordsMissing, detail));
        }
        check_commits_before(records, latest, checks)
    }

    /// No latest version: an empty application, one of another kind, or one that lost the record.
    fn without_latest(&mut self, records: &Records<'_>, checks: &mut Checks) -> Result<(), Untold> {
        if records.get(b"c/latest", checks)?.is_some() {
            checks.add(Reason::Unsupported("the application uses store v2 of the SDK (c/latest)".to_owned()));
            return Err(Untold);
        }
        // Digits stand between `/` and `:`; a crash before the first commit leaves trees, but no commit.
        let commits = note(records.view.range(b"s/0", Some(b"s/:")).next().transpose(), checks)?;
        if let Some((key, _)) = commits {
            let detail = format!(
                "commits are stored ({}, for one), but s/latest is missing: the node would begin at version 0",
                crate::records::key_words(&key)
            );
            checks.add(records.finding(FindingKind::RecordsMissing, detail));
            self.latest = Level::Empty;
            return Ok(());
        }
        if note(records.view.range(b"", None).next().transpose(), checks)?.is_none()
            || note(records.view.first_with_prefix(b"s/k:"), checks)?.is_some()
        {
            self.latest = Level::Empty;
            return Ok(());
        }
        checks
            .add(Reason::Unsupported("the application keeps its state in its own way, not as the SDK does".to_owned()));
        Err(Untold)
    }
}

fn amino(checks: &mut Checks) -> Result<(), Untold> {
    checks.add(Reason::Unsupported("the application's records are written by amino, as before SDK 0.40".to_owned()));
    Err(Untold)
}

/// The commit of one version; that it is not there is left to the caller.
pub(crate) fn read_commit(
    records: &Records<'_>,
    version: u64,
    checks: &mut Checks,
) -> Result<Option<CommitInfo>, Untold> {
    let Some(record) = records.get(&commit_key(version), checks)? else { return Ok(None) };
    let problem = match CommitInfo::parse(&record) {
        Ok(info) if info.version == version => return Ok(Some(info)),
        Ok(info) => format!("the commit s/{version} says that it is version {}", info.version),
        Err(_) if is_length_prefixed(&record) => {
            amino(checks)?;
            return Ok(None);
        }
        Err(error) => format!("the commit s/{version} cannot be read: {error}"),
    };
    checks.add(records.finding(FindingKind::RecordMalformed, problem));
    Ok(None)
}

/// Old commits may end (a state sync, pruning), but not come again after a hole.
fn check_commits_before(records: &Records<'_>, latest: u64, checks: &mut Checks) -> Result<(), Untold> {
    let mut missing = Vec::new();
    for version in (latest.saturating_sub(COMMITS_BEFORE).max(1)..latest).rev() {
        if records.get(&commit_key(version), checks)?.is_none() {
            missing.push(version.to_string());
        } else if !missing.is_empty() {
            let detail = format!("commits between {version} and {latest} are missing: {}", missing.join(", "));
            checks.add(records.finding(FindingKind::RecordsMissing, detail));
            return Ok(());
        }
    }
    Ok(())
}
