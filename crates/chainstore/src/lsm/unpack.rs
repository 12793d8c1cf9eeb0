//! Unpacking a block's payload, within bounds. *No files.*
//!
//! Source: LevelDB `table/format.h` (types 0 and 1), pebble `sstable/compression.go` (type 7: the length as a uvarint, then
//! one Zstandard frame). A forged length allocates nothing: it is compared with what the payload can hold, or the bytes
//! are taken as they come.

use std::io::Read;

use ruzstd::decoding::StreamingDecoder;

use crate::{Cut, Part};

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
}

/// Unpacks a payload of a compression type by one engine's rules.
pub(crate) type Unpack = fn(&[u8], u8, &mut Vec<u8>) -> Result<(), UnpackError>;

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
    into.clear();
    let zstd = |error: &dyn std::fmt::Display| UnpackError::Zstd(error.to_string());
    let mut cut = Cut::new(payload, 0);
    let length = cut.uvarint_at_most(Part::new("unpacked length"), BLOCK_BYTES_MAX).map_err(|error| zstd(&error))?;
    match window_bytes(cut.rest()) {
        Some(window) if window <= ZSTD_WINDOW_MAX => {}
        Some(window) => return Err(zstd(&format!("a window of {window} bytes"))),
        None => return Err(zstd(&"no frame header")),
    }
    let mut decoder = StreamingDecoder::new(cut.rest()).map_err(|error| zstd(&error))?;
    decoder.by_ref().take(length.saturating_add(1)).read_to_end(into).map_err(|error| zstd(&error))?;
    if into.len() as u64 == length { Ok(()) } else { Err(zstd(&format!("{} bytes, not {length}", into.len()))) }
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
