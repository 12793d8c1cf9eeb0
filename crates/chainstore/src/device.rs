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
/// names whose file it is. What a log with a hole does not name, or names wrongly, is not proven: such findings go.
pub(crate) fn judge(checks: &mut Checks, owner: impl Fn(&Path) -> DatabaseName) {
    if has_hole(checks) {
        checks.findings.retain(|finding| !is_derived(finding.kind));
    }
    let (errors, gaps): (Vec<Reason>, Vec<Reason>) =
        std::mem::take(&mut checks.untold).into_iter().partition(is_device_error);
    checks.untold = gaps;
    for reason in errors {
        let Reason::Unreadable(error) = reason else { continue };
        let found = failed(&owner(&error.path), &error);
        if !checks.findings.iter().any(|known| known.kind == found.kind && known.file == found.file) {
            checks.add(found);
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
    let name = error.path.file_name().and_then(|name| name.to_str());
    let is_text = name.is_some_and(|name| name.starts_with("LOG"));
    matches!(error.problem, ReadProblem::Differs { .. }) || (error.problem.is_device_error() && !is_text)
}

/// Whether the way to the tables, or a journal, could not be read as a whole.
pub(crate) fn has_hole(checks: &Checks) -> bool {
    checks.untold.iter().any(|reason| match reason {
        Reason::Unreadable(error) => is_log(&error.path),
        _ => false,
    })
}

/// Pointers, MANIFESTs and journals: each engine puts its picture of the database together from all their records.
fn is_log(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let starts = ["CURRENT", "MANIFEST-", "marker.", "OPTIONS-"].iter().any(|start| name.starts_with(start));
    starts || path.extension().is_some_and(|extension| extension == "log")
}

/// Found by comparing what logs say with each other or with the files that are there.
fn is_derived(kind: FindingKind) -> bool {
    matches!(
        kind,
        FindingKind::ManifestIncomplete
            | FindingKind::ManifestMissing
            | FindingKind::VersionEditMalformed
            | FindingKind::TableMissing
            | FindingKind::JournalMissing
            | FindingKind::RecordsMissing
            | FindingKind::BatchMalformed
            | FindingKind::EngineDroppedData
            | FindingKind::Unreferenced
    )
}

fn failed(database: &DatabaseName, error: &ReadError) -> Finding {
    if let ReadProblem::Differs { offset } = error.problem {
        return Finding::new(FindingKind::ReadsDiffer, database, &error.path, error.problem.to_string()).at(offset);
    }
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
