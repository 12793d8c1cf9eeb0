//! The order of a table's keys, and how many there are. *No files.*

use std::collections::BTreeMap;

use crate::CutError;
use crate::lsm::internal_key::{self, InternalKey};
use crate::lsm::live_table::LiveTable;
use crate::lsm::row_block::{RowBlock, TopBits};
use crate::rocksdb::blob_index::BlobIndex;
use crate::rocksdb::kind;

/// What a table's keys are compared with.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Expected<'a> {
    pub(crate) table: &'a LiveTable,
    /// Whether keys are in the order of their bytes; another comparator's order is not known here.
    pub(crate) bytewise: bool,
    /// Whether the table was made elsewhere, so that its own sequences count for nothing.
    pub(crate) external: bool,
    /// Whether every bound is a point's; range deletions may reach further.
    pub(crate) only_points: bool,
}

/// Of so many blob files a table's values are compared with the header.
const BLOB_FILES_MAX: usize = 64;

/// What is wrong with a block's keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Problem {
    Wrong(String),
    /// A kind of write that this version does not know.
    UnknownKind(u8),
}

/// The keys seen so far.
#[derive(Default)]
pub(crate) struct KeyOrder {
    /// The last one, encoded.
    last: Vec<u8>,
    /// The index key of the block before: every later key is above it.
    above: Vec<u8>,
    pub(crate) entries: u64,
    /// Blob files that values point to, and how these say that they are packed.
    pub(crate) blobs: BTreeMap<u64, u8>,
    /// Where the values of the last block's keys stand, for those that are in blob files.
    pub(crate) values: Vec<(BlobIndex, Box<[u8]>)>,
    /// One finding is enough: after it, keys of the same table are compared no more.
    pub(crate) stopped: bool,
}

impl KeyOrder {
    /// Goes through a block; what is wrong with its keys, if anything. `index_key` is none where the blocks before it were
    /// not read.
    pub(crate) fn block(
        &mut self,
        block: &[u8],
        index_key: Option<&[u8]>,
        expected: Expected<'_>,
        is_first: bool,
    ) -> Result<Option<Problem>, CutError> {
        let mut cursor = RowBlock::parse(block, TopBits::HashIndex)?.cursor();
        let mut at_start = is_first;
        self.values.clear();
        while cursor.advance()? {
            let key = cursor.key();
            let wrong = |words: String| Ok(Some(Problem::Wrong(words)));
            let Some(parsed) = InternalKey::parse(key) else {
                return wrong(format!("a key of {} bytes is none", key.len()));
            };
            if !kind::is_in_tables(parsed.kind()) {
                return Ok(Some(Problem::UnknownKind(parsed.kind())));
            }
            self.entries = self.entries.saturating_add(1);
            if parsed.kind() == kind::BLOB_INDEX {
                self.blob(BlobIndex::parse(cursor.value())?, parsed.user);
            }
            if !expected.bytewise {
                continue;
            }
            let user = || parsed.user.escape_ascii();
            if at_start && !expected.begins_with(parsed) {
                return wrong("its first key is not the one that the MANIFEST names".to_owned());
            }
            at_start = false;
            if !self.last.is_empty() && internal_key::compare(&self.last, key).is_ge() {
                return wrong(format!("key {} is not above the one before it", user()));
            }
            if !self.above.is_empty() && internal_key::compare(&self.above, key).is_ge() {
                return wrong(format!("key {} is not above the index key of the block before", user()));
            }
            if index_key.is_some_and(|index_key| internal_key::compare(key, index_key).is_gt()) {
                return wrong(format!("key {} is above the block's index key", user()));
            }
            self.last.clear();
            self.last.extend_from_slice(key);
        }
        self.above.clear();
        self.above.extend_from_slice(index_key.unwrap_or_default());
        Ok(None)
    }

    fn blob(&mut self, index: BlobIndex, user: &[u8]) {
        self.values.push((index, user.into()));
        if self.blobs.len() < BLOB_FILES_MAX {
            self.blobs.entry(index.file).or_insert(index.compression);
        }
    }

    /// The next block is not the one after the last.
    pub(crate) fn forget_block_before(&mut self) {
        self.above.clear();
    }

    /// Whether the last key is the one that the MANIFEST names.
    pub(crate) fn ends_right(&self, expected: Expected<'_>) -> bool {
        InternalKey::parse(&self.last).is_none_or(|last| expected.ends_with(last))
    }
}

impl Expected<'_> {
    fn is_bound(&self, key: InternalKey<'_>, bound: InternalKey<'_>) -> bool {
        key.user == bound.user && (self.external || key.trailer == bound.trailer)
    }

    fn begins_with(&self, key: InternalKey<'_>) -> bool {
        InternalKey::parse(&self.table.smallest)
            .is_some_and(|smallest| self.is_bound(key, smallest) || (!self.only_points && key > smallest))
    }

    fn ends_with(&self, key: InternalKey<'_>) -> bool {
        InternalKey::parse(&self.table.largest)
            .is_some_and(|largest| self.is_bound(key, largest) || (!self.only_points && key < largest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(user: &[u8], sequence: u64, kind: u8) -> Vec<u8> {
        [user, &((sequence << 8) | u64::from(kind)).to_le_bytes()].concat()
    }

    fn block(keys: &[Vec<u8>]) -> Vec<u8> {
        let mut out = Vec::new();
        for key in keys {
            out.extend_from_slice(&[0, u8::try_from(key.len()).unwrap(), 0]);
            out.extend_from_slice(key);
        }
        [out, vec![0, 0, 0, 0, 1, 0, 0, 0]].concat()
    }

    #[test]
    fn order_kinds_and_bounds() {
        let bounds = [key(b"a", 5, 1), key(b"b", 3, 1)].map(Vec::into_boxed_slice);
        let [smallest, largest] = bounds;
        let table = LiveTable { number: 1, level: 0, bytes: 0, smallest, largest, sequences: None };
        let expected = Expected { table: &table, bytewise: true, external: false, only_points: true };
        let check = |keys: &[Vec<u8>], index: Option<&[u8]>, expected: Expected<'_>| {
            let mut order = KeyOrder::default();
            let problem = order.block(&block(keys), index, expected, true).unwrap();
            (problem, order.ends_right(expected))
        };
        let right = [key(b"a", 5, 1), key(b"a", 4, 0), key(b"b", 3, 1)];
        assert_eq!(check(&right, None, expected), (None, true));
        let wrong = |keys: &[Vec<u8>], index: Option<&[u8]>| match check(keys, index, expected).0 {
            Some(Problem::Wrong(words)) => words,
            other => format!("{other:?}"),
        };
        assert_eq!(wrong(&right[1..], None), "its first key is not the one that the MANIFEST names");
        let again = [right[0].clone(), right[0].clone()];
        assert_eq!(wrong(&again, None), "key a is not above the one before it");
        assert_eq!(wrong(&right, Some(&key(b"a", 0, 0))), "key b is above the block's index key");
        assert_eq!(check(&[key(b"a", 5, 0x20)], None, expected).0, Some(Problem::UnknownKind(0x20)));
        assert_eq!(check(&right[..2], None, expected), (None, false));
        // A table made elsewhere has no sequences of its own; another comparator's order is not known.
        let external = Expected { external: true, ..expected };
        assert_eq!(check(&[key(b"a", 0, 1), key(b"b", 0, 1)], None, external), (None, true));
        let other = Expected { bytewise: false, ..expected };
        assert_eq!(check(&[key(b"z", 0, 1), key(b"b", 0, 1)], None, other).0, None);
    }
}
