//! One version edit: a record of the MANIFEST. *No files.*
//!
//! Source: pebble v1.1 `internal/manifest/version_edit.go` (`Decode`); formats 4. Tags up to 9 are LevelDB's, 100 to 103
//! RocksDB's, 104 Pebble's own. Tags of later formats are told apart from nonsense, so that a newer database is never
//! called damaged.

use crate::lsm::live_table::LiveTable;
use crate::{Cut, CutError, CutProblem, Part};

const TAG: Part = Part::new("version edit tag");
const COMPARATOR: Part = Part::new("comparator name");
const NUMBER: Part = Part::new("file number");
const SEQUENCE: Part = Part::new("sequence number");
const LEVEL: Part = Part::new("level");
const SIZE: Part = Part::new("table size");
const PATH_ID: Part = Part::new("path id");
const BOUNDS_MARKER: Part = Part::new("bounds marker");
const SMALLEST: Part = Part::new("smallest key");
const LARGEST: Part = Part::new("largest key");
const COMPACT_KEY: Part = Part::new("compact pointer key");
const CUSTOM_TAG: Part = Part::new("custom tag of a new table");
const CUSTOM_FIELD: Part = Part::new("custom field of a new table");

/// Pebble has seven levels.
const LEVEL_MAX: u64 = 6;

/// The engine reads sizes as signed.
const SIZE_MAX: u64 = i64::MAX as u64;

/// Why a record is no edit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum EditError {
    /// Its bytes are wrong.
    #[error(transparent)]
    Malformed(#[from] CutError),
    /// It says something that only newer formats can say.
    #[error("{0} belongs to a newer format")]
    Newer(String),
}

/// What a record says.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Edit {
    pub(crate) comparator: Option<Vec<u8>>,
    pub(crate) min_unflushed_wal: Option<u64>,
    pub(crate) next_file: Option<u64>,
    pub(crate) last_sequence: Option<u64>,
    pub(crate) deleted: Vec<(u8, u64)>,
    pub(crate) added: Vec<LiveTable>,
}

impl Edit {
    /// Reads a whole record.
    pub(crate) fn parse(record: &[u8]) -> Result<Self, EditError> {
        let mut edit = Self::default();
        let mut cut = Cut::new(record, 0);
        while !cut.is_empty() {
            let start = cut;
            match cut.uvarint(TAG)? {
                1 => edit.comparator = Some(cut.length_prefixed(COMPARATOR)?.rest().to_vec()),
                2 => edit.min_unflushed_wal = Some(cut.uvarint(NUMBER)?),
                3 => edit.next_file = Some(cut.uvarint(NUMBER)?),
                4 => edit.last_sequence = Some(cut.uvarint(SEQUENCE)?),
                5 => {
                    level(&mut cut)?;
                    cut.length_prefixed(COMPACT_KEY)?;
                }
                6 => edit.deleted.push((level(&mut cut)?, cut.uvarint(NUMBER)?)),
                tag @ (7 | 100 | 102..=104) => edit.added.push(table(tag, &mut cut)?),
                9 => {
                    cut.uvarint(NUMBER)?;
                }
                tag @ (10 | 11 | 105..=112) => return Err(EditError::Newer(format!("version edit tag {tag}"))),
                other => return Err(start.error(TAG, CutProblem::NoSuchValue { value: other }).into()),
            }
        }
        Ok(edit)
    }
}

fn level(cut: &mut Cut<'_>) -> Result<u8, CutError> {
    Ok(u8::try_from(cut.uvarint_at_most(LEVEL, LEVEL_MAX)?).unwrap_or_default())
}

/// A new table: level, number, size, bounds, and from tag 100 on the lowest and highest sequence.
fn table(tag: u64, cut: &mut Cut<'_>) -> Result<LiveTable, EditError> {
    let level = level(cut)?;
    let number = cut.uvarint(NUMBER)?;
    if tag == 102 {
        cut.uvarint(PATH_ID)?;
    }
    let bytes = cut.uvarint_at_most(SIZE, SIZE_MAX)?;
    let (smallest, largest) = if tag == 104 { bounds_with_range_keys(cut)? } else { bounds(cut)? };
    let sequences = if tag == 7 { None } else { Some((cut.uvarint(SEQUENCE)?, cut.uvarint(SEQUENCE)?)) };
    if tag >= 103 {
        custom_fields(cut)?;
    }
    Ok(LiveTable { number, level, bytes, smallest, largest, sequences })
}

type Bounds = (Box<[u8]>, Box<[u8]>);

fn bounds(cut: &mut Cut<'_>) -> Result<Bounds, CutError> {
    Ok((cut.length_prefixed(SMALLEST)?.rest().into(), cut.length_prefixed(LARGEST)?.rest().into()))
}

/// A marker byte says whether there are point keys (1), and whether the smallest (2) and the largest (4) bound is theirs.
fn bounds_with_range_keys(cut: &mut Cut<'_>) -> Result<Bounds, CutError> {
    let start = *cut;
    let marker = cut.u8(BOUNDS_MARKER)?;
    let points = if marker & 1 != 0 { Some(bounds(cut)?) } else { None };
    let (smallest, largest) = bounds(cut)?;
    match points {
        Some(points) => {
            let smallest = if marker & 2 != 0 { points.0 } else { smallest };
            Ok((smallest, if marker & 4 != 0 { points.1 } else { largest }))
        }
        None if marker & 6 != 0 => {
            Err(start.error(BOUNDS_MARKER, CutProblem::NoSuchValue { value: u64::from(marker) }))
        }
        None => Ok((smallest, largest)),
    }
}

fn custom_fields(cut: &mut Cut<'_>) -> Result<(), EditError> {
    loop {
        let start = *cut;
        match cut.uvarint(CUSTOM_TAG)? {
            1 => return Ok(()),
            tag @ 66..=70 => return Err(EditError::Newer(format!("custom tag {tag} of a table"))),
            // Bit 6: a reader that does not know the field must not go on. 65, a path id, is RocksDB's.
            other if other & 64 != 0 => {
                return Err(start.error(CUSTOM_TAG, CutProblem::NoSuchValue { value: other }).into());
            }
            _ => {
                cut.length_prefixed(CUSTOM_FIELD)?;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_table_with_custom_fields() {
        // Tag 103, level 6, number 9, 5 bytes, bounds "a" and "b", sequences 3 to 7, creation time, end; then next file 20.
        let record = [103, 6, 9, 5, 1, b'a', 1, b'b', 3, 7, 6, 1, 0x22, 1, 3, 20];
        let edit = Edit::parse(&record).unwrap();
        assert_eq!(edit.next_file, Some(20));
        assert_eq!(edit.added.len(), 1);
        assert_eq!((edit.added[0].level, edit.added[0].number, edit.added[0].sequences), (6, 9, Some((3, 7))));
        for cut in 1..record.len() {
            assert_eq!(Edit::parse(&record[..cut]).is_ok(), cut == 14, "cut to {cut}");
        }
    }

    #[test]
    fn newer_is_not_nonsense() {
        assert!(matches!(Edit::parse(&[105, 1, 2]), Err(EditError::Newer(_))));
        let virtual_table = [103, 6, 9, 5, 1, b'a', 1, b'b', 3, 7, 66, 1, 1];
        assert!(matches!(Edit::parse(&virtual_table), Err(EditError::Newer(_))));
        let error = Edit::parse(&[2, 3, 99, 0]).unwrap_err();
        assert_eq!(error.to_string(), "version edit tag at offset 2: value 0x63 is not one the format has");
    }

    #[test]
    fn point_bounds_win_where_the_marker_says_so() {
        let table = |marker: u8, points: &[u8]| {
            let record = [&[104, 0, 9, 5, marker], points, &[1, b'm', 1, b'n', 3, 7, 1]].concat();
            Edit::parse(&record).map(|mut edit| edit.added.remove(0))
        };
        let both = table(7, &[1, b'a', 1, b'z']).unwrap();
        assert_eq!((&*both.smallest, &*both.largest), (&b"a"[..], &b"z"[..]));
        let keys = table(0, &[]).unwrap();
        assert_eq!((&*keys.smallest, &*keys.largest), (&b"m"[..], &b"n"[..]));
        assert!(table(2, &[]).is_err());
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(record in proptest::collection::vec(any::<u8>(), 0..100)) {
            let _ = Edit::parse(&record);
        }
    }
}
