//! One table: footer, metaindex, properties, index, filter, range and value blocks, and every data block against their
//! checksums. *Files, read-only.*
//!
//! Source: pebble v1.1 `sstable/writer.go`, `sstable/reader.go`; formats 2. A checksum covers the bytes as stored, so data
//! blocks are unpacked only in deep mode, where the order of every key is checked, and where a table's format needs it.

use crate::data_file::DataFile;
use crate::lsm::block::{Handle, TRAILER_BYTES};
use crate::lsm::block_checker::BlockChecker;
use crate::lsm::live_table::LiveTable;
use crate::lsm::row_block::{RowBlock, TopBits};
use crate::lsm::unpack::unpack_pebble;
use crate::pebble::footer::{self, Footer, VALUE_PREFIX};
use crate::pebble::format;
use crate::pebble::key_order::{Expected, KeyOrder, Sums};
use crate::pebble::layout::{Metaindex, Properties, ValueIndex};
use crate::store::{Depth, Place, Scratch};
use crate::{Attribution, Check, Checks, CutError, Finding, FindingKind};

/// What Pebble 1.1 can do with a data block that it cannot read.
const DROPPED: &str =
    "; Pebble 1.1 can leave out the rest of the table at its next compaction and then delete it: copy it first";

/// How the engine that will open the directory goes about.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Circumstances {
    /// The format major version.
    pub(crate) format: u64,
    /// Whether Pebble v1 will open the directory.
    pub(crate) by_v1: bool,
}

/// Checks one live table.
pub(crate) fn check(
    place: &Place,
    table: &LiveTable,
    file: &DataFile,
    circumstances: Circumstances,
    scratch: &mut Scratch,
) -> Checks {
    let mut checks = Checks::default();
    if let Some(check) = size(place, table, file) {
        checks.add(check);
        return checks;
    }
    let newest_format = format::newest_table(circumstances.format);
    let footer = match footer::check(place, file, table.bytes, newest_format) {
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
    let footer_flip = || footer::attribute(place, file, table.bytes, newest_format);
    let blocks = BlockChecker::new(place, file, window, footer.checksum, unpack_pebble, &footer_flip)
        .with_consequence(if circumstances.by_v1 { DROPPED } else { "" });
    let suspicious = newest_format >= VALUE_PREFIX && footer.format < VALUE_PREFIX && footer.format > 0;
    let order = KeyOrder::default();
    Reader { table, blocks, unpacked, footer, order, suspicious, others: Vec::new(), last: None }.run()
}

/// The engine compares the size with the MANIFEST's before it opens; neither shorter nor longer will do.
pub(crate) fn size(place: &Place, table: &LiveTable, file: &DataFile) -> Option<Check> {
    if file.bytes() == table.bytes {
        return None;
    }
    let finding = |detail: &str| {
        Finding::new(FindingKind::TableSize, &place.database, file.path(), detail)
            .values(format!("{} bytes", table.bytes), format!("{} bytes", file.bytes()))
    };
    Some(match table.bytes.checked_sub(file.bytes()) {
        Some(missing) => finding("the table is shorter than the MANIFEST says: the engine does not open")
            .at(file.bytes())
            .by(Attribution::Truncation { missing: Some(missing) })
            .into(),
        None => finding("the table is longer than the MANIFEST says: the engine does not open").into(),
    })
}

/// The sequence of every write of a table that was made elsewhere: the MANIFEST names one for all.
pub(crate) fn sequence_of_all(table: &LiveTable) -> Option<u64> {
    table.sequences.filter(|(lowest, highest)| lowest == highest && *highest > 0).map(|(_, highest)| highest)
}

pub(crate) struct Reader<'a> {
    table: &'a LiveTable,
    pub(crate) blocks: BlockChecker<'a>,
    pub(crate) unpacked: &'a mut Vec<u8>,
    pub(crate) footer: Footer,
    pub(crate) order: KeyOrder,
    /// Whether a flipped bit in the footer could have turned format v3 into this one.
    pub(crate) suspicious: bool,
    /// All blocks but data blocks.
    others: Vec<Handle>,
    /// The last data block: its handle, how it is packed, and whether its keys were read.
    pub(crate) last: Option<(Handle, Option<u8>, bool)>,
}

impl Reader<'_> {
    fn run(mut self) -> Checks {
        let metaindex = self.metaindex();
        let properties = metaindex.as_ref().and_then(|metaindex| self.properties(metaindex));
        let range_del = metaindex.as_ref().and_then(|metaindex| self.metablocks(metaindex));
        let only_points = metaindex.as_ref().is_some_and(|metaindex| {
            metaindex.range_del.is_none() && metaindex.others.iter().all(|(name, _)| name != "pebble.range_key")
        });
        let expected = Expected {
            table: self.table,
            format: self.footer.format,
            sequence: sequence_of_all(self.table),
            only_points,
        };
        if let Some(properties) = &properties {
            let data_end = self.index(properties, expected);
            if let Some(end) = data_end {
                self.tiles(end);
                self.sums(properties, range_del.unwrap_or_default());
            }
        }
        self.blocks.finish()
    }

    fn metaindex(&mut self) -> Option<Metaindex> {
        let handle = self.footer.metaindex;
        let block = self.blocks.held_block(handle, "metaindex block")?;
        self.understood(handle, "metaindex block", Metaindex::parse(&block))
    }

    /// Keeps a block's handle for the last comparison; more than the file can hold are none.
    pub(crate) fn add_other(&mut self, handle: Handle) {
        if (self.others.len() as u64) < self.blocks.file.bytes() / TRAILER_BYTES {
            self.others.push(handle);
        }
    }

    /// A value, or the finding that says why there is none.
    pub(crate) fn understood<T>(&mut self, handle: Handle, what: &str, parsed: Result<T, CutError>) -> Option<T> {
        match parsed {
            Ok(value) => Some(value),
            Err(error) => {
                self.blocks.checks.add(self.blocks.structure(handle, what, error));
                None
            }
        }
    }

    fn properties(&mut self, metaindex: &Metaindex) -> Option<Properties> {
        let Some(handle) = metaindex.properties.filter(|handle| handle.fits(self.footer.metaindex.offset)) else {
            let problem = "no properties block where it should be";
            self.blocks.checks.add(self.blocks.structure(self.footer.metaindex, "metaindex block", problem));
            return None;
        };
        let block = self.blocks.held_block(handle, "properties block")?;
        self.understood(handle, "properties block", Properties::parse(&block))
    }

    /// Every other block that the metaindex names, and the value blocks; gives the sums over the range deletions.
    fn metablocks(&mut self, metaindex: &Metaindex) -> Option<Sums> {
        let mut sums = Sums::default();
        for (name, handle) in metaindex.blocks() {
            if !handle.fits(self.footer.metaindex.offset) {
                let problem = format!("the handle of {name} leaves its place");
                self.blocks.checks.add(self.blocks.structure(self.footer.metaindex, "metaindex block", problem));
                continue;
            }
            self.add_other(handle);
            if metaindex.range_del == Some(handle) {
                let block = self.blocks.held_block(handle, name)?;
                sums = self.understood(handle, name, range_deletions(&block))?;
            } else if metaindex.values.is_some_and(|values| values.handle == handle) {
                let block = self.blocks.held_block(handle, name)?;
                let index = metaindex.values.map(|values| ValueIndex::new(block, values))?;
                self.value_blocks(handle, &index);
            } else if metaindex.properties != Some(handle) {
                self.blocks.checked(handle, name);
            }
        }
        Some(sums)
    }

    fn value_blocks(&mut self, handle: Handle, index: &ValueIndex) {
        // More blocks than the file can hold are none.
        let limit = self.blocks.file.bytes() / TRAILER_BYTES;
        let count = index.count();
        let Some(count) = self.understood(handle, "value index block", count) else { return };
        for number in 0..count.min(limit) {
            let block = index.get(number);
            let Some(block) = self.understood(handle, "value index block", block) else { return };
            if !block.fits(self.footer.metaindex.offset) {
                let problem = format!("the handle of value block {number} leaves its place");
                self.blocks.checks.add(self.blocks.structure(handle, "value index block", problem));
                return;
            }
            self.add_other(block);
            self.blocks.checked(block, "value block");
        }
    }

    /// Every byte before the footer belongs to one block.
    fn tiles(&mut self, data_end: u64) {
        if !self.blocks.is_clean() {
            return;
        }
        self.others.sort_unstable();
        self.others.dedup();
        let mut end = data_end;
        for handle in self.others.iter().chain([&self.footer.metaindex]) {
            if handle.offset != end {
                let problem = format!("the bytes from {end} to {} belong to no block or to two", handle.offset);
                let found = self.blocks.structure(self.footer.metaindex, "metaindex block", problem);
                self.blocks.checks.add(found);
                return;
            }
            end = handle.end().unwrap_or(u64::MAX);
        }
    }

    /// Sums over all rows against the properties; only where all rows were read.
    fn sums(&mut self, properties: &Properties, range_del: Sums) {
        let read_all = self.last.is_none_or(|(_, _, read)| read) && !self.order.stopped;
        let all = self.blocks.place.depth == Depth::Deep || self.footer.format >= VALUE_PREFIX || self.suspicious;
        if !read_all || !all || !self.blocks.is_clean() {
            return;
        }
        let points = self.order.sums;
        let pairs = [
            ("entries", properties.entries, points.entries, range_del.entries),
            ("bytes of keys", properties.raw_key_bytes, points.key_bytes, range_del.key_bytes),
            ("bytes of values", properties.raw_value_bytes, points.value_bytes, range_del.value_bytes),
        ];
        for (what, promised, points, ranges) in pairs {
            let there = points.saturating_add(ranges);
            if let Some(promised) = promised.filter(|promised| *promised != there) {
                let detail = format!(
                    "the properties promise {promised} {what}, the blocks hold {there}; with a wrong format version in \
                     the footer it would be so"
                );
                let start = Handle { offset: self.footer.start, size: 0 };
                self.blocks.checks.add(self.blocks.finding(FindingKind::TableFooter, start, detail));
                return;
            }
        }
    }
}

fn range_deletions(block: &[u8]) -> Result<Sums, CutError> {
    let mut sums = Sums::default();
    let mut cursor = RowBlock::parse(block, TopBits::Flag)?.cursor();
    while cursor.advance()? {
        sums.add(cursor.key(), cursor.value());
    }
    Ok(sums)
}
