//! A batch of writes: the payload of a WAL record. *No files.*
//!
//! Source: RocksDB `db/write_batch.cc` (`ReadRecordFromWriteBatch`, `Iterate`): sequence `fixed64`, count `fixed32`, then per write
//! a kind byte, for some kinds the column family, the key, and for most a value. Notes and the marks of transactions carry no
//! sequence and are not counted.

use crate::rocksdb::kind;
use crate::{Cut, CutError, CutProblem, Part};

const SEQUENCE: Part = Part::new("batch sequence");
const COUNT: Part = Part::new("batch count");
const KIND: Part = Part::new("write kind");
const FAMILY: Part = Part::new("column family of a write");
const KEY: Part = Part::new("write key");
const VALUE: Part = Part::new("write value");
const END: Part = Part::new("batch end");

/// A batch, before its writes are read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Batch<'a> {
    /// The sequence number of its first write.
    pub(crate) sequence: u64,
    /// How many writes it says it has.
    pub(crate) count: u32,
    writes: Cut<'a>,
}

/// One write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Write<'a> {
    /// Its column family; 0 is the default one.
    pub(crate) family: u32,
    /// `(sequence << 8) | kind`; the kind is one that tables have, or a range deletion.
    pub(crate) trailer: u64,
    pub(crate) key: &'a [u8],
    /// Empty where the kind has none; the end of a range deletion.
    pub(crate) value: &'a [u8],
}

/// Why a batch cannot be read to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum BatchError {
    Malformed(CutError),
    /// It belongs to a transaction, whose writes count only once it is committed.
    Transaction,
    /// A write of a kind that this version does not know.
    UnknownKind(u8),
}

impl From<CutError> for BatchError {
    fn from(error: CutError) -> Self {
        Self::Malformed(error)
    }
}

impl<'a> Batch<'a> {
    /// Reads the header.
    pub(crate) fn parse(record: &'a [u8]) -> Result<Self, CutError> {
        let mut cut = Cut::new(record, 0);
        Ok(Self { sequence: cut.u64_le(SEQUENCE)?, count: cut.u32_le(COUNT)?, writes: cut })
    }

    /// Hands out each write; an error comes after the writes before it.
    pub(crate) fn each<E: From<BatchError>>(&self, mut write: impl FnMut(Write<'a>) -> Result<(), E>) -> Result<(), E> {
        let mut cut = self.writes;
        let mut done = 0_u32;
        while !cut.is_empty() {
            let start = cut;
            let Some(found) = next(&mut cut)? else { continue };
            if done >= self.count {
                let problem = CutProblem::Trailing { bytes: start.left() };
                return Err(BatchError::Malformed(start.error(END, problem)).into());
            }
            let sequence = self.sequence.wrapping_add(u64::from(done));
            write(Write { trailer: (sequence << 8) | found.trailer, ..found })?;
            done = done.saturating_add(1);
        }
        if done < self.count {
            let problem = CutProblem::TooShort { wanted: u64::from(self.count), left: u64::from(done) };
            return Err(BatchError::Malformed(cut.error(COUNT, problem)).into());
        }
        Ok(())
    }
}

/// What stands next, without a sequence; none if it is no write.
fn next<'a>(cut: &mut Cut<'a>) -> Result<Option<Write<'a>>, BatchError> {
    let tag = cut.u8(KIND)?;
    let kind = match tag {
        kind::LOG_DATA => {
            cut.length_prefixed(VALUE)?;
            return Ok(None);
        }
        kind::NOOP => return Ok(None),
        kind::BEGIN_PREPARE..=kind::ROLLBACK
        | kind::BEGIN_PERSISTED_PREPARE
        | kind::BEGIN_UNPREPARE
        | kind::COMMIT_WITH_TIMESTAMP => return Err(BatchError::Transaction),
        kind::FAMILY_DELETE => kind::DELETE,
        kind::FAMILY_VALUE => kind::VALUE,
        kind::FAMILY_MERGE => kind::MERGE,
        kind::FAMILY_SINGLE_DELETE => kind::SINGLE_DELETE,
        kind::FAMILY_RANGE_DELETE => kind::RANGE_DELETE,
        kind::FAMILY_BLOB_INDEX => kind::BLOB_INDEX,
        kind::FAMILY_ENTITY => kind::ENTITY,
        kind::FAMILY_VALUE_WITH_SEQUENCE => kind::VALUE_WITH_SEQUENCE,
        plain => plain,
    };
    let has_value = match kind {
        kind::DELETE | kind::SINGLE_DELETE => false,
        kind::VALUE
        | kind::MERGE
        | kind::RANGE_DELETE
        | kind::BLOB_INDEX
        | kind::ENTITY
        | kind::VALUE_WITH_SEQUENCE => true,
        other => return Err(BatchError::UnknownKind(other)),
    };
    let family = if kind == tag { 0 } else { cut.uvarint32(FAMILY)? };
    let key = cut.length_prefixed(KEY)?.rest();
    let value = if has_value { cut.length_prefixed(VALUE)?.rest() } else { &[] };
    Ok(Some(Write { family, trailer: u64::from(kind), key, value }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn writes(record: &[u8]) -> Result<Vec<(u32, u64, Vec<u8>)>, BatchError> {
        let mut writes = Vec::new();
        Batch::parse(record)?.each::<BatchError>(|write| {
            writes.push((write.family, write.trailer, write.key.to_vec()));
            Ok(())
        })?;
        Ok(writes)
    }

    #[test]
    fn families_notes_and_counts() {
        // Put "a" = "x"; a note; put "b" = "" into family 7; delete "c"; a mark that is none.
        let body = [1, 1, b'a', 1, b'x', 3, 1, b'n', 5, 7, 1, b'b', 0, 0, 1, b'c', 13];
        let mut record = [&[5, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0][..], &body].concat();
        let wanted = [(0, 0x501, b"a".to_vec()), (7, 0x601, b"b".to_vec()), (0, 0x700, b"c".to_vec())];
        assert_eq!(writes(&record).unwrap(), wanted);
        let words = |record: &[u8]| match writes(record).unwrap_err() {
            BatchError::Malformed(error) => error.to_string(),
            other => format!("{other:?}"),
        };
        record[8] = 4;
        assert_eq!(words(&record), "batch count at offset 29: 4 bytes wanted, 3 left");
        record[8] = 2;
        assert_eq!(words(&record), "batch end at offset 25: 4 bytes too many");
        record[25] = 0x1a;
        assert_eq!(words(&record), "UnknownKind(26)");
        record[25] = 9;
        assert_eq!(words(&record), "Transaction");
        // What an engine writes first after it dropped the end of a log: a batch of nothing.
        assert_eq!(writes(&record[..8].iter().copied().chain([0; 4]).collect::<Vec<_>>()), Ok(Vec::new()));
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(record in proptest::collection::vec(any::<u8>(), 0..100)) {
            let _ = writes(&record);
        }
    }
}
