//! One blob file: header, every record against its checksums, footer. *Files, read-only.*
//!
//! Source: RocksDB `db/blob/blob_file_builder.cc`, `blob_file_reader.cc`. The MANIFEST says how many bytes and blobs there are.

use crate::attribution::{flip_in_covered, flip_in_masked_checksum};
use crate::data_file::{DataFile, SecondRead};
use crate::lsm::bad_block;
use crate::lsm::block::Window;
use crate::lsm::trailer::Checksum;
use crate::read_error::ReadError;
use crate::rocksdb::blob_log::{FOOTER_BYTES, Footer, HEADER_BYTES, Header, RECORD_HEADER_BYTES, RecordHeader};
use crate::rocksdb::new_file::NewBlobFile;
use crate::store::{Depth, Place, Scratch};
use crate::{Attribution, Check, Checks, Crc32c, Finding, FindingKind, Reason, crc32c, mask, unmask};

/// Where the way of packing stands in a header.
const COMPRESSION_AT: u64 = 13;

/// Bad blobs of one file that are listed one by one.
const FINDINGS_MAX: usize = 32;

/// A blob above this is judged without being held whole.
const HELD_BYTES_MAX: u64 = 8 << 20;

/// How long the file of a blob addition is.
pub(crate) fn file_bytes(new: &NewBlobFile) -> u64 {
    new.bytes.saturating_add(HEADER_BYTES).saturating_add(FOOTER_BYTES)
}

/// What is wrong with a header that says another way of packing than values that point into its file.
pub(crate) fn packed_otherwise(place: &Place, file: &DataFile, compression: u8) -> Option<Check> {
    let bytes = file.read_range(0, HEADER_BYTES, HEADER_BYTES).ok()?;
    let header = Header::parse(&bytes).ok().filter(|header| header.compression != compression)?;
    let flip = (header.compression ^ compression).is_power_of_two();
    let bit = u8::try_from((header.compression ^ compression).trailing_zeros()).unwrap_or_default();
    let attribution =
        if flip { Attribution::SingleBitFlip { offset: COMPRESSION_AT, bit } } else { Attribution::Unknown };
    let reader =
        Reader { place, file, window: Window::new(file, &mut [], Checksum::None.into()), checks: Checks::default() };
    let detail = "the blob file's header names another way of packing than the values that point into it".to_owned();
    Some(reader.read_twice(0, &bytes, detail, attribution))
}

/// Checks one live blob file of a column family.
pub(crate) fn check(place: &Place, new: &NewBlobFile, family: u32, file: &DataFile, scratch: &mut Scratch) -> Checks {
    let window = Window::new(file, &mut scratch.window, Checksum::None.into());
    let mut reader = Reader { place, file, window, checks: Checks::default() };
    let expected = file_bytes(new);
    if file.bytes() != expected {
        reader.size(expected);
    } else if let Err(error) = reader.run(new, family) {
        reader.checks.add(bad_block::unreadable(place, file, &error, "blob file", 0));
    }
    reader.checks
}

struct Reader<'a> {
    place: &'a Place,
    file: &'a DataFile,
    window: Window<'a>,
    checks: Checks,
}

impl Reader<'_> {
    fn finding(&self, offset: u64, detail: impl Into<String>) -> Finding {
        Finding::new(FindingKind::BlobCorrupt, &self.place.database, self.file.path(), detail).at(offset)
    }

    fn size(&mut self, expected: u64) {
        let there = self.file.bytes();
        let detail = "the blob file has another length than the MANIFEST says";
        let attribution = match expected.checked_sub(there) {
            Some(missing) => Attribution::Truncation { missing: Some(missing) },
            None => Attribution::Unknown,
        };
        let finding = self.finding(expected.min(there), detail);
        let values = (format!("{expected} bytes"), format!("{there} bytes"));
        self.checks.add(finding.values(values.0, values.1).by(attribution));
    }

    fn run(&mut self, new: &NewBlobFile, family: u32) -> Result<(), ReadError> {
        let header = self.window.range(0, HEADER_BYTES)?.to_vec();
        let problem = match Header::parse(&header) {
            Ok(header) if header.family != family => {
                Some(format!("of column family {}, though the MANIFEST has it in {family}", header.family))
            }
            Ok(_) => None,
            Err(problem) => Some(problem),
        };
        if let Some(problem) = problem {
            let fits = |bytes: &[u8]| Header::parse(bytes).is_ok_and(|header| header.family == family);
            self.wrong(0, &header, format!("blob file header: {problem}"), fits);
        }
        let footer_at = self.file.bytes().saturating_sub(FOOTER_BYTES);
        self.footer(footer_at, new)?;
        if self.place.depth == Depth::Quick {
            return Ok(());
        }
        self.file.will_read_all();
        self.records(footer_at, new)
    }

    fn footer(&mut self, at: u64, new: &NewBlobFile) -> Result<(), ReadError> {
        let bytes = self.window.range(at, FOOTER_BYTES)?.to_vec();
        let is_right =
            |bytes: &[u8]| Footer::parse(bytes).is_ok_and(|footer| footer.magic_fits && footer.sum.0 == footer.sum.1);
        match Footer::parse(&bytes) {
            Ok(footer) if is_right(&bytes) && footer.blobs == new.count => {}
            Ok(footer) if is_right(&bytes) => {
                let detail = format!("the footer counts {} blobs, the MANIFEST {}", footer.blobs, new.count);
                self.checks.add(self.finding(at, detail));
            }
            _ => self.wrong(at, &bytes, "blob file footer does not fit its checksum".to_owned(), is_right),
        }
        Ok(())
    }

    /// Header or footer, a few bytes that are wrong: read again, then attributed by flipping each bit.
    fn wrong(&mut self, at: u64, bytes: &[u8], detail: String, is_right: impl Fn(&[u8]) -> bool) {
        let mut probe = bytes.to_vec();
        let mut attribution = Attribution::Unknown;
        for index in 0..bytes.len().saturating_mul(8) {
            let (byte, bit) = (index / 8, u8::try_from(index % 8).unwrap_or_default());
            let toggle = |probe: &mut Vec<u8>| probe.get_mut(byte).into_iter().for_each(|b| *b ^= 1 << bit);
            toggle(&mut probe);
            if is_right(&probe) {
                attribution = Attribution::SingleBitFlip { offset: at.saturating_add(byte as u64), bit };
                break;
            }
            toggle(&mut probe);
        }
        let check = self.read_twice(at, bytes, detail, attribution);
        self.checks.add(check);
    }

    /// Damage, if the second read past the page cache gives the same bytes.
    fn read_twice(&self, at: u64, bytes: &[u8], detail: String, attribution: Attribution) -> Check {
        match self.file.read_again(bytes, at) {
            SecondRead::Same => {}
            SecondRead::Differs(at) => {
                let detail = format!("read a second time, byte {at} was another: the machine is sick");
                return Finding::new(FindingKind::ReadsDiffer, &self.place.database, self.file.path(), detail)
                    .at(at)
                    .into();
            }
            SecondRead::Failed(error) => return bad_block::unreadable(self.place, self.file, &error, "blob", at),
        }
        let attribution = match attribution {
            Attribution::Unknown => crate::attribution::of_pages(&self.place.dir, self.file, at, bytes.len() as u64),
            known => known,
        };
        self.finding(at, detail).by(attribution).into()
    }

    fn records(&mut self, end: u64, new: &NewBlobFile) -> Result<(), ReadError> {
        let (mut at, mut count) = (HEADER_BYTES, 0_u64);
        while at < end && self.checks.findings.len() < FINDINGS_MAX {
            if self.file.meter().interrupted() {
                self.checks.add(Reason::Interrupted);
                return Ok(());
            }
            let header_bytes = self.window.range(at, RECORD_HEADER_BYTES)?.to_vec();
            let Ok(header) = RecordHeader::parse(&header_bytes) else { return Ok(()) };
            let content = header.key_bytes.checked_add(header.value_bytes);
            let start = at.saturating_add(RECORD_HEADER_BYTES);
            let next = content.and_then(|content| start.checked_add(content)).filter(|next| *next <= end);
            let (Some(content), Some(next), true) = (content, next, header.fits()) else {
                // Where the next one begins is told by this header alone.
                let flip = record_header_flip(&header_bytes, header);
                let attribution = flip.map_or(Attribution::Unknown, |(byte, bit)| Attribution::SingleBitFlip {
                    offset: at.saturating_add(byte),
                    bit,
                });
                let detail = "blob record header does not fit its checksum; what follows it was not checked";
                let check = self.read_twice(at, &header_bytes, detail.to_owned(), attribution);
                self.checks.add(check);
                return Ok(());
            };
            self.content(at, start, content, &header)?;
            at = next;
            count = count.saturating_add(1);
        }
        if at >= end && count != new.count {
            let detail = format!("{count} blobs are there, the MANIFEST counts {}", new.count);
            self.checks.add(self.finding(end, detail));
        }
        Ok(())
    }

    /// A record's key and value.
    fn content(&mut self, record: u64, start: u64, bytes: u64, header: &RecordHeader) -> Result<(), ReadError> {
        let mut sum = Crc32c::default();
        let mut at = start;
        let end = start.saturating_add(bytes);
        while at < end {
            let piece = end.saturating_sub(at).min(crate::WINDOW_BYTES as u64);
            sum.add(self.window.range(at, piece)?);
            at = at.saturating_add(piece);
        }
        if mask(sum.value()) == header.blob_sum {
            return Ok(());
        }
        let detail = format!("a blob of {} bytes does not fit its checksum", header.value_bytes);
        let held =
            if bytes <= HELD_BYTES_MAX { self.file.read_range(start, bytes, HELD_BYTES_MAX)? } else { Vec::new() };
        let flipped = |offset: u64, bit: u8| Attribution::SingleBitFlip { offset, bit };
        let attribution = if held.is_empty() {
            Attribution::Unknown
        } else if let Some(flip) = flip_in_covered(&held, unmask(header.blob_sum)) {
            flipped(start.saturating_add(flip.byte as u64), flip.bit)
        } else if let Some(bit) = flip_in_masked_checksum(header.blob_sum, crc32c(&held)) {
            let byte = record.saturating_add(28).saturating_add(u64::from(bit / 8));
            flipped(byte, u8::try_from(bit % 8).unwrap_or_default())
        } else {
            Attribution::Unknown
        };
        let check = match self.read_twice(start, &held, detail, attribution) {
            Check::Bad(finding) if finding.kind == FindingKind::BlobCorrupt => {
                let computed = format!("{:#010x}", mask(sum.value()));
                Check::from(finding.values(format!("{:#010x}", header.blob_sum), computed))
            }
            other => other,
        };
        self.checks.add(check);
        Ok(())
    }
}

/// The one bit of a record's header whose flip makes it fit its checksum.
fn record_header_flip(bytes: &[u8], header: RecordHeader) -> Option<(u64, u8)> {
    let covered = bytes.get(..24)?;
    if let Some(flip) = flip_in_covered(covered, unmask(header.header_sum.0)) {
        return Some((flip.byte as u64, flip.bit));
    }
    let bit = flip_in_masked_checksum(header.header_sum.0, crc32c(covered))?;
    Some((24_u64.saturating_add(u64::from(bit / 8)), u8::try_from(bit % 8).ok()?))
}
