//! One table: footer, metaindex, index, filter and every data block against their checksums. *Files, read-only.*
//!
//! Source: LevelDB `table/format.cc`, `table/table_builder.cc`, goleveldb `leveldb/table/`; formats 2. A checksum covers the
//! bytes as stored, so data blocks are unpacked only in deep mode, where the order of every key is checked.

use std::cmp::Ordering;

use crate::data_file::DataFile;
use crate::leveldb::footer::{self, FOOTER_BYTES, Footer};
use crate::leveldb::key_order::KeyOrder;
use crate::leveldb::manifest::LiveTable;
use crate::lsm::bad_block;
use crate::lsm::block::{BLOCK_BYTES_MAX, Handle, Window, unpack};
use crate::lsm::row_block::{RowBlock, TopBits};
use crate::store::{Depth, Place, Scratch};
use crate::{Attribution, Check, Checks, Cut, CutError, Finding, FindingKind, Reason};

/// Bad blocks of one table that are listed one by one; the rest is counted.
const FINDINGS_MAX: usize = 32;

/// Checks one live table.
pub(crate) fn check(place: &Place, table: &LiveTable, file: &DataFile, scratch: &mut Scratch) -> Checks {
    let mut checks = Checks::default();
    if let Some(check) = size(place, table, file) {
        let cut_off = file.bytes() < table.bytes;
        checks.add(check);
        if cut_off {
            return checks;
        }
    }
    let footer = match footer::check(place, file, table.bytes) {
        Ok(footer) => footer,
        Err(check) => {
            checks.add(check);
            return checks;
        }
    };
    if place.depth == Depth::Quick {
        return checks;
    }
    file.will_read_all();
    let Scratch { window, unpacked } = scratch;
    let reader = Reader { place, table, file, window: Window::new(file, window), unpacked, checks, more: 0 };
    reader.run(footer)
}

/// The size that the MANIFEST names; engines read the footer from there, so bytes behind it harm nobody.
pub(crate) fn size(place: &Place, table: &LiveTable, file: &DataFile) -> Option<Check> {
    let finding = |kind, detail: &str| {
        Finding::new(kind, &place.database, file.path(), detail)
            .values(format!("{} bytes", table.bytes), format!("{} bytes", file.bytes()))
    };
    match file.bytes().cmp(&table.bytes) {
        Ordering::Equal => None,
        Ordering::Less => {
            let missing = table.bytes.checked_sub(file.bytes());
            let found = finding(FindingKind::TableSize, "the table is shorter than the MANIFEST says");
            Some(found.at(file.bytes()).by(Attribution::Truncation { missing }).into())
        }
        Ordering::Greater => Some(
            finding(FindingKind::Remark, "the table is longer than the MANIFEST says; no engine reads the rest").into(),
        ),
    }
}

struct Reader<'a> {
    place: &'a Place,
    table: &'a LiveTable,
    file: &'a DataFile,
    window: Window<'a>,
    unpacked: &'a mut Vec<u8>,
    checks: Checks,
    /// Bad blocks beyond those that are listed.
    more: u64,
}

impl Reader<'_> {
    fn run(mut self, footer: Footer) -> Checks {
        if let Some(metaindex) = self.held_block(footer.metaindex, "metaindex block") {
            self.metaindex(&metaindex, footer);
        }
        if let Some(index) = self.held_block(footer.index, "index block") {
            self.data_blocks(&index, footer);
        }
        if self.more > 0 {
            let detail = format!("{} more blocks do not fit their checksums", self.more);
            self.checks.add(Finding::new(FindingKind::BlockChecksum, &self.place.database, self.file.path(), detail));
        }
        self.checks
    }

    /// A block that is needed whole: checked, unpacked.
    fn held_block(&mut self, handle: Handle, what: &str) -> Option<Vec<u8>> {
        if handle.size > BLOCK_BYTES_MAX {
            let size = handle.size;
            self.checks.add(Reason::AboveLimit(format!("{}: {what} of {size} bytes", self.file.path().display())));
            return None;
        }
        let compression = self.checked(handle, what)?;
        let mut block = Vec::new();
        self.unpack(handle, compression, what, &mut block).then_some(block)
    }

    /// Compares a block with its checksum; its compression type if they fit.
    fn checked(&mut self, handle: Handle, what: &str) -> Option<u8> {
        match self.window.trailer(handle) {
            Ok(trailer) if trailer.fits_crc() => Some(trailer.compression),
            Ok(_) if self.checks.findings.len() >= FINDINGS_MAX => {
                self.more = self.more.saturating_add(1);
                None
            }
            Ok(trailer) => {
                self.checks.add(self.bad(handle, what, trailer));
                None
            }
            Err(error) => {
                self.checks.add(bad_block::unreadable(self.place, self.file, &error, what, handle.offset));
                None
            }
        }
    }

    /// A block that does not fit. Where the footer's own handle may be at fault, that is said instead.
    fn bad(&self, handle: Handle, what: &str, trailer: crate::lsm::block::Trailer) -> Check {
        let check = bad_block::judge(self.place, self.file, handle, what, trailer);
        let Check::Bad(mut finding) = check else { return check };
        if finding.attribution == Attribution::Unknown && what != "data block" {
            let start = self.table.bytes.saturating_sub(FOOTER_BYTES);
            let mut bytes = [0; 48];
            if self.file.read_exact_at(&mut bytes, start).is_ok()
                && let flip @ Attribution::SingleBitFlip { .. } =
                    footer::attribute(self.place, self.file, &bytes, self.table.bytes)
            {
                finding.attribution = flip;
                finding.detail.push_str("; the footer points to the wrong place");
            }
        }
        Check::Bad(finding)
    }

    fn unpack(&mut self, handle: Handle, compression: u8, what: &str, into: &mut Vec<u8>) -> bool {
        let problem = match self.window.payload(handle) {
            Ok(payload) => match unpack(&payload, compression, into) {
                Ok(()) => return true,
                Err(error) => self.structure(handle, what, error.to_string()),
            },
            Err(error) => bad_block::unreadable(self.place, self.file, &error, what, handle.offset),
        };
        self.checks.add(problem);
        false
    }

    fn structure(&self, handle: Handle, what: &str, problem: impl std::fmt::Display) -> Check {
        let detail = format!("{what} fits its checksum, but: {problem}");
        Finding::new(FindingKind::BlockStructure, &self.place.database, self.file.path(), detail)
            .at(handle.offset)
            .into()
    }

    /// The filter block, if there is one.
    fn metaindex(&mut self, block: &[u8], footer: Footer) {
        let mut filters = Vec::new();
        let read = (|| -> Result<(), CutError> {
            let mut cursor = RowBlock::parse(block, TopBits::Number)?.cursor();
            while cursor.advance()? {
                if cursor.key().starts_with(b"filter.") && filters.len() < 16 {
                    filters.push(Handle::cut(&mut Cut::new(cursor.value(), 0))?);
                }
            }
            Ok(())
        })();
        if let Err(error) = read {
            self.checks.add(self.structure(footer.metaindex, "metaindex block", error));
        }
        for filter in filters {
            if filter.fits(footer.metaindex.offset) {
                self.checked(filter, "filter block");
            } else {
                self.checks.add(self.structure(
                    footer.metaindex,
                    "metaindex block",
                    "the filter's handle leaves its place",
                ));
            }
        }
    }

    /// Every data block's checksum. Keys are read in deep mode; else only in the first and the last block, which shows a
    /// whole table that stands in another's place.
    fn data_blocks(&mut self, index: &[u8], footer: Footer) {
        let mut order = KeyOrder::default();
        let (mut last, mut read) = (None, None);
        let mut end = 0;
        let walked = (|| -> Result<(), CutError> {
            let mut cursor = RowBlock::parse(index, TopBits::Number)?.cursor();
            while cursor.advance()? {
                if self.file.meter().interrupted() {
                    self.checks.add(Reason::Interrupted);
                    return Ok(());
                }
                let handle = Handle::cut(&mut Cut::new(cursor.value(), 0))?;
                if handle.offset != end || !handle.fits(footer.metaindex.offset) {
                    let problem =
                        format!("data block at {} of {} bytes, expected at {end}", handle.offset, handle.size);
                    self.checks.add(self.structure(footer.index, "index block", problem));
                    return Ok(());
                }
                let is_first = end == 0;
                end = handle.end().unwrap_or(u64::MAX);
                let fits = self.checked(handle, "data block");
                last = fits.map(|compression| (handle, compression));
                if let Some(compression) = fits
                    && (is_first || self.place.depth == Depth::Deep)
                {
                    self.keys(handle, compression, Some(cursor.key()), is_first, &mut order);
                    read = Some(handle);
                }
            }
            Ok(())
        })();
        if let Err(error) = walked {
            self.checks.add(self.structure(footer.index, "index block", error));
        } else if let Some((handle, compression)) = last {
            if read != Some(handle) {
                self.keys(handle, compression, None, false, &mut order);
            }
            self.last_key(handle, &order);
        }
    }

    /// Every key of a block: ascending, of a known kind, not above its index key, not outside the MANIFEST's bounds.
    fn keys(
        &mut self,
        handle: Handle,
        compression: u8,
        index_key: Option<&[u8]>,
        is_first: bool,
        order: &mut KeyOrder,
    ) {
        if order.stopped {
            return;
        }
        let mut block = std::mem::take(self.unpacked);
        if self.unpack(handle, compression, "data block", &mut block) {
            let check = match order.block(&block, index_key, self.table, is_first) {
                Ok(None) => Check::Good,
                Ok(Some(problem)) => {
                    order.stopped = true;
                    let detail = format!("data block fits its checksum, but {problem}");
                    Finding::new(FindingKind::KeyOrder, &self.place.database, self.file.path(), detail)
                        .at(handle.offset)
                        .into()
                }
                Err(error) => {
                    order.stopped = true;
                    self.structure(handle, "data block", error)
                }
            };
            self.checks.add(check);
        }
        *self.unpacked = block;
    }

    fn last_key(&mut self, handle: Handle, order: &KeyOrder) {
        if !order.stopped && order.last != *self.table.largest {
            let detail = "data block fits its checksum, but its last key is not the one that the MANIFEST names";
            let finding = Finding::new(FindingKind::KeyOrder, &self.place.database, self.file.path(), detail)
                .at(handle.offset)
                .values(self.table.largest.escape_ascii().to_string(), order.last.escape_ascii().to_string());
            self.checks.add(finding);
        }
    }
}

/// A live table without a file.
pub(crate) fn missing(place: &Place, table: &LiveTable, file_name: &str) -> Finding {
    let path = place.dir.path().join(file_name);
    let detail = format!("live table {} of level {} is not there", table.number, table.level);
    Finding::new(FindingKind::TableMissing, &place.database, &path, detail)
        .values(format!("{} bytes", table.bytes), "no file")
}
