//! The five bytes after a block's payload: how it is packed, and its checksum. *No files.*
//!
//! Source: LevelDB `table/format.h`, pebble `sstable/table.go`, RocksDB `table/format.cc`. The checksum covers the payload
//! as stored and the type byte, so nothing is unpacked to verify it.

use xxhash_rust::xxh64::{Xxh64, xxh64};

use crate::checksum::{Crc32c, crc32c, mask};

/// How a table's blocks are summed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Checksum {
    /// Masked CRC-32C: LevelDB always, Pebble and RocksDB by default.
    Crc32c,
    /// The lower half of XXH64 with seed 0.
    XxHash64,
}

impl Checksum {
    /// The four bytes that a writer stores for these.
    pub(crate) fn of(self, covered: &[u8]) -> u32 {
        match self {
            Self::Crc32c => mask(crc32c(covered)),
            Self::XxHash64 => lower_half(xxh64(covered, 0)),
        }
    }
}

fn lower_half(sum: u64) -> u32 {
    u32::try_from(sum & u64::from(u32::MAX)).unwrap_or_default()
}

/// A checksum of bytes that come in pieces.
pub(crate) enum Sum {
    Crc32c(Box<Crc32c>),
    XxHash64(Box<Xxh64>),
}

impl Sum {
    pub(crate) fn new(checksum: Checksum) -> Self {
        match checksum {
            Checksum::Crc32c => Self::Crc32c(Box::default()),
            Checksum::XxHash64 => Self::XxHash64(Box::new(Xxh64::new(0))),
        }
    }

    /// Adds the next piece.
    pub(crate) fn add(&mut self, bytes: &[u8]) {
        match self {
            Self::Crc32c(sum) => sum.add(bytes),
            Self::XxHash64(sum) => sum.update(bytes),
        }
    }

    /// The four bytes that a writer stores for everything added.
    pub(crate) fn value(&self) -> u32 {
        match self {
            Self::Crc32c(sum) => mask(sum.value()),
            Self::XxHash64(sum) => lower_half(sum.digest()),
        }
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
    /// How it is summed.
    pub(crate) checksum: Checksum,
}

impl Trailer {
    /// Whether the bytes fit their checksum.
    pub(crate) fn fits(&self) -> bool {
        self.computed == self.stored
    }

    /// Of a stored block that is wholly in memory.
    pub(crate) fn of(stored_block: &[u8], checksum: Checksum) -> Option<Self> {
        let (covered, stored) = stored_block.split_last_chunk::<4>()?;
        let computed = checksum.of(covered);
        Some(Self { compression: *covered.last()?, stored: u32::from_le_bytes(*stored), computed, checksum })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_that_real_engines_gave() {
        for (checksum, wanted) in [(Checksum::Crc32c, 0xc78a_b0e5), (Checksum::XxHash64, 0x40e6_ae83)] {
            assert_eq!(checksum.of(b"123456789"), wanted);
            let mut pieces = Sum::new(checksum);
            pieces.add(b"1234");
            pieces.add(b"56789");
            assert_eq!(pieces.value(), wanted);
        }
    }
}
