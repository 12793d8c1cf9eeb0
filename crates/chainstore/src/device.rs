//! What the device itself did not give: evidence, where everything else that is unread is only a gap. *No files.*
//!
//! The kernel's `EIO` and its kin say that the storage below the file system failed. A failure that came twice is a finding
//! like damage, with the rest of the file read on; one that went at the second read is a sick machine (design 4: proven
//! means twice).

use std::path::Path;

use diagnosis::DatabaseName;

use crate::read_error::{ReadError, ReadProblem};
use crate::{Attribution, Checks, Finding, FindingKind, Reason};

/// Turns the device's own errors among the gaps into findings, but for files in which such a finding stands already. `owner`
/// names whose file it is.
pub(crate) fn judge(checks: &mut Checks, owner: impl Fn(&Path) -> DatabaseName) {
    let (errors, gaps): (Vec<Reason>, Vec<Reason>) =
        std::mem::take(&mut checks.untold).into_iter().partition(is_device_error);
    checks.untold = gaps;
    for reason in errors {
        let Reason::Unreadable(error) = reason else { continue };
        let known = |finding: &Finding| finding.kind == FindingKind::ReadError && finding.file == error.path;
        if !checks.findings.iter().any(known) {
            checks.add(failed(&owner(&error.path), &error));
        }
    }
}

/// Files that the device failed to give once and not again.
pub(crate) fn that_went(errors: &[ReadError], owner: impl Fn(&Path) -> DatabaseName) -> Checks {
    let mut checks = Checks::default();
    for error in errors {
        let detail = format!(
            "the device failed ({}) and gave the bytes when it was asked again: the machine is sick, the file may be right",
            error.problem
        );
        checks.add(located(Finding::new(FindingKind::ReadsDiffer, &owner(&error.path), &error.path, detail), error));
    }
    checks
}

/// The engine's own log is no data: what it would have told is a gap.
fn is_device_error(reason: &Reason) -> bool {
    let Reason::Unreadable(error) = reason else { return false };
    let is_log = error.path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with("LOG"));
    error.problem.is_device_error() && !is_log
}

fn failed(database: &DatabaseName, error: &ReadError) -> Finding {
    let detail = format!("the device does not give these bytes: {}", error.problem);
    located(Finding::new(FindingKind::ReadError, database, &error.path, detail), error)
}

fn located(finding: Finding, error: &ReadError) -> Finding {
    let ReadProblem::Io { errno, offset } = error.problem else { return finding };
    let finding = finding.by(Attribution::IoError { errno });
    match offset {
        Some(offset) => finding.at(offset),
        None => finding,
    }
}
