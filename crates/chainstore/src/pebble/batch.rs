//! A batch of writes: the payload of a WAL record. *No files.*
//!
//! Source: pebble v1.1 `batch.go` (`BatchReader.Next`): sequence `fixed64`, count `fixed32`, then per write a kind byte, the
//! key, and for most kinds a value. Notes for replication (`LogData`) carry no sequence and are not counted.

use crate::{Cut, CutError, CutProblem, Part};

const SEQUENCE: Part = Part::new("batch sequence");
const COUNT: Part = Part::new("batch count");
const KIND: Part = Part::new("write kind");
const KEY: Part = Part::new("write key");
const VALUE: Part = Part::new("write value");
const END: Part = Part::new("batch end");

/// Kinds of writes, and of keys in tables.
pub(crate) mod kind {
    pub(crate) const DELETE: u8 = 0;
    pub(crate) const SET: u8 = 1;
    pub(crate) const MERGE: u8 = 2;
    pub(crate) const LOG_DATA: u8 = 3;
    pub(crate) const SINGLE_DELETE: u8 = 7;
    pub(crate) const RANGE_DELETE: u8 = 15;
    pub(crate) const SET_WITH_DELETE: u8 = 18;
    pub(crate) const RANGE_KEY_DELETE: u8 = 19;
    pub(crate) const RANGE_KEY_SET: u8 = 21;
    pub(crate) const INGEST_TABLE: u8 = 22;
    pub(crate) const DELETE_SIZED: u8 = 23;
}

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
    /// `(sequence << 8) | kind`.
    pub(crate) trailer: u64,
    pub(crate) key: &'a [u8],
    /// Empty where the kind has none; the end of a range deletion.
    pub(crate) value: &'a [u8],
}

impl<'a> Batch<'a> {
    /// Reads the header.
    pub(crate) fn parse(record: &'a [u8]) -> Result<Self, CutError> {
        let mut cut = Cut::new(record, 0);
        Ok(Self { sequence: cut.u64_le(SEQUENCE)?, count: cut.u32_le(COUNT)?, writes: cut })
    }

    /// Hands out each write; an error comes after the writes before it.
    pub(crate) fn each<E: From<CutError>>(&self, mut write: impl FnMut(Write<'a>) -> Result<(), E>) -> Result<(), E> {
        let mut cut = self.writes;
        let mut done = 0_u32;
        while !cut.is_empty() {
            let start = cut;
            let kind = cut.u8(KIND)?;
            let key = cut.length_prefixed(KEY)?.rest();
            let value = match kind {
                kind::DELETE | kind::LOG_DATA | kind::SINGLE_DELETE | kind::INGEST_TABLE => &[][..],
                kind::SET
                | kind::MERGE
                | kind::RANGE_DELETE
                | kind::RANGE_KEY_DELETE..=kind::RANGE_KEY_SET
                | kind::DELETE_SIZED => cut.length_prefixed(VALUE)?.rest(),
                other => return Err(start.error(KIND, CutProblem::NoSuchValue { value: u64::from(other) }).into()),
            };
            if kind == kind::LOG_DATA {
                continue;
            }
            if done >= self.count {
                return Err(start.error(END, CutProblem::Trailing { bytes: start.left() }).into());
            }
            let sequence = self.sequence.wrapping_add(u64::from(done));
            write(Write { trailer: (sequence << 8) | u64::from(kind), key, value })?;
            done = done.saturating_add(1);
        }
        if done < self.count {
            let problem = CutProblem::TooShort { wanted: u64::from(self.count), left: u64::from(done) };
            return Err(cut.error(COUNT, problem).into());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn keys(record: &[u8]) -> Result<Vec<(u64, Vec<u8>)>, CutError> {
        let mut keys = Vec::new();
        Batch::parse(record)?.each::<CutError>(|write| {
            keys.push((write.trailer >> 8, write.key.to_vec()));
            Ok(())
        })?;
        Ok(keys)
    }

    #[test]
    fn notes_are_not_counted_and_the_count_must_be_right() {
        let mut record = [5, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 1, 1, b'a', 1, b'x', 3, 1, b'n', 0, 1, b'b'];
        assert_eq!(keys(&record).unwrap(), [(5, b"a".to_vec()), (6, b"b".to_vec())]);
        record[8] = 3;
        assert_eq!(keys(&record).unwrap_err().to_string(), "batch count at offset 23: 3 bytes wanted, 2 left");
        record[8] = 1;
        assert_eq!(keys(&record).unwrap_err().to_string(), "batch end at offset 20: 3 bytes too many");
        record[20] = 17;
        assert_eq!(
            keys(&record).unwrap_err().to_string(),
            "write kind at offset 20: value 0x11 is not one the format has"
        );
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(record in proptest::collection::vec(any::<u8>(), 0..100)) {
            let _ = keys(&record);
        }
    }
}
