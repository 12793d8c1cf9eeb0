//! The last 53 bytes of a table: checksum type, two handles, padding, version, magic. *Files, read-only.*
//!
//! Source: pebble v1.1 `sstable/table.go` (`readFooter`), `sstable/format.go` (`ParseTableFormat`); formats 2.2. The
//! footer of these versions carries no checksum, and the padding between handles and version is never looked at, so
//! nothing in it is damage.

use crate::data_file::{DataFile, SecondRead};
use crate::lsm::bad_block;
use crate::lsm::block::Handle;
use crate::lsm::trailer::{Checksum, Trailer};
use crate::lsm::unpack::BLOCK_BYTES_MAX;
use crate::store::Place;
use crate::{Attribution, Check, Cut, CutError, Finding, FindingKind, Part};

/// Bytes of a footer.
pub(crate) const FOOTER_BYTES: u64 = FOOTER_LENGTH as u64;
const FOOTER_LENGTH: usize = 53;

/// `0x88e241b785f4cff7`, little-endian: the format of RocksDB, which Pebble v1 writes by default.
const ROCKSDB_MAGIC: [u8; 8] = [0xf7, 0xcf, 0xf4, 0x85, 0xb7, 0x41, 0xe2, 0x88];

/// Two cockroaches in UTF-8.
const PEBBLE_MAGIC: [u8; 8] = [0xf0, 0x9f, 0xaa, 0xb3, 0xf0, 0x9f, 0xaa, 0xb3];

/// From this table format on, values of kind SET begin with a byte that tells where they are.
pub(crate) const VALUE_PREFIX: u32 = 3;

const CHECKSUM_TYPE: Part = Part::new("footer checksum type");
const HANDLES: Part = Part::new("footer handles");
const VERSION: Part = Part::new("footer version");
const MAGIC: Part = Part::new("footer magic");

/// What a footer says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Footer {
    /// Pebble's table format; 0 is `RocksDBv2`.
    pub(crate) format: u32,
    pub(crate) checksum: Checksum,
    pub(crate) metaindex: Handle,
    pub(crate) index: Handle,
    /// Where the footer begins.
    pub(crate) start: u64,
}

impl Footer {
    /// Reads the last bytes of a file of `file_bytes` bytes; every block lies before them, and the metaindex is the last.
    pub(crate) fn parse(bytes: &[u8], file_bytes: u64, newest_format: u32) -> Result<Self, String> {
        let start = file_bytes.saturating_sub(FOOTER_BYTES);
        let mut cut = Cut::new(bytes, start);
        let parts = (|| -> Result<_, CutError> {
            let magic = cut.take_end(MAGIC, 8)?;
            let version = cut.take_end(VERSION, 4)?.u32_le(VERSION)?;
            let checksum = cut.u8(CHECKSUM_TYPE)?;
            let mut handles = cut.take(HANDLES, 40)?;
            Ok((magic, version, checksum, Handle::cut(&mut handles)?, Handle::cut(&mut handles)?))
        })();
        let (magic, version, checksum, metaindex, index) = parts.map_err(|error| error.to_string())?;
        let format = match (magic.rest(), version) {
            (magic, 2) if magic == ROCKSDB_MAGIC => 0,
            (magic, version @ 1..) if magic == PEBBLE_MAGIC && version <= newest_format => version,
            (magic, version) if magic == ROCKSDB_MAGIC || magic == PEBBLE_MAGIC => {
                return Err(format!("unsupported format version {version}"));
            }
            (magic, _) => return Err(format!("bad magic number: 0x{}", hex(magic))),
        };
        let checksum = match checksum {
            1 => Checksum::Crc32c,
            3 => Checksum::XxHash64,
            other => return Err(format!("unsupported checksum type {other}")),
        };
        if metaindex.end() != Some(start) {
            return Err(format!("bad metaindex block handle ({}, {})", metaindex.offset, metaindex.size));
        }
        if !index.fits(metaindex.offset) {
            return Err(format!("bad index block handle ({}, {})", index.offset, index.size));
        }
        Ok(Self { format, checksum, metaindex, index, start })
    }

    /// Whether the blocks it names fit their checksums.
    fn fits(self, file: &DataFile) -> bool {
        [self.metaindex, self.index].into_iter().all(|handle| {
            let stored = file.read_range(handle.offset, handle.stored_bytes(), BLOCK_BYTES_MAX);
            stored.ok().and_then(|stored| Trailer::of(&stored, self.checksum)).is_some_and(|trailer| trailer.fits())
        })
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"))
}

/// Reads and checks the footer of a table that should be `table_bytes` long.
pub(crate) fn check(place: &Place, file: &DataFile, table_bytes: u64, newest_format: u32) -> Result<Footer, Check> {
    let start = table_bytes.saturating_sub(FOOTER_BYTES);
    let finding =
        |detail: String| Finding::new(FindingKind::TableFooter, &place.database, file.path(), detail).at(start);
    if table_bytes < FOOTER_BYTES {
        return Err(finding(format!("{table_bytes} bytes are too few for a table")).into());
    }
    let mut bytes = [0; FOOTER_LENGTH];
    if let Err(error) = file.read_exact_at(&mut bytes, start) {
        return Err(bad_block::unreadable(place, file, &error, "footer", start));
    }
    let problem = match Footer::parse(&bytes, table_bytes, newest_format) {
        Ok(footer) => return Ok(footer),
        Err(problem) => problem,
    };
    match file.read_again(&bytes, start) {
        SecondRead::Same => {}
        SecondRead::Differs(at) => {
            let detail = format!("footer: read a second time, byte {at} was another: the machine is sick");
            return Err(Finding::new(FindingKind::ReadsDiffer, &place.database, file.path(), detail).at(at).into());
        }
        SecondRead::Failed(error) => return Err(bad_block::unreadable(place, file, &error, "footer", start)),
    }
    let found = bytes.last_chunk::<8>().map_or_else(String::new, |magic| hex(magic));
    Err(finding(problem)
        .values(format!("{} or {}", hex(&ROCKSDB_MAGIC), hex(&PEBBLE_MAGIC)), found)
        .by(attribute(place, file, table_bytes, newest_format))
        .into())
}

/// One flipped bit, if flipping it back makes a footer whose two blocks fit their checksums; else what the page says.
pub(crate) fn attribute(place: &Place, file: &DataFile, table_bytes: u64, newest_format: u32) -> Attribution {
    let start = table_bytes.saturating_sub(FOOTER_BYTES);
    let mut bytes = [0; FOOTER_LENGTH];
    if file.read_exact_at(&mut bytes, start).is_err() {
        return Attribution::Unknown;
    }
    for byte in 0..bytes.len() {
        for bit in 0..8_u8 {
            let mut repaired = bytes;
            if let Some(broken) = repaired.get_mut(byte) {
                *broken ^= 1 << bit;
            }
            if Footer::parse(&repaired, table_bytes, newest_format).is_ok_and(|footer| footer.fits(file)) {
                return Attribution::SingleBitFlip { offset: start.saturating_add(byte as u64), bit };
            }
        }
    }
    crate::attribution::of_pages(&place.dir, file, start, FOOTER_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A footer at 200 behind a metaindex of 30 bytes at 165 and an index of 20 at 100.
    fn footer(version: u32, magic: [u8; 8]) -> [u8; FOOTER_LENGTH] {
        let mut bytes = [0; FOOTER_LENGTH];
        bytes[..6].copy_from_slice(&[1, 0xa5, 1, 30, 100, 20]);
        bytes[41..45].copy_from_slice(&version.to_le_bytes());
        bytes[45..].copy_from_slice(&magic);
        bytes
    }

    #[test]
    fn one_sound_footer_and_one_change() {
        let parse = |bytes: &[u8]| Footer::parse(bytes, 253, 3).map(|footer| footer.format);
        assert_eq!(parse(&footer(2, ROCKSDB_MAGIC)), Ok(0));
        assert_eq!(parse(&footer(3, PEBBLE_MAGIC)), Ok(3));
        let row = |at: usize, value: u8| {
            let mut bytes = footer(2, PEBBLE_MAGIC);
            bytes[at] = value;
            parse(&bytes).unwrap_err()
        };
        assert_eq!(row(0, 2), "unsupported checksum type 2");
        assert_eq!(row(1, 0xa4), "bad metaindex block handle (164, 30)");
        assert_eq!(row(5, 61), "bad index block handle (100, 61)");
        assert_eq!(row(41, 4), "unsupported format version 4");
        assert_eq!(row(52, 0), "bad magic number: 0xf09faab3f09faa00");
        assert_eq!(parse(&footer(3, ROCKSDB_MAGIC)).unwrap_err(), "unsupported format version 3");
        assert_eq!(parse(&[0; 53]).unwrap_err(), "bad magic number: 0x0000000000000000");
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..60), length in any::<u64>()) {
            let _ = Footer::parse(&bytes, length, 3);
            let tail = [&bytes[..bytes.len().min(45)], &PEBBLE_MAGIC].concat();
            let _ = Footer::parse(&tail, length, 3);
        }
    }
}
