//! What journals hold, as the engine would have it in memory after its start. *No files.*

use std::collections::BTreeMap;
use std::ops::Bound;

use crate::lsm::merge::{Run, RunCursor, RunEntry};
use crate::{Reason, ViewError};

/// More than this is not kept: engines flush their memory at 4 to 64 MiB.
const BYTES_MAX: usize = 256 << 20;

/// Sequence and kind, and the value.
type Stored = (u64, Box<[u8]>);

/// The newest write of each key in the journals.
#[derive(Debug, Default)]
pub(crate) struct MemTable {
    entries: BTreeMap<Box<[u8]>, Stored>,
    bytes: usize,
}

impl MemTable {
    /// Adds a write; an older one of the same key is forgotten.
    pub(crate) fn put(&mut self, user: &[u8], trailer: u64, value: &[u8]) -> Result<(), Reason> {
        self.bytes = self.bytes.saturating_add(user.len()).saturating_add(value.len()).saturating_add(64);
        if self.bytes > BYTES_MAX {
            return Err(Reason::AboveLimit(format!("the journals hold more than {BYTES_MAX} bytes")));
        }
        match self.entries.get_mut(user) {
            Some((known, _)) if *known > trailer => {}
            Some(entry) => *entry = (trailer, value.into()),
            None => {
                self.entries.insert(user.into(), (trailer, value.into()));
            }
        }
        Ok(())
    }

    /// How many keys it has.
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }
}

impl Run for MemTable {
    fn newest(&self, user: &[u8]) -> Result<Option<RunEntry>, ViewError> {
        Ok(self.entries.get(user).map(|stored| entry(user, stored)))
    }

    fn cursor<'a>(&'a self, from: &[u8]) -> Result<Box<dyn RunCursor + 'a>, ViewError> {
        Ok(Box::new(
            self.entries
                .range::<[u8], _>((Bound::Included(from), Bound::Unbounded))
                .map(|(user, stored)| entry(user, stored)),
        ))
    }

    fn last_user_below(&self, bound: Option<&[u8]>) -> Result<Option<Box<[u8]>>, ViewError> {
        let end = bound.map_or(Bound::Unbounded, Bound::Excluded);
        Ok(self.entries.range::<[u8], _>((Bound::Unbounded, end)).next_back().map(|(user, _)| user.clone()))
    }
}

impl<I: Iterator<Item = RunEntry> + Send> RunCursor for I {
    fn advance(&mut self) -> Result<Option<RunEntry>, ViewError> {
        Ok(self.next())
    }
}

fn entry(user: &[u8], (trailer, value): &Stored) -> RunEntry {
    RunEntry { user: user.into(), trailer: *trailer, value: value.clone() }
}
