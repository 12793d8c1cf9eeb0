//! The five bytes after a block's payload: how it is packed, and its checksum. *No files.*
//!
//! Source: LevelDB `table/format.h`, pebble `sstable/table.go`, RocksDB `table/format.cc`. The checksum covers the payload
//! as stored and the type byte, so nothing is unpacked to verify it.

use xxhash_rust::xxh3::{Xxh3, xxh3_64};
use xxhash_rust::xxh32::{Xxh32, xxh32};
use xxhash_rust::xxh64::{Xxh64, xxh64};

use crate::checksum::{Crc32c, crc32c, mask};

/// How a table's blocks are summed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Checksum {
    /// Nothing: no byte can be compared with anything.
    None,
    /// Masked CRC-32C: LevelDB always, Pebble by default, RocksDB up to 7.7.
    Crc32c,
    /// XXH32 with seed 0.
    XxHash,
    /// The lower half of XXH64 with seed 0.
    XxHash64,
    /// The lower half of XXH3 over all but the last byte, which is mixed in behind it: RocksDB from 7.8 on.
    Xxh3,
}

/// By what RocksDB multiplies the last byte.
const LAST_BYTE: u32 = 0x6b90_83d9;

impl Checksum {
    /// The four bytes that a writer stores for these.
    pub(crate) fn of(self, covered: &[u8]) -> u32 {
        match self {
            Self::None => 0,
            Self::Crc32c => mask(crc32c(covered)),
            Self::XxHash => xxh32(covered, 0),
            Self::XxHash64 => lower_half(xxh64(covered, 0)),
            Self::Xxh3 => covered.split_last().map_or(0, |(last, front)| with_last(xxh3_64(front), *last)),
        }
    }
}

fn with_last(sum: u64, last: u8) -> u32 {
    lower_half(sum) ^ u32::from(last).wrapping_mul(LAST_BYTE)
}

fn lower_half(sum: u64) -> u32 {
    u32::try_from(sum & u64::from(u32::MAX)).unwrap_or_default()
}

/// A checksum of bytes that come in pieces.
pub(crate) enum Sum {
    None,
    Crc32c(Box<Crc32c>),
    XxHash(Box<Xxh32>),
    XxHash64(Box<Xxh64>),
    /// The last byte is held back.
    Xxh3(Box<Xxh3>, Option<u8>),
}

impl Sum {
    pub(crate) fn new(checksum: Checksum) -> Self {
        match checksum {
            Checksum::None => Self::None,
            Checksum::Crc32c => Self::Crc32c(Box::default()),
            Checksum::XxHash => Self::XxHash(Box::new(Xxh32::new(0))),
            Checksum::XxHash64 => Self::XxHash64(Box::new(Xxh64::new(0))),
            Checksum::Xxh3 => Self::Xxh3(Box::new(Xxh3::new()), None),
        }
    }

    /// Adds the next piece.
    pub(crate) fn add(&mut self, bytes: &[u8]) {
        match self {
            Self::None => {}
            Self::Crc32c(sum) => sum.add(bytes),
            Self::XxHash(sum) => sum.update(bytes),
            Self::XxHash64(sum) => sum.update(bytes),
            Self::Xxh3(sum, held) => {
                let Some((last, front)) = bytes.split_last() else { return };
                sum.update(held.replace(*last).as_slice());
                sum.update(front);
            }
        }
    }

    /// The four bytes that a writer stores for everything added.
    pub(crate) fn value(&self) -> u32 {
        match self {
            Self::None => 0,
            Self::Crc32c(sum) => mask(sum.value()),
            Self::XxHash(sum) => sum.digest(),
            Self::XxHash64(sum) => lower_half(sum.digest()),
            Self::Xxh3(sum, held) => held.map_or(0, |last| with_last(sum.digest(), last)),
        }
    }
}

/// How a table's blocks are sealed: their checksum, and what is added to it by place.
///
/// Source: RocksDB `table/format.h` (`ChecksumModifierForContext`). From format version 6 on a table has a number of its own,
/// so that a right block in a wrong place, or of another table, does not fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Seal {
    pub(crate) checksum: Checksum,
    /// The table's number; 0 where places do not count.
    pub(crate) base: u32,
}

impl From<Checksum> for Seal {
    fn from(checksum: Checksum) -> Self {
        Self { checksum, base: 0 }
    }
}

impl Seal {
    /// What is added to the checksum of a block at an offset.
    pub(crate) fn modifier(self, offset: u64) -> u32 {
        let [low, high] = [offset, offset >> 32].map(lower_half);
        if self.base == 0 { 0 } else { self.base ^ low.wrapping_add(high) }
    }

    /// The four bytes that a writer stores for these at an offset.
    pub(crate) fn of(self, covered: &[u8], offset: u64) -> u32 {
        self.checksum.of(covered).wrapping_add(self.modifier(offset))
    }
}

/// What a block's trailer says and what its bytes give.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Trailer {
    /// How the payload is packed.
    pub(crate) compression: u8,
    /// The stored checksum.
    pub(crate) stored: u32,
    /// What it would be for these bytes.
    pub(crate) computed: u32,
    /// How it is sealed.
    pub(crate) seal: Seal,
}

impl Trailer {
    /// Whether the bytes fit their checksum; where there is none, nothing is at odds with it.
    pub(crate) fn fits(&self) -> bool {
        self.computed == self.stored || self.seal.checksum == Checksum::None
    }

    /// Of a stored block that is wholly in memory and stands at `offset` in its file.
    pub(crate) fn of(stored_block: &[u8], offset: u64, seal: Seal) -> Option<Self> {
        let (covered, stored) = stored_block.split_last_chunk::<4>()?;
        let computed = seal.of(covered, offset);
        Some(Self { compression: *covered.last()?, stored: u32::from_le_bytes(*stored), computed, seal })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_that_real_engines_gave() {
        for (checksum, wanted) in [
            (Checksum::None, 0),
            (Checksum::Crc32c, 0xc78a_b0e5),
            (Checksum::XxHash, 0x937b_ad67),
            (Checksum::XxHash64, 0x40e6_ae83),
            (Checksum::Xxh3, 0x5eb3_75a7),
        ] {
            assert_eq!(checksum.of(b"123456789"), wanted);
            let mut pieces = Sum::new(checksum);
            pieces.add(b"1234");
            pieces.add(b"56789");
            assert_eq!(pieces.value(), wanted);
        }
    }

    #[test]
    fn place_and_table_count_where_the_table_has_a_number() {
        let seal = Seal { checksum: Checksum::Crc32c, base: 0x1000_0001 };
        assert_eq!(seal.modifier(0), 0x1000_0001);
        assert_eq!(seal.modifier(0x2_0000_0003), 0x1000_0004);
        assert_eq!(seal.of(b"123456789", 1), 0xc78a_b0e5_u32.wrapping_add(0x1000_0000));
        assert_eq!(Seal::from(Checksum::Crc32c).modifier(77), 0);
    }
}
