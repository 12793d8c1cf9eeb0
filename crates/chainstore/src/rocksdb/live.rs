//! Files that the MANIFEST says are live. *No files.*

use crate::rocksdb::new_file::{NewBlobFile, NewTable};
use crate::rocksdb::{blob, names};

/// One of them.
#[derive(Debug)]
pub(crate) enum Live {
    /// A table, and whether its keys are in the order of their bytes.
    Table { table: NewTable, bytewise: bool },
    /// A blob file, and its column family.
    Blob { blob: NewBlobFile, family: u32 },
}

impl Live {
    /// Its name in the directory.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Table { table, .. } => names::table(table.table.number),
            Self::Blob { blob, .. } => names::blob(blob.number),
        }
    }

    /// How long it should be.
    pub(crate) fn bytes(&self) -> u64 {
        match self {
            Self::Table { table, .. } => table.table.bytes,
            Self::Blob { blob, .. } => blob::file_bytes(blob),
        }
    }
}
