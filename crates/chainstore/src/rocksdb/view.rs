//! Opening a table for reading keys, and what its rows mean. *Files, read-only.*

use crate::lsm::block::Handle;
use crate::lsm::flat_index::FlatIndex;
use crate::lsm::internal_key::InternalKey;
use crate::lsm::live_table::LiveTable;
use crate::lsm::merge::{Meaning, RunEntry};
use crate::lsm::range_del::RangeDeletions;
use crate::lsm::row_block::TopBits;
use crate::lsm::tables::{OpenTable, Rows, TableFile, Tables};
use crate::lsm::unpack::BLOCK_BYTES_MAX;
use crate::rocksdb::blob_value;
use crate::rocksdb::footer::{FOOTER_BYTES, FOOTER_LENGTH, Footer, FooterError};
use crate::rocksdb::index::IndexCursor;
use crate::rocksdb::layout::{IndexType, Metaindex, Properties, properties_fit};
use crate::rocksdb::{kind, names, unpack};
use crate::store::Place;
use crate::{CutError, Reason, ViewError};

/// All tables of a directory.
pub(crate) fn tables(place: &Place) -> Tables<'_> {
    Tables::new(place, open_table, true)
}

/// What a write does to its key. Merges need the program's own operator, and values in columns are read by nobody here;
/// Cosmos nodes write neither.
pub(crate) fn meaning(of: u8) -> Meaning {
    match of {
        kind::DELETE | kind::SINGLE_DELETE => Meaning::Delete,
        kind::VALUE | kind::BLOB_INDEX => Meaning::Set,
        _ => Meaning::Unsupported,
    }
}

/// Rows of a table: numbers that the MANIFEST gives, values in blob files.
struct RocksDbRows {
    place: Place,
    /// The sequence of every write, in a table that was made elsewhere.
    sequence: Option<u64>,
    deletions: RangeDeletions,
}

impl Rows for RocksDbRows {
    fn entry(&self, table: &TableFile, key: InternalKey<'_>, value: &[u8]) -> Result<RunEntry, ViewError> {
        let kind = key.kind();
        let trailer = self.sequence.map_or(key.trailer, |sequence| (sequence << 8) | u64::from(kind));
        let value = if kind == kind::BLOB_INDEX {
            blob_value::read(&self.place, table, key.user, value)?
        } else {
            value.into()
        };
        Ok(RunEntry { user: key.user.into(), trailer, value })
    }

    fn covering(&self, user: &[u8], snapshot: u64) -> u64 {
        self.deletions.covering(user, snapshot)
    }
}

fn open_table(place: &Place, live: &LiveTable) -> Result<OpenTable, ViewError> {
    let file = place.dir.file(names::table(live.number))?;
    let start = live.bytes.saturating_sub(FOOTER_BYTES);
    let mut bytes = [0; FOOTER_LENGTH];
    file.read_exact_at(&mut bytes, start)?;
    let unsupported = |what: String| ViewError::CouldNotTell(Reason::Unsupported(what));
    let path = file.path().display().to_string();
    let database = place.database.clone();
    let footer = match Footer::parse(&bytes, live.bytes) {
        Ok(footer) => footer,
        Err(FooterError::Unsupported(what)) => {
            return Err(unsupported(format!("{path}: {what} is not read by this version")));
        }
        Err(FooterError::Wrong(detail)) => {
            return Err(ViewError::Damaged { database, file: file.path().into(), offset: start, detail });
        }
    };
    let mut file = TableFile { database, file, seal: footer.seal, unpack: unpack::plain() };
    let metaindex = file.read(footer.metaindex)?;
    let metaindex = Metaindex::parse(&metaindex).map_err(|error| file.damaged(footer.metaindex.offset, error))?;
    let named = |name: &str| metaindex.get(name).ok_or_else(|| file.damaged(start, format!("no {name} block")));
    let properties = properties(&file, named("rocksdb.properties")?)?;
    if let Some(what) = properties.unreadable {
        return Err(unsupported(format!("{path}: {what} is not read by this version")));
    }
    let index = match footer.index {
        Some(index) => index,
        None => named("rocksdb.index")?,
    };
    let index = flat(&file, index, &properties)?;
    let sequence = live.sequences.filter(|_| properties.external).map(|(_, highest)| highest);
    let deletions = match metaindex.get("rocksdb.range_del") {
        Some(handle) => {
            RangeDeletions::parse(&file.read(handle)?, sequence).map_err(|error| file.damaged(handle.offset, error))?
        }
        None => RangeDeletions::default(),
    };
    if let Some(dictionary) = metaindex.get("rocksdb.compression_dict") {
        file.unpack = unpack::with_dictionary(file.read(dictionary)?);
    }
    let other_bytes = deletions.bytes();
    let rows = Box::new(RocksDbRows { place: place.clone(), sequence, deletions });
    Ok(OpenTable { file, index, top_bits: TopBits::HashIndex, rows, other_bytes })
}

/// The properties, into which the engine may have written later.
fn properties(file: &TableFile, handle: Handle) -> Result<Properties, ViewError> {
    let stored = file.file.read_range(handle.offset, handle.stored_bytes(), BLOCK_BYTES_MAX)?;
    if !properties_fit(&stored, handle, file.seal) {
        return Err(file.damaged(handle.offset, "the properties do not fit their checksum"));
    }
    let block = usize::try_from(handle.size).ok().and_then(|size| stored.get(..size)).unwrap_or_default();
    Properties::parse(block).map_err(|error| file.damaged(handle.offset, error))
}

/// The index, of whatever form, as one block from internal keys to whole handles.
fn flat(file: &TableFile, handle: Handle, properties: &Properties) -> Result<Vec<u8>, ViewError> {
    let damaged = |handle: Handle| move |error: CutError| file.damaged(handle.offset, error);
    let top = file.read(handle)?;
    let mut flat = FlatIndex::default();
    if properties.index_type == IndexType::TwoLevels {
        let mut partitions = IndexCursor::new(&top, properties.index.upper()).map_err(damaged(handle))?;
        let mut end = 0;
        while let Some(partition) = partitions.next().map_err(damaged(handle))? {
            if partition.offset < end {
                return Err(file.damaged(handle.offset, "index blocks lie over each other"));
            }
            end = partition.end().unwrap_or(u64::MAX);
            add(&mut flat, &file.read(partition)?, properties).map_err(damaged(partition))?;
        }
    } else {
        add(&mut flat, &top, properties).map_err(damaged(handle))?;
    }
    Ok(flat.finish())
}

fn add(flat: &mut FlatIndex, block: &[u8], properties: &Properties) -> Result<(), CutError> {
    let mut cursor = IndexCursor::new(block, properties.index)?;
    while let Some(handle) = cursor.next()? {
        flat.add(&cursor.internal_key(), handle)?;
    }
    Ok(())
}
