//! How one WAL's chunks are framed, and whether its records are packed. *Files, read-only.*
//!
//! Source: RocksDB `db/log_format.h`, `db/log_reader.cc`, `db/log_writer.cc`; formats 3. An engine that uses the files of old WALs
//! again writes the WAL's number into each chunk. Besides records there are chunks that stand for themselves: how records are
//! packed (9), how long timestamps are (10, 11), the WAL before (130, 131), and from 128 on what older engines pass over.

use crate::data_file::DataFile;
use crate::lsm::at_break::AtBreak;
use crate::lsm::framing::{BLOCK_BYTES, Chunk, Dialect, LEGACY, LEGACY_HEADER, RECYCLABLE_HEADER};
use crate::lsm::framing::{chunk_at, next_good_chunk};
use crate::read_error::ReadError;

/// Sets how the records that follow are packed.
const SET_COMPRESSION: u8 = 9;

/// Kinds that an engine passes over if it does not know them.
const SAFE_TO_IGNORE: u8 = 1 << 7;

/// How a WAL is to be read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WalFormat {
    pub(crate) dialect: Dialect,
    /// By what its records are packed; 0 for not at all.
    pub(crate) compression: u32,
}

/// Without log numbers.
const PLAIN: Dialect = Dialect {
    longest: LEGACY_HEADER,
    header: plain_header,
    note: is_note,
    log_number: None,
    at_break: AtBreak::StopsUnlessZero,
    ..LEGACY
};

/// With log numbers.
const NUMBERED: Dialect = Dialect { longest: RECYCLABLE_HEADER, header: numbered_header, ..PLAIN };

fn plain_header(kind: u8) -> Option<usize> {
    let known = matches!(kind, 1..=4 | SET_COMPRESSION | 10 | 130) || kind & SAFE_TO_IGNORE != 0;
    known.then_some(LEGACY_HEADER)
}

fn numbered_header(kind: u8) -> Option<usize> {
    match kind {
        5..=8 | 11 | 131 => Some(RECYCLABLE_HEADER),
        SET_COMPRESSION => Some(LEGACY_HEADER),
        kind if kind & SAFE_TO_IGNORE != 0 => Some(LEGACY_HEADER),
        _ => None,
    }
}

fn is_note(kind: u8) -> bool {
    kind > 8
}

/// Tells it by the first chunks. `log_number` is what chunks that carry one must have.
pub(crate) fn of(file: &DataFile, log_number: u32) -> Result<WalFormat, ReadError> {
    let mut block = vec![0; BLOCK_BYTES];
    let filled = file.read_up_to_at(&mut block, 0)?;
    block.truncate(filled);
    Ok(of_block(&block, log_number))
}

fn of_block(block: &[u8], log_number: u32) -> WalFormat {
    let numbered = Dialect { log_number: Some(log_number), ..NUMBERED };
    let dialect = if is_numbered(block, numbered) { numbered } else { PLAIN };
    let compression = chunk_at(block, 0, 0, dialect)
        .filter(|chunk| chunk.is_good() && chunk.kind == SET_COMPRESSION)
        .and_then(|chunk| block.get(chunk.header..chunk.total())?.first_chunk::<4>().copied())
        .map_or(0, u32::from_le_bytes);
    WalFormat { dialect, compression }
}

/// Good chunks tell it; where there is none but a broken first one, its type does, with a bit flipped back if need be.
fn is_numbered(block: &[u8], numbered: Dialect) -> bool {
    let first = |dialect| {
        let at_start = chunk_at(block, 0, 0, dialect).filter(|chunk: &Chunk| chunk.is_good() && !is_note(chunk.kind));
        at_start.or_else(|| next_good_chunk(block, 0, 0, dialect)).map(|chunk| chunk.offset)
    };
    match (first(PLAIN), first(numbered)) {
        (Some(plain), Some(with_number)) => with_number < plain,
        (None, Some(_)) => true,
        (Some(_), None) => false,
        (None, None) => {
            let is_good = |dialect: Dialect, block: &[u8]| chunk_at(block, 0, 0, dialect).is_some_and(|c| c.is_good());
            let repaired = (0..8_u8).find_map(|bit| {
                let mut probe = block.to_vec();
                *probe.get_mut(6)? ^= 1 << bit;
                match (is_good(PLAIN, &probe), is_good(numbered, &probe)) {
                    (false, false) => None,
                    (plain, _) => Some(!plain),
                }
            });
            repaired.unwrap_or_else(|| block.get(6).is_some_and(|kind| matches!(kind, 5..=8)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::masked_crc32c;
    use proptest::prelude::*;

    fn chunk(kind: u8, log_number: Option<u32>, payload: &[u8]) -> Vec<u8> {
        let number = log_number.map(u32::to_le_bytes);
        let covered = [&[kind][..], number.as_ref().map_or(&[][..], |bytes| &bytes[..]), payload].concat();
        let length = u16::try_from(payload.len()).unwrap();
        [&masked_crc32c(&covered).to_le_bytes()[..], &length.to_le_bytes(), &covered].concat()
    }

    #[test]
    fn good_chunks_tell() {
        let number = |block: &[u8]| of_block(block, 7).dialect.log_number;
        assert_eq!(number(&chunk(1, None, b"record")), None);
        assert_eq!(number(&chunk(5, Some(7), b"record")), Some(7));
        assert_eq!(number(b""), None);
        let packed = [chunk(9, None, &[7, 0, 0, 0]), chunk(5, Some(7), b"record")].concat();
        let format = of_block(&packed, 7);
        assert_eq!((format.compression, format.dialect.log_number), (7, Some(7)));
    }

    #[test]
    fn one_flipped_bit_does_not_change_the_answer() {
        for (log_number, kind) in [(None, 1), (Some(7), 5)] {
            for more in [Vec::new(), chunk(kind, log_number, b"another")] {
                let good = [chunk(kind, log_number, b"record"), more].concat();
                for bit in 0..18 * 8 {
                    let mut broken = good.clone();
                    if bit / 8 < broken.len() {
                        broken[bit / 8] ^= 1 << (bit % 8);
                    }
                    let told = of_block(&broken, 7).dialect.log_number;
                    assert_eq!(told, log_number, "bit {bit} of {} bytes", broken.len());
                }
            }
        }
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(block in proptest::collection::vec(any::<u8>(), 0..64)) {
            let _ = of_block(&block, 7);
        }
    }
}
