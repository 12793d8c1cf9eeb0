//! Where a log whose file was used before ends: at another log's number. *No files.*
//!
//! Source: pebble v1.1 and v2.1 `record/record.go` (`nextChunk`): the number is looked at before the checksum.

use crate::lsm::framing::{Chunk, Dialect};

impl Dialect {
    /// Whether the engine takes a chunk for the log's end by its number alone, where a record could begin.
    pub(crate) fn ends_log(&self, chunk: &Chunk) -> bool {
        chunk.log_number.zip(self.log_number).is_some_and(|(number, own)| match self.ends_at {
            LogEnd::OtherNumber => number != own,
            LogEnd::NextNumber => number == own.wrapping_add(1),
        })
    }
}

/// Which number in a chunk ends the log before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LogEnd {
    /// Any but its own (Pebble v1).
    OtherNumber,
    /// The next one, which the mark at a log's end carries (Pebble v2).
    NextNumber,
}
