//! The last 53 bytes of a table. *No files.*
//!
//! Source: RocksDB `table/format.cc` (`Footer::DecodeFrom`); formats 2.2. Up to format version 5: checksum type, two handles,
//! padding that nobody looks at, version, magic; without a checksum. From 6 on: checksum type, `3e 00 7a 00`, a checksum over
//! the footer, the table's own number, the metaindex block's size, 24 bytes of zeros of which the last 8 are looked at,
//! version, magic; the index is named by the metaindex.

use crate::lsm::block::{Handle, TRAILER_BYTES};
use crate::lsm::trailer::{Checksum, Seal};
use crate::{Cut, CutError, Part};

/// Bytes of a footer.
pub(crate) const FOOTER_BYTES: u64 = FOOTER_LENGTH as u64;
pub(crate) const FOOTER_LENGTH: usize = 53;

/// `0x88e241b785f4cff7`, little-endian.
pub(crate) const MAGIC: [u8; 8] = [0xf7, 0xcf, 0xf4, 0x85, 0xb7, 0x41, 0xe2, 0x88];

/// Other kinds of tables, which a node does not write.
const OTHER_MAGIC: &[(u64, &str)] = &[
    (0xdb47_7524_8b80_fb57, "a table of LevelDB's format"),
    (0x8242_2296_63bf_9564, "a plain table"),
    (0x4f34_18eb_7a8f_13b8, "a plain table"),
    (0x9267_89d0_c5f1_7873, "a cuckoo table"),
];

/// What stands behind the checksum type from version 6 on.
const EXTENDED: [u8; 4] = [0x3e, 0x00, 0x7a, 0x00];

/// From this format version on the footer is checked, and blocks are sealed with their place.
const CONTEXT: u32 = 6;

const CHECKSUM_TYPE: Part = Part::new("footer checksum type");
const HANDLES: Part = Part::new("footer handles");
const EXTENDED_MAGIC: Part = Part::new("extended magic");
const FOOTER_CHECKSUM: Part = Part::new("footer checksum");
const BASE: Part = Part::new("base context checksum");
const METAINDEX_SIZE: Part = Part::new("metaindex size");
const RESERVED: Part = Part::new("footer reserve");
const VERSION: Part = Part::new("footer version");
const MAGIC_PART: Part = Part::new("footer magic");

/// What a footer says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Footer {
    pub(crate) version: u32,
    pub(crate) seal: Seal,
    pub(crate) metaindex: Handle,
    /// None where the metaindex names the index.
    pub(crate) index: Option<Handle>,
    /// Where the footer begins.
    pub(crate) start: u64,
}

/// Why 53 bytes are no footer that can be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum FooterError {
    /// They are wrong.
    #[error("{0}")]
    Wrong(String),
    /// They are of a format that is not read; named.
    #[error("{0}")]
    Unsupported(String),
}

impl From<CutError> for FooterError {
    fn from(error: CutError) -> Self {
        Self::Wrong(error.to_string())
    }
}

impl Footer {
    /// Reads the last bytes of a file of `file_bytes` bytes; every block lies before them, and the metaindex is the last.
    pub(crate) fn parse(bytes: &[u8; FOOTER_LENGTH], file_bytes: u64) -> Result<Self, FooterError> {
        let wrong = |words: String| Err(FooterError::Wrong(words));
        let start = file_bytes.saturating_sub(FOOTER_BYTES);
        let mut cut = Cut::new(bytes, start);
        let magic = cut.take_end(MAGIC_PART, 8)?;
        let version = cut.take_end(VERSION, 4)?.u32_le(VERSION)?;
        if magic.rest() != MAGIC {
            return Err(foreign(u64::from_le_bytes({ magic }.array(MAGIC_PART)?)));
        }
        if !(2..=7).contains(&version) {
            return Err(FooterError::Unsupported(format!("format version {version} of RocksDB's tables")));
        }
        let checksum = match cut.u8(CHECKSUM_TYPE)? {
            0 => Checksum::None,
            1 => Checksum::Crc32c,
            2 => Checksum::XxHash,
            3 => Checksum::XxHash64,
            4 => Checksum::Xxh3,
            other => return wrong(format!("unsupported checksum type {other}")),
        };
        let footer = if version >= CONTEXT {
            with_context(bytes, &mut cut, version, checksum, start)?
        } else {
            let mut handles = cut.take(HANDLES, 40)?;
            let metaindex = Handle::cut(&mut handles)?;
            let index = Some(Handle::cut(&mut handles)?);
            Self { version, seal: checksum.into(), metaindex, index, start }
        };
        let metaindex = footer.metaindex;
        if metaindex.end() != Some(start) {
            return wrong(format!("bad metaindex block handle ({}, {})", metaindex.offset, metaindex.size));
        }
        if let Some(index) = footer.index.filter(|index| !index.fits(metaindex.offset)) {
            return wrong(format!("bad index block handle ({}, {})", index.offset, index.size));
        }
        Ok(footer)
    }
}

/// The footer from version 6 on, behind the checksum type.
fn with_context(
    bytes: &[u8; FOOTER_LENGTH],
    cut: &mut Cut<'_>,
    version: u32,
    checksum: Checksum,
    start: u64,
) -> Result<Footer, FooterError> {
    let extended: [u8; 4] = cut.array(EXTENDED_MAGIC)?;
    if extended != EXTENDED {
        return Err(FooterError::Wrong("bad extended magic number".to_owned()));
    }
    let stored = cut.u32_le(FOOTER_CHECKSUM)?;
    let seal = Seal { checksum, base: cut.u32_le(BASE)? };
    let size = u64::from(cut.u32_le(METAINDEX_SIZE)?);
    cut.take(RESERVED, 16)?;
    let reserved = cut.u64_le(RESERVED)?;
    if seal.base == 0 {
        return Err(FooterError::Wrong("invalid base context checksum".to_owned()));
    }
    let mut without = *bytes;
    without.iter_mut().skip(5).take(4).for_each(|byte| *byte = 0);
    let computed = seal.of(&without, start);
    if computed != stored {
        return Err(FooterError::Wrong(format!("checksum mismatch: {stored:#010x} stored, {computed:#010x} computed")));
    }
    if reserved != 0 {
        return Err(FooterError::Unsupported("a table that uses a newer feature".to_owned()));
    }
    let offset = start.checked_sub(size.saturating_add(TRAILER_BYTES));
    let offset = offset.ok_or_else(|| FooterError::Wrong(format!("a metaindex of {size} bytes does not fit")))?;
    Ok(Footer { version, seal, metaindex: Handle { offset, size }, index: None, start })
}

fn foreign(magic: u64) -> FooterError {
    match OTHER_MAGIC.iter().find(|(known, _)| *known == magic) {
        Some((_, what)) => FooterError::Unsupported((*what).to_owned()),
        None => FooterError::Wrong(format!("bad magic number: {magic:#018x}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A footer at 200 behind a metaindex of 30 bytes at 165 and an index of 20 at 100.
    fn footer(version: u32) -> [u8; FOOTER_LENGTH] {
        let mut bytes = [0; FOOTER_LENGTH];
        bytes[..6].copy_from_slice(&[1, 0xa5, 1, 30, 100, 20]);
        bytes[41..45].copy_from_slice(&version.to_le_bytes());
        bytes[45..].copy_from_slice(&MAGIC);
        bytes
    }

    /// The same place, from version 6 on.
    fn checked(version: u32, reserved: u8) -> [u8; FOOTER_LENGTH] {
        let mut bytes = footer(version);
        bytes[1..5].copy_from_slice(&EXTENDED);
        bytes[5..17].copy_from_slice(&[0, 0, 0, 0, 7, 0, 0, 0, 30, 0, 0, 0]);
        bytes[40] = reserved;
        let seal = Seal { checksum: Checksum::Crc32c, base: 7 };
        let sum = seal.of(&bytes, 200);
        bytes[5..9].copy_from_slice(&sum.to_le_bytes());
        bytes
    }

    #[test]
    fn both_layouts() {
        let old = Footer::parse(&footer(5), 253).unwrap();
        assert_eq!((old.metaindex.offset, old.index.map(|index| index.size), old.seal.base), (165, Some(20), 0));
        for version in [6, 7] {
            let new = Footer::parse(&checked(version, 0), 253).unwrap();
            assert_eq!((new.metaindex.offset, new.index, new.seal.base), (165, None, 7));
        }
    }

    #[test]
    fn one_change() {
        let parse = |bytes: &[u8; FOOTER_LENGTH]| Footer::parse(bytes, 253).map(|footer| footer.start);
        let row = |at: usize, value: u8| {
            let mut bytes = footer(5);
            bytes[at] = value;
            parse(&bytes).unwrap_err().to_string()
        };
        assert_eq!(row(0, 5), "unsupported checksum type 5");
        assert_eq!(row(1, 0xa4), "bad metaindex block handle (164, 30)");
        assert_eq!(row(5, 61), "bad index block handle (100, 61)");
        assert_eq!(row(52, 0), "bad magic number: 0x00e241b785f4cff7");
        let newer = FooterError::Unsupported("format version 8 of RocksDB's tables".to_owned());
        assert_eq!(parse(&footer(8)), Err(newer));
        let feature = FooterError::Unsupported("a table that uses a newer feature".to_owned());
        assert_eq!(parse(&checked(6, 1)), Err(feature));
        let mut plain = footer(0);
        plain[45..].copy_from_slice(&0x8242_2296_63bf_9564_u64.to_le_bytes());
        assert_eq!(parse(&plain), Err(FooterError::Unsupported("a plain table".to_owned())));
    }

    #[test]
    fn every_flipped_bit_of_a_checked_footer_is_seen() {
        for at in 0..FOOTER_LENGTH * 8 {
            let mut bytes = checked(6, 0);
            bytes[at / 8] ^= 1 << (at % 8);
            assert!(Footer::parse(&bytes, 253).is_err(), "bit {at}");
        }
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes in any::<[u8; 32]>(), version in 0_u32..9, length in any::<u64>()) {
            let mut footer = footer(version);
            footer[..32].copy_from_slice(&bytes);
            let _ = Footer::parse(&footer, length);
            footer[1..5].copy_from_slice(&EXTENDED);
            let _ = Footer::parse(&footer, length);
        }
    }
}
