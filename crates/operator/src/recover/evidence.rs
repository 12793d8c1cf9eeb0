//! Collects what is still missing, and lets the judge speak. *Client, reads only.* (P2, P13, P14)

use api::{EvidenceReport, Recovery, RecoveryPolicy, VerdictReport};
use diagnosis::{Decision, Policy, judge as judge_evidence};
use kube::ResourceExt;

use super::{desk::Desk, incidents::instance_of, inspection::Inspection, limits};
use crate::{
    collect::{Parts, assemble},
    detect,
    record::{self, Condition, Truth},
};

/// What was said, and on what.
pub(super) struct Judged {
    pub(super) report: EvidenceReport,
    pub(super) verdict: VerdictReport,
    decision: Decision,
}

impl Judged {
    /// The condition that a script waits for.
    pub(super) fn would_restore(&self) -> Condition {
        let (is, reason) = match self.decision {
            Decision::Restore => (Truth::True, "Restore"),
            Decision::Propose => (Truth::True, "AfterApproval"),
            Decision::Hold => (Truth::False, "Hold"),
        };
        Condition { about: "WouldRestore", is, reason, message: self.verdict.reason.clone() }
    }
}
