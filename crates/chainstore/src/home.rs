//! A node's home: where its data, its configuration and its companions stand. *Files, read-only.*
//!
//! The user names a home (`config/`, `data/`, `wasm/`) or the data directory alone; nothing outside of what was named is
//! opened. Of keys only the presence is asked, never the content.

use crate::files::{DataDir, EntryKind};
use crate::read_error::ReadProblem;
use crate::{Checks, Reason};

/// What was found of a home.
#[derive(Debug, Clone)]
pub struct Home {
    /// The directory that the user named, if it is a home.
    pub root: Option<DataDir>,
    /// The data directory.
    pub data: DataDir,
    /// The configuration, where it is below the named directory.
    pub config: Option<DataDir>,
}

impl Home {
    /// Finds out what was named: a home has a `data` directory.
    #[must_use]
    pub fn of(named: &DataDir, checks: &mut Checks) -> Self {
        match sub_directory(named, "data", checks) {
            Some(data) => Self { root: Some(named.clone()), data, config: sub_directory(named, "config", checks) },
            None => Self { root: None, data: named.clone(), config: None },
        }
    }

    /// Whether a file stands in the configuration; none if the configuration was not seen.
    #[must_use]
    pub fn has_config_file(&self, name: &str) -> Option<bool> {
        let config = self.config.as_ref()?;
        match config.entry(name) {
            Ok(entry) => Some(matches!(entry.kind, EntryKind::File | EntryKind::Link)),
            Err(error) if error.problem == ReadProblem::Missing => Some(false),
            Err(_) => None,
        }
    }
}

/// A directory that may be missing.
pub(crate) fn sub_directory(dir: &DataDir, name: &str, checks: &mut Checks) -> Option<DataDir> {
    match dir.directory(name) {
        Ok(found) => Some(found),
        Err(error) => {
            if error.problem != ReadProblem::Missing {
                checks.add(Reason::Unreadable(error));
            }
            None
        }
    }
}
