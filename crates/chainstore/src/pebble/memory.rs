//! Writes of Pebble's WALs as its memory would hold them. *No files.*

use crate::Reason;
use crate::lsm::range_del::Memory;
use crate::pebble::batch::{Write, kind};

/// Adds a write; range keys and notes do not matter to points.
pub(crate) fn put(memory: &mut Memory, write: Write<'_>) -> Result<(), Reason> {
    match write.trailer.to_le_bytes()[0] {
        kind::RANGE_KEY_DELETE..=kind::RANGE_KEY_SET => Ok(()),
        kind::INGEST_TABLE => {
            Err(Reason::Unsupported("a WAL that takes in tables made elsewhere is not read".to_owned()))
        }
        kind::RANGE_DELETE => memory.put_range(write.key, write.value, write.trailer >> 8),
        _ => memory.put_point(write.key, write.trailer, write.value),
    }
}
