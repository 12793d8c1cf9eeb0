//! What the judge says. *No client.*

use std::fmt;

use crate::{Cause, MissingFact, Probability, Veto};

/// What may be done about an incident.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// Two independent witnesses agree and nothing forbids it: may act alone in `Auto`.
    Restore,
    /// Restore only after a human's approval.
    Propose,
    /// Do nothing; the verdict says why.
    Hold,
}

impl Decision {
    /// The word of the JSON contract.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Restore => "restore",
            Self::Propose => "propose",
            Self::Hold => "hold",
        }
    }
}

impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// Independent evidence that *this replica's own data* is damaged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Witness {
    /// The log.
    Log,
    /// The databases.
    Disk,
    /// The siblings: they say that the fault is local.
    Peers,
}

impl Witness {
    /// The word of the JSON contract.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Log => "log",
            Self::Disk => "disk",
            Self::Peers => "peers",
        }
    }
}

/// The row of the judge's table (design 4) that decided, before vetoes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Row {
    /// Log witness, needed database damaged, siblings advancing.
    LogAndDisk,
    /// Silent log, needed database damaged, siblings advancing.
    DiskAlone,
    /// Log witness and disk agree, siblings unknown.
    SiblingsUnknown,
    /// Log witness, disk could not tell, siblings advancing.
    DiskCouldNotTell,
    /// The log points elsewhere, the disk is damaged.
    LogPointsElsewhere,
    /// The log says damage, the disk passes all checks.
    DiskIntact,
    /// Damage only in what can be rebuilt.
    OnlyRebuildable,
    /// App-hash mismatch on an intact disk that the same image passes elsewhere.
    AppHashSameImagePasses,
    /// App-hash mismatch on an intact disk otherwise.
    AppHash,
    /// None of the above.
    AnythingElse,
}

impl Row {
    /// Why this row gives its decision, in one sentence.
    #[must_use]
    pub fn reason(self) -> &'static str {
        match self {
            Self::LogAndDisk => "log and disk both show damage, and the siblings advance",
            Self::DiskAlone => "the disk shows damage that explains the crash, and the siblings advance",
            Self::SiblingsUnknown => "log and disk show damage, but what the siblings do is unknown",
            Self::DiskCouldNotTell => "the log shows damage, but the disk could not be judged",
            Self::LogPointsElsewhere => {
                "the disk is damaged, but the log points to another cause: it may have made the damage or be the real one"
            }
            Self::DiskIntact => {
                "the log shows damage, but every check of the disk passes: the evidence may be gone or the host sick"
            }
            Self::OnlyRebuildable => "only data that the node can rebuild is damaged: a smaller repair will do",
            Self::AppHashSameImagePasses => {
                "app hash mismatch on an intact disk, and the identical image passes this height elsewhere"
            }
            Self::AppHash => "app hash mismatch without damage on disk: mostly the wrong binary",
            Self::AnythingElse => "no two independent witnesses of local damage",
        }
    }
}

/// The judge's answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// The most probable cause, or [`Cause::Unknown`].
    pub cause: Cause,
    /// The other cause to name where log and disk disagree.
    pub other_cause: Option<Cause>,
    /// How probable the cause is.
    pub probability: Probability,
    /// What may be done.
    pub decision: Decision,
    /// Which row of the table gave it, before vetoes.
    pub row: Row,
    /// Who testified.
    pub witnesses: Vec<Witness>,
    /// What forbids a restore; all of them, not the first.
    pub vetoes: Vec<Veto>,
    /// Circumstances nobody looked at, in words: while there is one, the table's `restore` is only proposed (P13).
    pub unseen: Vec<&'static str>,
    /// Which facts would settle it, and how to get them.
    pub missing: Vec<MissingFact>,
}
