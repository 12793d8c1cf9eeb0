//! A live table, as a MANIFEST tells it. *No files.*

use crate::lsm::internal_key;
use crate::store::Place;
use crate::{Finding, FindingKind};

/// What every engine's MANIFEST says of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LiveTable {
    pub(crate) number: u64,
    pub(crate) level: u8,
    pub(crate) bytes: u64,
    /// Internal keys.
    pub(crate) smallest: Box<[u8]>,
    pub(crate) largest: Box<[u8]>,
    /// The lowest and the highest sequence in it, where the engine's MANIFEST says so.
    pub(crate) sequences: Option<(u64, u64)>,
}

impl LiveTable {
    /// A table that no MANIFEST names any more: its bounds are unknown, so every key is sought in it.
    pub(crate) fn unbounded(number: u64, bytes: u64) -> Self {
        let smallest = [u8::MAX; internal_key::TRAILER_BYTES];
        let largest = [[u8::MAX; 32].as_slice(), &[0; internal_key::TRAILER_BYTES]].concat();
        Self { number, level: 0, bytes, smallest: smallest.into(), largest: largest.into(), sequences: None }
    }
}

/// Tables of one level below 0 whose keys overlap.
pub(crate) fn overlaps<'a>(tables: impl Iterator<Item = &'a LiveTable>) -> Vec<(u64, u64)> {
    let mut sorted: Vec<&LiveTable> = tables.filter(|table| table.level > 0).collect();
    sorted.sort_by(|a, b| a.level.cmp(&b.level).then_with(|| internal_key::compare(&a.smallest, &b.smallest)));
    let pairs = sorted.iter().zip(sorted.iter().skip(1));
    pairs
        .filter(|(a, b)| a.level == b.level && internal_key::compare(&a.largest, &b.smallest).is_ge())
        .map(|(a, b)| (a.number, b.number))
        .collect()
}

/// A live table without a file.
pub(crate) fn missing(place: &Place, table: &LiveTable, file_name: &str) -> Finding {
    let path = place.dir.path().join(file_name);
    let detail = format!("live table {} of level {} is not there", table.number, table.level);
    Finding::new(FindingKind::TableMissing, &place.database, &path, detail)
        .values(format!("{} bytes", table.bytes), "no file")
}
