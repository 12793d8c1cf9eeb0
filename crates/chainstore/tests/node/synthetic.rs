//! What no fixture has: lost records, other key layouts, forged trees, arbitrary bytes.

use std::path::Path;
use std::sync::Arc;

use chainstore::{
    BlockStore, Checks, DataDir, FindingKind, IavlMode, Level, Meter, NodeSources, Outcome, Reason, Records, Root,
    Silent, Source, StateStore, read_node,
};
use diagnosis::DatabaseName;
use proptest::prelude::*;

use crate::fixture::{Fixture, directory, options};
use crate::memory::Memory;

/// The three databases of the sound fixture, in memory, to be changed at will.
struct Node {
    application: Memory,
    state: Memory,
    blockstore: Memory,
}

impl Node {
    fn sound() -> Self {
        Fixture::open(&directory("node", "goleveldb-healthy")).with(|sources| {
            let copy = |source: Source<'_>| Memory::copy(source.records().unwrap().view);
            Self {
                application: copy(sources.application),
                state: copy(sources.state),
                blockstore: copy(sources.blockstore),
            }
        })
    }

    fn read(&self) -> chainstore::NodeReport {
        let empty = tempfile::tempdir().unwrap();
        let root = DataDir::open(empty.path(), Arc::new(Meter::new(None, Arc::new(Silent)))).unwrap();
        let names = ["application", "state", "blockstore"].map(DatabaseName::new);
        let source = |memory, name| Source::Here(Records { view: memory, database: name, path: Path::new("x.db") });
        let sources = NodeSources {
            application: source(&self.application, &names[0]),
            state: source(&self.state, &names[1]),
            blockstore: source(&self.blockstore, &names[2]),
            snapshots: Source::Absent,
        };
        read_node(&sources, &root, &options(IavlMode::Latest))
    }
}

#[track_caller]
fn found(change: impl FnOnce(&mut Node), kind: FindingKind, words: &str) {
    let mut node = Node::sound();
    change(&mut node);
    let report = node.read();
    let hit = report.checks.findings.iter().any(|f| f.kind == kind && f.detail.contains(words));
    assert!(hit, "{words}: {:#?}", report.checks);
}

#[test]
fn a_sound_node_in_memory_has_no_finding() {
    assert_eq!(Node::sound().read().checks, Checks::default());
}

#[test]
fn lost_records_are_missed() {
    use FindingKind::RecordsMissing;
    let drop = |memory: &mut Memory, key: &str| assert!(memory.0.remove(key.as_bytes()).is_some(), "{key}");
    found(|n| drop(&mut n.blockstore, "H:7"), RecordsMissing, "1 of 12 sampled block headers (H:)");
    found(|n| drop(&mut n.blockstore, "P:3:0"), RecordsMissing, "blocks (P:) between 1 and 12 are missing, first at 3");
    found(|n| drop(&mut n.blockstore, "C:5"), RecordsMissing, "1 of 11 sampled commits (C:)");
    found(|n| drop(&mut n.blockstore, "SC:12"), RecordsMissing, "seen for the last block (12)");
    found(|n| n.blockstore.0.retain(|key, _| !key.starts_with(b"BH:")), RecordsMissing, "not found by its hash");
    found(
        |n| drop(&mut n.blockstore, "blockStore"),
        RecordsMissing,
        "the record that names base and height is missing",
    );
    found(|n| drop(&mut n.state, "stateKey"), RecordsMissing, "the state itself (stateKey) is missing");
    found(|n| drop(&mut n.state, "validatorsKey:13"), RecordsMissing, "the validators of height 13");
    found(|n| drop(&mut n.state, "consensusParamsKey:13"), RecordsMissing, "the consensus parameters of height 13");
    found(|n| drop(&mut n.application, "s/latest"), RecordsMissing, "s/latest is missing");
    found(|n| drop(&mut n.application, "s/9"), RecordsMissing, "commits between 8 and 12 are missing: 9");
}

/// Commits that end at some height are normal: state sync and pruning.
#[test]
fn old_commits_may_be_gone() {
    let mut node = Node::sound();
    for version in 1..=6 {
        node.application.0.remove(format!("s/{version}").as_bytes());
    }
    assert_eq!(node.read().checks, Checks::default());
}

#[test]
fn databases_of_two_histories() {
    use FindingKind::Mismatch;
    let flip = |memory: &mut Memory, key: &str, from_end: usize| {
        let value = memory.0.get_mut(key.as_bytes()).unwrap();
        let at = value.len() - from_end;
        value[at] ^= 1;
    };
    // The application's hash stands before the initial height, the last two bytes.
    found(|n| flip(&mut n.state, "stateKey", 3), Mismatch, "different hashes after block 12");
    let other_chain = |n: &mut Node| {
        let state = n.state.0.get_mut(&b"stateKey"[..]).unwrap();
        let at = state.windows(13).position(|w| w == b"loopbreaker-1").unwrap();
        state[at + 12] = b'2';
    };
    found(other_chain, Mismatch, "state is of chain loopbreaker-2, the block store of loopbreaker-1");
}

#[test]
fn formats_that_are_not_read_are_named_and_not_judged() {
    let untold = |change: &dyn Fn(&mut Node), words: &str| {
        let mut node = Node::sound();
        change(&mut node);
        let report = node.read();
        assert_eq!(report.checks.outcome(), Outcome::CouldNotTell, "{words}: {:#?}", report.checks);
        let said = report.checks.untold.iter().any(|r| matches!(r, Reason::Unsupported(text) if text.contains(words)));
        assert!(said, "{words}: {:#?}", report.checks);
    };
    untold(&|n| n.blockstore.put(*b"blockStore", *br#"{"base":"1","height":"12"}"#), "before Tendermint 0.34");
    untold(&|n| n.application.put(*b"s/latest", *b"\x02\x08\x0c"), "amino");
    untold(&|n| n.state.put(*b"version", *b"v9"), "key layout v9");
    let elsewhere = |n: &mut Node| n.application.0.retain(|key, _| !key.starts_with(b"s/k:"));
    untold(&elsewhere, "outside of application.db");
    let own_way = |n: &mut Node| n.application = Memory([(b"app".to_vec(), b"x".to_vec())].into());
    untold(&own_way, "in its own way");
}

/// The hash that node 12/3 stores for itself is wrong: its parent sees it, and so does the node itself.
#[test]
fn an_inner_node_with_a_wrong_hash_is_named_from_both_sides() {
    let mut node = Node::sound();
    let key = [&b"s/k:bank/s"[..], &12_u64.to_be_bytes(), &3_u32.to_be_bytes()].concat();
    node.application.0.get_mut(&key).unwrap()[20] ^= 0x10;
    let report = node.read();
    let details: Vec<&str> = report.checks.findings.iter().map(|finding| finding.detail.as_str()).collect();
    let [above, itself] = details[..] else { panic!("{details:#?}") };
    assert!(above.contains("node 12/2 with children 11/3 (key a005) and 12/3 (key b006)"), "{above}");
    assert!(itself.contains("version 12: node 12/3 with children"), "{itself}");
    assert!(report.checks.findings.iter().all(|finding| finding.kind == FindingKind::TreeHash));
}

/// The layout of CometBFT 1.0: the same block store under ordered keys.
#[test]
fn ordered_keys_are_read() {
    let mut node = Node::sound();
    let old = std::mem::take(&mut node.blockstore.0);
    for (key, value) in old {
        let text = String::from_utf8(key.clone()).unwrap();
        let number = |text: &str| 0x80 | text.parse::<u8>().unwrap();
        let parts: Vec<&str> = text.split(':').collect();
        let key = match parts[..] {
            ["H", height] => vec![0x80, number(height)],
            ["P", height, part] => vec![0x81, number(height), number(part)],
            ["C", height] => vec![0x82, number(height)],
            ["SC", height] => vec![0x83, number(height)],
            ["BH", _] => continue,
            _ => key,
        };
        node.blockstore.put(key, value);
    }
    node.blockstore.put(*b"version", *b"v2");
    let report = node.read();
    assert_eq!(report.heights.blockstore, Level::At(12));
    let [finding] = &report.checks.findings[..] else { panic!("{:#?}", report.checks) };
    assert!(finding.detail.contains("not found by its hash"), "the only records left out: {finding:?}");
}

/// A root whose two children are one and the same, level under level: a forged tree that would take for ever to walk.
#[test]
fn a_forged_tree_ends() {
    let mut node = Node::sound();
    for height in 1..=60_u32 {
        let child = [&[0_u8][..], &[2 * u8::try_from(height).unwrap()]].concat();
        let size: u64 = 1 << (height + 1);
        let mut value = vec![2 * u8::try_from(height).unwrap()];
        let mut rest = size;
        while rest >= 0x80 {
            value.push(u8::try_from(rest & 0x7f).unwrap() | 0x80);
            rest >>= 7;
        }
        value.extend([u8::try_from(rest).unwrap(), 1, b'k', 32]);
        value.extend([0; 32]);
        value.extend([0, 24]);
        value.extend([child[1], 24, child[1]]);
        let nonce = if height == 60 { 1 } else { height + 1 };
        node.application.put([&b"s/k:bank/s"[..], &12_u64.to_be_bytes(), &nonce.to_be_bytes()].concat(), value);
    }
    let report = node.read();
    assert_eq!(report.checks.outcome(), Outcome::Damaged);
    assert!(report.checks.findings.len() < 40, "{}", report.checks.findings.len());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Whatever stands under the keys that are read, nothing panics.
    #[test]
    fn no_records_make_it_panic(
        key in 0_usize..9,
        value in proptest::collection::vec(any::<u8>(), 0..120),
    ) {
        let mut node = Node { application: Memory::default(), state: Memory::default(), blockstore: Memory::default() };
        node.application.put(*b"s/latest", *b"\x08\x0c");
        node.application.put(*b"s/12", b"\x08\x0c\x12\x0c\x0a\x04bank\x12\x04\x08\x0c\x12\x00".to_vec());
        node.state.put(*b"version", Vec::new());
        node.blockstore.put(*b"blockStore", *b"\x08\x01\x10\x0c");
        let root = [&b"s/k:bank/s"[..], &12_u64.to_be_bytes(), &1_u32.to_be_bytes()].concat();
        match key {
            0 => node.application.put(*b"s/latest", value),
            1 => node.application.put(*b"s/12", value),
            2 => node.application.put(root, value),
            3 => node.state.put(*b"stateKey", value),
            4 => node.state.put(*b"validatorsKey:13", value),
            5 => node.state.put(*b"lastABCIResponseKey", value),
            6 => node.blockstore.put(*b"blockStore", value),
            7 => node.blockstore.put(*b"H:12", value),
            _ => node.blockstore.put(*b"version", value),
        }
        let _ = node.read();
    }
}

#[test]
fn absent_and_unread_are_two_things() {
    let mut checks = Checks::default();
    assert_eq!(Root::read(Source::Absent, &mut checks).latest, Level::Empty);
    assert_eq!(StateStore::read(Source::Unread, &mut checks).height, Level::Unknown);
    assert_eq!(BlockStore::read(Source::Unread, &mut checks).height, Level::Unknown);
    assert_eq!(checks, Checks::default());
}
