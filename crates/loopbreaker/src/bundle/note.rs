//! What was passed over in a bundle, and where. *No client.*

use std::{fmt, path::PathBuf};

use scene::one_line;

/// One thing that was passed over; the rest went on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Note {
    /// The file.
    pub(crate) file: PathBuf,
    /// The document in it, from 1, and the list item, from 1.
    pub(crate) place: Place,
    /// What was passed over.
    pub(crate) what: Passed,
}

/// Where in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Place {
    /// The document, from 1; 0 is the whole file.
    pub(crate) document: usize,
    /// The list item, from 1; 0 is the document itself.
    pub(crate) item: usize,
}

/// What was passed over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Passed {
    /// A kind that says nothing about a crash loop, with the number of such objects in the file.
    Kind {
        /// `ConfigMap`, `Service` …
        kind: String,
        /// How many.
        count: usize,
    },
    /// A document or a file that cannot be read; the reason in words.
    Broken(String),
    /// A file whose name tells no part of a bundle.
    Ignored(&'static str),
}

impl Note {
    pub(super) fn broken(file: PathBuf, place: Place, why: &str) -> Self {
        Self { file, place, what: Passed::Broken(one_line(why)) }
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file.display())?;
        match self.place {
            Place { document: 0, .. } => {}
            Place { document, item: 0 } => write!(f, ", document {document}")?,
            Place { document, item } => write!(f, ", document {document}, item {item}")?,
        }
        match &self.what {
            Passed::Kind { kind, count: 1 } => write!(f, ": skipped: kind {kind}"),
            Passed::Kind { kind, count } => write!(f, ": skipped: kind {kind} ({count} objects)"),
            Passed::Broken(why) => write!(f, ": skipped, cannot be read: {why}"),
            Passed::Ignored(why) => write!(f, ": ignored: {why}"),
        }
    }
}
