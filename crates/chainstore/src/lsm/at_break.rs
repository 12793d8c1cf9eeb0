//! What engines do at a chunk of a log that they cannot use. *No files.*

use crate::lsm::framing::Chunk;

/// What an engine does at a chunk that it cannot use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AtBreak {
    /// It drops the rest of the block and goes on (LevelDB's two writers).
    DropsBlock,
    /// It reads no further (Pebble).
    Stops,
    /// It takes zeros for space that was never written and passes over the rest of the block; at anything else it reads no
    /// further, and says so unless the file ends there (RocksDB).
    StopsUnlessZero,
}

impl AtBreak {
    /// Whether the engine goes on in the next block.
    pub(crate) fn goes_on(self, chunk: &Chunk) -> bool {
        match self {
            Self::DropsBlock => true,
            Self::Stops => false,
            Self::StopsUnlessZero => chunk.kind == 0 && chunk.length == 0,
        }
    }

    /// Whether the engine calls it an error, which in a MANIFEST of `file_bytes` bytes keeps it from opening.
    pub(crate) fn is_error(self, chunk: &Chunk, file_bytes: u64) -> bool {
        let ends = chunk.offset.saturating_add(chunk.available as u64) >= file_bytes;
        let cut = chunk.total() > chunk.available && ends;
        self == Self::StopsUnlessZero && !self.goes_on(chunk) && !cut
    }
}
