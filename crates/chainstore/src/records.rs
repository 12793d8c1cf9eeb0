//! One database as the readers of a node's records see it: a view, a name for findings, and whether it is there at all.
//! *No files of its own.*

use std::path::Path;

use diagnosis::DatabaseName;

use crate::{Checks, Finding, FindingKind, KeyValues, Reason, ViewError};

/// A database that can be read, with its name.
#[derive(Clone, Copy)]
pub struct Records<'v> {
    /// Its keys and values.
    pub view: &'v dyn KeyValues,
    /// Its name.
    pub database: &'v DatabaseName,
    /// Its directory, relative to the inspected one.
    pub path: &'v Path,
}

/// Whether a database can be read.
#[derive(Clone, Copy)]
pub enum Source<'v> {
    /// It can.
    Here(Records<'v>),
    /// There is none: an engine would begin an empty one.
    Absent,
    /// There is one that could not be read; its own checks say why.
    Unread,
}

impl<'v> Source<'v> {
    /// Its records, where they can be read.
    #[must_use]
    pub fn records(self) -> Option<Records<'v>> {
        match self {
            Self::Here(records) => Some(records),
            Self::Absent | Self::Unread => None,
        }
    }
}

impl Records<'_> {
    /// A finding about this database.
    #[must_use]
    pub fn finding(&self, kind: FindingKind, detail: impl Into<String>) -> Finding {
        Finding::new(kind, self.database, self.path, detail)
    }

    /// The value of a key. That it could not be read goes into the checks, and the answer is an `Err` without words.
    pub(crate) fn get(&self, key: &[u8], checks: &mut Checks) -> Result<Option<Box<[u8]>>, Untold> {
        note(self.view.get(key), checks)
    }
}

/// Could not be read; the checks say why.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Untold;

/// Puts an error of a view into the checks.
pub(crate) fn note<T>(result: Result<T, ViewError>, checks: &mut Checks) -> Result<T, Untold> {
    result.map_err(|error| {
        checks.add(Reason::from(error));
        Untold
    })
}

/// A key in words: as text where it is text, else in hexadecimal digits.
pub(crate) fn key_words(key: &[u8]) -> String {
    match std::str::from_utf8(key) {
        Ok(text) if !key.is_empty() && text.chars().all(|c| c.is_ascii_graphic()) => text.to_owned(),
        _ => format!("0x{}", crate::digest::Hex(key)),
    }
}
