//! Blocks of keys and values, each key told by what it shares with the one before. *No files.*
//!
//! Source: LevelDB `table/block.cc`, `table/block_builder.cc`; formats 2.1. An entry: `shared uvarint, unshared uvarint,
//! value length uvarint, key suffix, value`; at the end `restart count × fixed32`, then the count. Nothing is believed
//! because a checksum fits: every length is compared with what is there.

use std::cmp::Ordering;

use crate::{Cut, CutError, CutProblem, Part};

const RESTART_COUNT: Part = Part::new("restart count");
const BUCKET_COUNT: Part = Part::new("hash bucket count");
const BUCKETS: Part = Part::new("hash buckets");
const RESTART_ARRAY: Part = Part::new("restart array");
const RESTART: Part = Part::new("restart offset");
const SHARED: Part = Part::new("shared key length");
const UNSHARED: Part = Part::new("unshared key length");
const VALUE_LENGTH: Part = Part::new("value length");
const KEY_SUFFIX: Part = Part::new("key suffix");
const VALUE: Part = Part::new("value");

/// Keys above this are no keys of a chain's database; it bounds what one thread holds.
pub(crate) const KEY_BYTES_MAX: u64 = 16 << 20;

/// An entry's key and value.
pub(crate) type Row<'a> = (Vec<u8>, &'a [u8]);

/// What the highest bit of restart count and restart offsets means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TopBits {
    /// It is part of the number (LevelDB).
    Number,
    /// It is a flag and masked (Pebble from table format v3).
    Flag,
    /// It says of the restart count that a hash index stands between restarts and count, and the bits below it are flags
    /// too (RocksDB).
    HashIndex,
}

/// Bits of RocksDB's restart count: hash index, and keys that are spread evenly. Two more are kept for later formats.
const HASH_INDEX: u32 = 1 << 31;
const UNIFORM: u32 = 1 << 29;

/// An unpacked block.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RowBlock<'a> {
    entries: &'a [u8],
    restarts: Cut<'a>,
    top_bits: TopBits,
}

impl<'a> RowBlock<'a> {
    /// Finds entries and restarts.
    pub(crate) fn parse(block: &'a [u8], top_bits: TopBits) -> Result<Self, CutError> {
        let mut entries = Cut::new(block, 0);
        let mut tail = entries.take_end(RESTART_COUNT, 4)?;
        let start = tail;
        let raw = tail.u32_le(RESTART_COUNT)?;
        let count = match top_bits {
            TopBits::Number => raw,
            TopBits::Flag => raw & 0x7fff_ffff,
            TopBits::HashIndex => raw & !(HASH_INDEX | UNIFORM),
        };
        if top_bits == TopBits::HashIndex && raw & HASH_INDEX != 0 {
            let buckets = entries.take_end(BUCKET_COUNT, 2)?.u16_le(BUCKET_COUNT)?;
            entries.take_end(BUCKETS, u64::from(buckets))?;
        }
        let limit = entries.left() / 4;
        if u64::from(count) > limit {
            return Err(start.error(RESTART_COUNT, CutProblem::AboveLimit { value: u64::from(count), limit }));
        }
        let restarts = entries.take_end(RESTART_ARRAY, u64::from(count).saturating_mul(4))?;
        Ok(Self { entries: entries.rest(), restarts, top_bits })
    }

    /// The entries, encoded.
    pub(crate) fn entries(&self) -> Cut<'a> {
        Cut::new(self.entries, 0)
    }

    /// How many restart points there are.
    pub(crate) fn restart_count(&self) -> u64 {
        self.restarts.left() / 4
    }

    fn restart(&self, index: u64) -> Result<usize, CutError> {
        let mut cut = self.restarts;
        cut.take(RESTART, index.saturating_mul(4))?;
        let start = cut;
        let raw = cut.u32_le(RESTART)?;
        let offset = if self.top_bits == TopBits::Flag { raw & 0x7fff_ffff } else { raw };
        let limit = self.entries.len() as u64;
        match usize::try_from(offset) {
            Ok(offset) if offset as u64 <= limit => Ok(offset),
            _ => Err(start.error(RESTART, CutProblem::AboveLimit { value: u64::from(offset), limit })),
        }
    }

    /// A cursor before the first entry.
    pub(crate) fn cursor(&self) -> RowCursor<'a> {
        RowCursor { block: *self, at: 0, key: Vec::new(), value: &[] }
    }

    /// A cursor that stands on the first entry whose key is not below `target`; false if there is none.
    pub(crate) fn seek(
        &self,
        target: &[u8],
        compare: impl Fn(&[u8], &[u8]) -> Ordering,
    ) -> Result<(RowCursor<'a>, bool), CutError> {
        let mut cursor = self.cursor_before(target, &compare)?;
        while cursor.advance()? {
            if compare(&cursor.key, target) != Ordering::Less {
                return Ok((cursor, true));
            }
        }
        Ok((cursor, false))
    }

    /// Key and value of the last entry whose key is below `bound`.
    pub(crate) fn last_below(
        &self,
        bound: &[u8],
        compare: impl Fn(&[u8], &[u8]) -> Ordering,
    ) -> Result<Option<Row<'a>>, CutError> {
        let mut cursor = self.cursor_before(bound, &compare)?;
        let mut last = None;
        while cursor.advance()? && compare(&cursor.key, bound) == Ordering::Less {
            last = Some((cursor.key.clone(), cursor.value));
        }
        Ok(last)
    }

    /// A cursor before the restart point from which every key below `target` that could matter is still ahead.
    fn cursor_before(
        &self,
        target: &[u8],
        compare: impl Fn(&[u8], &[u8]) -> Ordering,
    ) -> Result<RowCursor<'a>, CutError> {
        let (mut low, mut high) = (0, self.restart_count());
        while high.saturating_sub(low) > 1 {
            let middle = low.midpoint(high);
            let mut probe = self.cursor();
            probe.at = self.restart(middle)?;
            if probe.advance()? && compare(&probe.key, target) == Ordering::Less {
                low = middle;
            } else {
                high = middle;
            }
        }
        let mut cursor = self.cursor();
        if self.restart_count() > 0 {
            cursor.at = self.restart(low)?;
        }
        Ok(cursor)
    }
}

/// Goes through a block's entries.
#[derive(Debug, Clone)]
pub(crate) struct RowCursor<'a> {
    block: RowBlock<'a>,
    at: usize,
    key: Vec<u8>,
    value: &'a [u8],
}

impl<'a> RowCursor<'a> {
    /// To the next entry; false at the end.
    pub(crate) fn advance(&mut self) -> Result<bool, CutError> {
        let left = self.block.entries.get(self.at..).unwrap_or_default();
        if left.is_empty() {
            return Ok(false);
        }
        let mut cut = Cut::new(left, self.at as u64);
        let shared = cut.uvarint_at_most(SHARED, self.key.len() as u64)?;
        let unshared = cut.uvarint_at_most(UNSHARED, cut.left().min(KEY_BYTES_MAX))?;
        let value_length = cut.uvarint(VALUE_LENGTH)?;
        let suffix = cut.take(KEY_SUFFIX, unshared)?;
        let value = cut.take(VALUE, value_length)?;
        self.key.truncate(usize::try_from(shared).unwrap_or(usize::MAX));
        self.key.extend_from_slice(suffix.rest());
        self.value = value.rest();
        self.at = self.block.entries.len().saturating_sub(cut.rest().len());
        Ok(true)
    }

    /// The current entry's key.
    pub(crate) fn key(&self) -> &[u8] {
        &self.key
    }

    /// The current entry's value.
    pub(crate) fn value(&self) -> &'a [u8] {
        self.value
    }

    /// Where the next entry begins in the unpacked block.
    pub(crate) fn position(&self) -> usize {
        self.at
    }

    /// A cursor that goes on after the current entry, without borrowing from this one.
    pub(crate) fn resume(block: RowBlock<'a>, at: usize, key: Vec<u8>) -> Self {
        Self { block, at, key, value: &[] }
    }

    /// The key's buffer, to be used again.
    pub(crate) fn into_key(self) -> Vec<u8> {
        self.key
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn block(entries: &[(&[u8], &[u8])], interval: usize) -> Vec<u8> {
        let (mut out, mut restarts, mut last) = (Vec::new(), Vec::new(), &b""[..]);
        for (n, (key, value)) in entries.iter().enumerate() {
            let shared = if n % interval == 0 {
                restarts.extend_from_slice(&u32::try_from(out.len()).unwrap().to_le_bytes());
                0
            } else {
                key.iter().zip(last).take_while(|(a, b)| a == b).count()
            };
            out.extend_from_slice(&[
                u8::try_from(shared).unwrap(),
                u8::try_from(key.len() - shared).unwrap(),
                u8::try_from(value.len()).unwrap(),
            ]);
            out.extend_from_slice(&key[shared..]);
            out.extend_from_slice(value);
            last = key;
        }
        let count = u32::try_from(restarts.len() / 4).unwrap();
        [out, restarts, count.to_le_bytes().to_vec()].concat()
    }

    #[test]
    fn entries_come_back_and_are_found() {
        let entries: [(&[u8], &[u8]); 5] = [(b"a", b"1"), (b"ab", b"2"), (b"abc", b""), (b"b", b"4"), (b"bb", b"5")];
        let bytes = block(&entries, 2);
        let block = RowBlock::parse(&bytes, TopBits::Number).unwrap();
        let mut cursor = block.cursor();
        for (key, value) in entries {
            assert!(cursor.advance().unwrap());
            assert_eq!((cursor.key(), cursor.value()), (key, value));
        }
        assert!(!cursor.advance().unwrap());
        let (found, there) = block.seek(b"abd", Ord::cmp).unwrap();
        assert!(there);
        assert_eq!(found.key(), b"b");
        assert!(!block.seek(b"c", Ord::cmp).unwrap().1);
        assert_eq!(block.last_below(b"b", Ord::cmp).unwrap().unwrap().0, b"abc");
        assert_eq!(block.last_below(b"zz", Ord::cmp).unwrap().unwrap().0, b"bb");
        assert_eq!(block.last_below(b"a", Ord::cmp).unwrap(), None);
    }

    #[test]
    fn a_forged_restart_count_is_refused() {
        let error = RowBlock::parse(&[0, 0, 0, 0, 0xff, 0xff, 0xff, 0x3f], TopBits::Number).unwrap_err();
        assert_eq!(error.to_string(), "restart count at offset 4: 1073741823 is above the limit of 1");
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200), key in any::<[u8; 3]>()) {
            for top_bits in [TopBits::Number, TopBits::Flag, TopBits::HashIndex] {
                if let Ok(block) = RowBlock::parse(&bytes, top_bits) {
                    let mut cursor = block.cursor();
                    while matches!(cursor.advance(), Ok(true)) {}
                    let _ = block.seek(&key, Ord::cmp);
                    let _ = block.last_below(&key, Ord::cmp);
                }
            }
        }
    }
}
