//! Unpacking a block's payload, within bounds. *No files.*
//!
//! Source: LevelDB `table/format.h` (types 0 and 1), pebble `sstable/compression.go` (type 7: the length as a uvarint, then
//! one Zstandard frame). A forged length allocates nothing: it is compared with what the payload can hold, or the bytes
//! are taken as they come.

use std::io::Read;
use std::sync::Arc;

use ruzstd::decoding::{FrameDecoder, StreamingDecoder};

use crate::{Cut, CutError, Part};

/// Payloads are unpacked up to this size; engines make blocks of 4 KiB to some hundred.
pub(crate) const BLOCK_BYTES_MAX: u64 = 64 << 20;

/// Snappy's densest element is three bytes for 64, so no honest length is above this multiple of the payload.
const SNAPPY_RATIO_MAX: usize = 22;

/// A Zstandard decoder holds a window of this size at most; engines' blocks are far smaller than it.
const ZSTD_WINDOW_MAX: u64 = 8 << 20;

/// Why a payload whose checksum fits cannot be unpacked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum UnpackError {
    /// A type byte that the format does not have.
    #[error("unknown compression type {0}")]
    UnknownType(u8),
    /// The packed bytes are wrong.
    #[error("snappy: {0}")]
    Snappy(String),
    /// The packed bytes are wrong, or ask for more memory than is given.
    #[error("zstd: {0}")]
    Zstd(String),
    /// The packed bytes are wrong.
    #[error("lz4: {0}")]
    Lz4(String),
    /// The packed bytes are wrong.
    #[error("zlib: {0}")]
    Zlib(String),
    /// A way of packing that this version cannot undo; the bytes may be right.
    #[error("{0} is not unpacked by this version")]
    NotRead(String),
}

/// Unpacks a payload of a compression type by one engine's rules.
pub(crate) type Unpack = Arc<dyn Fn(&[u8], u8, &mut Vec<u8>) -> Result<(), UnpackError> + Send + Sync>;

/// Unpacks a payload of type 0 (stored) or 1 (Snappy) into `into`.
pub(crate) fn unpack(payload: &[u8], compression: u8, into: &mut Vec<u8>) -> Result<(), UnpackError> {
    into.clear();
    match compression {
        0 => into.extend_from_slice(payload),
        1 => {
            let snappy = |error: snap::Error| UnpackError::Snappy(error.to_string());
            let length = snap::raw::decompress_len(payload).map_err(snappy)?;
            if length > payload.len().saturating_mul(SNAPPY_RATIO_MAX) || length as u64 > BLOCK_BYTES_MAX {
                return Err(UnpackError::Snappy(format!("{length} bytes from {} are more than can be", payload.len())));
            }
            into.resize(length, 0);
            snap::raw::Decoder::new().decompress(payload, into).map_err(snappy)?;
        }
        other => return Err(UnpackError::UnknownType(other)),
    }
    Ok(())
}

/// The same, and Zstandard as Pebble stores it (type 7).
pub(crate) fn unpack_pebble(payload: &[u8], compression: u8, into: &mut Vec<u8>) -> Result<(), UnpackError> {
    if compression != 7 {
        return unpack(payload, compression, into);
    }
    let (length, frame) = length_first(payload).map_err(|error| zstd_error(&error))?;
    unpack_frame(frame, length, &mut FrameDecoder::new(), into)?;
    let unpacked = into.len() as u64;
    if unpacked == length { Ok(()) } else { Err(zstd_error(&format!("{unpacked} bytes, not {length}"))) }
}

/// The unpacked length that stands as a uvarint before packed bytes, and those.
pub(crate) fn length_first(payload: &[u8]) -> Result<(u64, &[u8]), CutError> {
    let mut cut = Cut::new(payload, 0);
    let length = cut.uvarint_at_most(Part::new("unpacked length"), BLOCK_BYTES_MAX)?;
    Ok((length, cut.rest()))
}

/// Unpacks one Zstandard frame, up to a byte more than `length`.
pub(crate) fn unpack_frame(
    frame: &[u8],
    length: u64,
    decoder: &mut FrameDecoder,
    into: &mut Vec<u8>,
) -> Result<(), UnpackError> {
    into.clear();
    match window_bytes(frame) {
        Some(window) if window <= ZSTD_WINDOW_MAX => {}
        Some(window) => return Err(zstd_error(&format!("a window of {window} bytes"))),
        None => return Err(zstd_error(&"no frame header")),
    }
    let mut decoder = StreamingDecoder::new_with_decoder(frame, decoder).map_err(|error| zstd_error(&error))?;
    decoder.by_ref().take(length.saturating_add(1)).read_to_end(into).map_err(|error| zstd_error(&error))?;
    Ok(())
}

/// Unpacks a record of a log whose records are Zstandard frames: its length is not told beforehand.
pub(crate) fn unpack_record(record: &[u8], into: &mut Vec<u8>) -> Result<(), UnpackError> {
    unpack_frame(record, BLOCK_BYTES_MAX, &mut FrameDecoder::new(), into)?;
    let unpacked = into.len() as u64;
    if unpacked > BLOCK_BYTES_MAX { Err(zstd_error(&format!("more than {BLOCK_BYTES_MAX} bytes"))) } else { Ok(()) }
}

fn zstd_error(error: &dyn std::fmt::Display) -> UnpackError {
    UnpackError::Zstd(error.to_string())
}

/// The memory that a Zstandard frame asks for: its window, or, where the frame is one segment, its whole content.
/// Source: RFC 8878, 3.1.1.1.
fn window_bytes(frame: &[u8]) -> Option<u64> {
    let mut cut = Cut::new(frame, 0);
    let part = Part::new("frame header");
    let magic = cut.u32_le(part).ok()?;
    let descriptor = cut.u8(part).ok()?;
    if magic != 0xfd2f_b528 {
        return None;
    }
    let single_segment = descriptor & 0x20 != 0;
    if !single_segment {
        let window = cut.u8(part).ok()?;
        let base = 1_u64 << (10 + u32::from(window >> 3));
        return Some(base + base / 8 * u64::from(window & 7));
    }
    let dictionary_id = [0, 1, 2, 4].get(usize::from(descriptor & 3)).copied().unwrap_or(0);
    cut.take(part, dictionary_id).ok()?;
    match descriptor >> 6 {
        0 => cut.u8(part).ok().map(u64::from),
        1 => cut.u16_le(part).ok().map(|size| u64::from(size) + 256),
        2 => cut.u32_le(part).ok().map(u64::from),
        _ => cut.u64_le(part).ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn forged_lengths_are_refused() {
        let mut out = Vec::new();
        let snappy = unpack(&[0xff, 0xff, 0xff, 0xff, 0x0f, 0], 1, &mut out).unwrap_err();
        assert!(snappy.to_string().contains("more than can be"), "{snappy}");
        assert_eq!(unpack(b"x", 4, &mut out), Err(UnpackError::UnknownType(4)));
        // A frame of one segment that says it is 2^40 bytes long.
        let frame = [1, 0x28, 0xb5, 0x2f, 0xfd, 0xe0, 0, 0, 0, 0, 0, 1, 0, 0];
        let zstd = unpack_pebble(&frame, 7, &mut out).unwrap_err();
        assert_eq!(zstd.to_string(), "zstd: a window of 1099511627776 bytes");
    }

    #[test]
    fn a_frame_as_the_engine_writes_it() {
        // Length 5, then a frame of one segment with one raw block.
        let frame = [5, 0x28, 0xb5, 0x2f, 0xfd, 0x20, 5, 0x29, 0, 0, b'h', b'e', b'l', b'l', b'o'];
        let mut out = Vec::new();
        unpack_pebble(&frame, 7, &mut out).unwrap();
        assert_eq!(out, b"hello");
        assert!(unpack_pebble(&frame[..12], 7, &mut out).is_err());
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(
            tail in proptest::collection::vec(any::<u8>(), 0..80),
            compression in 0_u8..9,
            framed in any::<bool>(),
        ) {
            let head: &[u8] = if framed { &[9, 0x28, 0xb5, 0x2f, 0xfd] } else { &[] };
            let _ = unpack_pebble(&[head, &tail].concat(), compression, &mut Vec::new());
        }
    }
}
