//! An inspection and a ring together: what the engine's start erased counts as if it were there, and says so. *Files,
//! read-only.*

use std::path::{Path, PathBuf};
use std::sync::Arc;

use diagnosis::DatabaseName;

use crate::files::DataDir;
use crate::inspect::{DatabaseReport, Inspection};
use crate::meter::Meter;
use crate::ring::carry::{self, Judged, Kept, Now, State};
use crate::ring::entry::{Mark, RingEntry};
use crate::ring::facts::collect_facts;
use crate::ring::fate::{Fate, Looked};
use crate::ring::read::{Ring, SlotState};
use crate::{Checks, Depth, Evidence, Finding, FindingKind, Reason, Silent, lost_databases};

/// Whose starts count.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Whose {
    /// The pod's (or host's) that started last.
    #[default]
    LastStarted,
    /// These pods', by their UIDs: a replica's, over time.
    Pods(Vec<String>),
}

impl Whose {
    fn counts(&self, mark: &Mark, newest: &Mark) -> bool {
        match self {
            Self::LastStarted => mark.is_same(newest),
            Self::Pods(uids) => mark.pod_uid.as_ref().is_some_and(|uid| uids.contains(uid)),
        }
    }
}

/// What a ring said.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RingReport {
    /// Its entries, oldest first.
    pub starts: Vec<RingStart>,
    /// Findings that count although their traces are gone.
    pub erased: u64,
    /// How many of these were seen by another pod of this node, and carried on by the one that counts.
    pub carried: u64,
    /// Findings of another pod's starts, which do not: whether they are of this volume is not known.
    pub foreign: u64,
    /// Entries that could not be read, with the reason.
    pub unreadable: Vec<String>,
}

/// One entry, in short.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RingStart {
    /// Its number.
    pub sequence: u64,
    /// When.
    pub started_at: String,
    /// The pod, where it is known.
    pub pod_uid: Option<String>,
    /// Whether it counts.
    pub is_own: bool,
    /// What was seen then.
    pub outcome: Option<String>,
}

/// Adds what a ring says to an inspection of `dir`, which stands at `below_home` in the node's home.
pub fn weigh(inspection: &mut Inspection, dir: &Path, below_home: &Path, depth: Depth, ring: &Ring, whose: &Whose) {
    let Some((newest, slot)) = ring.newest() else {
        inspection.ring = Some(report(ring, whose, None));
        return;
    };
    let mut told = report(ring, whose, Some(&newest.mark));
    let meter = Arc::new(Meter::new(None, Arc::new(Silent)));
    if let Ok(root) = DataDir::open(dir, meter)
        && !is_of_another_chain(inspection, newest)
    {
        if whose.counts(&newest.mark, &newest.mark)
            && let Some(lost) = lost_databases::known_to_guard(&root, &inspection.databases, &newest.had)
            && !inspection.checks.findings.iter().any(|finding| finding.file == lost.file)
        {
            inspection.checks.add(lost);
        }
        let named = dir.canonicalize().unwrap_or_else(|_| dir.to_path_buf());
        let facts = collect_facts(&root, &named, below_home);
        let findings: Vec<Finding> = inspection.findings().cloned().collect();
        let looked = if depth == Depth::Quick || inspection.is_interrupted() { Looked::Quickly } else { Looked::AtAll };
        let now = Now { root: &root, below_home, facts: &facts, findings: &findings, looked };
        for judged in carry::judge(newest, slot.stayed, &now) {
            let is_own = whose.counts(&judged.kept.mark, &newest.mark);
            if is_own || is_carried(&judged, newest, whose) {
                let counts = u64::from(count(inspection, below_home, &judged));
                told.erased = told.erased.saturating_add(counts);
                told.carried = told.carried.saturating_add(if is_own { 0 } else { counts });
            } else if !matches!(judged.fate, Fate::OnDisk | Fate::Gone(_)) {
                told.foreign = told.foreign.saturating_add(1);
                doubt_of_another(inspection, below_home, &judged);
            }
        }
    }
    inspection.settle();
    inspection.ring = Some(told);
}

/// Whether a pod that counts carried on what an earlier pod of the same node saw. Its guard saw at its start that these
/// files are still the same, and a StatefulSet gives a pod its name back. A volume made of a snapshot has the same
/// inodes and births, but its pod another name: what came with it proves nothing.
fn is_carried(judged: &Judged, newest: &RingEntry, whose: &Whose) -> bool {
    judged.kept.state == State::Erased
        && whose.counts(&newest.mark, &newest.mark)
        && judged.kept.mark.is_same_node(&newest.mark)
}

fn report(ring: &Ring, whose: &Whose, newest: Option<&Mark>) -> RingReport {
    let mut report = RingReport::default();
    for slot in &ring.slots {
        match &slot.state {
            SlotState::Entry(entry) => report.starts.push(RingStart {
                sequence: entry.sequence,
                started_at: entry.started_at.clone(),
                pod_uid: entry.mark.pod_uid.clone(),
                is_own: newest.is_some_and(|newest| whose.counts(&entry.mark, newest)),
                outcome: entry.outcome.clone(),
            }),
            SlotState::Unreadable(why) => report.unreadable.push(format!("entry {} {why}", slot.sequence)),
        }
    }
    report
}

fn is_of_another_chain(inspection: &Inspection, entry: &RingEntry) -> bool {
    let today = inspection.node.as_ref().and_then(|node| node.chain_id.as_ref());
    matches!((today, &entry.chain_id), (Some(today), Some(then)) if today != then)
}

/// The database of a finding, and the finding's file, as they stand below the inspected directory.
fn place<'i>(
    inspection: &'i mut Inspection,
    below_home: &Path,
    kept: &Kept,
) -> Option<(&'i mut DatabaseReport, PathBuf)> {
    let below = |path: &str| Path::new(path).strip_prefix(below_home).map(Path::to_path_buf).ok();
    let directory = below(&kept.database)?;
    let file = below(&kept.finding.file).unwrap_or_else(|| PathBuf::from(&kept.finding.file));
    Some((inspection.databases.iter_mut().find(|database| database.path == directory)?, file))
}

/// What a pod saw of which nobody knows whether it was on this volume: no damage, and no clean bill either.
fn doubt_of_another(inspection: &mut Inspection, below_home: &Path, judged: &Judged) {
    let kept = &judged.kept;
    if judged.lived_with {
        return;
    }
    let Some((database, file)) = place(inspection, below_home, kept) else { return };
    let what = match &kept.mark.pod_uid {
        Some(uid) => format!(
            "that was another pod, and whether it was on this volume is not known (if it was: `--pod-uid {uid}` counts \
             what it saw)"
        ),
        None => "that was another machine or boot, and whether it was on this volume is not known".to_owned(),
    };
    database.checks.add(doubt(&file, kept, &what));
}

/// Adds one finding to its database; whether it counts as damage.
fn count(inspection: &mut Inspection, below_home: &Path, judged: &Judged) -> bool {
    let kept = &judged.kept;
    let Some((database, file)) = place(inspection, below_home, kept) else { return false };
    let name = database.name.clone();
    let checks = &mut database.checks;
    match &judged.fate {
        Fate::OnDisk | Fate::Gone(_) => false,
        Fate::Erased => add_erased(checks, &name, &file, kept, judged.lived_with),
        Fate::Unread => {
            let what = "its file was not read this time, so whether that still holds is not known";
            checks.add(doubt(&file, kept, what));
            false
        }
        Fate::Doubtful(_) if judged.lived_with => false,
        Fate::Doubtful(why) => {
            checks.add(doubt(&file, kept, &format!("today's files do not show it: {why}")));
            false
        }
    }
}

fn add_erased(checks: &mut Checks, name: &DatabaseName, file: &Path, kept: &Kept, lived_with: bool) -> bool {
    let likely = kept.finding.attribution.as_ref().map(|by| format!(", likely by: {by}")).unwrap_or_default();
    let start = &kept.started_at;
    let seen = format!("{}{likely}; seen when the node was started at {start}", kept.finding.detail);
    let (Some(kind), false) = (kept.finding.kind(), lived_with) else {
        let detail = format!("{seen} (evidence kept by guard); the database was in use for over an hour since");
        checks.add(Finding::new(FindingKind::Remark, name, file, detail).witnessed(Evidence::Guard));
        return false;
    };
    let mut finding = Finding::new(kind, name, file, format!("{seen} (evidence kept by guard; gone from disk since)"));
    finding.offset = kept.finding.offset;
    finding.expected.clone_from(&kept.finding.expected);
    finding.computed.clone_from(&kept.finding.computed);
    checks.add(finding.witnessed(Evidence::Guard));
    true
}

fn doubt(file: &Path, kept: &Kept, what: &str) -> Reason {
    Reason::Ambiguous(format!(
        "{}: the guard saw damage ({}: {}) when the node was started at {}; {what}",
        file.display(),
        kept.finding.kind,
        kept.finding.detail,
        kept.started_at
    ))
}
