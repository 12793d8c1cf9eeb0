//! Open tables of a view: their indexes and a few unpacked blocks in memory. *Files, read-only.*

use std::sync::Arc;

use diagnosis::DatabaseName;

use crate::ViewError;
use crate::data_file::DataFile;
use crate::lsm::block::Handle;
use crate::lsm::cache::Cache;
use crate::lsm::internal_key::InternalKey;
use crate::lsm::live_table::LiveTable;
use crate::lsm::merge::RunEntry;
use crate::lsm::row_block::TopBits;
use crate::lsm::trailer::{Checksum, Trailer};
use crate::lsm::unpack::{BLOCK_BYTES_MAX, Unpack};
use crate::store::Place;

/// Open tables with their indexes, and unpacked blocks, are kept up to this many bytes each.
const CACHE_BYTES: usize = 8 << 20;

/// A table's file, and how its blocks are read.
pub(crate) struct TableFile {
    pub(crate) database: DatabaseName,
    pub(crate) file: DataFile,
    pub(crate) checksum: Checksum,
    pub(crate) unpack: Unpack,
}

impl TableFile {
    /// Damage at an offset of the file.
    pub(crate) fn damaged(&self, offset: u64, detail: impl std::fmt::Display) -> ViewError {
        let file = self.file.path().to_path_buf();
        ViewError::Damaged { database: self.database.clone(), file, offset, detail: detail.to_string() }
    }

    /// A block, checked and unpacked.
    pub(crate) fn read(&self, handle: Handle) -> Result<Vec<u8>, ViewError> {
        let stored = self.file.read_range(handle.offset, handle.stored_bytes(), BLOCK_BYTES_MAX)?;
        let trailer = Trailer::of(&stored, self.checksum)
            .filter(Trailer::fits)
            .ok_or_else(|| self.damaged(handle.offset, "a block does not fit its checksum"))?;
        let payload = usize::try_from(handle.size).ok().and_then(|size| stored.get(..size)).unwrap_or_default();
        let mut block = Vec::new();
        (self.unpack)(payload, trailer.compression, &mut block).map_err(|error| self.damaged(handle.offset, error))?;
        Ok(block)
    }
}

/// What an engine's rows mean beyond key and value.
pub(crate) trait Rows: Send + Sync {
    /// The write that a row is.
    fn entry(&self, table: &TableFile, key: InternalKey<'_>, value: &[u8]) -> Result<RunEntry, ViewError>;

    /// The highest sequence, up to a snapshot's, of a range deletion of this table that covers a key; 0 if there is none.
    fn covering(&self, user: &[u8], snapshot: u64) -> u64 {
        let _ = (user, snapshot);
        0
    }
}

/// Rows that are just keys and values.
pub(crate) struct PlainRows;

impl Rows for PlainRows {
    fn entry(&self, _: &TableFile, key: InternalKey<'_>, value: &[u8]) -> Result<RunEntry, ViewError> {
        Ok(RunEntry { user: key.user.into(), trailer: key.trailer, value: value.into() })
    }
}

/// A table that has been opened.
pub(crate) struct OpenTable {
    pub(crate) file: TableFile,
    /// From internal keys to the handles of data blocks, in one row block.
    pub(crate) index: Vec<u8>,
    /// What the highest bits in data blocks mean.
    pub(crate) top_bits: TopBits,
    pub(crate) rows: Box<dyn Rows>,
    /// What it takes of memory besides the index.
    pub(crate) other_bytes: usize,
}

/// Opens a table by its engine's rules.
pub(crate) type Opener = fn(&Place, &LiveTable) -> Result<OpenTable, ViewError>;

/// Opens tables and blocks, and keeps the last few.
pub(crate) struct Tables<'s> {
    place: &'s Place,
    opener: Opener,
    /// Whether tables can hold range deletions, so that a key may be gone although a block has it.
    pub(crate) deletes_ranges: bool,
    open: Cache<u64, OpenTable>,
    blocks: Cache<(u64, u64), Vec<u8>>,
}

impl<'s> Tables<'s> {
    pub(crate) fn new(place: &'s Place, opener: Opener, deletes_ranges: bool) -> Self {
        Self { place, opener, deletes_ranges, open: Cache::new(CACHE_BYTES), blocks: Cache::new(CACHE_BYTES) }
    }

    /// A table, opened or from memory.
    pub(crate) fn table(&self, table: &LiveTable) -> Result<Arc<OpenTable>, ViewError> {
        self.open.get_or(table.number, || {
            let open = (self.opener)(self.place, table)?;
            let size = open.index.len().saturating_add(open.other_bytes);
            Ok((open, size))
        })
    }

    /// A block of an open table, read or from memory.
    pub(crate) fn block(&self, number: u64, open: &OpenTable, handle: Handle) -> Result<Arc<Vec<u8>>, ViewError> {
        self.blocks.get_or((number, handle.offset), || {
            let block = open.file.read(handle)?;
            let size = block.len();
            Ok((block, size))
        })
    }
}
