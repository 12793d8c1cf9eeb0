//! CRC-32C as the engines store it. *No files.*
//!
//! Source of the mask: goleveldb `leveldb/util/crc32.go`, pebble `internal/crc/crc.go`, RocksDB `util/crc32c.h`.

const MASK_DELTA: u32 = 0xa282_ead8;

/// Plain CRC-32C (Castagnoli).
#[must_use]
pub fn crc32c(bytes: &[u8]) -> u32 {
    crc_fast::crc32_iscsi(bytes)
}

/// CRC-32C, masked as in tables, journals and manifests.
#[must_use]
pub fn masked_crc32c(bytes: &[u8]) -> u32 {
    mask(crc32c(bytes))
}

/// Rotated right by 15 and moved by a constant, so that a checksum of bytes that hold checksums is no trivial value.
#[must_use]
pub fn mask(crc: u32) -> u32 {
    crc.rotate_right(15).wrapping_add(MASK_DELTA)
}

/// The plain checksum of a masked one.
#[must_use]
pub fn unmask(masked: u32) -> u32 {
    masked.wrapping_sub(MASK_DELTA).rotate_left(15)
}

/// CRC-32C of bytes that come in pieces.
#[derive(Clone)]
pub struct Crc32c(crc_fast::Digest);

impl std::fmt::Debug for Crc32c {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Crc32c({:08x})", self.value())
    }
}

impl Default for Crc32c {
    fn default() -> Self {
        Self(crc_fast::Digest::new(crc_fast::CrcAlgorithm::Crc32Iscsi))
    }
}

impl Crc32c {
    /// Adds the next piece.
    pub fn add(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The plain checksum of everything added.
    #[must_use]
    pub fn value(&self) -> u32 {
        // A 32-bit algorithm in the library's 64-bit register: the upper half is zero.
        u32::try_from(self.0.finalize() & u64::from(u32::MAX)).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_that_real_engines_gave() {
        assert_eq!(crc32c(b"123456789"), 0xe306_9283);
        assert_eq!(masked_crc32c(b"123456789"), 0xc78a_b0e5);
        assert_eq!(unmask(0xc78a_b0e5), 0xe306_9283);
        let mut pieces = Crc32c::default();
        pieces.add(b"1234");
        pieces.add(b"");
        pieces.add(b"56789");
        assert_eq!(pieces.value(), 0xe306_9283);
    }
}
