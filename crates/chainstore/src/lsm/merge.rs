//! Many sorted runs seen as one map: the newest write of each key wins, deletions are honoured. *No files of its own.*

use crate::lsm::internal_key::{KIND_DELETE, KIND_SET};
use crate::{Entry, KeyValues, Reason, ViewError};

/// One write in a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RunEntry {
    pub(crate) user: Box<[u8]>,
    /// `(sequence << 8) | kind`.
    pub(crate) trailer: u64,
    pub(crate) value: Box<[u8]>,
}

/// A sorted run: the journals' memory, one table of level 0, or a whole deeper level.
pub(crate) trait Run: Send + Sync {
    /// The newest write of a key in this run.
    fn newest(&self, user: &[u8]) -> Result<Option<RunEntry>, ViewError>;

    /// All writes from a key on: users ascending, each one's writes newest first.
    fn cursor<'a>(&'a self, from: &[u8]) -> Result<Box<dyn RunCursor + 'a>, ViewError>;

    /// The highest sequence of a range deletion in this run that covers a key; 0 if there is none.
    fn covering(&self, user: &[u8]) -> Result<u64, ViewError> {
        let _ = user;
        Ok(0)
    }

    /// The largest key below a bound, deleted or not.
    fn last_user_below(&self, bound: Option<&[u8]>) -> Result<Option<Box<[u8]>>, ViewError>;
}

/// Goes through a run.
pub(crate) trait RunCursor: Send {
    /// The next write; none at the end.
    fn advance(&mut self) -> Result<Option<RunEntry>, ViewError>;
}

/// Which writes are seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Snapshot {
    /// Those that the engine would see.
    Engine,
    /// All that are there.
    Everything,
}

/// What a write does to its key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// It gives the key its value.
    Set,
    /// It removes the key.
    Delete,
    /// It is one that this version does not understand.
    Unsupported,
}

/// LevelDB's two kinds.
pub(crate) fn leveldb_meaning(kind: u8) -> Meaning {
    match kind {
        KIND_DELETE => Meaning::Delete,
        KIND_SET => Meaning::Set,
        _ => Meaning::Unsupported,
    }
}

/// A log-structured tree: its runs in any order, since every write carries its sequence number.
pub(crate) struct Merged<'s> {
    pub(crate) runs: Vec<Box<dyn Run + 's>>,
    pub(crate) meaning: fn(u8) -> Meaning,
}

impl Merged<'_> {
    fn newest(&self, user: &[u8]) -> Result<Option<RunEntry>, ViewError> {
        let mut newest: Option<RunEntry> = None;
        for run in &self.runs {
            let found = run.newest(user)?;
            if found.as_ref().map(|entry| entry.trailer) > newest.as_ref().map(|entry| entry.trailer) {
                newest = found;
            }
        }
        Ok(newest)
    }

    fn visible(&self, entry: RunEntry) -> Result<Option<Entry>, ViewError> {
        let kind = entry.trailer.to_le_bytes()[0];
        for run in &self.runs {
            if run.covering(&entry.user)? > entry.trailer >> 8 {
                return Ok(None);
            }
        }
        match (self.meaning)(kind) {
            Meaning::Set => Ok(Some((entry.user, entry.value))),
            Meaning::Delete => Ok(None),
            Meaning::Unsupported => Err(ViewError::CouldNotTell(Reason::Unsupported(format!(
                "writes of kind {kind} are not read by this version"
            )))),
        }
    }
}

impl KeyValues for Merged<'_> {
    fn get(&self, key: &[u8]) -> Result<Option<Box<[u8]>>, ViewError> {
        match self.newest(key)? {
            Some(entry) => Ok(self.visible(entry)?.map(|(_, value)| value)),
            None => Ok(None),
        }
    }

    fn range<'a>(
        &'a self,
        from: &[u8],
        until: Option<&[u8]>,
    ) -> Box<dyn Iterator<Item = Result<Entry, ViewError>> + 'a> {
        let mut heads = Vec::new();
        for run in &self.runs {
            match run.cursor(from).and_then(|mut cursor| Ok((cursor.advance()?, cursor))) {
                Ok((head, cursor)) => heads.push(Head { head, cursor }),
                Err(error) => return Box::new(std::iter::once(Err(error))),
            }
        }
        Box::new(Range { merged: self, heads, until: until.map(Into::into), ended: false })
    }

    fn last_in(&self, from: &[u8], until: Option<&[u8]>) -> Result<Option<Entry>, ViewError> {
        let mut bound: Option<Box<[u8]>> = until.map(Into::into);
        loop {
            let mut last: Option<Box<[u8]>> = None;
            for run in &self.runs {
                last = last.max(run.last_user_below(bound.as_deref())?);
            }
            let Some(user) = last.filter(|user| user.as_ref() >= from) else { return Ok(None) };
            if let Some(entry) = self.newest(&user)?
                && let Some(found) = self.visible(entry)?
            {
                return Ok(Some(found));
            }
            bound = Some(user);
        }
    }
}

/// How many keys a view has.
pub(crate) fn count_keys(view: &dyn KeyValues) -> Result<u64, ViewError> {
    let mut count = 0_u64;
    for entry in view.range(&[], None) {
        entry?;
        count = count.saturating_add(1);
    }
    Ok(count)
}

struct Head<'a> {
    head: Option<RunEntry>,
    cursor: Box<dyn RunCursor + 'a>,
}

struct Range<'a> {
    merged: &'a Merged<'a>,
    heads: Vec<Head<'a>>,
    until: Option<Box<[u8]>>,
    ended: bool,
}

impl Range<'_> {
    /// The newest write of the smallest key ahead; all cursors move past that key.
    fn step(&mut self) -> Result<Option<RunEntry>, ViewError> {
        let smallest = self.heads.iter().filter_map(|head| head.head.as_ref().map(|entry| &entry.user)).min();
        let Some(user) = smallest.cloned() else { return Ok(None) };
        if self.until.as_ref().is_some_and(|until| user >= *until) {
            return Ok(None);
        }
        let mut newest: Option<RunEntry> = None;
        for head in &mut self.heads {
            while let Some(entry) = head.head.take_if(|entry| entry.user == user) {
                if newest.as_ref().is_none_or(|known| known.trailer < entry.trailer) {
                    newest = Some(entry);
                }
                head.head = head.cursor.advance()?;
            }
        }
        Ok(newest)
    }
}

impl Iterator for Range<'_> {
    type Item = Result<Entry, ViewError>;

    fn next(&mut self) -> Option<Self::Item> {
        while !self.ended {
            match self.step().and_then(|entry| entry.map(|entry| self.merged.visible(entry)).transpose()) {
                Ok(Some(Some(entry))) => return Some(Ok(entry)),
                Ok(Some(None)) => {}
                Ok(None) => self.ended = true,
                Err(error) => {
                    self.ended = true;
                    return Some(Err(error));
                }
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lsm::memory::MemTable;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        /// Writes spread over three runs in any way read like a plain map that saw them in order.
        #[test]
        fn runs_read_like_one_map(writes in proptest::collection::vec((0_u8..6, 0_usize..3, any::<Option<u8>>()), 0..40)) {
            let mut model = BTreeMap::new();
            let mut tables = [MemTable::default(), MemTable::default(), MemTable::default()];
            for (sequence, (key, table, value)) in (1_u64..).zip(writes) {
                let kind = if value.is_some() { KIND_SET } else { KIND_DELETE };
                let stored: Vec<u8> = value.into_iter().collect();
                tables[table].put(&[key], (sequence << 8) | u64::from(kind), &stored).unwrap();
                if value.is_some() { model.insert(vec![key], stored); } else { model.remove(&vec![key]); }
            }
            let runs = tables.into_iter().map(|table| Box::new(table) as Box<dyn Run>).collect();
            let view = Merged { runs, meaning: leveldb_meaning };
            let all: BTreeMap<Vec<u8>, Vec<u8>> =
                view.range(&[], None).map(|entry| entry.map(|(k, v)| (k.into(), v.into())).unwrap()).collect();
            prop_assert_eq!(&all, &model);
            for key in 0..7 {
                prop_assert_eq!(view.get(&[key]).unwrap().map(Vec::from), model.get(&vec![key]).cloned());
                let last = view.last_in(&[1], Some(&[key])).unwrap().map(|(k, _)| Vec::from(k));
                let wanted = if key < 1 { None } else { model.range(vec![1]..vec![key]).next_back().map(|(k, _)| k.clone()) };
                prop_assert_eq!(last, wanted);
            }
        }
    }
}
