//! One version edit: a record of the MANIFEST. *No files.*
//!
//! Source: RocksDB `db/version_edit.h` (`Tag`), `db/version_edit.cc` (`DecodeFrom`), `db/wal_edit.cc`; formats 4. Tags with bit 13
//! may be passed over by readers that do not know them; all others that are unknown here belong to newer formats, and a
//! newer database is never called damaged.

use crate::rocksdb::new_file::{self, NewTable};
use crate::{Cut, CutError, Part};

const TAG: Part = Part::new("version edit tag");
const COMPARATOR: Part = Part::new("comparator name");
const NUMBER: Part = Part::new("file number");
const SEQUENCE: Part = Part::new("sequence number");
const COMPACT_KEY: Part = Part::new("compaction cursor key");
const FAMILY: Part = Part::new("column family id");
const FAMILY_NAME: Part = Part::new("column family name");
const GROUP: Part = Part::new("edits that remain in the group");
const WAL: Part = Part::new("WAL addition");
const WAL_DELETION: Part = Part::new("WAL deletion");
const IGNORED: Part = Part::new("field of an ignorable tag");

/// Tags with this bit carry their length, and may be passed over.
const SAFE_TO_IGNORE: u32 = 1 << 13;

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

/// What happens to a column family as a whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum FamilyChange {
    Add(Vec<u8>),
    Drop,
}

/// A WAL that the MANIFEST keeps an eye on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TrackedWal {
    pub(crate) number: u64,
    /// So many bytes were synced.
    pub(crate) synced: Option<u64>,
}

/// What a record says. Most of it is about one column family; 0 is the default one.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Edit {
    pub(crate) family: u32,
    pub(crate) family_change: Option<FamilyChange>,
    pub(crate) comparator: Option<Vec<u8>>,
    pub(crate) log_number: Option<u64>,
    pub(crate) min_log_to_keep: Option<u64>,
    pub(crate) next_file: Option<u64>,
    pub(crate) last_sequence: Option<u64>,
    pub(crate) deleted: Vec<(u8, u64)>,
    pub(crate) added: Vec<NewTable>,
    pub(crate) blobs: Vec<new_file::NewBlobFile>,
    pub(crate) garbage: Vec<new_file::BlobGarbage>,
    pub(crate) wals: Vec<TrackedWal>,
    pub(crate) wals_deleted_below: Option<u64>,
    /// How many edits follow that are applied together with this one.
    pub(crate) group: Option<u32>,
}

impl Edit {
    /// Reads a whole record.
    pub(crate) fn parse(record: &[u8]) -> Result<Self, EditError> {
        let mut edit = Self::default();
        let mut cut = Cut::new(record, 0);
        while !cut.is_empty() {
            match cut.uvarint32(TAG)? {
                1 => edit.comparator = Some(cut.length_prefixed(COMPARATOR)?.rest().to_vec()),
                2 => edit.log_number = Some(cut.uvarint(NUMBER)?),
                3 => edit.next_file = Some(cut.uvarint(NUMBER)?),
                4 => edit.last_sequence = Some(cut.uvarint(SEQUENCE)?),
                5 => {
                    new_file::level(&mut cut)?;
                    cut.length_prefixed(COMPACT_KEY)?;
                }
                6 => edit.deleted.push((new_file::level(&mut cut)?, cut.uvarint(NUMBER)?)),
                tag @ (7 | 100 | 102 | 103) => {
                    let (table, min_log) = new_file::table(tag, &mut cut)?;
                    edit.added.push(table);
                    edit.min_log_to_keep = min_log.or(edit.min_log_to_keep);
                }
                // The previous log's number, and the highest id of a column family.
                9 | 203 => {
                    cut.uvarint(NUMBER)?;
                }
                10 => edit.min_log_to_keep = Some(cut.uvarint(NUMBER)?),
                200 => edit.family = cut.uvarint32(FAMILY)?,
                201 => {
                    let name = cut.length_prefixed(FAMILY_NAME)?.rest().to_vec();
                    edit.family_change = Some(FamilyChange::Add(name));
                }
                202 => edit.family_change = Some(FamilyChange::Drop),
                300 => edit.group = Some(cut.uvarint32(GROUP)?),
                400 | 8194 => edit.blobs.push(new_file::blob_file(&mut cut)?),
                401 | 8195 => edit.garbage.push(new_file::blob_garbage(&mut cut)?),
                8196 => edit.wals.push(wal(&mut cut)?),
                8197 => edit.wals_deleted_below = Some(cut.uvarint(WAL_DELETION)?),
                8199 => edit.wals.push(wal(&mut cut.length_prefixed(WAL)?)?),
                8200 => {
                    let below = cut.length_prefixed(WAL_DELETION)?.uvarint(WAL_DELETION)?;
                    edit.wals_deleted_below = Some(below);
                }
                tag if tag & SAFE_TO_IGNORE != 0 => {
                    cut.length_prefixed(IGNORED)?;
                }
                tag => return Err(EditError::Newer(format!("version edit tag {tag}"))),
            }
        }
        Ok(edit)
    }
}

/// A WAL's number, then fields until 1; 2 is how much of it was synced.
fn wal(cut: &mut Cut<'_>) -> Result<TrackedWal, EditError> {
    let mut tracked = TrackedWal { number: cut.uvarint(WAL)?, synced: None };
    loop {
        match cut.uvarint32(WAL)? {
            1 => return Ok(tracked),
            2 => tracked.synced = Some(cut.uvarint(WAL)?),
            tag => return Err(EditError::Newer(format!("tag {tag} of a WAL"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_record_of_every_kind() {
        let parse = |record: &[u8]| Edit::parse(record).unwrap();
        // Family 3 is added as "x", with its comparator.
        let edit = parse(&[200, 1, 3, 201, 1, 1, b'x', 1, 1, b'c']);
        assert_eq!((edit.family, edit.family_change), (3, Some(FamilyChange::Add(b"x".to_vec()))));
        assert_eq!(edit.comparator, Some(b"c".to_vec()));
        assert_eq!(parse(&[202, 1]).family_change, Some(FamilyChange::Drop));
        assert_eq!(parse(&[172, 2, 5]).group, Some(5));
        let edit = parse(&[144, 3, 9, 2, 77, 0, 0, 0, 145, 3, 9, 1, 40, 0]);
        assert_eq!((edit.blobs[0].number, edit.blobs[0].bytes, edit.garbage[0].count), (9, 77, 1));
        // A WAL of which 5 bytes are synced, and the deletion of those below 4.
        let edit = parse(&[135, 64, 4, 7, 2, 5, 1, 136, 64, 1, 4]);
        assert_eq!(edit.wals, [TrackedWal { number: 7, synced: Some(5) }]);
        assert_eq!(edit.wals_deleted_below, Some(4));
        // The database's identity, and a tag of the future that may be passed over.
        assert_eq!(parse(&[129, 64, 2, 1, 2, 255, 64, 1, 9]), Edit::default());
    }

    #[test]
    fn newer_is_not_nonsense() {
        assert_eq!(Edit::parse(&[104, 0]).unwrap_err().to_string(), "version edit tag 104 belongs to a newer format");
        let wal = Edit::parse(&[132, 64, 7, 3]).unwrap_err();
        assert_eq!(wal.to_string(), "tag 3 of a WAL belongs to a newer format");
        let error = Edit::parse(&[3, 0x80]).unwrap_err();
        assert_eq!(error.to_string(), "file number at offset 1: 2 bytes wanted, 1 left");
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(record in proptest::collection::vec(any::<u8>(), 0..100)) {
            let _ = Edit::parse(&record);
        }
    }
}
