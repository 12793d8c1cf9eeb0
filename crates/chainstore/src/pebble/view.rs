//! Opening a table for reading keys, and what kinds of keys mean. *Files, read-only.*

use std::sync::Mutex;

use crate::lsm::block::Handle;
use crate::lsm::live_table::LiveTable;
use crate::lsm::merge::Meaning;
use crate::lsm::row_block::{RowBlock, TopBits};
use crate::lsm::tables::{OpenTable, TableFile, Tables};
use crate::lsm::trailer::Checksum;
use crate::lsm::unpack::{BLOCK_BYTES_MAX, unpack_pebble};
use crate::pebble::batch::kind;
use crate::pebble::footer::{FOOTER_BYTES, Footer};
use crate::pebble::format::{NEWEST_READ, newest_table};
use crate::pebble::layout::{Metaindex, Properties, ValueIndex};
use crate::pebble::names;
use crate::pebble::range_del::RangeDeletions;
use crate::pebble::table::sequence_of_all;
use crate::pebble::value::PebbleRows;
use crate::store::Place;
use crate::{Cut, CutError, CutProblem, Part, ViewError};

/// All tables of a directory.
pub(crate) fn tables(place: &Place) -> Tables<'_> {
    Tables::new(place, open_table, true)
}

/// What a write does to its key. Merges need the program's own merger; Cosmos nodes write none.
pub(crate) fn meaning(of: u8) -> Meaning {
    match of {
        kind::DELETE | kind::SINGLE_DELETE | kind::DELETE_SIZED => Meaning::Delete,
        kind::SET | kind::SET_WITH_DELETE => Meaning::Set,
        _ => Meaning::Unsupported,
    }
}

fn open_table(place: &Place, live: &LiveTable) -> Result<OpenTable, ViewError> {
    let file = place.dir.file(names::table(live.number))?;
    let start = live.bytes.saturating_sub(FOOTER_BYTES);
    let mut bytes = [0; 53];
    file.read_exact_at(&mut bytes, start)?;
    let mut file =
        TableFile { database: place.database.clone(), file, checksum: Checksum::Crc32c, unpack: unpack_pebble };
    let footer =
        Footer::parse(&bytes, live.bytes, newest_table(NEWEST_READ)).map_err(|problem| file.damaged(start, problem))?;
    file.checksum = footer.checksum;
    let in_block = |handle: Handle, error: &CutError| file.damaged(handle.offset, error);
    let metaindex =
        Metaindex::parse(&file.read(footer.metaindex)?).map_err(|error| in_block(footer.metaindex, &error))?;
    let properties = metaindex.properties.ok_or_else(|| file.damaged(start, "no properties block"))?;
    let two_level =
        Properties::parse(&file.read(properties)?).map_err(|error| in_block(properties, &error))?.two_level_index;
    let top = file.read(footer.index)?;
    let index = if two_level { flat(&file, footer.index, &top)? } else { top };
    let sequence = sequence_of_all(live);
    let deletions = match metaindex.range_del {
        Some(handle) => {
            RangeDeletions::parse(&file.read(handle)?, sequence).map_err(|error| in_block(handle, &error))?
        }
        None => RangeDeletions::default(),
    };
    let values = match metaindex.values {
        Some(values) => Some(ValueIndex::new(file.read(values.handle)?, values)),
        None => None,
    };
    let other_bytes = deletions.bytes().saturating_add(values.as_ref().map_or(0, ValueIndex::bytes));
    let rows = PebbleRows { format: footer.format, sequence, deletions, values, last_block: Mutex::new(None) };
    Ok(OpenTable { file, index, top_bits: TopBits::Flag, rows: Box::new(rows), other_bytes })
}

/// A two-level index as one block whose every entry is a restart point.
fn flat(file: &TableFile, handle: Handle, top: &[u8]) -> Result<Vec<u8>, ViewError> {
    let (mut entries, mut restarts) = (Vec::new(), Vec::new());
    let mut partitions =
        RowBlock::parse(top, TopBits::Flag).map_err(|error| file.damaged(handle.offset, error))?.cursor();
    while partitions.advance().map_err(|error| file.damaged(handle.offset, error))? {
        let partition =
            Handle::cut(&mut Cut::new(partitions.value(), 0)).map_err(|error| file.damaged(handle.offset, error))?;
        let block = file.read(partition)?;
        add_partition(&block, &mut entries, &mut restarts).map_err(|error| file.damaged(partition.offset, error))?;
    }
    let count = u32::try_from(restarts.len() / 4).unwrap_or_default();
    entries.extend_from_slice(&restarts);
    entries.extend_from_slice(&count.to_le_bytes());
    Ok(entries)
}

fn add_partition(block: &[u8], entries: &mut Vec<u8>, restarts: &mut Vec<u8>) -> Result<(), CutError> {
    let mut cursor = RowBlock::parse(block, TopBits::Flag)?.cursor();
    while cursor.advance()? {
        let row = cursor.key().len().saturating_add(cursor.value().len());
        let bytes = entries.len().saturating_add(restarts.len()).saturating_add(row) as u64;
        let start = u32::try_from(entries.len()).ok().filter(|_| bytes <= BLOCK_BYTES_MAX);
        let Some(start) = start else {
            let problem = CutProblem::AboveLimit { value: bytes, limit: BLOCK_BYTES_MAX };
            return Err(Cut::new(&[], 0).error(Part::new("index"), problem));
        };
        restarts.extend_from_slice(&start.to_le_bytes());
        for number in [0, cursor.key().len() as u64, cursor.value().len() as u64] {
            put_uvarint(entries, number);
        }
        entries.extend_from_slice(cursor.key());
        entries.extend_from_slice(cursor.value());
    }
    Ok(())
}

fn put_uvarint(into: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        into.push(u8::try_from(number & 0x7f).unwrap_or_default() | 0x80);
        number >>= 7;
    }
    into.push(u8::try_from(number).unwrap_or_default());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_levels_become_one() {
        let partition = |entries: &[u8], restarts: &[u8], count: u8| [entries, restarts, &[count, 0, 0, 0]].concat();
        let first = partition(&[0, 1, 2, b'a', 1, 9, 1, 1, 1, b'b', 7], &[0, 0, 0, 0], 1);
        let second = partition(&[0, 1, 1, b'c', 8], &[0, 0, 0, 0], 1);
        let (mut entries, mut restarts) = (Vec::new(), Vec::new());
        add_partition(&first, &mut entries, &mut restarts).unwrap();
        add_partition(&second, &mut entries, &mut restarts).unwrap();
        let block = [&entries[..], &restarts, &[3, 0, 0, 0]].concat();
        let block = RowBlock::parse(&block, TopBits::Number).unwrap();
        let (found, there) = block.seek(b"ab", Ord::cmp).unwrap();
        assert!(there);
        assert_eq!((found.key(), found.value()), (&b"ab"[..], &[7][..]));
        assert_eq!(block.seek(b"b", Ord::cmp).unwrap().0.key(), b"c");
    }
}
