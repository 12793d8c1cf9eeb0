//! By what a broken block was likely made: a flipped bit, a page of zeros, bytes of another place. *Files, read-only.*
//!
//! A CRC is linear: flipping one bit changes the checksum by a value that depends only on the bit's distance from the
//! end. So every single-bit flip of a block is tried with one shift each, not with one checksum each.

use std::path::Path;

use crate::data_file::{DataFile, PAGE};
use crate::files::DataDir;
use crate::{Attribution, crc32c, unmask};

/// Castagnoli, reflected.
const POLYNOMIAL: u32 = 0x82f6_3b78;

/// No flip is sought in more bytes than this: a false match becomes likely (one in 500 at 1 MiB), and the search slow.
const FLIP_SEARCH_BYTES: usize = 1 << 20;

/// The same where each flip costs a whole sum: some half a gigabyte is summed at most.
const HASHED_FLIP_SEARCH_BYTES: usize = 8 << 10;

/// Fewer bytes than this say nothing about whose they are.
const SHORTEST_PAGE: u64 = 512;

/// A flipped bit: the byte's index in the searched bytes, and the bit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Flip {
    pub(crate) byte: usize,
    pub(crate) bit: u8,
}

/// The one bit of `covered` whose flip makes its plain CRC-32C equal `wanted`.
pub(crate) fn flip_in_covered(covered: &[u8], wanted: u32) -> Option<Flip> {
    if covered.len() > FLIP_SEARCH_BYTES {
        return None;
    }
    let syndrome = crc32c(covered) ^ wanted;
    // Bits are processed lowest first, so the last bit is the highest of the last byte.
    let mut effect = POLYNOMIAL;
    for byte in (0..covered.len()).rev() {
        for bit in (0..8).rev() {
            if effect == syndrome {
                return Some(Flip { byte, bit });
            }
            effect = (effect >> 1) ^ if effect & 1 == 1 { POLYNOMIAL } else { 0 };
        }
    }
    None
}

/// The bit of a stored, masked checksum whose flip makes it fit `covered`.
pub(crate) fn flip_in_masked_checksum(stored: u32, covered_crc: u32) -> Option<u32> {
    (0..u32::BITS).find(|bit| unmask(stored ^ (1 << bit)) == covered_crc)
}

/// Where a block of a table stands, and what was read there.
pub(crate) struct BadBlock<'a> {
    /// Offset of the payload in the file.
    pub(crate) offset: u64,
    /// Payload, type byte and four bytes of checksum, as read.
    pub(crate) bytes: &'a [u8],
}

/// Attributes a block with a masked CRC-32C trailer.
pub(crate) fn of_crc_block(dir: &DataDir, file: &DataFile, bad: &BadBlock<'_>) -> Attribution {
    if let Some((covered, stored)) = bad.bytes.split_last_chunk::<4>() {
        let stored = u32::from_le_bytes(*stored);
        if let Some(flip) = flip_in_covered(covered, unmask(stored)) {
            return Attribution::SingleBitFlip { offset: bad.offset.saturating_add(flip.byte as u64), bit: flip.bit };
        }
        if let Some(bit) = flip_in_masked_checksum(stored, crc32c(covered)) {
            let byte = covered.len() as u64 + u64::from(bit / 8);
            let bit = u8::try_from(bit % 8).unwrap_or_default();
            return Attribution::SingleBitFlip { offset: bad.offset.saturating_add(byte), bit };
        }
    }
    of_pages(dir, file, bad.offset, bad.bytes.len() as u64)
}

/// Attributes a block whose checksum is no CRC: every flip costs a whole sum, so only short blocks are searched.
pub(crate) fn of_hashed_block(
    dir: &DataDir,
    file: &DataFile,
    bad: &BadBlock<'_>,
    sum: impl Fn(&[u8]) -> u32,
) -> Attribution {
    if let Some((covered, stored)) = bad.bytes.split_last_chunk::<4>() {
        let stored = u32::from_le_bytes(*stored);
        let flip =
            |byte: usize, bit: u8| Attribution::SingleBitFlip { offset: bad.offset.saturating_add(byte as u64), bit };
        let differs = stored ^ sum(covered);
        if differs.is_power_of_two() {
            let bit = differs.trailing_zeros();
            let byte = covered.len().saturating_add(usize::try_from(bit / 8).unwrap_or_default());
            return flip(byte, u8::try_from(bit % 8).unwrap_or_default());
        }
        let mut probe = covered.to_vec();
        for byte in 0..if covered.len() > HASHED_FLIP_SEARCH_BYTES { 0 } else { covered.len() } {
            for bit in 0..8_u8 {
                let toggle = |probe: &mut Vec<u8>| probe.get_mut(byte).into_iter().for_each(|b| *b ^= 1 << bit);
                toggle(&mut probe);
                if sum(&probe) == stored {
                    return flip(byte, bit);
                }
                toggle(&mut probe);
            }
        }
    }
    of_pages(dir, file, bad.offset, bad.bytes.len() as u64)
}

/// Attributes a range of a file by the pages that it touches: zeros, or the bytes of another place.
pub(crate) fn of_pages(dir: &DataDir, file: &DataFile, offset: u64, length: u64) -> Attribution {
    if let Some(zeroed) = zeroed_pages(file, offset, length) {
        return zeroed;
    }
    let mut pages = Vec::new();
    let mut at = offset / PAGE * PAGE;
    // Eight pages are enough to recognise a misdirected write; a block is rarely larger.
    while at < offset.saturating_add(length) && pages.len() < 8 {
        if let Ok(page) = file.read_range(at, PAGE, PAGE)
            && page.iter().any(|byte| *byte != page.first().copied().unwrap_or_default())
        {
            pages.push((at, page));
        }
        at = at.saturating_add(PAGE);
    }
    owner_of(dir, file, &pages)
}

/// Whole pages of zeros among those that a range touches.
fn zeroed_pages(file: &DataFile, offset: u64, length: u64) -> Option<Attribution> {
    let end = offset.saturating_add(length);
    let (mut first, mut bytes) = (None, 0_u64);
    let mut at = offset / PAGE * PAGE;
    while at < end {
        let here = PAGE.min(file.bytes().saturating_sub(at));
        let zeros = here > 0 && file.read_range(at, here, PAGE).is_ok_and(|page| page.iter().all(|byte| *byte == 0));
        if zeros {
            first = first.or(Some(at));
            bytes = bytes.saturating_add(here);
        } else if first.is_some() {
            break;
        }
        at = at.saturating_add(PAGE);
    }
    first.map(|offset| Attribution::ZeroedPage { offset, bytes })
}

/// Looks for another place of the same pages: first the file itself, then its neighbours.
fn owner_of(dir: &DataDir, file: &DataFile, pages: &[(u64, Vec<u8>)]) -> Attribution {
    if pages.is_empty() {
        return Attribution::Unknown;
    }
    if let Some(source) = find_page(file, pages, true) {
        return Attribution::MisplacedBlock { source };
    }
    let own = file.path().file_name();
    for entry in dir.list().unwrap_or_default() {
        let is_table =
            Path::new(&entry.name).extension().is_some_and(|e| ["ldb", "sst", "log"].iter().any(|x| e == *x));
        if !is_table || Some(entry.name.as_os_str()) == own {
            continue;
        }
        let Ok(other) = dir.file(&entry.name) else { continue };
        if let Some(offset) = find_page(&other, pages, false) {
            return Attribution::OtherFile { file: other.path().to_path_buf(), offset };
        }
    }
    Attribution::Unknown
}

/// Where a file has one of the pages. A file's last, shorter page counts if it is long enough to be no accident.
fn find_page(file: &DataFile, pages: &[(u64, Vec<u8>)], same_file: bool) -> Option<u64> {
    let mut at = 0_u64;
    loop {
        let here = PAGE.min(file.bytes().saturating_sub(at));
        if here < SHORTEST_PAGE || !file.meter().may_search(here) {
            return None;
        }
        let page = file.read_range(at, here, PAGE).ok()?;
        if pages.iter().any(|(own, bytes)| bytes.starts_with(&page) && !(same_file && *own == at)) {
            return Some(at);
        }
        at = at.saturating_add(PAGE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_flipped_bit_is_found(bytes in proptest::collection::vec(any::<u8>(), 1..600), at in any::<usize>()) {
            let wanted = crc32c(&bytes);
            let flip = Flip { byte: at / 8 % bytes.len(), bit: u8::try_from(at % 8).unwrap() };
            let mut broken = bytes.clone();
            broken[flip.byte] ^= 1 << flip.bit;
            prop_assert_eq!(flip_in_covered(&broken, wanted), Some(flip));
            prop_assert_eq!(flip_in_covered(&bytes, wanted), None);
        }
    }

    #[test]
    fn two_flips_are_not_one() {
        let bytes = [7; 300];
        let mut broken = bytes;
        broken[10] ^= 1;
        broken[20] ^= 1;
        assert_eq!(flip_in_covered(&broken, crc32c(&bytes)), None);
    }
}
