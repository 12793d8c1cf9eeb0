//! A table's index, of one level or two, and the data blocks that it leads to. *Files, read-only.*
//!
//! Source: pebble v1.1 `sstable/writer.go` (`writeTwoLevelIndex`): an entry's key is not below any key of its block and
//! below every key of the next; its value is the block's handle, behind which there may be properties of the block.

use crate::lsm::block::Handle;
use crate::lsm::block_checker::DATA_BLOCK;
use crate::lsm::row_block::{RowBlock, RowCursor, TopBits};
use crate::pebble::footer::VALUE_PREFIX;
use crate::pebble::key_order::Expected;
use crate::pebble::layout::Properties;
use crate::pebble::table::Reader;
use crate::store::Depth;
use crate::{Check, Cut, CutError, FindingKind, Reason};

/// How far the data blocks have been followed.
struct Walk {
    end: u64,
    blocks: u64,
    /// Whether no index block was unreadable.
    whole: bool,
}

/// The handle of the next entry; none at the end of the index block.
fn next(cursor: &mut RowCursor<'_>) -> Result<Option<Handle>, CutError> {
    if cursor.advance()? { Handle::cut(&mut Cut::new(cursor.value(), 0)).map(Some) } else { Ok(None) }
}

fn entries(index: &[u8]) -> Result<RowCursor<'_>, CutError> {
    Ok(RowBlock::parse(index, TopBits::Flag)?.cursor())
}

impl Reader<'_> {
    /// Index, or its two levels, and every data block; gives the end of the last one if all of it could be read.
    pub(crate) fn index(&mut self, properties: &Properties, expected: Expected<'_>) -> Option<u64> {
        let handle = self.footer.index;
        self.add_other(handle);
        let top = self.blocks.held_block(handle, "index block")?;
        let mut walk = Walk { end: 0, blocks: 0, whole: true };
        if properties.two_level_index {
            let cursor = entries(&top);
            let mut cursor = self.understood(handle, "top index block", cursor)?;
            loop {
                let partition = next(&mut cursor);
                let Some(partition) = self.understood(handle, "top index block", partition)? else { break };
                if !partition.fits(self.footer.metaindex.offset) {
                    let problem = format!("the handle of the index block at {} leaves its place", partition.offset);
                    self.blocks.checks.add(self.blocks.structure(handle, "top index block", problem));
                    return None;
                }
                self.add_other(partition);
                match self.blocks.held_block(partition, "index block") {
                    Some(index) => self.data_blocks(partition, &index, expected, &mut walk)?,
                    None => walk.whole = false,
                }
            }
        } else {
            self.data_blocks(handle, &top, expected, &mut walk)?;
        }
        self.last_block(expected, &walk);
        if walk.whole && properties.data_blocks.is_some_and(|promised| promised != walk.blocks) {
            let promised = properties.data_blocks.unwrap_or_default();
            let problem = format!("it names {} data blocks, the properties promise {promised}", walk.blocks);
            self.blocks.checks.add(self.blocks.structure(handle, "index block", problem));
        }
        walk.whole.then_some(walk.end)
    }

    /// The data blocks of one index block: they lie one after the other from the file's beginning on.
    fn data_blocks(&mut self, from: Handle, index: &[u8], expected: Expected<'_>, walk: &mut Walk) -> Option<()> {
        let cursor = entries(index);
        let mut cursor = self.understood(from, "index block", cursor)?;
        loop {
            let handle = next(&mut cursor);
            let Some(handle) = self.understood(from, "index block", handle)? else { return Some(()) };
            if self.blocks.file.meter().interrupted() {
                self.blocks.checks.add(Reason::Interrupted);
                return None;
            }
            // Behind an index block that could not be read there is a gap.
            let follows = handle.offset == walk.end || (!walk.whole && handle.offset > walk.end);
            if !follows || !handle.fits(self.footer.metaindex.offset) {
                let problem =
                    format!("data block at {} of {} bytes, expected at {}", handle.offset, handle.size, walk.end);
                self.blocks.checks.add(self.blocks.structure(from, "index block", problem));
                return None;
            }
            let is_first = walk.end == 0 && walk.whole;
            walk.end = handle.end().unwrap_or(u64::MAX);
            walk.blocks = walk.blocks.saturating_add(1);
            let packed = self.blocks.checked(handle, DATA_BLOCK);
            let wanted = is_first || self.reads_all(expected);
            if let Some(compression) = packed.filter(|_| wanted) {
                self.keys(handle, compression, Some(cursor.key()), expected, is_first);
            }
            self.last = Some((handle, packed, wanted));
        }
    }

    /// Keys of every block are read in deep mode, and where values tell whether the footer's format is right.
    fn reads_all(&self, expected: Expected<'_>) -> bool {
        self.blocks.place.depth == Depth::Deep
            || expected.format >= VALUE_PREFIX
            || (self.suspicious && self.order.sums.look_prefixed())
    }

    /// Every key of a block: ascending, of a known kind, between index keys, not outside the MANIFEST's bounds.
    fn keys(
        &mut self,
        handle: Handle,
        compression: u8,
        index_key: Option<&[u8]>,
        expected: Expected<'_>,
        is_first: bool,
    ) {
        if self.order.stopped {
            return;
        }
        let mut block = std::mem::take(self.unpacked);
        if self.blocks.unpack(handle, compression, DATA_BLOCK, &mut block) {
            let problem = match self.order.block(&block, index_key, expected, is_first) {
                Ok(None) => None,
                Ok(Some(problem)) => {
                    let detail = format!("{DATA_BLOCK} fits its checksum, but {problem}");
                    Some(self.blocks.finding(FindingKind::KeyOrder, handle, detail).into())
                }
                Err(error) => Some(self.blocks.structure(handle, DATA_BLOCK, error)),
            };
            self.order.stopped = problem.is_some();
            self.blocks.checks.add(problem.unwrap_or(Check::Good));
        } else {
            self.order.stopped = true;
        }
        *self.unpacked = block;
    }

    /// The last key is read in every mode: it shows a whole table that stands in another's place.
    fn last_block(&mut self, expected: Expected<'_>, walk: &Walk) {
        let Some((handle, Some(compression), read)) = self.last else { return };
        if !walk.whole {
            return;
        }
        if !read {
            self.order.forget_block_before();
            self.keys(handle, compression, None, expected, false);
        }
        if !self.order.stopped && !self.order.ends_right(expected) {
            let detail = "data block fits its checksum, but its last key is not the one that the MANIFEST names";
            self.blocks.checks.add(self.blocks.finding(FindingKind::KeyOrder, handle, detail));
        }
    }
}
