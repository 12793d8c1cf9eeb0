//! Writes of RocksDB's WALs as its memory would hold them. *No files.*

use crate::Reason;
use crate::lsm::range_del::Memory;
use crate::rocksdb::batch::Write;
use crate::rocksdb::kind;

/// Adds a write of the default column family to what the engine would have in memory.
pub(crate) fn put(memory: &mut Memory, write: Write<'_>) -> Result<(), Reason> {
    match write.trailer.to_le_bytes()[0] {
        _ if write.family != 0 => Ok(()),
        kind::RANGE_DELETE => memory.put_range(write.key, write.value, write.trailer >> 8),
        kind::BLOB_INDEX => Err(Reason::Unsupported("a WAL that points into blob files is not read".to_owned())),
        _ => memory.put_point(write.key, write.trailer, write.value),
    }
}
