//! Every single bit of every node that the latest version of a tree has, and every node deleted: all are found.

use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;

use chainstore::{CommitInfo, IavlMode, Meter, Records, Severity, Silent, check_stores};
use diagnosis::DatabaseName;

use crate::fixture::{Fixture, directory};
use crate::memory::Memory;

struct Subject {
    memory: Memory,
    commit: CommitInfo,
    database: DatabaseName,
    meter: Meter,
}

impl Subject {
    fn new(set: &str, case: &str) -> Self {
        let fixture = Fixture::open(&directory(set, case));
        let memory = fixture.with(|sources| Memory::copy(sources.application.records().unwrap().view));
        let commit = CommitInfo::parse(&memory.0[&b"s/12"[..]]).unwrap();
        let meter = Meter::new(None, Arc::new(Silent));
        Self { memory, commit, database: DatabaseName::new("application"), meter }
    }

    /// Whether the walk finds damage.
    fn is_damaged(&self) -> bool {
        let records = Records { view: &self.memory, database: &self.database, path: Path::new("application.db") };
        let one = NonZeroUsize::MIN;
        let (_, checks) = check_stores(&records, &self.commit, IavlMode::Latest, one, &self.meter);
        checks.severity() == Some(Severity::Damage)
    }

    /// Keys of nodes without which the latest version is damaged.
    fn needed(&mut self) -> Vec<Vec<u8>> {
        let node = |key: &&Vec<u8>| key.starts_with(b"s/k:") && [b"/s", b"/n", b"/r"].iter().any(|k| has(key, *k));
        let all: Vec<Vec<u8>> = self.memory.0.keys().filter(node).cloned().collect();
        let mut needed = Vec::new();
        for key in all {
            let value = self.memory.0.remove(&key).unwrap();
            if self.is_damaged() {
                needed.push(key.clone());
            }
            self.memory.0.insert(key, value);
        }
        needed
    }
}

fn has(key: &[u8], part: &[u8]) -> bool {
    key.windows(part.len()).any(|window| window == part)
}

/// A reference to a root is a version and a nonce; without the nonce, as it was written before, it means the same root.
fn is_older_form(value: &[u8], length: usize) -> bool {
    value.len() == 13 && value[0] == b's' && length == 9
}

fn every_bit(set: &str, case: &str, nodes: usize) {
    let mut subject = Subject::new(set, case);
    assert!(!subject.is_damaged());
    let needed = subject.needed();
    assert_eq!(needed.len(), nodes, "{set}/{case}");
    for key in needed {
        let value = subject.memory.0[&key].clone();
        for bit in 0..value.len() * 8 {
            subject.memory.0.get_mut(&key).unwrap()[bit / 8] ^= 1 << (bit % 8);
            assert!(subject.is_damaged(), "bit {bit} of {key:x?}");
            subject.memory.0.insert(key.clone(), value.clone());
        }
        for length in (0..value.len()).filter(|length| !is_older_form(&value, *length)) {
            subject.memory.0.insert(key.clone(), value[..length].to_vec());
            assert!(subject.is_damaged(), "{key:x?} cut at {length}");
        }
        subject.memory.0.insert(key, value);
    }
}

/// 6, 12 and 3 leaves make 11, 23 and 5 nodes; two stores were not changed at version 12 and refer to an older root.
#[test]
fn of_trees_by_iavl_1() {
    every_bit("node", "goleveldb-healthy", 11 + 23 + 5 + 2);
}

/// Each store has one root record more.
#[test]
fn of_trees_by_iavl_0() {
    every_bit("node-0.34", "goleveldb-healthy", 11 + 23 + 5 + 3);
}

#[test]
fn of_trees_by_both() {
    every_bit("node-0.34", "goleveldb-upgraded", 11 + 23 + 5 + 2);
}
