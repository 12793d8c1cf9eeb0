//! The last 48 bytes of a table: two handles, padding, the magic. *Files, read-only.*
//!
//! Source: LevelDB `table/format.cc`. The padding between handles and magic is never checked by an engine, so nothing in
//! it is damage.

use crate::data_file::{DataFile, SecondRead};
use crate::lsm::bad_block;
use crate::lsm::block::Handle;
use crate::lsm::trailer::{Checksum, Trailer};
use crate::lsm::unpack::BLOCK_BYTES_MAX;
use crate::store::Place;
use crate::{Attribution, Check, Cut, CutError, Finding, FindingKind, Part};

/// Bytes of a footer.
pub(crate) const FOOTER_BYTES: u64 = 48;

/// `0xdb4775248b80fb57`, little-endian.
const MAGIC: [u8; 8] = [0x57, 0xfb, 0x80, 0x8b, 0x24, 0x75, 0x47, 0xdb];

const HANDLES: Part = Part::new("footer handles");
const MAGIC_PART: Part = Part::new("footer magic");

/// The two blocks that a footer names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Footer {
    pub(crate) metaindex: Handle,
    pub(crate) index: Handle,
}

impl Footer {
    /// Reads the last bytes of a file of `file_bytes` bytes; handles must lie before them.
    pub(crate) fn parse(bytes: &[u8], file_bytes: u64) -> Result<Self, String> {
        let start = file_bytes.saturating_sub(FOOTER_BYTES);
        let mut cut = Cut::new(bytes, start);
        let footer = (|| -> Result<_, CutError> {
            let magic = cut.take_end(MAGIC_PART, 8)?;
            let mut handles = cut.take(HANDLES, 40)?;
            Ok((magic.rest() == MAGIC, Handle::cut(&mut handles)?, Handle::cut(&mut handles)?))
        })();
        let (magic, metaindex, index) = footer.map_err(|error| error.to_string())?;
        if !magic {
            return Err("bad magic number".to_owned());
        }
        for (name, handle) in [("metaindex", metaindex), ("index", index)] {
            if !handle.fits(start) {
                return Err(format!(
                    "the {name} block's handle ({}, {}) passes the footer",
                    handle.offset, handle.size
                ));
            }
        }
        Ok(Self { metaindex, index })
    }

    /// Whether the blocks it names fit their checksums.
    fn fits(self, file: &DataFile) -> bool {
        [self.metaindex, self.index].into_iter().all(|handle| {
            let stored = file.read_range(handle.offset, handle.stored_bytes(), BLOCK_BYTES_MAX);
            stored.ok().and_then(|stored| Trailer::of(&stored, Checksum::Crc32c)).is_some_and(|trailer| trailer.fits())
        })
    }

    /// Whether the blocks it names lie as every writer lays them: metaindex, index, footer, without a gap.
    fn is_tidy(self, start: u64) -> bool {
        self.metaindex.end() == Some(self.index.offset) && self.index.end() == Some(start)
    }
}

/// Reads and checks the footer of a table that should be `table_bytes` long.
pub(crate) fn check(place: &Place, file: &DataFile, table_bytes: u64) -> Result<Footer, Check> {
    let start = table_bytes.saturating_sub(FOOTER_BYTES);
    let finding =
        |detail: String| Finding::new(FindingKind::TableFooter, &place.database, file.path(), detail).at(start);
    if table_bytes < FOOTER_BYTES {
        return Err(finding(format!("{table_bytes} bytes are too few for a table")).into());
    }
    let mut bytes = [0; 48];
    if let Err(error) = file.read_exact_at(&mut bytes, start) {
        return Err(bad_block::unreadable(place, file, &error, "footer", start));
    }
    let problem = match Footer::parse(&bytes, table_bytes) {
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
    let found = bytes.last_chunk::<8>().map(|magic| format!("{:#018x}", u64::from_le_bytes(*magic)));
    Err(finding(problem)
        .values(format!("{:#018x}", u64::from_le_bytes(MAGIC)), found.unwrap_or_default())
        .by(attribute(place, file, &bytes, table_bytes))
        .into())
}

/// One flipped bit, if flipping it back makes a tidy footer whose two blocks fit their checksums; else what the page says.
pub(crate) fn attribute(place: &Place, file: &DataFile, bytes: &[u8; 48], table_bytes: u64) -> Attribution {
    let start = table_bytes.saturating_sub(FOOTER_BYTES);
    for byte in 0..bytes.len() {
        for bit in 0..8_u8 {
            let mut repaired = *bytes;
            if let Some(broken) = repaired.get_mut(byte) {
                *broken ^= 1 << bit;
            }
            if Footer::parse(&repaired, table_bytes).is_ok_and(|footer| footer.is_tidy(start) && footer.fits(file)) {
                return Attribution::SingleBitFlip { offset: start.saturating_add(byte as u64), bit };
            }
        }
    }
    crate::attribution::of_pages(&place.dir, file, start, FOOTER_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handles_that_pass_the_footer_are_refused() {
        let mut bytes = [0; 48];
        bytes[..4].copy_from_slice(&[10, 8, 23, 20]);
        bytes[40..].copy_from_slice(&MAGIC);
        let footer = Footer::parse(&bytes, 96).unwrap();
        assert_eq!(footer.index, Handle { offset: 23, size: 20 });
        assert!(footer.is_tidy(48));
        assert!(Footer::parse(&bytes, 95).unwrap_err().contains("index block's handle"));
        bytes[2..12].fill(0xff);
        assert!(Footer::parse(&bytes, 96).unwrap_err().contains("varint does not end"));
    }
}
