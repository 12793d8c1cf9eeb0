//! Range deletions: from a key up to, not including, another. *No files.*
//!
//! Source: pebble v1.1 `internal/keyspan`, `sstable/writer.go` (`addTombstone`): in a table's range-del block the key is the
//! start with sequence and kind 15, the value the end. A deletion covers what is older than itself.

use crate::lsm::internal_key::InternalKey;
use crate::lsm::memory::MemTable;
use crate::lsm::merge::{Run, RunCursor, RunEntry};
use crate::lsm::row_block::{RowBlock, TopBits};
use crate::pebble::batch::kind;
use crate::{Cut, CutError, CutProblem, Part, Reason, ViewError};

const RANGES: Part = Part::new("range deletions");

/// More than this is not kept.
const BYTES_MAX: usize = 64 << 20;

/// Start, end, sequence.
type Span = (Box<[u8]>, Box<[u8]>, u64);

/// A set of range deletions.
#[derive(Debug, Default)]
pub(crate) struct RangeDeletions {
    /// By start.
    spans: Vec<Span>,
    bytes: usize,
}

impl RangeDeletions {
    /// Reads a table's range-del block. `sequence` replaces the stored ones, in tables made elsewhere.
    pub(crate) fn parse(block: &[u8], sequence: Option<u64>) -> Result<Self, CutError> {
        let mut found = Self::default();
        let mut cursor = RowBlock::parse(block, TopBits::Flag)?.cursor();
        while cursor.advance()? {
            // Keys that share their beginnings may take more than their block.
            if found.bytes > BYTES_MAX {
                let problem = CutProblem::AboveLimit { value: found.bytes as u64, limit: BYTES_MAX as u64 };
                return Err(Cut::new(&[], 0).error(RANGES, problem));
            }
            if let Some(key) = InternalKey::parse(cursor.key()) {
                found.push(key.user, cursor.value(), sequence.unwrap_or(key.trailer >> 8));
            }
        }
        found.spans.sort();
        Ok(found)
    }

    fn push(&mut self, start: &[u8], end: &[u8], sequence: u64) {
        self.bytes = self.bytes.saturating_add(start.len()).saturating_add(end.len()).saturating_add(64);
        self.spans.push((start.into(), end.into(), sequence));
    }

    /// What they take of memory.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// The highest sequence, up to a snapshot's, of one that covers a key; 0 if none does.
    pub(crate) fn covering(&self, user: &[u8], snapshot: u64) -> u64 {
        let begun = self.spans.partition_point(|(start, ..)| start.as_ref() <= user);
        let begun = self.spans.get(..begun).unwrap_or_default();
        begun
            .iter()
            .filter(|(_, end, sequence)| end.as_ref() > user && *sequence <= snapshot)
            .map(|(.., sequence)| *sequence)
            .max()
            .unwrap_or(0)
    }
}

/// What the WALs hold: points and range deletions.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    points: MemTable,
    deletions: RangeDeletions,
}

impl Memory {
    /// Adds a write; range keys and notes do not matter to points.
    pub(crate) fn put(&mut self, user: &[u8], trailer: u64, value: &[u8]) -> Result<(), Reason> {
        match trailer.to_le_bytes()[0] {
            kind::RANGE_KEY_DELETE..=kind::RANGE_KEY_SET => Ok(()),
            kind::INGEST_TABLE => {
                Err(Reason::Unsupported("a WAL that takes in tables made elsewhere is not read".to_owned()))
            }
            kind::RANGE_DELETE if self.deletions.bytes > BYTES_MAX => {
                Err(Reason::AboveLimit(format!("the WALs hold more than {BYTES_MAX} bytes of range deletions")))
            }
            kind::RANGE_DELETE => {
                self.deletions.push(user, value, trailer >> 8);
                Ok(())
            }
            _ => self.points.put(user, trailer, value),
        }
    }

    /// Ends the writing.
    pub(crate) fn sort(&mut self) {
        self.deletions.spans.sort();
    }
}

impl Run for Memory {
    fn newest(&self, user: &[u8]) -> Result<Option<RunEntry>, ViewError> {
        self.points.newest(user)
    }

    fn cursor<'a>(&'a self, from: &[u8]) -> Result<Box<dyn RunCursor + 'a>, ViewError> {
        self.points.cursor(from)
    }

    fn covering(&self, user: &[u8]) -> Result<u64, ViewError> {
        Ok(self.deletions.covering(user, u64::MAX))
    }

    fn last_user_below(&self, bound: Option<&[u8]>) -> Result<Option<Box<[u8]>>, ViewError> {
        self.points.last_user_below(bound)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::KeyValues;
    use crate::lsm::merge::Merged;
    use crate::pebble::view::meaning;

    #[test]
    fn older_writes_in_the_range_are_gone() {
        let mut memory = Memory::default();
        for (sequence, kind, key, value) in [
            (1, kind::SET, "a", "1"),
            (2, kind::SET, "b", "2"),
            (3, kind::SET, "c", "3"),
            (4, kind::RANGE_DELETE, "a", "c"),
            (5, kind::SET, "b", "5"),
            (6, kind::RANGE_KEY_SET, "a", "z"),
        ] {
            memory.put(key.as_bytes(), (sequence << 8) | u64::from(kind), value.as_bytes()).unwrap();
        }
        memory.sort();
        assert_eq!((memory.covering(b"a"), memory.covering(b"c"), memory.covering(b"")), (Ok(4), Ok(0), Ok(0)));
        let view = Merged { runs: vec![Box::new(memory)], meaning };
        let all: Vec<_> = view.range(b"", None).map(|entry| entry.unwrap()).collect();
        let text: Vec<_> = all.iter().map(|(key, value)| (&**key, &**value)).collect();
        assert_eq!(text, [(&b"b"[..], &b"5"[..]), (b"c", b"3")]);
        assert_eq!(view.get(b"a").unwrap(), None);
        assert_eq!(view.last_in(b"", Some(b"b")).unwrap(), None);
    }
}
