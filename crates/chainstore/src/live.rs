//! A directory that changed while it was read: what of its findings still holds. *No files.*

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::Path;

use crate::files::FileEntry;
use crate::read_error::{ReadError, ReadProblem};
use crate::store::Place;
use crate::{Checks, Finding, FindingKind, Reason, Severity};
use diagnosis::DatabaseName;

/// The engines' logs and locks change without the data.
fn is_data(name: &OsStr) -> bool {
    !name.to_str().is_some_and(|name| name == "LOCK" || name.starts_with("LOG"))
}

/// Whether a directory's data is other than when the inspection began.
pub(crate) fn changed(place: &Place) -> Result<bool, ReadError> {
    Ok(!place.dir.is_as(&place.entries, is_data)?)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DataDir, Depth, EntryKind, Meter, Outcome, Silent};
    use std::sync::Arc;

    fn files(list: &[(&str, u64)]) -> Vec<FileEntry> {
        let entry = |(name, bytes): &(&str, u64)| FileEntry {
            name: (*name).into(),
            kind: EntryKind::File,
            bytes: *bytes,
            changed: (0, 0),
        };
        list.iter().map(entry).collect()
    }

    fn finding(kind: FindingKind, file: &str) -> Finding {
        Finding::new(kind, &DatabaseName::new("state.db"), &Path::new("state.db").join(file), "")
    }

    fn settled(before: &[(&str, u64)], after: &[(&str, u64)], checks: Checks) -> Checks {
        settle(checks, &DatabaseName::new("state.db"), Path::new("state.db"), &files(before), &files(after))
    }

    #[test]
    fn a_log_that_grows_is_no_change() {
        let home = tempfile::tempdir().unwrap();
        let write = |name: &str, content: &str| std::fs::write(home.path().join(name), content).unwrap();
        let place = || {
            let dir = DataDir::open(home.path(), Arc::new(Meter::new(None, Arc::new(Silent)))).unwrap();
            let entries = dir.list().unwrap().into();
            Place { dir, database: DatabaseName::new("state.db"), entries, depth: Depth::Default }
        };
        write("LOG", "a");
        write("000001.log", "a");
        let before = place();
        write("LOG", "ab");
        write("LOCK", "");
        assert_eq!(changed(&before), Ok(false));
        write("000001.log", "ab");
        assert_eq!(changed(&before), Ok(true), "longer");
        let before = place();
        write("000002.ldb", "");
        assert_eq!(changed(&before), Ok(true), "new");
        let before = place();
        std::fs::remove_file(home.path().join("000001.log")).unwrap();
        assert_eq!(changed(&before), Ok(true), "gone");
        assert_eq!(changed(&place()), Ok(false));
    }

    #[test]
    fn damage_stays_where_the_file_held_still() {
        let mut checks = Checks::default();
        checks.add(finding(FindingKind::BlockChecksum, "000001.ldb"));
        let settled = settled(&[("000001.ldb", 9)], &[("000001.ldb", 9), ("000002.ldb", 9)], checks);
        assert_eq!(settled.outcome(), Outcome::Damaged);
        assert_eq!(settled.untold, []);
    }

    #[test]
    fn everything_else_cannot_be_told() {
        for (kind, file) in [
            (FindingKind::JournalCorrupt, "000003.log"),
            (FindingKind::TableMissing, "000001.ldb"),
            (FindingKind::ManifestCorrupt, "MANIFEST-000002"),
        ] {
            let mut checks = Checks::default();
            checks.add(finding(kind, file));
            let settled = settled(&[("000003.log", 9)], &[("000003.log", 10)], checks);
            assert_eq!(settled.outcome(), Outcome::CouldNotTell, "{file}");
            assert_eq!(settled.findings, []);
            assert_eq!(settled.untold, [Reason::Changed("state.db".into())]);
        }
    }

    #[test]
    fn a_table_that_was_compacted_away_is_of_no_concern() {
        let mut checks = Checks::default();
        let path = "state.db/000001.ldb".into();
        checks.add(Reason::Unreadable(ReadError { path, problem: ReadProblem::Missing }));
        assert_eq!(settled(&[("000001.ldb", 9)], &[("000002.ldb", 9)], checks).outcome(), Outcome::Intact);
    }
}
