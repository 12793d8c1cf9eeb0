//! The findings of an entry, and what became of each: what the next entry carries on, and what an inspection counts.
//! *Files, read-only.*
//!
//! Only the newest entry is ever compared with today's directory. Each start looks before the engine does, and an entry
//! says what was known from the moment that it is in its place, so a chain of starts has no hole: what the guard carried on
//! was judged at every one of them, and a doubt is never taken back.

use serde::{Deserialize, Serialize};

use crate::files::DataDir;
use crate::ring::entry::{Mark, RingEntry, RingFinding};
use crate::ring::facts::{self, DatabaseFacts};
use crate::ring::fate::{self, Fate, Looked};
use crate::ring::link::{self, Link, Today};
use crate::ring::unchecked;
use crate::{Finding, FindingKind, Severity};

/// Findings that are carried on at most.
const CARRIED_MAX: usize = 64;

/// A database that ran for so long after a loss has been lived with: the loss explains no crash of today.
const LIVED_WITH_SECONDS: i64 = 3600;

/// A finding of an earlier start.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kept {
    /// The database's directory, below the home.
    pub database: String,
    /// The entry in which it was seen first.
    pub sequence: u64,
    /// When that start was.
    pub started_at: String,
    /// Whose start it was.
    pub mark: Mark,
    /// What was seen.
    pub finding: RingFinding,
    /// What became of it.
    pub state: State,
}

/// What became of a finding that is carried on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// The engine erased it.
    Erased,
    /// Its file was not read since.
    Unread,
    /// Nobody can tell; this does not change any more.
    Doubtful,
}

/// One finding of the newest entry and what today says of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Judged {
    pub(crate) kept: Kept,
    pub(crate) fate: Fate,
    /// The database was in use for long after that start.
    pub(crate) lived_with: bool,
}

/// Today's databases.
pub(crate) struct Now<'n> {
    /// The directory that is looked at.
    pub(crate) root: &'n DataDir,
    /// Where it stands below the home.
    pub(crate) below_home: &'n std::path::Path,
    /// What tells its databases from others.
    pub(crate) facts: &'n [DatabaseFacts],
    /// What today's checks found.
    pub(crate) findings: &'n [Finding],
    /// How much they read.
    pub(crate) looked: Looked,
}

/// What the next entry carries on of the newest one, given today's directory and what the guard's checks found so far.
#[must_use]
pub fn carry(
    newest: &RingEntry,
    ring_stayed: bool,
    root: &DataDir,
    below_home: &std::path::Path,
    facts: &[DatabaseFacts],
    findings: &[Finding],
    looked: Looked,
) -> Vec<Kept> {
    let now = Now { root, below_home, facts, findings, looked };
    let judged = judge(newest, ring_stayed, &now).into_iter().filter(|judged| !judged.lived_with);
    let carried = judged.filter_map(|judged| {
        let state = match judged.fate {
            Fate::Erased => State::Erased,
            Fate::Unread => State::Unread,
            Fate::Doubtful(_) => State::Doubtful,
            Fate::OnDisk | Fate::Gone(_) => return None,
        };
        Some(Kept { state, ..judged.kept })
    });
    carried.take(CARRIED_MAX).collect()
}

/// Every finding of an entry that an engine can have erased, and what became of it.
pub(crate) fn judge(newest: &RingEntry, ring_stayed: bool, now: &Now<'_>) -> Vec<Judged> {
    let mut all = Vec::new();
    for database in &newest.databases {
        let before = &database.facts;
        let own = database.findings.iter().map(|finding| Kept {
            database: before.path.clone(),
            sequence: newest.sequence,
            started_at: newest.started_at.clone(),
            mark: newest.mark.clone(),
            finding: finding.clone(),
            state: State::Unread,
        });
        let earlier = newest.earlier.iter().filter(|kept| kept.database == before.path).cloned();
        let mut kept: Vec<Kept> = earlier.collect();
        for seen in own {
            if !kept.iter().any(|known| is_same(&known.finding, &seen.finding)) {
                kept.push(seen);
            }
        }
        judge_database(newest, before, kept, ring_stayed, now, &mut all);
    }
    all.truncate(CARRIED_MAX.saturating_mul(4));
    all
}

fn judge_database(
    newest: &RingEntry,
    before: &DatabaseFacts,
    kept: Vec<Kept>,
    ring_stayed: bool,
    now: &Now<'_>,
    all: &mut Vec<Judged>,
) {
    let kept: Vec<(Kept, crate::FindingKind)> = kept
        .into_iter()
        .filter_map(|kept| {
            let kind = kept.finding.kind()?;
            fate::can_be_erased(kind, kept.finding.file_name()).then_some((kept, kind))
        })
        .collect();
    let Some(facts) = now.facts.iter().find(|facts| facts.path == before.path).filter(|_| !kept.is_empty()) else {
        return;
    };
    let Some(dir) = descend(now, &facts.path) else { return };
    let Ok(entries) = dir.list() else { return };
    let today = Today { dir: &dir, entries: &entries, facts };
    let link = link::link(before, &today, ring_stayed);
    let begun = newest.place.map(|place| place.born.unwrap_or(place.altered));
    let lived_with = facts.changed_at.saturating_sub(newest.started_at_seconds) >= LIVED_WITH_SECONDS;
    let mut manifest = None;
    // The MANIFEST first: what follows from it shares its fate.
    let mut kept = kept;
    kept.sort_by_key(|(_, kind)| !fate::is_of_manifest(*kind));
    for (kept, kind) in kept {
        let fate = match kept.state {
            State::Unread if manifest.is_some() && fate::can_follow_from_the_manifest(kind) => {
                manifest.clone().unwrap_or(Fate::OnDisk)
            }
            _ if is_on_disk(&kept, now) => Fate::OnDisk,
            State::Doubtful => Fate::Doubtful("it could not be told at an earlier start"),
            State::Erased => still_erased(&link),
            State::Unread if now.looked == Looked::NotAtAll => {
                unchecked::fate(kind, &kept.finding, before, &today, &link, begun)
            }
            State::Unread => fate::fate(kind, &kept.finding, before, &today, &link, now.looked),
        };
        if fate::is_of_manifest(kind) {
            manifest = manifest.or(Some(fate.clone()));
        }
        all.push(Judged { kept, fate, lived_with });
    }
}

/// What was erased once stays so while the database goes on.
fn still_erased(link: &Link) -> Fate {
    match link {
        Link::Log(_) | Link::Files => Fate::Erased,
        Link::Replaced(why) => Fate::Gone(why),
        Link::Unclear(why) => Fate::Doubtful(why),
    }
}

fn is_same(a: &RingFinding, b: &RingFinding) -> bool {
    (&a.kind, &a.file, a.offset) == (&b.kind, &b.file, b.offset)
}

/// Whether today's checks find damage in the same file. What an engine says that it dropped may be a mere remark by now.
fn is_on_disk(kept: &Kept, now: &Now<'_>) -> bool {
    let least = match kept.finding.kind() {
        Some(FindingKind::EngineDroppedData) => Severity::Note,
        _ => Severity::Damage,
    };
    now.findings
        .iter()
        .any(|finding| finding.severity() >= least && facts::below(now.below_home, &finding.file) == kept.finding.file)
}

/// The directory of a database, by its path below the home.
fn descend(now: &Now<'_>, path: &str) -> Option<DataDir> {
    let below = std::path::Path::new(path).strip_prefix(now.below_home).ok()?;
    let mut dir = now.root.clone();
    for part in below.components() {
        dir = dir.directory(part.as_os_str()).ok()?;
    }
    Some(dir)
}
