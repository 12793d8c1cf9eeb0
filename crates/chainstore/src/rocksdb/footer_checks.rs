//! Reading a table's footer, and finding the flipped bit in one that is wrong. *Files, read-only.*

use crate::data_file::{DataFile, SecondRead};
use crate::lsm::bad_block;
use crate::lsm::block::Handle;
use crate::lsm::trailer::{Checksum, Trailer};
use crate::lsm::unpack::BLOCK_BYTES_MAX;
use crate::rocksdb::footer::{FOOTER_BYTES, FOOTER_LENGTH, Footer, FooterError};
use crate::rocksdb::layout::{Metaindex, Properties};
use crate::store::Place;
use crate::{Attribution, Check, Finding, FindingKind, Reason};

/// Reads and checks the footer of a table that should be `table_bytes` long.
pub(crate) fn check(place: &Place, file: &DataFile, table_bytes: u64) -> Result<Footer, Check> {
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
    let problem = match Footer::parse(&bytes, table_bytes) {
        Ok(footer) if lost_its_checksum(file, footer) => {
            FooterError::Wrong("the footer says that blocks have no checksums, but they have".to_owned())
        }
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
    let attribution = attribute(place, file, table_bytes);
    match problem {
        FooterError::Unsupported(what) if !matches!(attribution, Attribution::SingleBitFlip { .. }) => {
            Err(Reason::Unsupported(format!("{}: {what} is not read by this version", file.path().display())).into())
        }
        problem => Err(finding(problem.to_string()).by(attribution).into()),
    }
}

/// Whether a footer without a checksum of its own says that there are none, and the metaindex has one all the same.
fn lost_its_checksum(file: &DataFile, footer: Footer) -> bool {
    footer.seal.checksum == Checksum::None
        && footer.seal.base == 0
        && [Checksum::Crc32c, Checksum::XxHash, Checksum::XxHash64, Checksum::Xxh3]
            .into_iter()
            .any(|checksum| fits(file, Footer { seal: checksum.into(), index: None, ..footer }))
}

/// Whether the blocks it names fit their checksums, or, where there are none, have a zero in their place.
fn fits(file: &DataFile, footer: Footer) -> bool {
    [Some(footer.metaindex), footer.index].into_iter().flatten().all(|handle| {
        let stored = file.read_range(handle.offset, handle.stored_bytes(), BLOCK_BYTES_MAX);
        let trailer = stored.ok().and_then(|stored| Trailer::of(&stored, handle.offset, footer.seal));
        trailer.is_some_and(|trailer| trailer.computed == trailer.stored)
    })
}

/// Whether the version is the one that the properties say, if they say any: several may be one bit away.
fn agrees_with_properties(file: &DataFile, footer: Footer) -> bool {
    let read = |handle: Handle| file.read_range(handle.offset, handle.size, BLOCK_BYTES_MAX).ok();
    let said = (|| {
        let metaindex = Metaindex::parse(&read(footer.metaindex)?).ok()?;
        let properties = Properties::parse(&read(metaindex.get("rocksdb.properties")?)?).ok()?;
        properties.format_version.filter(|version| *version > 0)
    })();
    said.is_none_or(|said| said == u64::from(footer.version))
}

/// One flipped bit, if flipping it back makes a footer whose blocks fit their checksums; else what the page says.
pub(crate) fn attribute(place: &Place, file: &DataFile, table_bytes: u64) -> Attribution {
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
            let is_right = |footer| fits(file, footer) && agrees_with_properties(file, footer);
            if Footer::parse(&repaired, table_bytes).is_ok_and(is_right) {
                return Attribution::SingleBitFlip { offset: start.saturating_add(byte as u64), bit };
            }
        }
    }
    crate::attribution::of_pages(&place.dir, file, start, FOOTER_BYTES)
}
