//! One case: what we say of a directory, what its engine says, and what the two are together.

use std::path::Path;

use anyhow::Result;
use chainstore::{Checks, Depth, Finding, FindingKind, Inspection, Outcome, Severity};

use super::{damage::Damage, judge::Complaint};

/// What we say.
pub(super) struct Ours {
    pub(super) outcome: Outcome,
    pub(super) checks: Checks,
}

/// Inspects a directory as `loopbreaker inspect` does.
pub(super) fn inspect(dir: &Path, depth: Depth) -> Result<Ours> {
    let options =
        chainstore::Options { depth, threads: std::num::NonZeroUsize::new(1), ..chainstore::Options::default() };
    let Inspection { outcome, checks, databases, .. } = chainstore::inspect(dir, &options)?;
    let mut all = checks;
    for database in databases {
        all.extend(database.checks);
    }
    Ok(Ours { outcome, checks: all })
}

impl Ours {
    /// Whether they call it damaged or inconsistent.
    pub(super) fn is_bad(&self) -> bool {
        matches!(self.outcome, Outcome::Damaged | Outcome::Inconsistent)
    }

    /// The first of the heaviest findings.
    pub(super) fn heaviest(&self) -> Option<&Finding> {
        let bad = || self.checks.findings.iter().filter(|finding| finding.severity() >= Severity::Inconsistency);
        bad().find(|finding| Some(finding.severity()) == bad().map(Finding::severity).max())
    }

    /// Why nobody could tell, or nothing.
    pub(super) fn untold(&self) -> String {
        let reasons: Vec<String> = self.checks.untold.iter().map(ToString::to_string).collect();
        reasons.join("; ")
    }
}

/// What both say together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Class {
    /// Both call it damage.
    Both,
    /// They refuse it, we say that an unfinished write leaves the same.
    Torn,
    /// They see it, we see it with `--deep`.
    OnlyDeep,
    /// They see it, we say that it cannot be told.
    UntoldTheySee,
    /// They see it, we call it intact: a miss.
    OnlyThey,
    /// We see it, they do not.
    OnlyWe,
    /// We say that it cannot be told, they see nothing.
    Untold,
    /// Nobody sees anything.
    Neither,
}

impl Class {
    pub(super) const ALL: [Self; 8] = [
        Self::Both,
        Self::Torn,
        Self::OnlyDeep,
        Self::UntoldTheySee,
        Self::OnlyThey,
        Self::OnlyWe,
        Self::Untold,
        Self::Neither,
    ];

    /// `deep` is asked only where it matters.
    pub(super) fn of(
        ours: &Ours,
        theirs: &Complaint,
        damage: &Damage,
        deep: impl FnOnce() -> Result<Ours>,
    ) -> Result<Self> {
        let untold = ours.outcome == Outcome::CouldNotTell;
        Ok(match (ours.is_bad(), theirs.is_some()) {
            (true, true) => Self::Both,
            (true, false) => Self::OnlyWe,
            (false, false) if untold => Self::Untold,
            (false, false) => Self::Neither,
            (false, true) if untold => Self::UntoldTheySee,
            (false, true) if is_torn(ours, damage) => Self::Torn,
            (false, true) if deep()?.is_bad() => Self::OnlyDeep,
            (false, true) => Self::OnlyThey,
        })
    }
}

/// Whether we noted the torn end of an unfinished write, and the change is one: the file was cut, or what was changed
/// reaches its end.
fn is_torn(ours: &Ours, damage: &Damage) -> bool {
    let noted =
        ours.checks.findings.iter().any(|finding| {
            finding.kind == FindingKind::SelfHealing && finding.file.file_name() == damage.file.file_name()
        });
    noted && damage.reaches_the_end()
}
