//! A table's index, of one level or two, and the data blocks that it leads to. *Files, read-only.*
//!
//! Source: RocksDB `table/block_based/index_builder.cc`: an entry's key is not below any key of its block and below every key of
//! the next. Blocks may have padding between them.

use crate::lsm::block::Handle;
use crate::lsm::block_checker::DATA_BLOCK;
use crate::lsm::trailer::Checksum;
use crate::rocksdb::blob_value;
use crate::rocksdb::index::IndexCursor;
use crate::rocksdb::key_order::Problem;
use crate::rocksdb::layout::{IndexType, Properties};
use crate::rocksdb::table::Reader;
use crate::{Check, FindingKind, Reason};

/// How far the data blocks have been followed.
struct Walk {
    end: u64,
    blocks: u64,
    /// Whether no index block was unreadable.
    whole: bool,
}

impl Reader<'_> {
    /// Index, or its two levels, and every data block.
    pub(crate) fn index(&mut self, handle: Handle, properties: &Properties) {
        if !handle.fits(self.footer.metaindex.offset) {
            let problem = "the handle of the index block leaves its place";
            let metaindex = self.footer.metaindex;
            self.blocks.checks.add(self.blocks.structure(metaindex, "metaindex block", problem));
            return;
        }
        let Some(top) = self.blocks.held_block(handle, "index block") else { return };
        let mut walk = Walk { end: 0, blocks: 0, whole: true };
        let done = if properties.index_type == IndexType::TwoLevels {
            self.partitions(handle, &top, properties, &mut walk)
        } else {
            self.data_blocks(handle, &top, properties, &mut walk)
        };
        if done.is_none() || !walk.whole {
            return;
        }
        self.last_block();
        if let Some(promised) = properties.data_blocks.filter(|promised| *promised != walk.blocks) {
            let problem = format!("it names {} data blocks, the properties promise {promised}", walk.blocks);
            self.blocks.checks.add(self.blocks.structure(handle, "index block", problem));
        }
    }

    fn partitions(&mut self, handle: Handle, top: &[u8], properties: &Properties, walk: &mut Walk) -> Option<()> {
        let what = "top index block";
        let cursor = IndexCursor::new(top, properties.index.upper());
        let mut cursor = self.understood(handle, what, cursor)?;
        let mut end = 0;
        loop {
            let partition = cursor.next();
            let Some(partition) = self.understood(handle, what, partition)? else { return Some(()) };
            if partition.offset < end || !partition.fits(self.footer.metaindex.offset) {
                let problem = format!("the handle of the index block at {} leaves its place", partition.offset);
                self.blocks.checks.add(self.blocks.structure(handle, what, problem));
                return None;
            }
            end = partition.end().unwrap_or(u64::MAX);
            match self.blocks.held_block(partition, "index block") {
                Some(index) => self.data_blocks(partition, &index, properties, walk)?,
                None => walk.whole = false,
            }
        }
    }

    /// The data blocks of one index block: each lies behind the one before.
    fn data_blocks(&mut self, from: Handle, index: &[u8], properties: &Properties, walk: &mut Walk) -> Option<()> {
        let cursor = IndexCursor::new(index, properties.index);
        let mut cursor = self.understood(from, "index block", cursor)?;
        loop {
            let handle = cursor.next();
            let Some(handle) = self.understood(from, "index block", handle)? else { return Some(()) };
            if self.blocks.file.meter().interrupted() {
                self.blocks.checks.add(Reason::Interrupted);
                return None;
            }
            if handle.offset < walk.end || !handle.fits(self.footer.metaindex.offset) {
                let problem =
                    format!("data block at {} of {} bytes, expected from {} on", handle.offset, handle.size, walk.end);
                self.blocks.checks.add(self.blocks.structure(from, "index block", problem));
                return None;
            }
            let is_first = walk.blocks == 0 && walk.whole;
            walk.end = handle.end().unwrap_or(u64::MAX);
            walk.blocks = walk.blocks.saturating_add(1);
            let packed = self.blocks.checked(handle, DATA_BLOCK);
            let wanted = is_first || self.reads_all;
            if let Some(compression) = packed.filter(|_| wanted) {
                self.keys(handle, compression, Some(&cursor.internal_key()), is_first);
            }
            self.last = Some((handle, packed, wanted));
        }
    }

    /// Every key of a block: ascending, of a known kind, between index keys, not outside the MANIFEST's bounds.
    fn keys(&mut self, handle: Handle, compression: u8, index_key: Option<&[u8]>, is_first: bool) {
        if self.order.stopped {
            return;
        }
        let mut block = std::mem::take(self.unpacked);
        if self.blocks.unpack(handle, compression, DATA_BLOCK, &mut block) {
            let problem = match self.order.block(&block, index_key, self.expected, is_first) {
                Ok(None) => None,
                Ok(Some(problem)) => Some(self.judge(handle, problem)),
                Err(error) => Some(self.blocks.structure(handle, DATA_BLOCK, error)),
            };
            self.order.stopped = problem.is_some();
            self.blocks.checks.add(problem.unwrap_or(Check::Good));
            self.values_elsewhere();
        } else {
            self.order.stopped = true;
        }
        *self.unpacked = block;
    }

    /// The values of a block's keys that stand in blob files: whether they are those of these keys.
    fn values_elsewhere(&mut self) {
        for (index, user) in std::mem::take(&mut self.order.values) {
            if let Some(check) = blob_value::of_another_key(self.blocks.place, &index, &user) {
                self.blocks.checks.add(check);
                // One is enough: where a file's content is another's, every key says so.
                return;
            }
        }
    }

    fn judge(&self, handle: Handle, problem: Problem) -> Check {
        let words = match problem {
            // Behind a right checksum it is what a newer engine wrote.
            Problem::UnknownKind(kind) if self.footer.seal.checksum != Checksum::None => {
                let path = self.blocks.file.path().display();
                return Reason::Unsupported(format!("{path}: writes of kind {kind} are not read by this version"))
                    .into();
            }
            Problem::UnknownKind(kind) => format!("a key has the unknown kind {kind}"),
            Problem::Wrong(words) => words,
        };
        let checksum = self.blocks.checksum_in_words();
        self.blocks.finding(FindingKind::KeyOrder, handle, format!("{DATA_BLOCK} {checksum} {words}")).into()
    }

    /// The last key is read in every mode: it shows a whole table that stands in another's place.
    fn last_block(&mut self) {
        let Some((handle, Some(compression), read)) = self.last else { return };
        if !read {
            self.order.forget_block_before();
            self.keys(handle, compression, None, false);
        }
        if !self.order.stopped && !self.order.ends_right(self.expected) && self.expected.bytewise {
            let problem = Problem::Wrong("its last key is not the one that the MANIFEST names".to_owned());
            self.blocks.checks.add(self.judge(handle, problem));
        }
    }
}
