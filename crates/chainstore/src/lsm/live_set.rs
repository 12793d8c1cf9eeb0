//! The tables that a MANIFEST leaves alive, by level and number. *No files.*
//!
//! A MANIFEST begins with all tables in one record and goes on with thousands of small changes. A sorted vector holds
//! the many in half the room of a tree; the small changes gather beside it, and go in together.

use std::collections::BTreeMap;

use crate::lsm::live_table::LiveTable;

/// The fewest changes that are worth going through everything for.
const GATHERED_MIN: usize = 1024;

/// Level and number.
pub(crate) type Key = (u8, u64);

/// Live tables, each once in a level.
#[derive(Debug, Default)]
pub(crate) struct LiveSet {
    /// By key.
    sorted: Vec<LiveTable>,
    /// What came later; none is a table that is gone.
    changes: BTreeMap<Key, Option<LiveTable>>,
}

fn key(table: &LiveTable) -> Key {
    (table.level, table.number)
}

impl LiveSet {
    /// Takes all of a MANIFEST's first record in. `tables` are asked for again where one of them is named twice.
    pub(crate) fn fill<T: Iterator<Item = LiveTable>>(&mut self, count: usize, tables: impl Fn() -> T) {
        if self.sorted.is_empty() && self.changes.is_empty() {
            self.sorted.reserve_exact(count);
            self.sorted.extend(tables());
            self.sorted.sort_unstable_by_key(key);
            if self.sorted.is_sorted_by(|a, b| key(a) < key(b)) {
                return;
            }
            self.sorted.clear();
        }
        tables().for_each(|table| self.insert(table));
    }

    /// Takes a table in; one of the same level and number goes.
    pub(crate) fn insert(&mut self, table: LiveTable) {
        self.change(key(&table), Some(table));
    }

    /// Takes a table out, if it is there.
    pub(crate) fn remove(&mut self, key: Key) {
        self.change(key, None);
    }

    fn change(&mut self, key: Key, to: Option<LiveTable>) {
        self.changes.insert(key, to);
        if self.changes.len() >= GATHERED_MIN.max(self.sorted.len() / 4) {
            self.settle();
        }
    }

    /// Lets all changes go in.
    fn settle(&mut self) {
        let Self { sorted, changes } = self;
        sorted.retain(|table| !changes.contains_key(&key(table)));
        sorted.extend(std::mem::take(changes).into_values().flatten());
        // Two ascending runs, which a stable sort merges.
        sorted.sort_by_key(key);
    }

    /// Every live table, by level and number.
    pub(crate) fn into_tables(mut self) -> Vec<LiveTable> {
        self.settle();
        self.sorted
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn table(level: u8, number: u64, bytes: u64) -> LiveTable {
        LiveTable { number, level, bytes, smallest: [].into(), largest: [].into(), sequences: None }
    }

    proptest! {
        #[test]
        fn it_holds_what_a_map_holds(
            first in proptest::collection::vec((0..3_u8, 0..3000_u64, 0..9_u64), 0..60),
            steps in proptest::collection::vec((any::<bool>(), 0..3_u8, 0..3000_u64, 0..9_u64), 0..6000),
        ) {
            let (mut set, mut map) = (LiveSet::default(), BTreeMap::new());
            set.fill(first.len(), || first.iter().map(|(level, number, bytes)| table(*level, *number, *bytes)));
            map.extend(first.iter().map(|(level, number, bytes)| ((*level, *number), table(*level, *number, *bytes))));
            for (add, level, number, bytes) in steps {
                if add {
                    set.insert(table(level, number, bytes));
                    map.insert((level, number), table(level, number, bytes));
                } else {
                    set.remove((level, number));
                    map.remove(&(level, number));
                }
            }
            prop_assert_eq!(set.into_tables(), map.into_values().collect::<Vec<_>>());
        }
    }
}
