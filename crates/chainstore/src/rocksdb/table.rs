//! One table: footer, metaindex, properties, index, filters and other metablocks, and every data block against their
//! checksums. *Files, read-only.*
//!
//! Source: RocksDB `table/block_based/block_based_table_builder.cc`, `block_based_table_reader.cc`; formats 2. A checksum covers
//! the bytes as stored, so data blocks are unpacked only in deep mode, where the order of every key is checked, and where
//! there are no checksums and nothing else can be checked.

use crate::data_file::DataFile;
use crate::lsm::block::Handle;
use crate::lsm::block_checker::BlockChecker;
use crate::lsm::live_table::{self, LiveTable};
use crate::lsm::row_block::{RowBlock, TopBits};
use crate::lsm::trailer::Checksum;
use crate::lsm::unpack::BLOCK_BYTES_MAX;
use crate::rocksdb::footer::Footer;
use crate::rocksdb::footer_checks;
use crate::rocksdb::index::IndexCursor;
use crate::rocksdb::key_order::{Expected, KeyOrder};
use crate::rocksdb::layout::{Metaindex, Properties, properties_fit};
use crate::rocksdb::{blob, names, unpack};
use crate::store::{Depth, Place, Scratch};
use crate::{Checks, CutError, Reason};

const PROPERTIES: &str = "rocksdb.properties";
const INDEX: &str = "rocksdb.index";
const RANGE_DEL: &str = "rocksdb.range_del";
const DICTIONARY: &str = "rocksdb.compression_dict";
const PARTITIONED_FILTER: &str = "partitionedfilter.";

/// Checks one live table. `bytewise` says whether its keys are in the order of their bytes.
pub(crate) fn check(
    place: &Place,
    table: &LiveTable,
    bytewise: bool,
    file: &DataFile,
    scratch: &mut Scratch,
) -> Checks {
    let mut checks = Checks::default();
    if let Some(check) = live_table::size(place, table, file) {
        checks.add(check);
        return checks;
    }
    let footer = match footer_checks::check(place, file, table.bytes) {
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
    let footer_flip = || footer_checks::attribute(place, file, table.bytes);
    let blocks = BlockChecker::new(place, file, window, footer.seal, unpack::plain(), &footer_flip);
    let expected = Expected { table, bytewise, external: false, only_points: true };
    let reads_all = place.depth == Depth::Deep || footer.seal.checksum == Checksum::None;
    Reader { blocks, unpacked, footer, order: KeyOrder::default(), expected, reads_all, last: None }.run()
}

pub(crate) struct Reader<'a> {
    pub(crate) blocks: BlockChecker<'a>,
    pub(crate) unpacked: &'a mut Vec<u8>,
    pub(crate) footer: Footer,
    pub(crate) order: KeyOrder,
    pub(crate) expected: Expected<'a>,
    /// Whether every data block's keys are read.
    pub(crate) reads_all: bool,
    /// The last data block: its handle, how it is packed, and whether its keys were read.
    pub(crate) last: Option<(Handle, Option<u8>, bool)>,
}

impl Reader<'_> {
    fn run(mut self) -> Checks {
        if let Some(metaindex) = self.metaindex()
            && let Some(properties) = self.properties(&metaindex)
        {
            self.expected.external = properties.external;
            self.expected.only_points = metaindex.get(RANGE_DEL).is_none();
            let ranges = self.metablocks(&metaindex, &properties);
            let index = self.footer.index.or_else(|| metaindex.get(INDEX));
            match (index, properties.unreadable) {
                (_, Some(what)) => {
                    let path = self.blocks.file.path().display();
                    let reason = format!("{path}: {what}, which this version does not read");
                    self.blocks.checks.add(Reason::Unsupported(reason));
                }
                (Some(index), None) => {
                    self.index(index, &properties);
                    self.count(index, &properties, ranges);
                    self.blob_headers();
                }
                (None, None) => self.malformed_metaindex("no index block"),
            }
        }
        self.blocks.finish()
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

    fn malformed_metaindex(&mut self, problem: &str) {
        let found = self.blocks.structure(self.footer.metaindex, "metaindex block", problem);
        self.blocks.checks.add(found);
    }

    fn metaindex(&mut self) -> Option<Metaindex> {
        let handle = self.footer.metaindex;
        let block = self.blocks.held_block(handle, "metaindex block")?;
        self.understood(handle, "metaindex block", Metaindex::parse(&block))
    }

    fn properties(&mut self, metaindex: &Metaindex) -> Option<Properties> {
        let Some(handle) = metaindex.get(PROPERTIES).filter(|handle| handle.fits(self.footer.metaindex.offset)) else {
            self.malformed_metaindex("no properties block where it should be");
            return None;
        };
        // What does not fit even so is read once more, and judged like every other block.
        let stored = self.blocks.file.read_range(handle.offset, handle.stored_bytes(), BLOCK_BYTES_MAX);
        let fitting = stored.ok().filter(|stored| properties_fit(stored, handle, self.footer.seal));
        let block = match fitting {
            Some(mut stored) => {
                stored.truncate(usize::try_from(handle.size).unwrap_or(usize::MAX));
                stored
            }
            None => self.blocks.held_block(handle, "properties block")?,
        };
        self.understood(handle, "properties block", Properties::parse(&block))
    }

    /// Every other block that the metaindex names; gives the number of range deletions.
    fn metablocks(&mut self, metaindex: &Metaindex, properties: &Properties) -> Option<u64> {
        let mut ranges = Some(0);
        for (name, handle) in &metaindex.blocks {
            let handle = *handle;
            if !handle.fits(self.footer.metaindex.offset) {
                self.malformed_metaindex(&format!("the handle of {name} leaves its place"));
                continue;
            }
            match name.as_str() {
                PROPERTIES | INDEX => {}
                RANGE_DEL => {
                    let block = self.blocks.held_block(handle, name);
                    ranges = block.and_then(|block| self.understood(handle, name, rows(&block)));
                }
                DICTIONARY => {
                    if let Some(dictionary) = self.blocks.held_block(handle, name) {
                        self.blocks.unpack_with(unpack::with_dictionary(dictionary));
                    }
                }
                name if name.starts_with(PARTITIONED_FILTER) => self.filters(handle, name, properties),
                name => {
                    self.blocks.checked(handle, name);
                }
            }
        }
        ranges
    }

    /// A filter in parts: an index that leads to them.
    fn filters(&mut self, handle: Handle, name: &str, properties: &Properties) {
        let Some(block) = self.blocks.held_block(handle, name) else { return };
        let cursor = IndexCursor::new(&block, properties.index.upper());
        let Some(mut cursor) = self.understood(handle, name, cursor) else { return };
        let mut end = 0;
        loop {
            let part = cursor.next();
            match self.understood(handle, name, part).flatten() {
                Some(part) if part.offset >= end && part.fits(self.footer.metaindex.offset) => {
                    end = part.end().unwrap_or(u64::MAX);
                    self.blocks.checked(part, "filter block");
                }
                Some(part) => {
                    let problem = format!("the handle of the filter block at {} leaves its place", part.offset);
                    self.blocks.checks.add(self.blocks.structure(handle, name, problem));
                    return;
                }
                None => return,
            }
        }
    }

    /// The headers of blob files carry no checksum: how they say that they are packed is compared with what values say that point
    /// into them.
    fn blob_headers(&mut self) {
        for (number, compression) in std::mem::take(&mut self.order.blobs) {
            // Whether the file is there, and its own bytes right, is checked with it.
            let Ok(file) = self.blocks.place.dir.file(names::blob(number)) else { continue };
            if let Some(check) = blob::packed_otherwise(self.blocks.place, &file, compression) {
                self.blocks.checks.add(check);
            }
        }
    }

    /// All keys against the properties' count; only where all of them were read.
    fn count(&mut self, index: Handle, properties: &Properties, ranges: Option<u64>) {
        let read_all = self.last.is_none_or(|(_, _, read)| read) && self.reads_all && !self.order.stopped;
        if !read_all || self.blocks.checks.severity().is_some() {
            return;
        }
        let (points, ranges) = (self.order.entries, ranges.unwrap_or(0));
        // Whether range deletions are counted is left to the engine's version.
        if let Some(promised) = properties.entries
            && promised != points
            && promised != points.saturating_add(ranges)
        {
            let problem = format!("its blocks hold {points} entries, the properties promise {promised}");
            self.blocks.checks.add(self.blocks.structure(index, "index block", problem));
        }
    }
}

/// How many rows a block has.
fn rows(block: &[u8]) -> Result<u64, CutError> {
    let mut rows = 0_u64;
    let mut cursor = RowBlock::parse(block, TopBits::HashIndex)?.cursor();
    while cursor.advance()? {
        rows = rows.saturating_add(1);
    }
    Ok(rows)
}
