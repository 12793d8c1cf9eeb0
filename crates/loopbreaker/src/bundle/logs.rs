//! Which logs and data directories a bundle has. *No client.* Nothing is opened here.

use std::path::{Path, PathBuf};

use diagnosis::ContainerName;

use super::{
    BundleError, Note, Passed,
    note::Place,
    read::{entries, name_of},
};

/// One log file of a bundle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LogFile {
    /// The directory's name: the pod.
    pub(crate) pod: String,
    /// Which container wrote it.
    pub(crate) container: ContainerName,
    /// Of which run it is.
    pub(crate) run: LogRun,
    /// Where it is.
    pub(crate) path: PathBuf,
}

/// Of which run of a container a log is, oldest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum LogRun {
    /// The n-th kept crash.
    Crash(u32),
    /// The run before the present one: the one that crashed.
    Previous,
    /// The present run.
    Current,
}

/// Lists `logs/<pod>/<container>[.previous|.crash-N].log[.gz]`.
pub(super) fn list_logs(logs: &Path, notes: &mut Vec<Note>) -> Result<Vec<LogFile>, BundleError> {
    let mut files = Vec::new();
    let mut ignore =
        |file: PathBuf, why| notes.push(Note { file, place: Place::default(), what: Passed::Ignored(why) });
    for directory in entries(logs)? {
        if !directory.is_dir() {
            ignore(directory, "expected logs/POD/CONTAINER.log");
            continue;
        }
        for path in entries(&directory)? {
            match parse_name(&name_of(&path)).filter(|_| path.is_file()) {
                Some((container, run)) => {
                    files.push(LogFile {
                        pod: name_of(&directory),
                        container: ContainerName::new(container),
                        run,
                        path,
                    });
                }
                None => ignore(
                    path,
                    "expected CONTAINER.log, CONTAINER.previous.log or CONTAINER.crash-N.log, with or without .gz",
                ),
            }
        }
    }
    files.sort_by(|a, b| (&a.pod, &a.container, a.run).cmp(&(&b.pod, &b.container, b.run)));
    Ok(files)
}

/// Container and run out of a file name. A container's name has no dot (it is a DNS label).
fn parse_name(name: &str) -> Option<(&str, LogRun)> {
    let stem = name.strip_suffix(".gz").unwrap_or(name).strip_suffix(".log")?;
    let (container, run) = match stem.split_once('.') {
        None => (stem, LogRun::Current),
        Some((container, "previous")) => (container, LogRun::Previous),
        Some((container, other)) => (container, LogRun::Crash(other.strip_prefix("crash-")?.parse().ok()?)),
    };
    (!container.is_empty()).then_some((container, run))
}

/// A pod's home or data directory within a bundle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DataDirectory {
    /// The pod.
    pub(crate) pod: String,
    /// Where it is.
    pub(crate) path: PathBuf,
}

/// Lists `data/<pod>/`.
pub(super) fn list_data(data: &Path, notes: &mut Vec<Note>) -> Result<Vec<DataDirectory>, BundleError> {
    let mut directories = Vec::new();
    for path in entries(data)? {
        if path.is_dir() {
            directories.push(DataDirectory { pod: name_of(&path), path });
        } else {
            notes.push(Note { file: path, place: Place::default(), what: Passed::Ignored("expected data/POD/") });
        }
    }
    Ok(directories)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_logs() {
        for (name, expected) in [
            ("node.log", Some(("node", LogRun::Current))),
            ("node.log.gz", Some(("node", LogRun::Current))),
            ("version-check.previous.log", Some(("version-check", LogRun::Previous))),
            ("node.crash-12.log.gz", Some(("node", LogRun::Crash(12)))),
            ("node.crash-.log", None),
            ("node.crash-99999999999.log", None),
            ("node.txt", None),
            ("node.gz", None),
            (".log", None),
            ("node.next.log", None),
        ] {
            assert_eq!(parse_name(name), expected, "{name}");
        }
    }
}
