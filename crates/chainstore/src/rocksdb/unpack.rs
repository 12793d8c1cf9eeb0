//! Unpacking payloads as RocksDB packs them. *No files.*
//!
//! Source: RocksDB `util/compression.h`, `table/format.cc`: from format version 2 on, all but Snappy begin with the unpacked length
//! as a varint; zlib is a raw deflate stream; the dictionary of a table's data blocks is a metablock.

use std::io::Read;
use std::sync::{Arc, Mutex, PoisonError};

use flate2::bufread::DeflateDecoder;
use lz4_flex::block::{decompress_into, decompress_into_with_dict};
use ruzstd::decoding::{Dictionary, FrameDecoder};

use crate::lsm::unpack::{self, Unpack, UnpackError, length_first, unpack_frame};

/// An LZ4 sequence grows by at most this much a byte.
const LZ4_RATIO_MAX: u64 = 255;

/// Without a dictionary: every block but data blocks of some tables, and blobs.
pub(crate) fn plain() -> Unpack {
    Arc::new(|payload, compression, into| unpack(payload, compression, None, into))
}

/// With a table's dictionary.
pub(crate) fn with_dictionary(bytes: Vec<u8>) -> Unpack {
    let dictionary = Keyed { zstd: zstd_with(&bytes), bytes };
    Arc::new(move |payload, compression, into| unpack(payload, compression, Some(&dictionary), into))
}

/// A dictionary, ready for both ways of packing that use it.
struct Keyed {
    bytes: Vec<u8>,
    /// None where it is no trained dictionary of Zstandard's.
    zstd: Option<Mutex<FrameDecoder>>,
}

fn zstd_with(bytes: &[u8]) -> Option<Mutex<FrameDecoder>> {
    let mut decoder = FrameDecoder::new();
    decoder.add_dict(Dictionary::decode_dict(bytes).ok()?).ok()?;
    Some(Mutex::new(decoder))
}

fn unpack(payload: &[u8], compression: u8, dictionary: Option<&Keyed>, into: &mut Vec<u8>) -> Result<(), UnpackError> {
    into.clear();
    match (compression, dictionary) {
        (0 | 1, _) => unpack::unpack(payload, compression, into),
        (2, Some(_)) => Err(UnpackError::NotRead("zlib with a dictionary".to_owned())),
        (2, None) => zlib(payload, into),
        (3, _) => Err(UnpackError::NotRead("bzip2".to_owned())),
        (4 | 5, _) => lz4(payload, dictionary.map(|dictionary| dictionary.bytes.as_slice()), into),
        (6, _) => Err(UnpackError::NotRead("Xpress".to_owned())),
        (7, Some(Keyed { zstd: None, .. })) => {
            Err(UnpackError::NotRead("Zstandard with an untrained dictionary".to_owned()))
        }
        (7, Some(Keyed { zstd: Some(decoder), .. })) => {
            zstd(payload, &mut decoder.lock().unwrap_or_else(PoisonError::into_inner), into)
        }
        (7, None) => zstd(payload, &mut FrameDecoder::new(), into),
        (other, _) => Err(UnpackError::NotRead(format!("compression type {other}"))),
    }
}

fn zstd(payload: &[u8], decoder: &mut FrameDecoder, into: &mut Vec<u8>) -> Result<(), UnpackError> {
    let (length, frame) = length_first(payload).map_err(|error| UnpackError::Zstd(error.to_string()))?;
    unpack_frame(frame, length, decoder, into)?;
    as_promised(into, length, UnpackError::Zstd)
}

fn zlib(payload: &[u8], into: &mut Vec<u8>) -> Result<(), UnpackError> {
    let (length, stream) = length_first(payload).map_err(|error| UnpackError::Zlib(error.to_string()))?;
    let mut decoder = DeflateDecoder::new(stream).take(length.saturating_add(1));
    decoder.read_to_end(into).map_err(|error| UnpackError::Zlib(error.to_string()))?;
    as_promised(into, length, UnpackError::Zlib)
}

fn lz4(payload: &[u8], dictionary: Option<&[u8]>, into: &mut Vec<u8>) -> Result<(), UnpackError> {
    let (length, packed) = length_first(payload).map_err(|error| UnpackError::Lz4(error.to_string()))?;
    let most = (packed.len() as u64).saturating_mul(LZ4_RATIO_MAX).saturating_add(64);
    let size = usize::try_from(length)
        .ok()
        .filter(|_| length <= most)
        .ok_or_else(|| UnpackError::Lz4(format!("{length} bytes from {} are more than can be", packed.len())))?;
    into.resize(size, 0);
    let done = match dictionary {
        Some(dictionary) => decompress_into_with_dict(packed, into, dictionary),
        None => decompress_into(packed, into),
    };
    let done = done.map_err(|error| UnpackError::Lz4(error.to_string()))?;
    into.truncate(done);
    as_promised(into, length, UnpackError::Lz4)
}

fn as_promised(into: &[u8], length: u64, error: fn(String) -> UnpackError) -> Result<(), UnpackError> {
    let unpacked = into.len() as u64;
    if unpacked == length { Ok(()) } else { Err(error(format!("{unpacked} bytes, not {length}"))) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_way_of_packing() {
        // "aaaaaaaaaaaaaaaaaaaa" behind its length: LZ4's block, a raw deflate stream, a Zstandard frame of one run.
        let lz4 = [20, 0x1a, b'a', 1, 0, 0x50, b'a', b'a', b'a', b'a', b'a'];
        let words = |compression: u8, payload: &[u8]| {
            let mut out = Vec::new();
            plain()(payload, compression, &mut out).map(|()| out).map_err(|error| error.to_string())
        };
        let zlib = [20, 0x4b, 0x4c, 0xc4, 0x4, 0];
        assert_eq!(words(2, &zlib), Ok(vec![b'a'; 20]));
        let zstd = [20, 0x28, 0xb5, 0x2f, 0xfd, 0x20, 20, 0xa3, 0, 0, b'a'];
        assert_eq!(words(7, &zstd), Ok(vec![b'a'; 20]));
        assert_eq!(words(4, &lz4), Ok(vec![b'a'; 20]));
        assert_eq!(words(5, &lz4), Ok(vec![b'a'; 20]));
        assert_eq!(words(3, b"").unwrap_err(), "bzip2 is not unpacked by this version");
        assert_eq!(words(0x80, b"").unwrap_err(), "compression type 128 is not unpacked by this version");
        let forged = words(5, &[0xff, 0xff, 0xff, 0x0f, 0]).unwrap_err();
        assert_eq!(forged, "lz4: 33554431 bytes from 1 are more than can be");
        assert!(words(4, &[0xff, 0xff, 0xff, 0xff, 0x0f]).unwrap_err().contains("above the limit"));
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(
            tail in proptest::collection::vec(any::<u8>(), 0..80),
            compression in 0_u8..9,
            length in 0_u8..100,
            dictionary in proptest::option::of(proptest::collection::vec(any::<u8>(), 0..60)),
            framed in any::<bool>(),
        ) {
            let unpack = match dictionary {
                Some(bytes) => with_dictionary([&[0x37, 0xa4, 0x30, 0xec], &bytes[..]].concat()),
                None => plain(),
            };
            let head: &[u8] = if framed { &[0x28, 0xb5, 0x2f, 0xfd] } else { &[] };
            let _ = unpack(&[&[length], head, &tail].concat(), compression, &mut Vec::new());
        }
    }
}
