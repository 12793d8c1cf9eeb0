//! Values of table format v3: in place behind a byte, or in a value block. *Files, read-only.*
//!
//! Source: pebble v1.1 `sstable/value_block.go`: the byte's two highest bits are 00 (in place) or 10 (a handle: length,
//! block number and offset as uvarints), the next says that the prefix of the key is the same, the three lowest are an
//! attribute of the user's. Only kind SET has the byte.

use std::sync::{Arc, Mutex, PoisonError};

use crate::lsm::internal_key::InternalKey;
use crate::lsm::merge::RunEntry;
use crate::lsm::tables::{Rows, TableFile};
use crate::pebble::batch::kind;
use crate::pebble::footer::VALUE_PREFIX;
use crate::pebble::layout::ValueIndex;
use crate::pebble::range_del::RangeDeletions;
use crate::{Cut, CutError, CutProblem, Part, ViewError};

const PREFIX: Part = Part::new("value prefix");
const LENGTH: Part = Part::new("value length");
const BLOCK: Part = Part::new("value block number");
const OFFSET: Part = Part::new("offset in value block");
const END: Part = Part::new("value handle");
const VALUE: Part = Part::new("value in value block");

/// Where a value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StoredValue<'a> {
    /// Here.
    InPlace(&'a [u8]),
    /// In a value block.
    Elsewhere { length: u32, block: u32, offset: u32 },
}

impl<'a> StoredValue<'a> {
    /// Reads what a row holds, by its table's format and its key's kind.
    pub(crate) fn parse(format: u32, kind: u8, row: &'a [u8]) -> Result<Self, CutError> {
        if format < VALUE_PREFIX || kind != kind::SET {
            return Ok(Self::InPlace(row));
        }
        let mut cut = Cut::new(row, 0);
        let start = cut;
        let prefix = cut.u8(PREFIX)?;
        match prefix & 0xd8 {
            0x00 => Ok(Self::InPlace(cut.rest())),
            0x80 => {
                let stored = Self::Elsewhere {
                    length: cut.uvarint32(LENGTH)?,
                    block: cut.uvarint32(BLOCK)?,
                    offset: cut.uvarint32(OFFSET)?,
                };
                cut.end(END)?;
                Ok(stored)
            }
            _ => Err(start.error(PREFIX, CutProblem::NoSuchValue { value: u64::from(prefix) })),
        }
    }

    /// How long the value is.
    pub(crate) fn bytes(&self) -> u64 {
        match self {
            Self::InPlace(value) => value.len() as u64,
            Self::Elsewhere { length, .. } => u64::from(*length),
        }
    }
}

/// What a view needs to know of an open table to read its rows.
pub(crate) struct PebbleRows {
    pub(crate) format: u32,
    /// The sequence of every write, in a table that was made elsewhere and taken in.
    pub(crate) sequence: Option<u64>,
    pub(crate) deletions: RangeDeletions,
    pub(crate) values: Option<ValueIndex>,
    /// The value block that was read last: neighbours' values are neighbours.
    pub(crate) last_block: Mutex<Option<(u32, Arc<Vec<u8>>)>>,
}

impl PebbleRows {
    fn value_block(&self, table: &TableFile, number: u32) -> Result<Arc<Vec<u8>>, ViewError> {
        let mut last = self.last_block.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, block)) = last.as_ref().filter(|(known, _)| *known == number) {
            return Ok(Arc::clone(block));
        }
        let values =
            self.values.as_ref().ok_or_else(|| table.damaged(0, "a value in a value block, but no value index"))?;
        let handle = values.get(u64::from(number)).map_err(|error| table.damaged(0, error))?;
        let block = Arc::new(table.read(handle)?);
        *last = Some((number, Arc::clone(&block)));
        Ok(block)
    }
}

impl Rows for PebbleRows {
    fn entry(&self, table: &TableFile, key: InternalKey<'_>, value: &[u8]) -> Result<RunEntry, ViewError> {
        let stored = StoredValue::parse(self.format, key.kind(), value).map_err(|error| table.damaged(0, error))?;
        let value: Box<[u8]> = match stored {
            StoredValue::InPlace(value) => value.into(),
            StoredValue::Elsewhere { length, block, offset } => {
                let block = self.value_block(table, block)?;
                let mut cut = Cut::new(&block, 0);
                let value = cut.take(VALUE, u64::from(offset)).and_then(|_| cut.take(VALUE, u64::from(length)));
                value.map_err(|error| table.damaged(0, error))?.rest().into()
            }
        };
        let trailer = self.sequence.map_or(key.trailer, |sequence| (sequence << 8) | u64::from(key.kind()));
        Ok(RunEntry { user: key.user.into(), trailer, value })
    }

    fn covering(&self, user: &[u8], snapshot: u64) -> u64 {
        self.deletions.covering(user, snapshot)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn in_place_elsewhere_and_neither() {
        let parse = |row: &'static [u8]| StoredValue::parse(3, kind::SET, row);
        assert_eq!(parse(&[0x20, 7, 8]), Ok(StoredValue::InPlace(&[7, 8])));
        assert_eq!(parse(&[0xa0, 9, 1, 5]), Ok(StoredValue::Elsewhere { length: 9, block: 1, offset: 5 }));
        assert_eq!(StoredValue::parse(2, kind::SET, &[0xa0, 9]), Ok(StoredValue::InPlace(&[0xa0, 9])));
        assert_eq!(StoredValue::parse(3, kind::SET_WITH_DELETE, &[9]), Ok(StoredValue::InPlace(&[9])));
        for (row, words) in [
            (&[][..], "value prefix at offset 0: 1 bytes wanted, 0 left"),
            (&[0x40], "value prefix at offset 0: value 0x40 is not one the format has"),
            (&[0x80, 1, 1, 1, 1], "value handle at offset 4: 1 bytes too many"),
        ] {
            assert_eq!(parse(row).unwrap_err().to_string(), words);
        }
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(row in proptest::collection::vec(any::<u8>(), 0..30), kind in any::<u8>()) {
            let _ = StoredValue::parse(3, kind, &row);
        }
    }
}
