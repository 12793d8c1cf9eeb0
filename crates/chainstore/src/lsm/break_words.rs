//! A chunk that cannot be used, in words. *No files.*

use crate::lsm::framing::ChunkState;
use crate::lsm::records::Break;

/// What stands where a chunk should.
pub(crate) fn state_in_words(broken: &Break) -> &'static str {
    match broken.chunk.state {
        ChunkState::Good => "a record too large to read",
        ChunkState::ZeroHeader => "zeros where a chunk should begin",
        ChunkState::LogEnds => "a record that ends in another log's bytes",
        ChunkState::UnknownKind => "a chunk of unknown type",
        ChunkState::Overflow => "a chunk longer than its block",
        ChunkState::BadChecksum(_) => "a chunk that does not fit its checksum",
    }
}

/// What should stand there, and what does.
pub(crate) fn values(broken: &Break) -> (String, String) {
    let chunk = &broken.chunk;
    match chunk.state {
        ChunkState::Good | ChunkState::ZeroHeader => ("a chunk".to_owned(), "zeros".to_owned()),
        ChunkState::LogEnds => {
            ("a chunk of this log".to_owned(), format!("log number {}", chunk.log_number.unwrap_or(0)))
        }
        ChunkState::UnknownKind => ("a known chunk type".to_owned(), format!("chunk type {}", chunk.kind)),
        ChunkState::Overflow => (
            format!("at most {} bytes", chunk.available.saturating_sub(chunk.header)),
            format!("{} bytes", chunk.length),
        ),
        ChunkState::BadChecksum(crc) => (format!("{:#010x}", chunk.stored), format!("{:#010x}", crate::mask(crc))),
    }
}
