//! The order of a table's keys, within blocks and across them. *No files.*

use crate::CutError;
use crate::lsm::internal_key::{self, InternalKey, KIND_SET};
use crate::lsm::live_table::LiveTable;
use crate::lsm::row_block::{RowBlock, TopBits};

/// The keys seen so far.
#[derive(Default)]
pub(crate) struct KeyOrder {
    /// The last one, encoded.
    pub(crate) last: Vec<u8>,
    /// One finding is enough: after it, keys of the same table are compared no more.
    pub(crate) stopped: bool,
}

impl KeyOrder {
    /// Goes through a block; what is wrong with its keys, if anything.
    pub(crate) fn block(
        &mut self,
        block: &[u8],
        index_key: Option<&[u8]>,
        table: &LiveTable,
        is_first: bool,
    ) -> Result<Option<String>, CutError> {
        let mut cursor = RowBlock::parse(block, TopBits::Number)?.cursor();
        let mut at_start = is_first;
        while cursor.advance()? {
            let key = cursor.key();
            let Some(parsed) = InternalKey::parse(key) else {
                return Ok(Some(format!("a key of {} bytes is none", key.len())));
            };
            if parsed.kind() > KIND_SET {
                return Ok(Some(format!("a key has the unknown kind {}", parsed.kind())));
            }
            if at_start && key != &*table.smallest {
                return Ok(Some("its first key is not the one that the MANIFEST names".to_owned()));
            }
            if !self.last.is_empty() && internal_key::compare(&self.last, key).is_ge() {
                return Ok(Some(format!("key {} is not above the one before it", parsed.user.escape_ascii())));
            }
            if index_key.is_some_and(|index_key| internal_key::compare(key, index_key).is_gt()) {
                return Ok(Some(format!("key {} is above the block's index key", parsed.user.escape_ascii())));
            }
            at_start = false;
            self.last.clear();
            self.last.extend_from_slice(key);
        }
        Ok(None)
    }
}
