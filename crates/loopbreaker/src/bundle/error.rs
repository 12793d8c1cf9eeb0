//! Why a bundle could not be looked at. *No client.* Damage inside it is a [`super::Note`], not an error.

use std::{io, path::PathBuf};

use thiserror::Error;

/// Could not look. Every message names the file and the next step; nothing is ever written to a bundle.
#[derive(Debug, Error)]
pub(crate) enum BundleError {
    /// Nothing is there.
    #[error("{}: no such file or directory (check the path)", path.display())]
    NotFound {
        /// What was asked for.
        path: PathBuf,
    },
    /// A file where a directory is expected.
    #[error("{}: a file, but an incident bundle is a directory (give a pod with `--pod FILE`, a log with `--log FILE`)", path.display())]
    NotADirectory {
        /// The file.
        path: PathBuf,
    },
    /// A directory where a file is expected.
    #[error("{}: a directory, but `--log` and `--pod` take a file (give a bundle without a flag: `loopbreaker diagnose DIR`)", path.display())]
    NotAFile {
        /// The directory.
        path: PathBuf,
    },
    /// A directory that holds no part of a bundle.
    #[error(
        "{}: not an incident bundle: expected at least one of objects/*.yaml, logs/POD/CONTAINER.log, data/POD/ or peers.json in it \
         (start with `mkdir -p objects; kubectl get pod POD -n NAMESPACE -o yaml > objects/pod.yaml`)",
        path.display()
    )]
    NotABundle {
        /// The directory.
        path: PathBuf,
    },
    /// The system refused.
    #[error("{}: cannot be read: {source} (check its permissions)", path.display())]
    Unreadable {
        /// The file or directory.
        path: PathBuf,
        /// The system's word.
        source: io::Error,
    },
    /// Larger than any sensible object file.
    #[error("{}: larger than {limit_mib} MiB (keep only the incident's objects: `kubectl get pods,pvc,events -n NAMESPACE -o yaml`)", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The limit.
        limit_mib: u64,
    },
    /// A file given as a pod holds none.
    #[error("{}: holds no pod: {found} (print one with `kubectl get pod POD -n NAMESPACE -o yaml`)", path.display())]
    NoPod {
        /// The file.
        path: PathBuf,
        /// What it holds instead.
        found: String,
    },
    /// `--subject` names nobody.
    #[error("{}: no subject `{wanted}` in this bundle (choose one of: {})", path.display(), if names.is_empty() { "none".to_owned() } else { names.join(", ") })]
    NoSuchSubject {
        /// The bundle.
        path: PathBuf,
        /// What was asked for.
        wanted: String,
        /// Who there is.
        names: Vec<String>,
    },
    /// `--subject` names several.
    #[error("{}: `{wanted}` names several subjects (choose one of: {})", path.display(), names.join(", "))]
    AmbiguousSubject {
        /// The bundle.
        path: PathBuf,
        /// What was asked for.
        wanted: String,
        /// Who answers to it.
        names: Vec<String>,
    },
    /// A log beside several sick pods.
    #[error("{}: the log given with --log can only be of one of {} (choose with `--subject NAME`)", path.display(), names.join(", "))]
    WhoseLog {
        /// The bundle.
        path: PathBuf,
        /// Who there is.
        names: Vec<String>,
    },
    /// Data beside several sick pods.
    #[error("{}: the directory given with --data can only be of one of {} (choose with `--subject NAME`)", path.display(), names.join(", "))]
    WhoseData {
        /// The bundle.
        path: PathBuf,
        /// Who there is.
        names: Vec<String>,
    },
    /// A bundle with parts, but nobody to report on.
    #[error("{}: holds neither a pod nor a log (put `kubectl get pod POD -n NAMESPACE -o yaml` into objects/, or a log into logs/POD/CONTAINER.log)", path.display())]
    NoSubject {
        /// The bundle.
        path: PathBuf,
    },
}

impl BundleError {
    /// A stable word for scripts and metrics.
    #[cfg_attr(
        not(test),
        expect(dead_code, reason = "for metrics, which come with the operator; tests tell errors apart by it")
    )]
    pub(crate) fn category(&self) -> &'static str {
        match self {
            Self::NotFound { .. } => "not_found",
            Self::NotADirectory { .. } => "not_a_directory",
            Self::NotAFile { .. } => "not_a_file",
            Self::NotABundle { .. } => "not_a_bundle",
            Self::Unreadable { .. } => "unreadable",
            Self::TooLarge { .. } => "too_large",
            Self::NoPod { .. } => "no_pod",
            Self::NoSuchSubject { .. } => "no_such_subject",
            Self::AmbiguousSubject { .. } => "ambiguous_subject",
            Self::WhoseLog { .. } => "whose_log",
            Self::WhoseData { .. } => "whose_data",
            Self::NoSubject { .. } => "no_subject",
        }
    }

    pub(super) fn from_io(path: PathBuf, source: io::Error) -> Self {
        if source.kind() == io::ErrorKind::NotFound {
            Self::NotFound { path }
        } else {
            Self::Unreadable { path, source }
        }
    }
}
