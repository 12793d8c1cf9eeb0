//! Reading keys: tables as sorted runs, a few blocks in memory. *Files, read-only.*

use std::path::PathBuf;
use std::sync::Arc;

use crate::data_file::DataFile;
use crate::leveldb::footer::{FOOTER_BYTES, Footer};
use crate::leveldb::manifest::LiveTable;
use crate::lsm::block::{BLOCK_BYTES_MAX, Handle, Trailer, unpack};
use crate::lsm::cache::Cache;
use crate::lsm::internal_key::{self, InternalKey};
use crate::lsm::merge::{Run, RunCursor, RunEntry};
use crate::lsm::row_block::{RowBlock, RowCursor, TopBits};
use crate::store::Place;
use crate::{Cut, CutError, ViewError};

/// Open tables with their indexes, and unpacked blocks, are kept up to this many bytes each.
const CACHE_BYTES: usize = 8 << 20;

/// Opens tables and blocks, and keeps the last few.
pub(crate) struct Tables<'s> {
    place: &'s Place,
    name: fn(&Place, u64) -> String,
    open: Cache<u64, OpenTable>,
    blocks: Cache<(u64, u64), Vec<u8>>,
}

struct OpenTable {
    file: DataFile,
    index: Vec<u8>,
}

impl<'s> Tables<'s> {
    /// `name` gives a table's file name by its number.
    pub(crate) fn new(place: &'s Place, name: fn(&Place, u64) -> String) -> Self {
        Self { place, name, open: Cache::new(CACHE_BYTES), blocks: Cache::new(CACHE_BYTES) }
    }

    fn damaged(&self, file: PathBuf, offset: u64, detail: impl Into<String>) -> ViewError {
        ViewError::Damaged { database: self.place.database.clone(), file, offset, detail: detail.into() }
    }

    fn table(&self, table: &LiveTable) -> Result<Arc<OpenTable>, ViewError> {
        self.open.get_or(table.number, || {
            let file = self.place.dir.file((self.name)(self.place, table.number))?;
            let start = table.bytes.saturating_sub(FOOTER_BYTES);
            let mut bytes = [0; 48];
            file.read_exact_at(&mut bytes, start)?;
            let footer = Footer::parse(&bytes, table.bytes)
                .map_err(|problem| self.damaged(file.path().to_path_buf(), start, problem))?;
            let index = self.read(&file, footer.index)?;
            let size = index.len();
            Ok((OpenTable { file, index }, size))
        })
    }

    fn block(&self, number: u64, file: &DataFile, handle: Handle) -> Result<Arc<Vec<u8>>, ViewError> {
        self.blocks.get_or((number, handle.offset), || {
            let block = self.read(file, handle)?;
            let size = block.len();
            Ok((block, size))
        })
    }

    fn read(&self, file: &DataFile, handle: Handle) -> Result<Vec<u8>, ViewError> {
        let stored = file.read_range(handle.offset, handle.stored_bytes(), BLOCK_BYTES_MAX)?;
        let damaged = |detail: String| self.damaged(file.path().to_path_buf(), handle.offset, detail);
        let trailer = Trailer::of(&stored)
            .filter(Trailer::fits_crc)
            .ok_or_else(|| damaged("a block does not fit its checksum".to_owned()))?;
        let payload = usize::try_from(handle.size).ok().and_then(|size| stored.get(..size)).unwrap_or_default();
        let mut block = Vec::new();
        unpack(payload, trailer.compression, &mut block).map_err(|error| damaged(error.to_string()))?;
        Ok(block)
    }
}

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

    fn broken(&self, open: &OpenTable, offset: u64, error: &CutError) -> ViewError {
        self.reader.damaged(open.file.path().to_path_buf(), offset, error.to_string())
    }

    /// A cursor that stands before the first write that is not before `target`.
    fn seek(&self, target: &[u8]) -> Result<LevelCursor<'_, 's>, ViewError> {
        let table = self.tables.partition_point(|table| internal_key::compare(&table.largest, target).is_lt());
        let mut cursor = LevelCursor { run: self, table, place: None, pending: None };
        let Some(live) = self.tables.get(table) else { return Ok(cursor) };
        let open = self.reader.table(live)?;
        let in_index = |error| self.broken(&open, 0, &error);
        let index = RowBlock::parse(&open.index, TopBits::Number).map_err(in_index)?;
        let (found, there) = index.seek(target, internal_key::compare).map_err(in_index)?;
        if !there {
            cursor.table = table.saturating_add(1);
            return Ok(cursor);
        }
        let handle = Handle::cut(&mut Cut::new(found.value(), 0)).map_err(in_index)?;
        let block = self.reader.block(live.number, &open.file, handle)?;
        let in_block = |error| self.broken(&open, handle.offset, &error);
        let rows = RowBlock::parse(&block, TopBits::Number).map_err(in_block)?;
        let (row, there) = rows.seek(target, internal_key::compare).map_err(in_block)?;
        if there {
            cursor.pending = Some(entry(&row).ok_or_else(|| self.no_key(&open, handle))?);
        }
        let (at, index_at) = (row.position(), found.position());
        let (key, index_key) = (row.into_key(), found.into_key());
        let block = Some((handle, Arc::clone(&block)));
        cursor.place =
            Some(Position { open: Arc::clone(&open), number: live.number, index_at, index_key, block, at, key });
        Ok(cursor)
    }

    fn no_key(&self, open: &OpenTable, handle: Handle) -> ViewError {
        self.reader.damaged(open.file.path().to_path_buf(), handle.offset, "a key without sequence and kind")
    }

    /// The last write of a table before `target`, or its very last.
    fn last_in_table(&self, live: &LiveTable, target: Option<&[u8]>) -> Result<Option<Box<[u8]>>, ViewError> {
        let open = self.reader.table(live)?;
        let compare = |a: &[u8], b: &[u8]| match target {
            Some(_) => internal_key::compare(a, b),
            None => std::cmp::Ordering::Less,
        };
        let target = target.unwrap_or_default();
        let in_index = |error| self.broken(&open, 0, &error);
        let index = RowBlock::parse(&open.index, TopBits::Number).map_err(in_index)?;
        let (at_or_after, there) = index.seek(target, compare).map_err(in_index)?;
        let before = index.last_below(target, compare).map_err(in_index)?.map(|(_, value)| value);
        let candidates = [there.then(|| at_or_after.value()), before];
        for value in candidates.into_iter().flatten() {
            let handle = Handle::cut(&mut Cut::new(value, 0)).map_err(in_index)?;
            let block = self.reader.block(live.number, &open.file, handle)?;
            let in_block = |error| self.broken(&open, handle.offset, &error);
            let rows = RowBlock::parse(&block, TopBits::Number).map_err(in_block)?;
            if let Some((key, _)) = rows.last_below(target, compare).map_err(in_block)? {
                let key = InternalKey::parse(&key).ok_or_else(|| self.no_key(&open, handle))?;
                return Ok(Some(key.user.into()));
            }
        }
        Ok(None)
    }
}

/// The first internal key of a user key: its newest write.
fn newest_of(user: &[u8]) -> Vec<u8> {
    [user, &u64::MAX.to_le_bytes()].concat()
}

fn entry(row: &RowCursor<'_>) -> Option<RunEntry> {
    let key = InternalKey::parse(row.key())?;
    Some(RunEntry { user: key.user.into(), trailer: key.trailer, value: row.value().into() })
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
    /// The next write of the block; none at its end.
    fn in_block(&self, position: &mut Position) -> Result<Option<RunEntry>, ViewError> {
        let Some((handle, block)) = position.block.clone() else { return Ok(None) };
        let broken = |error| self.run.broken(&position.open, handle.offset, &error);
        let rows = RowBlock::parse(&block, TopBits::Number).map_err(broken)?;
        let mut row = RowCursor::resume(rows, position.at, std::mem::take(&mut position.key));
        if !row.advance().map_err(|error| self.run.broken(&position.open, handle.offset, &error))? {
            position.block = None;
            return Ok(None);
        }
        let found = entry(&row).ok_or_else(|| self.run.no_key(&position.open, handle))?;
        position.at = row.position();
        position.key = row.into_key();
        Ok(Some(found))
    }

    /// To the next block; false at the end of the table.
    fn next_block(&self, position: &mut Position) -> Result<bool, ViewError> {
        let open = Arc::clone(&position.open);
        let broken = |error| self.run.broken(&open, 0, &error);
        let index = RowBlock::parse(&open.index, TopBits::Number).map_err(broken)?;
        let mut row = RowCursor::resume(index, position.index_at, std::mem::take(&mut position.index_key));
        if !row.advance().map_err(broken)? {
            return Ok(false);
        }
        let handle = Handle::cut(&mut Cut::new(row.value(), 0)).map_err(broken)?;
        position.index_at = row.position();
        position.index_key = row.into_key();
        position.block = Some((handle, self.run.reader.block(position.number, &open.file, handle)?));
        position.at = 0;
        position.key.clear();
        Ok(true)
    }
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
            if let Some(entry) = self.in_block(&mut position)? {
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
