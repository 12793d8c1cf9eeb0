//! Opening a table for reading keys. *Files, read-only.*

use crate::ViewError;
use crate::leveldb::footer::{FOOTER_BYTES, Footer};
use crate::leveldb::leveldb_store::table_file;
use crate::lsm::live_table::LiveTable;
use crate::lsm::row_block::TopBits;
use crate::lsm::tables::{OpenTable, PlainRows, TableFile, Tables};
use crate::lsm::trailer::Checksum;
use crate::lsm::unpack::unpack;
use crate::store::Place;

/// All tables of a directory.
pub(crate) fn tables(place: &Place) -> Tables<'_> {
    Tables::new(place, open_table, false)
}

fn open_table(place: &Place, live: &LiveTable) -> Result<OpenTable, ViewError> {
    let file = place.dir.file(table_file(place, live.number))?;
    let start = live.bytes.saturating_sub(FOOTER_BYTES);
    let mut bytes = [0; 48];
    file.read_exact_at(&mut bytes, start)?;
    let file = TableFile { database: place.database.clone(), file, checksum: Checksum::Crc32c, unpack };
    let footer = Footer::parse(&bytes, live.bytes).map_err(|problem| file.damaged(start, problem))?;
    let index = file.read(footer.index)?;
    Ok(OpenTable { file, index, top_bits: TopBits::Number, rows: Box::new(PlainRows), other_bytes: 0 })
}
