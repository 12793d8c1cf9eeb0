//! Reading one value out of its blob file. *Files, read-only.*
//!
//! Source: RocksDB `db/blob/blob_file_reader.cc` (`GetBlob`): the value's offset is behind the record's header and its key.

use crate::lsm::tables::TableFile;
use crate::lsm::unpack::BLOCK_BYTES_MAX;
use crate::rocksdb::blob_index::BlobIndex;
use crate::rocksdb::blob_log::{RECORD_HEADER_BYTES, RecordHeader};
use crate::rocksdb::{names, unpack};
use crate::store::Place;
use crate::{Reason, ViewError, masked_crc32c};

/// The value that a row of a table points to.
pub(crate) fn read(place: &Place, table: &TableFile, user: &[u8], row: &[u8]) -> Result<Box<[u8]>, ViewError> {
    let index = BlobIndex::parse(row).map_err(|error| table.damaged(0, error))?;
    let file = place.dir.file(names::blob(index.file))?;
    let damaged = |detail: &str| ViewError::Damaged {
        database: place.database.clone(),
        file: file.path().to_path_buf(),
        offset: index.offset,
        detail: detail.to_owned(),
    };
    let before = RECORD_HEADER_BYTES.saturating_add(user.len() as u64);
    let start = index.offset.checked_sub(before).ok_or_else(|| damaged("a blob's offset lies in the file's header"))?;
    let record = file.read_range(start, before.saturating_add(index.size), BLOCK_BYTES_MAX)?;
    let header = RecordHeader::parse(&record).map_err(|error| damaged(&error.to_string()))?;
    let content = usize::try_from(RECORD_HEADER_BYTES).ok().and_then(|start| record.get(start..)).unwrap_or_default();
    let lengths = (header.key_bytes, header.value_bytes) == (user.len() as u64, index.size);
    if !header.fits() || !lengths || masked_crc32c(content) != header.blob_sum || !content.starts_with(user) {
        return Err(damaged("a blob does not fit its checksum, or is not the one that its key names"));
    }
    let packed = content.get(user.len()..).unwrap_or_default();
    let mut value = Vec::new();
    (unpack::plain())(packed, index.compression, &mut value).map_err(|error| match error {
        crate::lsm::unpack::UnpackError::NotRead(_) => ViewError::CouldNotTell(Reason::Unsupported(error.to_string())),
        error => damaged(&error.to_string()),
    })?;
    Ok(value.into())
}
