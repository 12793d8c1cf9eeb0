//! What readers of a node's records see of a database: keys and values as the engine would give them after its next
//! open, read without the engine.

use crate::read_error::ReadError;
use crate::{Checks, CutError, Reason};
use diagnosis::DatabaseName;

/// A key and its value.
pub type Entry = (Box<[u8]>, Box<[u8]>);

/// A read-only view of one database: the newest write of each key wins, deleted keys are not there.
///
/// A view reads blocks as it needs them and checks each against its checksum first; it never holds more than a few
/// blocks. Damage on the way is an error that names file and offset, never a missing key.
pub trait KeyValues: Send + Sync {
    /// The value of a key.
    fn get(&self, key: &[u8]) -> Result<Option<Box<[u8]>>, ViewError>;

    /// All entries with `from <= key`, ascending, until `until` (exclusive) where there is one.
    fn range<'a>(
        &'a self,
        from: &[u8],
        until: Option<&[u8]>,
    ) -> Box<dyn Iterator<Item = Result<Entry, ViewError>> + 'a>;

    /// The last entry with `from <= key < until`.
    fn last_in(&self, from: &[u8], until: Option<&[u8]>) -> Result<Option<Entry>, ViewError>;

    /// All entries whose key begins with `prefix`, ascending.
    fn iter_prefix<'a>(&'a self, prefix: &[u8]) -> Box<dyn Iterator<Item = Result<Entry, ViewError>> + 'a> {
        self.range(prefix, prefix_end(prefix).as_deref())
    }

    /// The first entry whose key begins with `prefix`.
    fn first_with_prefix(&self, prefix: &[u8]) -> Result<Option<Entry>, ViewError> {
        self.iter_prefix(prefix).next().transpose()
    }

    /// The last entry whose key begins with `prefix`.
    fn last_with_prefix(&self, prefix: &[u8]) -> Result<Option<Entry>, ViewError> {
        self.last_in(prefix, prefix_end(prefix).as_deref())
    }
}

/// The first key after all keys with this prefix; none if there is no such key.
#[must_use]
pub fn prefix_end(prefix: &[u8]) -> Option<Vec<u8>> {
    let last = prefix.iter().rposition(|byte| *byte != u8::MAX)?;
    let mut end = prefix.get(..=last)?.to_vec();
    if let Some(byte) = end.last_mut() {
        *byte = byte.wrapping_add(1);
    }
    Some(end)
}

/// Why a view could not answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ViewError {
    /// The bytes on the way are damaged; the inspection's findings say how.
    #[error("{database}: {file} at offset {offset}: {detail}", database = .database.as_str(), file = .file.display())]
    Damaged {
        /// The database.
        database: DatabaseName,
        /// The file, relative to the inspected directory.
        file: std::path::PathBuf,
        /// Where in it.
        offset: u64,
        /// What is wrong.
        detail: String,
    },
    /// A file could not be read.
    #[error(transparent)]
    Unreadable(#[from] ReadError),
    /// Something that this version does not read.
    #[error(transparent)]
    CouldNotTell(Reason),
}

impl ViewError {
    /// No MANIFEST could be read: every key would be absent, which is no answer. `checks` say why, or `file` is what led
    /// nowhere.
    #[must_use]
    pub(crate) fn without_manifest(checks: &Checks, database: &DatabaseName, file: &std::path::Path) -> Self {
        match checks.untold.first() {
            Some(reason) => Self::CouldNotTell(reason.clone()),
            None => Self::Damaged {
                database: database.clone(),
                file: file.to_path_buf(),
                offset: 0,
                detail: "no MANIFEST to read from".to_owned(),
            },
        }
    }

    /// Damage at a cut that could not be made.
    #[must_use]
    pub fn from_cut(database: &DatabaseName, file: &std::path::Path, base: u64, error: &CutError) -> Self {
        Self::Damaged { database: database.clone(), file: file.to_path_buf(), offset: base, detail: error.to_string() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_prefix() {
        assert_eq!(prefix_end(b"H:"), Some(b"H;".to_vec()));
        assert_eq!(prefix_end(&[1, 0xff]), Some(vec![2]));
        assert_eq!(prefix_end(&[0xff, 0xff]), None);
        assert_eq!(prefix_end(b""), None);
    }
}
