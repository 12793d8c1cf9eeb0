//! One table: footer, metaindex, index, filter and every data block against their checksums. *Files, read-only.*
//!
//! Source: LevelDB `table/format.cc`, `table/table_builder.cc`, goleveldb `leveldb/table/`; formats 2. A checksum covers the
//! bytes as stored, so data blocks are unpacked only in deep mode, where the order of every key is checked.

use std::cmp::Ordering;

use crate::data_file::DataFile;
use crate::leveldb::footer::{self, FOOTER_BYTES, Footer};
use crate::leveldb::key_order::KeyOrder;
use crate::lsm::block::Handle;
use crate::lsm::block_checker::{BlockChecker, DATA_BLOCK};
use crate::lsm::live_table::LiveTable;
use crate::lsm::row_block::{RowBlock, TopBits};
use crate::lsm::trailer::Checksum;
use crate::lsm::unpack::unpack;
use crate::store::{Depth, Place, Scratch};
use crate::{Attribution, Check, Checks, Cut, CutError, Finding, FindingKind, Reason};

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
    let footer_flip = || {
        let mut bytes = [0; 48];
        let start = table.bytes.saturating_sub(FOOTER_BYTES);
        match file.read_exact_at(&mut bytes, start) {
            Ok(()) => footer::attribute(place, file, &bytes, table.bytes),
            Err(_) => Attribution::Unknown,
        }
    };
    let mut blocks = BlockChecker::new(place, file, window, Checksum::Crc32c, unpack, &footer_flip);
    blocks.checks = checks;
    Reader { table, blocks, unpacked }.run(footer)
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
    table: &'a LiveTable,
    blocks: BlockChecker<'a>,
    unpacked: &'a mut Vec<u8>,
}

impl Reader<'_> {
    fn run(mut self, footer: Footer) -> Checks {
        if let Some(metaindex) = self.blocks.held_block(footer.metaindex, "metaindex block") {
            self.metaindex(&metaindex, footer);
        }
        if let Some(index) = self.blocks.held_block(footer.index, "index block") {
            self.data_blocks(&index, footer);
        }
        self.blocks.finish()
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
            self.blocks.checks.add(self.blocks.structure(footer.metaindex, "metaindex block", error));
        }
        for filter in filters {
            if filter.fits(footer.metaindex.offset) {
                self.blocks.checked(filter, "filter block");
            } else {
                self.blocks.checks.add(self.blocks.structure(
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
                if self.blocks.file.meter().interrupted() {
                    self.blocks.checks.add(Reason::Interrupted);
                    return Ok(());
                }
                let handle = Handle::cut(&mut Cut::new(cursor.value(), 0))?;
                if handle.offset != end || !handle.fits(footer.metaindex.offset) {
                    let problem =
                        format!("data block at {} of {} bytes, expected at {end}", handle.offset, handle.size);
                    self.blocks.checks.add(self.blocks.structure(footer.index, "index block", problem));
                    return Ok(());
                }
                let is_first = end == 0;
                end = handle.end().unwrap_or(u64::MAX);
                let fits = self.blocks.checked(handle, DATA_BLOCK);
                last = fits.map(|compression| (handle, compression));
                if let Some(compression) = fits
                    && (is_first || self.blocks.place.depth == Depth::Deep)
                {
                    self.keys(handle, compression, Some(cursor.key()), is_first, &mut order);
                    read = Some(handle);
                }
            }
            Ok(())
        })();
        if let Err(error) = walked {
            self.blocks.checks.add(self.blocks.structure(footer.index, "index block", error));
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
        if self.blocks.unpack(handle, compression, DATA_BLOCK, &mut block) {
            let check = match order.block(&block, index_key, self.table, is_first) {
                Ok(None) => Check::Good,
                Ok(Some(problem)) => {
                    order.stopped = true;
                    let detail = format!("data block fits its checksum, but {problem}");
                    self.blocks.finding(FindingKind::KeyOrder, handle, detail).into()
                }
                Err(error) => {
                    order.stopped = true;
                    self.blocks.structure(handle, DATA_BLOCK, error)
                }
            };
            self.blocks.checks.add(check);
        }
        *self.unpacked = block;
    }

    fn last_key(&mut self, handle: Handle, order: &KeyOrder) {
        if !order.stopped && order.last != *self.table.largest {
            let detail = "data block fits its checksum, but its last key is not the one that the MANIFEST names";
            let finding = self
                .blocks
                .finding(FindingKind::KeyOrder, handle, detail)
                .values(self.table.largest.escape_ascii().to_string(), order.last.escape_ascii().to_string());
            self.blocks.checks.add(finding);
        }
    }
}
