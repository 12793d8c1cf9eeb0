//! Reading one value out of its blob file. *Files, read-only.*
//!
//! Source: RocksDB `db/blob/blob_file_reader.cc` (`GetBlob`): the value's offset is behind the record's header and its key.

use crate::data_file::SecondRead;
use crate::lsm::tables::TableFile;
use crate::lsm::unpack::BLOCK_BYTES_MAX;
use crate::rocksdb::blob_index::BlobIndex;
use crate::rocksdb::blob_log::{RECORD_HEADER_BYTES, RecordHeader};
use crate::rocksdb::{names, unpack};
use crate::store::Place;
use crate::{Check, Finding, FindingKind, Reason, ViewError, masked_crc32c};

/// A key above this is compared by its beginning.
const KEY_BYTES_MAX: u64 = 1 << 16;

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

/// What is wrong where a value should stand: a record that fits its checksum and is another key's, or of another length. Whether the
/// file is there, and its bytes right, is checked with the file.
pub(crate) fn of_another_key(place: &Place, index: &BlobIndex, user: &[u8]) -> Option<Check> {
    let file = place.dir.file(names::blob(index.file)).ok()?;
    let start = index.offset.checked_sub(RECORD_HEADER_BYTES.saturating_add(user.len() as u64));
    let finding =
        |detail: &str| Finding::new(FindingKind::BlobCorrupt, &place.database, file.path(), detail).at(index.offset);
    let Some(start) = start else { return Some(finding("a blob's offset lies in the file's header").into()) };
    let wanted = RECORD_HEADER_BYTES.saturating_add((user.len() as u64).min(KEY_BYTES_MAX));
    let there = file.read_range(start, wanted, wanted).ok()?;
    let header = RecordHeader::parse(&there).ok().filter(RecordHeader::fits);
    let key = usize::try_from(RECORD_HEADER_BYTES).ok().and_then(|front| there.get(front..)).unwrap_or_default();
    let lengths = (user.len() as u64, index.size);
    if header.is_some_and(|header| (header.key_bytes, header.value_bytes) == lengths) && user.starts_with(key) {
        return None;
    }
    match file.read_again(&there, start) {
        SecondRead::Same => Some(finding("the blob that a table's key points to is not that key's").into()),
        SecondRead::Differs(at) => {
            let detail =
                format!("read a second time, byte {at} was another: the machine is sick, the file may be right");
            Some(Finding::new(FindingKind::ReadsDiffer, &place.database, file.path(), detail).at(at).into())
        }
        // The file's own check meets the same error.
        SecondRead::Failed(_) => None,
    }
}
