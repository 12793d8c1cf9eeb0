//! Tables and blob files as a version edit adds them. *No files.*
//!
//! Source: RocksDB `db/version_edit.cc` (`DecodeNewFile4From`), `db/blob/blob_file_addition.cc`, `db/blob/blob_file_garbage.cc`.

use crate::lsm::live_table::LiveTable;
use crate::rocksdb::edit::EditError;
use crate::{Cut, CutError, CutProblem, Part};

const NUMBER: Part = Part::new("file number");
const SEQUENCE: Part = Part::new("sequence number");
const LEVEL: Part = Part::new("level");
const SIZE: Part = Part::new("table size");
const PATH_ID: Part = Part::new("path id");
const SMALLEST: Part = Part::new("smallest key");
const LARGEST: Part = Part::new("largest key");
const CUSTOM_TAG: Part = Part::new("custom tag of a new table");
const CUSTOM_FIELD: Part = Part::new("custom field of a new table");
const OLDEST_BLOB: Part = Part::new("oldest blob file");
const MIN_LOG: Part = Part::new("lowest log to keep");
const BLOB_COUNT: Part = Part::new("blob count");
const BLOB_BYTES: Part = Part::new("blob bytes");
const BLOB_CHECKSUM: Part = Part::new("checksum of a blob file");
const BLOB_TAG: Part = Part::new("custom tag of a blob file");

/// Levels are few; an engine has seven unless it is told otherwise.
const LEVEL_MAX: u64 = u8::MAX as u64;

/// Custom tags with this bit must be understood.
const MUST_BE_UNDERSTOOD: u32 = 1 << 6;

/// A table, and what RocksDB's MANIFEST says of it besides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NewTable {
    pub(crate) table: LiveTable,
    /// The oldest blob file that its values are in; 0 for none.
    pub(crate) oldest_blob: u64,
    /// Which of the engine's paths it lies in; 0 is the database's directory.
    pub(crate) path: u64,
}

/// A blob file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NewBlobFile {
    pub(crate) number: u64,
    pub(crate) count: u64,
    /// Of its records, without header and footer.
    pub(crate) bytes: u64,
}

/// Blobs of a file that nothing points to any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BlobGarbage {
    pub(crate) number: u64,
    pub(crate) count: u64,
}

pub(crate) fn level(cut: &mut Cut<'_>) -> Result<u8, CutError> {
    Ok(u8::try_from(cut.uvarint_at_most(LEVEL, LEVEL_MAX)?).unwrap_or_default())
}

/// A new table of tag 7, 100, 102 or 103; with the last one can come the lowest log to keep.
pub(crate) fn table(tag: u32, cut: &mut Cut<'_>) -> Result<(NewTable, Option<u64>), EditError> {
    let level = level(cut)?;
    let number = cut.uvarint(NUMBER)?;
    let path = if tag == 102 { cut.uvarint(PATH_ID)? } else { 0 };
    let bytes = cut.uvarint(SIZE)?;
    let smallest = cut.length_prefixed(SMALLEST)?.rest().into();
    let largest = cut.length_prefixed(LARGEST)?.rest().into();
    let sequences = if tag == 7 { None } else { Some((cut.uvarint(SEQUENCE)?, cut.uvarint(SEQUENCE)?)) };
    let table = LiveTable { number, level, bytes, smallest, largest, sequences };
    let mut new = NewTable { table, oldest_blob: 0, path };
    let min_log = if tag == 103 { custom_fields(cut, &mut new)? } else { None };
    Ok((new, min_log))
}

fn custom_fields(cut: &mut Cut<'_>, new: &mut NewTable) -> Result<Option<u64>, EditError> {
    let mut min_log = None;
    loop {
        let tag = cut.uvarint32(CUSTOM_TAG)?;
        if tag == 1 {
            return Ok(min_log);
        }
        let mut field = cut.length_prefixed(CUSTOM_FIELD)?;
        match tag {
            3 => min_log = Some(field.u64_le(MIN_LOG)?),
            4 => new.oldest_blob = field.uvarint(OLDEST_BLOB)?,
            65 => {
                let start = field;
                new.path = u64::from(field.u8(PATH_ID)?);
                if new.path > 3 {
                    return Err(start.error(PATH_ID, CutProblem::AboveLimit { value: new.path, limit: 3 }).into());
                }
            }
            tag if tag & MUST_BE_UNDERSTOOD != 0 => {
                return Err(EditError::Newer(format!("custom tag {tag} of a table")));
            }
            // Times, checksums over the whole file that nobody asks for by default, temperatures, identities, epochs.
            _ => {}
        }
    }
}

pub(crate) fn blob_file(cut: &mut Cut<'_>) -> Result<NewBlobFile, EditError> {
    let new =
        NewBlobFile { number: cut.uvarint(NUMBER)?, count: cut.uvarint(BLOB_COUNT)?, bytes: cut.uvarint(BLOB_BYTES)? };
    // The checksum's method and value.
    cut.length_prefixed(BLOB_CHECKSUM)?;
    cut.length_prefixed(BLOB_CHECKSUM)?;
    blob_fields(cut)?;
    Ok(new)
}

pub(crate) fn blob_garbage(cut: &mut Cut<'_>) -> Result<BlobGarbage, EditError> {
    let garbage = BlobGarbage { number: cut.uvarint(NUMBER)?, count: cut.uvarint(BLOB_COUNT)? };
    cut.uvarint(BLOB_BYTES)?;
    blob_fields(cut)?;
    Ok(garbage)
}

fn blob_fields(cut: &mut Cut<'_>) -> Result<(), EditError> {
    loop {
        match cut.uvarint32(BLOB_TAG)? {
            0 => return Ok(()),
            tag if tag & MUST_BE_UNDERSTOOD != 0 => {
                return Err(EditError::Newer(format!("custom tag {tag} of a blob file")));
            }
            _ => {
                cut.length_prefixed(BLOB_TAG)?;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::rocksdb::edit::Edit;

    #[test]
    fn a_table_with_custom_fields() {
        // Tag 103, level 6, number 9, 5 bytes, bounds "a" and "b", sequences 3 to 7; lowest log to keep 2, oldest blob file
        // 8, path 1, a field that is passed over, end.
        let record =
            [103, 6, 9, 5, 1, b'a', 1, b'b', 3, 7, 3, 8, 2, 0, 0, 0, 0, 0, 0, 0, 4, 1, 8, 65, 1, 1, 13, 1, 0, 1];
        let edit = Edit::parse(&record).unwrap();
        let new = &edit.added[0];
        assert_eq!((new.table.level, new.table.number, new.table.sequences), (6, 9, Some((3, 7))));
        assert_eq!((new.oldest_blob, new.path, edit.min_log_to_keep), (8, 1, Some(2)));
        for cut in 1..record.len() {
            assert!(Edit::parse(&record[..cut]).is_err(), "cut to {cut}");
        }
    }

    #[test]
    fn what_must_be_understood_is_named() {
        let newer = [103, 6, 9, 5, 1, b'a', 1, b'b', 3, 7, 66, 1, 1, 1];
        let words = "custom tag 66 of a table belongs to a newer format";
        assert_eq!(Edit::parse(&newer).unwrap_err().to_string(), words);
        let path = [103, 6, 9, 5, 1, b'a', 1, b'b', 3, 7, 65, 1, 4, 1];
        assert_eq!(Edit::parse(&path).unwrap_err().to_string(), "path id at offset 12: 4 is above the limit of 3");
    }
}
