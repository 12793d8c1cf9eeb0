//! Good, bad, could not tell: what a check gives, and what many of them add up to. *No files.*
//!
//! "Could not tell" is a value of its own (P13): nothing unread ever counts as good or as bad.

use std::fmt;
use std::path::PathBuf;

use crate::read_error::ReadError;
use crate::{Finding, Severity, ViewError};

/// What one check gives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Check {
    /// Looked, and it is right.
    Good,
    /// Looked, and this is wrong (or worth a note: see the finding's severity).
    Bad(Box<Finding>),
    /// Could not look, or could not understand.
    CouldNotTell(Reason),
}

impl From<Finding> for Check {
    fn from(finding: Finding) -> Self {
        Self::Bad(Box::new(finding))
    }
}

impl From<Reason> for Check {
    fn from(reason: Reason) -> Self {
        Self::CouldNotTell(reason)
    }
}

/// Why a check says nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Reason {
    /// A format, version or engine that is not read; named.
    #[error("{0}")]
    Unsupported(String),
    /// A file or directory could not be read.
    #[error(transparent)]
    Unreadable(#[from] ReadError),
    /// Files changed while they were read: a process writes here.
    #[error("{} changed while it was read: does the node still run?", .0.display())]
    Changed(PathBuf),
    /// Larger than a limit of the reader; says which.
    #[error("{0}")]
    AboveLimit(String),
    /// The bytes allow more than one reading; says which.
    #[error("{0}")]
    Ambiguous(String),
    /// The bytes carry no checksum.
    #[error("{0} carries no checksum")]
    Unverifiable(String),
    /// The inspection was stopped before it came here.
    #[error("stopped before everything was read")]
    Interrupted,
    /// A record lies behind damaged bytes, which the checks of their file judge.
    #[error("a record could not be read: {0}")]
    Behind(String),
}

impl From<ViewError> for Reason {
    fn from(error: ViewError) -> Self {
        match error {
            ViewError::CouldNotTell(reason) => reason,
            ViewError::Unreadable(error) => Self::Unreadable(error),
            ViewError::Damaged { .. } => Self::Behind(error.to_string()),
        }
    }
}

/// What the checks of a database, or of a node, add up to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// Everything that was looked at is right.
    Intact,
    /// Bytes or records are wrong.
    Damaged,
    /// The bytes are right, but things do not fit together.
    Inconsistent,
    /// Neither is proven.
    CouldNotTell,
}

impl Outcome {
    /// Its name in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Intact => "intact",
            Self::Damaged => "damaged",
            Self::Inconsistent => "inconsistent",
            Self::CouldNotTell => "could_not_tell",
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Checks, added up: what was found, and what nobody could tell.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Checks {
    /// What was found, notes included.
    pub findings: Vec<Finding>,
    /// What nobody could tell.
    pub untold: Vec<Reason>,
}

impl Checks {
    /// One check alone.
    #[must_use]
    pub fn of(check: impl Into<Check>) -> Self {
        let mut checks = Self::default();
        checks.add(check);
        checks
    }

    /// Adds one check.
    pub fn add(&mut self, check: impl Into<Check>) {
        match check.into() {
            Check::Good => {}
            Check::Bad(finding) => self.findings.push(*finding),
            Check::CouldNotTell(reason) => self.untold.push(reason),
        }
    }

    /// Adds the checks of another part.
    pub fn extend(&mut self, other: Self) {
        self.findings.extend(other.findings);
        self.untold.extend(other.untold);
    }

    /// The heaviest finding's weight; something untold weighs at least [`Severity::CouldNotTell`].
    #[must_use]
    pub fn severity(&self) -> Option<Severity> {
        let untold = (!self.untold.is_empty()).then_some(Severity::CouldNotTell);
        self.findings.iter().map(Finding::severity).max().max(untold)
    }

    /// What they add up to. Proven damage outweighs everything; a machine that reads other bytes each time, a wrong
    /// set-up and unread parts leave it open; only notes leave it intact.
    #[must_use]
    pub fn outcome(&self) -> Outcome {
        match self.severity() {
            Some(Severity::Damage) => Outcome::Damaged,
            Some(Severity::Inconsistency) => Outcome::Inconsistent,
            Some(Severity::HostSick | Severity::Misconfiguration | Severity::CouldNotTell) => Outcome::CouldNotTell,
            Some(Severity::Note) | None => Outcome::Intact,
        }
    }
}
