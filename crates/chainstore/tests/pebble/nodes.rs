//! Whole nodes on Pebble, as the SDK and CometBFT wrote them, inspected as a user does. What is right of each is in the
//! fixtures' `manifest.json`, which the nodes' own code wrote.

use crate::kit;
use chainstore::{Depth, Inspection, Level, Outcome, Refusal, Severity, Start};

use Outcome::{Damaged, Inconsistent, Intact};

const NODES: [&str; 7] = [
    "node/pebbledb-healthy",
    "node/pebbledb-app-ahead",
    "node/pebbledb-state-behind",
    "node/pebbledb-blockstore-missing",
    "node/pebbledb-iavl-altered",
    "node/pebbledb-iavl-deleted",
    "node-0.34/pebbledb-converted",
];

fn inspect(node: &str, depth: Depth) -> Inspection {
    let options = chainstore::Options { depth, ..chainstore::Options::default() };
    chainstore::inspect(&kit::fixture(node), &options).unwrap()
}

/// What there is beside notes: where it stands, and in what words.
fn heavy(inspection: &Inspection) -> Vec<(String, String)> {
    let all = inspection.databases.iter().flat_map(|database| &database.checks.findings);
    let all = all.chain(&inspection.checks.findings).filter(|finding| finding.severity() > Severity::Note);
    all.map(|finding| (format!("{} in {}", finding.kind.name(), finding.file.display()), finding.detail.clone()))
        .collect()
}

#[test]
fn heights_and_what_the_node_does_with_them() {
    let at = Level::At;
    let row = |node: &str, heights: [Level; 3], start: Start| {
        for depth in [Depth::Quick, Depth::Default, Depth::Deep] {
            let node_report = inspect(node, depth).node.unwrap();
            let found = node_report.heights;
            assert_eq!([found.application, found.state, found.blockstore], heights, "{node}");
            assert_eq!(node_report.start, Some(start.clone()), "{node}");
            assert_eq!(node_report.chain_id.as_deref(), Some("loopbreaker-1"), "{node}");
        }
    };
    let (all_12, in_step) = ([at(12); 3], Start::InStep(12));
    row("node/pebbledb-healthy", all_12, in_step.clone());
    row("node/pebbledb-iavl-altered", all_12, in_step.clone());
    row("node/pebbledb-iavl-deleted", all_12, in_step.clone());
    row("node-0.34/pebbledb-converted", all_12, in_step);
    let ahead = Refusal::ApplicationAhead { application: 15, blockstore: 12 };
    row("node/pebbledb-app-ahead", [at(15), at(12), at(12)], Start::Refuses(ahead));
    let behind = Refusal::StateBehind { state: 8, blockstore: 12 };
    row("node/pebbledb-state-behind", [at(12), at(8), at(12)], Start::Refuses(behind));
    let missing = Refusal::BlockStoreEmpty { state: 12 };
    row("node/pebbledb-blockstore-missing", [at(12), at(12), Level::Empty], Start::Refuses(missing));
}

/// Below the deepest look the trees are not walked, so that a valid write of something wrong is not seen.
#[test]
fn what_is_wrong_with_each() {
    let row = |node: &str, depth: Depth, outcome: Outcome, wanted: &[(&str, &str)]| {
        let inspection = inspect(node, depth);
        assert_eq!(inspection.outcome, outcome, "{node}: {:#?}", heavy(&inspection));
        let found = heavy(&inspection);
        assert_eq!(found.len(), wanted.len(), "{node}: {found:#?}");
        for ((place, words), (wanted_place, wanted_words)) in found.iter().zip(wanted) {
            assert_eq!(place, wanted_place, "{node}");
            assert!(words.contains(wanted_words), "{node}: {words}");
        }
    };
    for depth in [Depth::Quick, Depth::Default, Depth::Deep] {
        row("node/pebbledb-healthy", depth, Intact, &[]);
        row("node-0.34/pebbledb-converted", depth, Intact, &[]);
        let ahead = ("heights_disagree in data/application.db", "app block height (15) is higher than core (12)");
        row("node/pebbledb-app-ahead", depth, Inconsistent, &[ahead]);
        let behind = ("heights_disagree in data/state.db", "StoreBlockHeight (12) > StateBlockHeight + 1 (9)");
        row("node/pebbledb-state-behind", depth, Inconsistent, &[behind]);
        let missing = ("heights_disagree in data/blockstore.db", "state (12) and store (0) height mismatch");
        row("node/pebbledb-blockstore-missing", depth, Inconsistent, &[missing]);
    }
    for (node, words) in [
        ("node/pebbledb-iavl-altered", "with children 12/5 (key b006)"),
        ("node/pebbledb-iavl-deleted", "node 12/5 is missing"),
    ] {
        row(node, Depth::Default, Intact, &[]);
        row(node, Depth::Deep, Damaged, &[("tree_hash in data/application.db", words)]);
    }
}

/// The engine would simply open each of these databases: what is wrong is in their records.
#[test]
fn the_files_of_all_are_whole() {
    for node in NODES {
        let inspection = inspect(node, Depth::Default);
        assert!(inspection.databases.len() >= 2, "{node}");
        for database in inspection.databases {
            let name = &database.name;
            assert_eq!(database.engine, Some(chainstore::Engine::Pebble), "{node}/{name:?}");
            assert_eq!(database.prediction, None, "{node}/{name:?}");
            assert!(database.checks.untold.is_empty(), "{node}/{name:?}: {:?}", database.checks.untold);
        }
    }
}

#[test]
fn the_trees_are_walked() {
    for node in ["node/pebbledb-healthy", "node-0.34/pebbledb-converted"] {
        let stores = inspect(node, Depth::Deep).node.unwrap().stores;
        let walked: Vec<_> = stores.iter().map(|s| (s.name.as_str(), s.walked.leaves, s.root_fits)).collect();
        assert_eq!(walked, [("acc", 6, Some(true)), ("bank", 12, Some(true)), ("staking", 3, Some(true))], "{node}");
    }
}

/// No node is left out of this file.
#[test]
fn every_node_on_pebble_is_here() {
    for set in ["node", "node-0.34"] {
        for entry in std::fs::read_dir(kit::fixture(set)).unwrap() {
            let name = format!("{set}/{}", entry.unwrap().file_name().to_str().unwrap());
            assert!(!name.contains("/pebbledb-") || NODES.contains(&name.as_str()), "{name}");
        }
    }
}
