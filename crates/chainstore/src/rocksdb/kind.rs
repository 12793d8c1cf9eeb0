//! Kinds of writes. *No files.*
//!
//! Source: RocksDB `db/dbformat.h` (`ValueType`). A batch names the column family of a write by kinds of their own.

pub(crate) const DELETE: u8 = 0x0;
pub(crate) const VALUE: u8 = 0x1;
pub(crate) const MERGE: u8 = 0x2;
pub(crate) const LOG_DATA: u8 = 0x3;
pub(crate) const FAMILY_DELETE: u8 = 0x4;
pub(crate) const FAMILY_VALUE: u8 = 0x5;
pub(crate) const FAMILY_MERGE: u8 = 0x6;
pub(crate) const SINGLE_DELETE: u8 = 0x7;
pub(crate) const FAMILY_SINGLE_DELETE: u8 = 0x8;
pub(crate) const BEGIN_PREPARE: u8 = 0x9;
pub(crate) const ROLLBACK: u8 = 0xc;
pub(crate) const NOOP: u8 = 0xd;
pub(crate) const FAMILY_RANGE_DELETE: u8 = 0xe;
pub(crate) const RANGE_DELETE: u8 = 0xf;
pub(crate) const FAMILY_BLOB_INDEX: u8 = 0x10;
pub(crate) const BLOB_INDEX: u8 = 0x11;
pub(crate) const BEGIN_PERSISTED_PREPARE: u8 = 0x12;
pub(crate) const BEGIN_UNPREPARE: u8 = 0x13;
pub(crate) const DELETE_WITH_TIMESTAMP: u8 = 0x14;
pub(crate) const COMMIT_WITH_TIMESTAMP: u8 = 0x15;
pub(crate) const ENTITY: u8 = 0x16;
pub(crate) const FAMILY_ENTITY: u8 = 0x17;
pub(crate) const VALUE_WITH_SEQUENCE: u8 = 0x18;
pub(crate) const FAMILY_VALUE_WITH_SEQUENCE: u8 = 0x19;

/// Whether a table's data blocks can hold this kind.
pub(crate) fn is_in_tables(kind: u8) -> bool {
    matches!(
        kind,
        DELETE | VALUE | MERGE | SINGLE_DELETE | BLOB_INDEX | DELETE_WITH_TIMESTAMP | ENTITY | VALUE_WITH_SEQUENCE
    )
}
