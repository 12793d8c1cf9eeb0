//! Index blocks: from the last key of a block to its handle. *No files.*
//!
//! Source: RocksDB `table/block_based/index_builder.cc`, `block_builder.cc`, `block.cc` (`IndexBlockIter`), `table/format.cc`
//! (`IndexValue`); formats 2.4. A key may lack sequence and kind. A value is a handle, and behind it may stand the block's first
//! key. With deltas an entry has no value length; where its key shares bytes with the one before, the value is how much larger
//! the block is than the one before, right behind which it lies.

use crate::lsm::block::Handle;
use crate::lsm::row_block::{KEY_BYTES_MAX, RowBlock, TopBits};
use crate::{Cut, CutError, CutProblem, Part};

const SHARED: Part = Part::new("shared index key length");
const UNSHARED: Part = Part::new("unshared index key length");
const VALUE_LENGTH: Part = Part::new("index value length");
const KEY_SUFFIX: Part = Part::new("index key suffix");
const DELTA: Part = Part::new("block size delta");
const FIRST_KEY: Part = Part::new("first key of a block");

/// How a table's index blocks are built.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct IndexFormat {
    /// Keys without sequence and kind.
    pub(crate) user_keys: bool,
    /// Handles as differences.
    pub(crate) deltas: bool,
    /// A block's first key behind its handle.
    pub(crate) first_keys: bool,
}

impl IndexFormat {
    /// The same for blocks that lead to other index or filter blocks: those have no first keys.
    pub(crate) fn upper(self) -> Self {
        Self { first_keys: false, ..self }
    }
}

/// Goes through an index block's entries.
#[derive(Debug, Clone)]
pub(crate) struct IndexCursor<'a> {
    entries: Cut<'a>,
    format: IndexFormat,
    key: Vec<u8>,
    handle: Handle,
}

impl<'a> IndexCursor<'a> {
    /// Before the first entry.
    pub(crate) fn new(block: &'a [u8], format: IndexFormat) -> Result<Self, CutError> {
        let entries = RowBlock::parse(block, TopBits::HashIndex)?.entries();
        Ok(Self { entries, format, key: Vec::new(), handle: Handle { offset: 0, size: 0 } })
    }

    /// To the next entry; none at the end.
    pub(crate) fn next(&mut self) -> Result<Option<Handle>, CutError> {
        if self.entries.is_empty() {
            return Ok(None);
        }
        let cut = &mut self.entries;
        let shared = cut.uvarint_at_most(SHARED, self.key.len() as u64)?;
        let unshared = cut.uvarint_at_most(UNSHARED, cut.left().min(KEY_BYTES_MAX))?;
        let value_length = if self.format.deltas { None } else { Some(cut.uvarint(VALUE_LENGTH)?) };
        let suffix = cut.take(KEY_SUFFIX, unshared)?;
        self.key.truncate(usize::try_from(shared).unwrap_or(usize::MAX));
        self.key.extend_from_slice(suffix.rest());
        if let Some(length) = value_length {
            self.handle = Handle::cut(&mut cut.take(VALUE_LENGTH, length)?)?;
            return Ok(Some(self.handle));
        }
        self.handle = if shared == 0 { Handle::cut(cut)? } else { behind(self.handle, cut)? };
        if self.format.first_keys {
            cut.length_prefixed(FIRST_KEY)?;
        }
        Ok(Some(self.handle))
    }

    /// The current entry's key as an internal one: where it lacks sequence and kind, the last that its user key can have.
    pub(crate) fn internal_key(&self) -> Vec<u8> {
        let trailer: &[u8] = if self.format.user_keys { &[0; 8] } else { &[] };
        [&self.key, trailer].concat()
    }
}

/// The block right behind another, told by how much larger it is.
fn behind(before: Handle, cut: &mut Cut<'_>) -> Result<Handle, CutError> {
    let start = *cut;
    let delta = cut.varint(DELTA)?;
    let size = before.size.checked_add_signed(delta);
    match (before.end(), size) {
        (Some(offset), Some(size)) => Ok(Handle { offset, size }),
        _ => Err(start.error(DELTA, CutProblem::NoSuchValue { value: delta.unsigned_abs() })),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn all(block: &[u8], format: IndexFormat) -> Result<Vec<(Vec<u8>, u64, u64)>, CutError> {
        let mut cursor = IndexCursor::new(block, format)?;
        let mut all = Vec::new();
        while let Some(handle) = cursor.next()? {
            all.push((cursor.internal_key(), handle.offset, handle.size));
        }
        Ok(all)
    }

    #[test]
    fn deltas_begin_again_where_nothing_is_shared() {
        let format = IndexFormat { user_keys: true, deltas: true, first_keys: false };
        // "ab" at 0 of 10; shares "a": five bytes more; shares "a": four bytes less; shares nothing: 100 of 7.
        let entries = [0, 2, b'a', b'b', 0, 10, 1, 1, b'c', 10, 1, 1, b'd', 7, 0, 1, b'z', 100, 7];
        let block = [&entries[..], &[0, 0, 0, 0, 1, 0, 0, 0]].concat();
        let key = |user: &[u8]| [user, &[0; 8]].concat();
        let wanted = [(key(b"ab"), 0, 10), (key(b"ac"), 15, 15), (key(b"ad"), 35, 11), (key(b"z"), 100, 7)];
        assert_eq!(all(&block, format).unwrap(), wanted);
    }

    #[test]
    fn whole_handles_and_first_keys() {
        let format = IndexFormat { user_keys: false, deltas: false, first_keys: true };
        let entries = [0, 9, 5, b'k', 0, 0, 0, 0, 0, 0, 0, 0, 3, 4, 2, b'f', b'k'];
        let block = [&entries[..], &[0, 0, 0, 0, 1, 0, 0, 0]].concat();
        assert_eq!(all(&block, format).unwrap(), [(b"k\0\0\0\0\0\0\0\0".to_vec(), 3, 4)]);
        let deltas = IndexFormat { deltas: true, ..format };
        let entries = [0, 1, b'a', 3, 4, 1, b'a', 1, 1, b'b', 2, 1, b'b'];
        let block = [&entries[..], &[0, 0, 0, 0, 1, 0, 0, 0]].concat();
        assert_eq!(all(&block, deltas).unwrap(), [(b"a".to_vec(), 3, 4), (b"ab".to_vec(), 12, 5)]);
    }

    #[test]
    fn a_block_smaller_than_nothing_is_refused() {
        let format = IndexFormat { user_keys: true, deltas: true, first_keys: false };
        let block = [0, 1, b'a', 0, 3, 1, 1, b'b', 9, 0, 0, 0, 0, 1, 0, 0, 0];
        let error = all(&block, format).unwrap_err();
        assert_eq!(error.to_string(), "block size delta at offset 8: value 0x5 is not one the format has");
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(block in proptest::collection::vec(any::<u8>(), 0..120), bits in 0_u8..8) {
            let format =
                IndexFormat { user_keys: bits & 1 != 0, deltas: bits & 2 != 0, first_keys: bits & 4 != 0 };
            let _ = all(&block, format);
        }
    }
}
