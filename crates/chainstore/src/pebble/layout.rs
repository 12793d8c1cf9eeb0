//! What the metaindex, the properties and the value index of a table say. *No files.*
//!
//! Source: pebble v1.1 `sstable/writer.go` (`Close`), `sstable/properties.go`, `sstable/value_block.go`; formats 2.4.

use crate::lsm::block::Handle;
use crate::lsm::row_block::{RowBlock, TopBits};
use crate::{Cut, CutError, CutProblem, Part};

const WIDTHS: Part = Part::new("value index widths");
const BLOCK_NUMBER: Part = Part::new("value block number");
const BLOCK_OFFSET: Part = Part::new("value block offset");
const BLOCK_LENGTH: Part = Part::new("value block length");
const META_END: Part = Part::new("metaindex entry");

/// A table has some five metablocks.
const METABLOCKS_MAX: usize = 64;

/// The blocks that the metaindex names.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Metaindex {
    pub(crate) properties: Option<Handle>,
    pub(crate) range_del: Option<Handle>,
    pub(crate) values: Option<ValueIndexHandle>,
    /// Filters, range keys, and whatever else there is: only their checksums are looked at.
    pub(crate) others: Vec<(String, Handle)>,
}

impl Metaindex {
    /// Reads the metaindex block.
    pub(crate) fn parse(block: &[u8]) -> Result<Self, CutError> {
        let mut found = Self::default();
        let mut cursor = RowBlock::parse(block, TopBits::Flag)?.cursor();
        while cursor.advance()? {
            let mut cut = Cut::new(cursor.value(), 0);
            let handle = Handle::cut(&mut cut)?;
            match cursor.key() {
                b"pebble.value_index" => {
                    let [number, offset, length] = cut.array(WIDTHS)?;
                    found.values = Some(ValueIndexHandle { handle, widths: [number, offset, length] });
                }
                b"rocksdb.properties" => found.properties = Some(handle),
                // The same block under its old and its new name.
                b"rocksdb.range_del" | b"rocksdb.range_del2" => found.range_del = Some(handle),
                name if found.others.len() < METABLOCKS_MAX => {
                    found.others.push((String::from_utf8_lossy(name).into_owned(), handle));
                }
                _ => {}
            }
            cut.end(META_END)?;
        }
        Ok(found)
    }

    /// Every metablock, with what it is called in findings. A block that two names point to is there once.
    pub(crate) fn blocks(&self) -> Vec<(&str, Handle)> {
        let named = [
            ("properties block", self.properties),
            ("range-del block", self.range_del),
            ("value index block", self.values.map(|values| values.handle)),
        ];
        let named = named.into_iter().filter_map(|(name, handle)| Some((name, handle?)));
        named.chain(self.others.iter().map(|(name, handle)| (name.as_str(), *handle))).collect()
    }
}

/// Numbers among the properties that can be compared with what is there.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Properties {
    pub(crate) two_level_index: bool,
    pub(crate) data_blocks: Option<u64>,
    pub(crate) entries: Option<u64>,
    pub(crate) raw_key_bytes: Option<u64>,
    pub(crate) raw_value_bytes: Option<u64>,
}

impl Properties {
    /// Reads the properties block.
    pub(crate) fn parse(block: &[u8]) -> Result<Self, CutError> {
        let mut found = Self::default();
        let mut cursor = RowBlock::parse(block, TopBits::Flag)?.cursor();
        while cursor.advance()? {
            let mut cut = Cut::new(cursor.value(), 0);
            let mut number = || cut.uvarint(Part::new("property")).map(Some);
            match cursor.key() {
                b"rocksdb.block.based.table.index.type" => {
                    found.two_level_index = cut.u32_le(Part::new("index type"))? == 2;
                }
                b"rocksdb.num.data.blocks" => found.data_blocks = number()?,
                b"rocksdb.num.entries" => found.entries = number()?,
                b"rocksdb.raw.key.size" => found.raw_key_bytes = number()?,
                b"rocksdb.raw.value.size" => found.raw_value_bytes = number()?,
                _ => {}
            }
        }
        Ok(found)
    }
}

/// Where the value index is, and how wide its three fields are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ValueIndexHandle {
    pub(crate) handle: Handle,
    widths: [u8; 3],
}

/// The value index: for each value block its number, offset and length, in fields of a fixed width.
#[derive(Debug, Clone)]
pub(crate) struct ValueIndex {
    block: Vec<u8>,
    widths: [u8; 3],
}

impl ValueIndex {
    pub(crate) fn new(block: Vec<u8>, handle: ValueIndexHandle) -> Self {
        Self { block, widths: handle.widths }
    }

    fn width(&self) -> u64 {
        self.widths.iter().map(|width| u64::from(*width)).sum()
    }

    /// How many value blocks it names; an error if its length is no multiple of an entry's.
    pub(crate) fn count(&self) -> Result<u64, CutError> {
        let bytes = self.block.len() as u64;
        match bytes.checked_rem(self.width()) {
            Some(0) => Ok(bytes / self.width()),
            Some(rest) => Err(Cut::new(&[], 0).error(WIDTHS, CutProblem::Trailing { bytes: rest })),
            None => Err(Cut::new(&[], 0).error(WIDTHS, CutProblem::NoSuchValue { value: 0 })),
        }
    }

    /// The handle of one block.
    pub(crate) fn get(&self, number: u64) -> Result<Handle, CutError> {
        let mut cut = Cut::new(&self.block, 0);
        cut.take(BLOCK_NUMBER, number.saturating_mul(self.width()))?;
        let start = cut;
        let [number_width, offset_width, length_width] = self.widths;
        let found = little_endian(&mut cut, BLOCK_NUMBER, number_width)?;
        if found != number {
            return Err(start.error(BLOCK_NUMBER, CutProblem::NoSuchValue { value: found }));
        }
        let offset = little_endian(&mut cut, BLOCK_OFFSET, offset_width)?;
        Ok(Handle { offset, size: little_endian(&mut cut, BLOCK_LENGTH, length_width)? })
    }

    /// What it takes of memory.
    pub(crate) fn bytes(&self) -> usize {
        self.block.len()
    }
}

fn little_endian(cut: &mut Cut<'_>, part: Part, width: u8) -> Result<u64, CutError> {
    if width > 8 {
        return Err(cut.error(WIDTHS, CutProblem::AboveLimit { value: u64::from(width), limit: 8 }));
    }
    let bytes = cut.take(part, u64::from(width))?;
    Ok(bytes.rest().iter().rev().fold(0, |value, byte| (value << 8) | u64::from(*byte)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_value_index() {
        let handle = ValueIndexHandle { handle: Handle { offset: 0, size: 0 }, widths: [1, 2, 1] };
        let index = ValueIndex::new(vec![0, 0x34, 0x12, 9, 1, 0x42, 0x12, 7], handle);
        assert_eq!(index.count(), Ok(2));
        assert_eq!(index.get(1), Ok(Handle { offset: 0x1242, size: 7 }));
        assert_eq!(index.get(2).unwrap_err().to_string(), "value block number at offset 8: 1 bytes wanted, 0 left");
        let uneven = ValueIndex::new(vec![0; 5], handle);
        assert_eq!(uneven.count().unwrap_err().to_string(), "value index widths at offset 0: 1 bytes too many");
        let empty = ValueIndex::new(vec![0; 5], ValueIndexHandle { widths: [0; 3], ..handle });
        assert!(empty.count().is_err());
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(block in proptest::collection::vec(any::<u8>(), 0..120), widths in any::<[u8; 3]>()) {
            let _ = Metaindex::parse(&block);
            let _ = Properties::parse(&block);
            let handle = ValueIndexHandle { handle: Handle { offset: 0, size: 0 }, widths };
            let index = ValueIndex::new(block, handle);
            let _ = index.count();
            let _ = index.get(u64::MAX);
            let _ = index.get(1);
        }
    }
}
