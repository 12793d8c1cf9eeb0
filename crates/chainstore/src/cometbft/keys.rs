//! Keys of block store and state store, in both layouts. *No files.*
//!
//! Source: CometBFT v0.38 `store/store.go` and `state/store.go` (decimal text), v1.0 `store/db_key_layout.go` and
//! `state/store.go` (`orderedcode`, from google/orderedcode `orderedcode.go`); the record `version` names the layout.

use crate::Reason;
use crate::digest::Hex;

/// The block store's own record; the same in both layouts.
pub(crate) const BLOCK_STORE: &[u8] = b"blockStore";
/// The state's own record; the same in both layouts.
pub(crate) const STATE: &[u8] = b"stateKey";
/// The last responses of the application (0.34.25 to 0.40; 1.x reads it after an upgrade).
pub(crate) const LAST_RESPONSES: &[u8] = b"lastABCIResponseKey";
/// Where an offline state sync left the state.
pub(crate) const OFFLINE_STATE_SYNC: &[u8] = b"offlineStateSyncHeightKey";
/// The layout of the other keys (1.0 and later).
pub(crate) const LAYOUT: &[u8] = b"version";

/// How heights are written in keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum KeyLayout {
    /// `H:12`: every version up to 0.40, and 1.0 unless told otherwise. Byte order is not numeric order.
    #[default]
    DecimalText,
    /// `experimental_db_key_layout = "v2"` of 1.0.
    OrderedCode,
}

impl KeyLayout {
    /// From the record that names it.
    pub(crate) fn parse(record: Option<&[u8]>) -> Result<Self, Reason> {
        match record {
            None | Some(b"" | b"v1") => Ok(Self::DecimalText),
            Some(b"v2") => Ok(Self::OrderedCode),
            Some(other) => {
                Err(Reason::Unsupported(format!("key layout {} is not known", crate::records::key_words(other))))
            }
        }
    }

    fn key(self, text: &str, prefix: i64, height: u64) -> Vec<u8> {
        match self {
            Self::DecimalText => format!("{text}{height}").into_bytes(),
            Self::OrderedCode => ordered(&[prefix, height.cast_signed()]),
        }
    }

    /// Block meta.
    pub(crate) fn meta(self, height: u64) -> Vec<u8> {
        self.key("H:", 0, height)
    }

    /// The first part of a block.
    pub(crate) fn first_part(self, height: u64) -> Vec<u8> {
        match self {
            Self::DecimalText => format!("P:{height}:0").into_bytes(),
            Self::OrderedCode => ordered(&[1, height.cast_signed(), 0]),
        }
    }

    /// The commit of a block, stored with the next one.
    pub(crate) fn commit(self, height: u64) -> Vec<u8> {
        self.key("C:", 2, height)
    }

    /// The commit that was seen for a block.
    pub(crate) fn seen_commit(self, height: u64) -> Vec<u8> {
        self.key("SC:", 3, height)
    }

    /// The height of a block hash.
    pub(crate) fn block_hash(self, hash: &[u8]) -> Vec<u8> {
        match self {
            Self::DecimalText => format!("BH:{}", Hex(hash)).into_bytes(),
            Self::OrderedCode => {
                let mut key = ordered(&[5]);
                for byte in hash {
                    // Zero and 0xff are escaped, and a pair ends the string (`orderedcode`: `appendString`).
                    match byte {
                        0x00 => key.extend([0x00, 0xff]),
                        0xff => key.extend([0xff, 0x00]),
                        other => key.push(*other),
                    }
                }
                key.extend([0x00, 0x01]);
                key
            }
        }
    }

    /// What every key of a block meta begins with.
    pub(crate) fn meta_prefix(self) -> Vec<u8> {
        match self {
            Self::DecimalText => b"H:".to_vec(),
            Self::OrderedCode => ordered(&[0]),
        }
    }

    /// Validators.
    pub(crate) fn validators(self, height: u64) -> Vec<u8> {
        self.key("validatorsKey:", 6, height)
    }

    /// Consensus parameters.
    pub(crate) fn consensus_params(self, height: u64) -> Vec<u8> {
        self.key("consensusParamsKey:", 7, height)
    }

    /// Responses of the application.
    pub(crate) fn responses(self, height: u64) -> Vec<u8> {
        self.key("abciResponsesKey:", 8, height)
    }
}

/// Numbers as `orderedcode` writes an `int64` that is not below zero: as many leading one bits as bytes follow the first,
/// then a zero bit, then the number; one byte, with the sign bit flipped, below 64.
fn ordered(numbers: &[i64]) -> Vec<u8> {
    let mut key = Vec::new();
    for number in numbers {
        let value = number.unsigned_abs();
        // A code of n bytes has n leading ones, a zero, and 7 bits a byte for the number, less one for the sign.
        let bits = u64::BITS.saturating_sub(value.leading_zeros());
        let bytes = bits.saturating_add(1).div_ceil(7).max(1);
        let ones = u128::MAX.checked_shl(u128::BITS.saturating_sub(bytes)).unwrap_or_default();
        let shift = u128::BITS.saturating_sub(bytes.saturating_mul(8));
        let code = ones | (u128::from(value) << shift);
        let length = usize::try_from(bytes).unwrap_or_default();
        key.extend(code.to_be_bytes().iter().take(length));
    }
    key
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordered_codes_are_those_of_the_go_library() {
        // Made by orderedcode.Append(nil, int64(x)).
        for (number, code) in ORDERED {
            let hex = Hex(&ordered(&[*number])).to_string();
            assert_eq!(hex, *code, "{number}");
        }
        let layout = KeyLayout::OrderedCode;
        assert_eq!(Hex(&layout.first_part(21_000_000)).to_string(), "81f1406f4080");
        assert_eq!(Hex(&layout.block_hash(b"\x00\xffab")).to_string(), "8500ffff0061620001");
    }

    const ORDERED: &[(i64, &str)] = &[
        (0, "80"),
        (1, "81"),
        (12, "8c"),
        (63, "bf"),
        (64, "c040"),
        (127, "c07f"),
        (128, "c080"),
        (8191, "dfff"),
        (8192, "e02000"),
        (8193, "e02001"),
        (1_048_575, "efffff"),
        (1_048_576, "f0100000"),
        (21_000_000, "f1406f40"),
        (134_217_727, "f7ffffff"),
        (134_217_728, "f808000000"),
        (17_179_869_183, "fbffffffff"),
        (17_179_869_184, "fc0400000000"),
        (2_199_023_255_551, "fdffffffffff"),
        (2_199_023_255_552, "fe020000000000"),
        (281_474_976_710_655, "feffffffffffff"),
        (281_474_976_710_656, "ff01000000000000"),
        (36_028_797_018_963_967, "ff7fffffffffffff"),
        (36_028_797_018_963_968, "ff8080000000000000"),
        (4_611_686_018_427_387_903, "ffbfffffffffffffff"),
        (4_611_686_018_427_387_904, "ffc04000000000000000"),
        (9_223_372_036_854_775_807, "ffc07fffffffffffffff"),
    ];

    #[test]
    fn text_keys_are_those_of_the_node() {
        let layout = KeyLayout::DecimalText;
        assert_eq!(layout.first_part(12), b"P:12:0");
        assert_eq!(layout.seen_commit(12), b"SC:12");
        assert_eq!(layout.block_hash(&[0xab, 1]), b"BH:ab01");
        assert_eq!(layout.validators(14), b"validatorsKey:14");
        assert_eq!(KeyLayout::parse(Some(b"v2")), Ok(KeyLayout::OrderedCode));
        assert!(KeyLayout::parse(Some(b"v3")).is_err());
    }
}
