//! A directory that changed while it was read: what of its findings still holds. *No files.*

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::Path;

use crate::files::FileEntry;
use crate::read_error::ReadProblem;
use crate::{Checks, Finding, FindingKind, Reason, Severity};
use diagnosis::DatabaseName;

/// The engines' logs and locks change without the data.
fn is_data(entry: &FileEntry) -> bool {
    !entry.name.to_str().is_some_and(|name| name == "LOCK" || name.starts_with("LOG"))
}

/// Whether two inventories of a directory differ in its data.
pub(crate) fn changed(before: &[FileEntry], after: &[FileEntry]) -> bool {
    !before.iter().filter(|entry| is_data(entry)).eq(after.iter().filter(|entry| is_data(entry)))
}

/// Findings stay if they are about a file that is the same as before; tables that are gone are of no concern any more;
/// everything else becomes "could not tell".
pub(crate) fn settle(
    checks: Checks,
    database: &DatabaseName,
    dir: &Path,
    before: &[FileEntry],
    after: &[FileEntry],
) -> Checks {
    let by_name = |entries: &[FileEntry]| -> BTreeMap<_, _> {
        entries.iter().map(|entry| (entry.name.clone(), (entry.bytes, entry.changed))).collect()
    };
    let (old, new) = (by_name(before), by_name(after));
    let same = |path: &Path| {
        let name = path.file_name().unwrap_or_else(|| OsStr::new(""));
        old.get(name).is_some_and(|known| new.get(name) == Some(known))
    };
    let mut settled = Checks::default();
    let mut doubtful = false;
    for finding in checks.findings {
        // The MANIFEST's promises are compared with files that came and went meanwhile.
        let about_one_file = !matches!(finding.kind, FindingKind::TableMissing | FindingKind::JournalMissing);
        if finding.severity() <= Severity::CouldNotTell || (about_one_file && same(&finding.file)) {
            settled.findings.push(finding);
        } else {
            doubtful = true;
        }
    }
    for reason in checks.untold {
        match &reason {
            Reason::Unreadable(error) if error.problem == ReadProblem::Missing => {}
            _ => settled.untold.push(reason),
        }
    }
    if doubtful {
        settled.add(Reason::Changed(dir.to_path_buf()));
    } else {
        let detail = "files changed while they were read: a node is running on it";
        settled.add(Finding::new(FindingKind::Remark, database, dir, detail));
    }
    settled
}
