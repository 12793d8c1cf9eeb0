//! A database in memory.

use std::collections::BTreeMap;
use std::ops::Bound;

use chainstore::{Entry, KeyValues, ViewError};

#[derive(Default, Clone)]
pub(crate) struct Memory(pub(crate) BTreeMap<Vec<u8>, Vec<u8>>);

impl Memory {
    /// A copy of another view.
    pub(crate) fn copy(view: &dyn KeyValues) -> Self {
        let entries = view.range(b"", None).map(|entry| {
            let (key, value) = entry.unwrap();
            (key.into_vec(), value.into_vec())
        });
        Self(entries.collect())
    }

    pub(crate) fn put(&mut self, key: impl Into<Vec<u8>>, value: impl Into<Vec<u8>>) {
        self.0.insert(key.into(), value.into());
    }
}

fn boxed((key, value): (&Vec<u8>, &Vec<u8>)) -> Entry {
    (key.as_slice().into(), value.as_slice().into())
}

impl KeyValues for Memory {
    fn get(&self, key: &[u8]) -> Result<Option<Box<[u8]>>, ViewError> {
        Ok(self.0.get(key).map(|value| value.as_slice().into()))
    }

    fn range<'a>(
        &'a self,
        from: &[u8],
        until: Option<&[u8]>,
    ) -> Box<dyn Iterator<Item = Result<Entry, ViewError>> + 'a> {
        let end = until.map_or(Bound::Unbounded, Bound::Excluded);
        if until.is_some_and(|until| until <= from) {
            return Box::new(std::iter::empty());
        }
        Box::new(self.0.range::<[u8], _>((Bound::Included(from), end)).map(|entry| Ok(boxed(entry))))
    }

    fn last_in(&self, from: &[u8], until: Option<&[u8]>) -> Result<Option<Entry>, ViewError> {
        let end = until.map_or(Bound::Unbounded, Bound::Excluded);
        Ok(self.0.range::<[u8], _>((Bound::Included(from), end)).next_back().map(boxed))
    }
}
