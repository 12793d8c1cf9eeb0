//! The order of a table's keys, and sums over its rows to compare with its properties. *No files.*

use crate::CutError;
use crate::lsm::internal_key::{self, InternalKey};
use crate::lsm::live_table::LiveTable;
use crate::lsm::row_block::{RowBlock, TopBits};
use crate::pebble::batch::kind;
use crate::pebble::footer::VALUE_PREFIX;
use crate::pebble::value::StoredValue;

/// What a table says of itself that its rows are compared with.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Expected<'a> {
    pub(crate) table: &'a LiveTable,
    pub(crate) format: u32,
    /// The sequence of every write, in a table that was made elsewhere and taken in.
    pub(crate) sequence: Option<u64>,
    /// Whether every bound is a point's; range deletions and range keys may reach further.
    pub(crate) only_points: bool,
}

/// Sums over rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Sums {
    pub(crate) entries: u64,
    pub(crate) key_bytes: u64,
    pub(crate) value_bytes: u64,
    /// Rows of kind SET.
    sets: u64,
    /// Those of them whose first byte could be that of table format v3.
    prefixed: u64,
}

impl Sums {
    /// Whether every value looks as if its table were of format v3.
    pub(crate) fn look_prefixed(&self) -> bool {
        self.sets > 0 && self.sets == self.prefixed
    }

    /// Adds a row that is no point.
    pub(crate) fn add(&mut self, key: &[u8], value: &[u8]) {
        self.entries = self.entries.saturating_add(1);
        self.key_bytes = self.key_bytes.saturating_add(key.len() as u64);
        self.value_bytes = self.value_bytes.saturating_add(value.len() as u64);
    }
}

/// The keys seen so far.
#[derive(Default)]
pub(crate) struct KeyOrder {
    /// The last one, encoded.
    last: Vec<u8>,
    /// The index key of the block before: every later key is above it.
    above: Vec<u8>,
    pub(crate) sums: Sums,
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
    ) -> Result<Option<String>, CutError> {
        let mut cursor = RowBlock::parse(block, TopBits::Flag)?.cursor();
        let mut at_start = is_first;
        while cursor.advance()? {
            let key = cursor.key();
            let Some(parsed) = InternalKey::parse(key) else {
                return Ok(Some(format!("a key of {} bytes is none", key.len())));
            };
            let user = || parsed.user.escape_ascii();
            let known = matches!(
                parsed.kind(),
                kind::DELETE | kind::SET | kind::MERGE | kind::SINGLE_DELETE | kind::SET_WITH_DELETE
            );
            if !known {
                return Ok(Some(format!("a key has the unknown kind {}", parsed.kind())));
            }
            if at_start && !expected.begins_with(parsed) {
                return Ok(Some("its first key is not the one that the MANIFEST names".to_owned()));
            }
            if !self.last.is_empty() && internal_key::compare(&self.last, key).is_ge() {
                return Ok(Some(format!("key {} is not above the one before it", user())));
            }
            if !self.above.is_empty() && internal_key::compare(&self.above, key).is_ge() {
                return Ok(Some(format!("key {} is not above the index key of the block before", user())));
            }
            if index_key.is_some_and(|index_key| internal_key::compare(key, index_key).is_gt()) {
                return Ok(Some(format!("key {} is above the block's index key", user())));
            }
            at_start = false;
            self.sums.add(key, &[]);
            let value = StoredValue::parse(expected.format, parsed.kind(), cursor.value())?;
            self.sums.value_bytes = self.sums.value_bytes.saturating_add(value.bytes());
            if parsed.kind() == kind::SET {
                self.sums.sets = self.sums.sets.saturating_add(1);
                let prefixed = StoredValue::parse(VALUE_PREFIX, kind::SET, cursor.value()).is_ok();
                self.sums.prefixed = self.sums.prefixed.saturating_add(u64::from(prefixed));
            }
            self.last.clear();
            self.last.extend_from_slice(key);
        }
        self.above.clear();
        self.above.extend_from_slice(index_key.unwrap_or_default());
        Ok(None)
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
    fn as_named<'k>(&self, key: InternalKey<'k>) -> InternalKey<'k> {
        let trailer = self.sequence.map_or(key.trailer, |sequence| (sequence << 8) | u64::from(key.kind()));
        InternalKey { trailer, ..key }
    }

    fn begins_with(&self, key: InternalKey<'_>) -> bool {
        let Some(smallest) = InternalKey::parse(&self.table.smallest) else { return false };
        let key = self.as_named(key);
        key == smallest || (!self.only_points && key > smallest)
    }

    fn ends_with(&self, key: InternalKey<'_>) -> bool {
        let Some(largest) = InternalKey::parse(&self.table.largest) else { return false };
        let key = self.as_named(key);
        key == largest || (!self.only_points && key < largest)
    }
}
