//! Any bytes as a node of either format, and as the nodes of a tree that is walked: no panic, and an end.
#![no_main]

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::ops::Bound;
use std::path::Path;
use std::sync::Arc;

use chainstore::{
    CommitInfo, Entry, Hash32, IavlMode, KeyValues, Meter, Node, NodeRef, Records, Silent, StoreInfo, ViewError,
    check_stores,
};
use diagnosis::DatabaseName;
use libfuzzer_sys::fuzz_target;

/// A database in memory.
struct Memory(BTreeMap<Vec<u8>, Vec<u8>>);

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
        Box::new(
            self.0
                .range::<[u8], _>((Bound::Included(from), end))
                .map(|(key, value)| Ok((key.as_slice().into(), value.as_slice().into()))),
        )
    }

    fn last_in(&self, from: &[u8], until: Option<&[u8]>) -> Result<Option<Entry>, ViewError> {
        self.range(from, until).last().transpose()
    }
}

fuzz_target!(|input: &[u8]| {
    let versioned = NodeRef::Versioned { version: 1, nonce: 1 };
    for at in [versioned, NodeRef::Hashed(Hash32::of(input))] {
        if let Ok(node) = Node::parse(at, input) {
            let _ = node.own_hash();
        }
    }
    // Pieces of the input as nodes 1/1, 1/2, …: a tree whose nodes may name each other.
    let Some((count, rest)) = input.split_first() else { return };
    let piece = (rest.len() / usize::from(count % 16 + 1)).max(1);
    let nodes = rest
        .chunks(piece)
        .zip(1_u32..)
        .map(|(value, nonce)| ([&b"s/k:a/s"[..], &1_u64.to_be_bytes(), &nonce.to_be_bytes()].concat(), value.to_vec()));
    let memory = Memory(nodes.collect());
    let stores = vec![StoreInfo { name: "a".to_owned(), version: 1, hash: vec![0; 32] }];
    let commit = CommitInfo { version: 1, stores };
    let name = DatabaseName::new("application");
    let records = Records { view: &memory, database: &name, path: Path::new("application.db") };
    let meter = Meter::new(None, Arc::new(Silent));
    for mode in [IavlMode::Sample, IavlMode::Latest] {
        let _ = check_stores(&records, &commit, mode, NonZeroUsize::MIN, &meter);
    }
});
