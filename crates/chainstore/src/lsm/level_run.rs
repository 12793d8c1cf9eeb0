//! Reading keys: tables as sorted runs. *Files, read-only.*

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::lsm::block::Handle;
use crate::lsm::internal_key::{self, InternalKey};
use crate::lsm::live_table::LiveTable;
use crate::lsm::merge::{Run, RunCursor, RunEntry};
use crate::lsm::row_block::{RowBlock, RowCursor, TopBits};
use crate::lsm::tables::{OpenTable, Tables};
use crate::{Cut, CutError, ViewError};

/// A table of level 0, or all tables of a deeper level in order of their keys.
pub(crate) struct LevelRun<'s> {
    tables: Vec<&'s LiveTable>,
    reader: Arc<Tables<'s>>,
    snapshot: u64,
}

impl<'s> LevelRun<'s> {
    /// Writes with a number above `snapshot` are not seen: an engine that lost the end of its MANIFEST counts from an
    /// older number, and does not see what tables hold beyond it.
    pub(crate) fn new(mut tables: Vec<&'s LiveTable>, reader: Arc<Tables<'s>>, snapshot: u64) -> Self {
        tables.sort_by(|a, b| internal_key::compare(&a.smallest, &b.smallest));
        Self { tables, reader, snapshot }
    }

    /// A cursor that stands before the first write that is not before `target`.
    fn seek(&self, target: &[u8]) -> Result<LevelCursor<'_, 's>, ViewError> {
        let table = self.tables.partition_point(|table| internal_key::compare(&table.largest, target).is_lt());
        let mut cursor = LevelCursor { run: self, table, place: None, pending: None };
        let Some(live) = self.tables.get(table) else { return Ok(cursor) };
        let open = self.reader.table(live)?;
        let in_index = |error| broken(&open, 0, &error);
        let index = RowBlock::parse(&open.index, TopBits::Number).map_err(in_index)?;
        let (found, there) = index.seek(target, internal_key::compare).map_err(in_index)?;
        if !there {
            cursor.table = table.saturating_add(1);
            return Ok(cursor);
        }
        let handle = Handle::cut(&mut Cut::new(found.value(), 0)).map_err(in_index)?;
        let block = self.reader.block(live.number, &open, handle)?;
        let in_block = |error| broken(&open, handle.offset, &error);
        let rows = RowBlock::parse(&block, open.top_bits).map_err(in_block)?;
        let (row, there) = rows.seek(target, internal_key::compare).map_err(in_block)?;
        if there {
            cursor.pending = Some(entry(&open, handle, &row)?);
        }
        let (at, index_at) = (row.position(), found.position());
        let (key, index_key) = (row.into_key(), found.into_key());
        let block = Some((handle, Arc::clone(&block)));
        cursor.place =
            Some(Position { open: Arc::clone(&open), number: live.number, index_at, index_key, block, at, key });
        Ok(cursor)
    }

    /// The last write of a table before `target`, or its very last.
    fn last_in_table(&self, live: &LiveTable, target: Option<&[u8]>) -> Result<Option<Box<[u8]>>, ViewError> {
        let open = self.reader.table(live)?;
        let compare = |a: &[u8], b: &[u8]| match target {
            Some(_) => internal_key::compare(a, b),
            None => std::cmp::Ordering::Less,
        };
        let target = target.unwrap_or_default();
        let in_index = |error| broken(&open, 0, &error);
        let index = RowBlock::parse(&open.index, TopBits::Number).map_err(in_index)?;
        let (at_or_after, there) = index.seek(target, compare).map_err(in_index)?;
        let before = index.last_below(target, compare).map_err(in_index)?.map(|(_, value)| value);
        let candidates = [there.then(|| at_or_after.value()), before];
        for value in candidates.into_iter().flatten() {
            let handle = Handle::cut(&mut Cut::new(value, 0)).map_err(in_index)?;
            let block = self.reader.block(live.number, &open, handle)?;
            let in_block = |error| broken(&open, handle.offset, &error);
            let rows = RowBlock::parse(&block, open.top_bits).map_err(in_block)?;
            if let Some((key, _)) = rows.last_below(target, compare).map_err(in_block)? {
                let key = InternalKey::parse(&key).ok_or_else(|| no_key(&open, handle))?;
                return Ok(Some(key.user.into()));
            }
        }
        Ok(None)
    }
}

/// Each table of level 0 by itself, each deeper level as one run.
pub(crate) fn runs<'s>(
    tables: impl Iterator<Item = &'s LiveTable>,
    reader: &Arc<Tables<'s>>,
    snapshot: u64,
) -> Vec<Box<dyn Run + 's>> {
    let mut runs: Vec<Box<dyn Run + 's>> = Vec::new();
    let mut levels: BTreeMap<u8, Vec<&LiveTable>> = BTreeMap::new();
    for table in tables {
        if table.level == 0 {
            runs.push(Box::new(LevelRun::new(vec![table], Arc::clone(reader), snapshot)));
        } else {
            levels.entry(table.level).or_default().push(table);
        }
    }
    for tables in levels.into_values() {
        runs.push(Box::new(LevelRun::new(tables, Arc::clone(reader), snapshot)));
    }
    runs
}

/// The first internal key of a user key: its newest write.
fn newest_of(user: &[u8]) -> Vec<u8> {
    [user, &u64::MAX.to_le_bytes()].concat()
}

fn entry(open: &OpenTable, handle: Handle, row: &RowCursor<'_>) -> Result<RunEntry, ViewError> {
    let key = InternalKey::parse(row.key()).ok_or_else(|| no_key(open, handle))?;
    open.rows.entry(&open.file, key, row.value())
}

fn no_key(open: &OpenTable, handle: Handle) -> ViewError {
    open.file.damaged(handle.offset, "a key without sequence and kind")
}

fn broken(open: &OpenTable, offset: u64, error: &CutError) -> ViewError {
    open.file.damaged(offset, error)
}

impl Run for LevelRun<'_> {
    fn newest(&self, user: &[u8]) -> Result<Option<RunEntry>, ViewError> {
        let target = newest_of(user);
        let table = self.tables.partition_point(|table| internal_key::compare(&table.largest, &target).is_lt());
        let inside = self.tables.get(table).and_then(|table| InternalKey::parse(&table.smallest));
        if inside.is_none_or(|smallest| smallest.user > user) {
            return Ok(None);
        }
        let found = self.seek(&target)?.advance()?;
        Ok(found.filter(|entry| entry.user.as_ref() == user))
    }

    fn cursor<'a>(&'a self, from: &[u8]) -> Result<Box<dyn RunCursor + 'a>, ViewError> {
        Ok(Box::new(self.seek(&newest_of(from))?))
    }

    fn covering(&self, user: &[u8]) -> Result<u64, ViewError> {
        if !self.reader.deletes_ranges {
            return Ok(0);
        }
        let target = newest_of(user);
        let first = self.tables.partition_point(|table| internal_key::compare(&table.largest, &target).is_lt());
        let mut covering = 0;
        // A range deletion ends where the next table begins, so a key at the border asks two tables.
        for live in self.tables.get(first..).unwrap_or_default() {
            if InternalKey::parse(&live.smallest).is_none_or(|smallest| smallest.user > user) {
                break;
            }
            covering = covering.max(self.reader.table(live)?.rows.covering(user, self.snapshot));
        }
        Ok(covering)
    }

    fn last_user_below(&self, bound: Option<&[u8]>) -> Result<Option<Box<[u8]>>, ViewError> {
        let target = bound.map(newest_of);
        let before = |table: &&LiveTable| match &target {
            Some(target) => internal_key::compare(&table.smallest, target).is_lt(),
            None => true,
        };
        let count = self.tables.partition_point(before);
        for live in self.tables.get(..count).unwrap_or_default().iter().rev() {
            if let Some(user) = self.last_in_table(live, target.as_deref())? {
                return Ok(Some(user));
            }
        }
        Ok(None)
    }
}

/// Where a cursor stands in a table.
struct Position {
    open: Arc<OpenTable>,
    number: u64,
    index_at: usize,
    index_key: Vec<u8>,
    block: Option<(Handle, Arc<Vec<u8>>)>,
    at: usize,
    key: Vec<u8>,
}

struct LevelCursor<'a, 's> {
    run: &'a LevelRun<'s>,
    table: usize,
    place: Option<Position>,
    pending: Option<RunEntry>,
}

impl LevelCursor<'_, '_> {
    /// To the next block; false at the end of the table.
    fn next_block(&self, position: &mut Position) -> Result<bool, ViewError> {
        let open = Arc::clone(&position.open);
        let in_index = |error| broken(&open, 0, &error);
        let index = RowBlock::parse(&open.index, TopBits::Number).map_err(in_index)?;
        let mut row = RowCursor::resume(index, position.index_at, std::mem::take(&mut position.index_key));
        if !row.advance().map_err(in_index)? {
            return Ok(false);
        }
        let handle = Handle::cut(&mut Cut::new(row.value(), 0)).map_err(in_index)?;
        position.index_at = row.position();
        position.index_key = row.into_key();
        position.block = Some((handle, self.run.reader.block(position.number, &open, handle)?));
        position.at = 0;
        position.key.clear();
        Ok(true)
    }
}

/// The next write of the block; none at its end.
fn in_block(position: &mut Position) -> Result<Option<RunEntry>, ViewError> {
    let Some((handle, block)) = position.block.clone() else { return Ok(None) };
    let damaged = |error| broken(&position.open, handle.offset, &error);
    let rows = RowBlock::parse(&block, position.open.top_bits).map_err(damaged)?;
    let mut row = RowCursor::resume(rows, position.at, std::mem::take(&mut position.key));
    if !row.advance().map_err(|error| broken(&position.open, handle.offset, &error))? {
        position.block = None;
        return Ok(None);
    }
    let found = entry(&position.open, handle, &row)?;
    position.at = row.position();
    position.key = row.into_key();
    Ok(Some(found))
}

impl LevelCursor<'_, '_> {
    fn next_write(&mut self) -> Result<Option<RunEntry>, ViewError> {
        if let Some(entry) = self.pending.take() {
            return Ok(Some(entry));
        }
        loop {
            let mut position = if let Some(position) = self.place.take() {
                position
            } else {
                let Some(live) = self.run.tables.get(self.table) else { return Ok(None) };
                let open = self.run.reader.table(live)?;
                let (number, index_key, key) = (live.number, Vec::new(), Vec::new());
                Position { open, number, index_at: 0, index_key, block: None, at: 0, key }
            };
            if let Some(entry) = in_block(&mut position)? {
                self.place = Some(position);
                return Ok(Some(entry));
            }
            if self.next_block(&mut position)? {
                self.place = Some(position);
            } else {
                self.table = self.table.saturating_add(1);
            }
        }
    }
}

impl RunCursor for LevelCursor<'_, '_> {
    fn advance(&mut self) -> Result<Option<RunEntry>, ViewError> {
        loop {
            match self.next_write()? {
                Some(entry) if entry.trailer >> 8 > self.run.snapshot => {}
                other => return Ok(other),
            }
        }
    }
}
