//! Every fixture says what its manifest says; sound ones, and those in states that nodes heal, have no finding.

use chainstore::{IavlMode, Level, NodeReport, Severity, SigningState, Start};
use serde_json::Value;

use crate::fixture::{Fixture, directory, manifest};

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}

fn level(heights: &Value, name: &str) -> Level {
    heights[name].as_u64().map_or(Level::Empty, Level::At)
}

/// Heights, chain, hashes and stores against a case of the manifest, which real nodes wrote.
fn compare(case: &Value, report: &NodeReport) {
    let name = case["case"].as_str().unwrap();
    let expect = &case["expect"];
    let heights = &expect["heights"];
    assert_eq!(report.heights.state, level(heights, "state"), "{name}");
    assert_eq!(report.heights.blockstore, level(heights, "blockstore"), "{name}");
    assert_eq!(report.heights.blockstore_base, level(heights, "blockstore_base"), "{name}");
    assert_eq!(report.chain_id.as_deref(), expect["chain_id"].as_str(), "{name}");
    assert_eq!(report.app_hashes.state.as_deref().map(hex).as_deref(), expect["app_hash"].as_str(), "{name}");
    // Where the application does not load, the manifest has none of these.
    if expect["application_error"].is_null() {
        assert_eq!(report.heights.application, level(heights, "application"), "{name}");
        let computed = report.app_hashes.application.map(|hash| hash.to_string());
        assert_eq!(computed.as_deref(), expect["application_hash"].as_str(), "{name}");
        let stores = expect["commit_info"].as_array().unwrap();
        assert_eq!(report.stores.len(), stores.len(), "{name}");
        for (store, expected) in report.stores.iter().zip(stores) {
            assert_eq!(Some(store.name.as_str()), expected["name"].as_str(), "{name}");
            assert_eq!(Some(store.version), expected["version"].as_u64(), "{name}");
            assert_eq!(Some(hex(&store.hash).as_str()), expected["hash"].as_str(), "{name}");
        }
    }
    if let Some(starts) = expect["start"]["starts"].as_bool() {
        let refuses = matches!(report.start, Some(Start::Refuses(_)));
        // A node also ends for what is no matter of heights; then there is another finding.
        assert!(starts != refuses || report.checks.severity() == Some(Severity::Damage), "{name}: {:?}", report.start);
        assert!(!starts || !refuses, "{name}: {:?}", report.start);
    }
}

#[test]
fn every_fixture_says_what_its_manifest_says() {
    let mut read = 0;
    for set in ["node", "node-0.34"] {
        for case in manifest(set) {
            let fixture = Fixture::open(&directory(set, case["case"].as_str().unwrap()));
            if fixture.is_readable() && case["expect"]["heights"].is_object() {
                compare(&case, &fixture.read(IavlMode::Latest));
                read += 1;
            }
        }
    }
    assert!(read >= 22, "only {read} fixtures were read");
}

#[test]
fn sound_and_benign_fixtures_have_no_finding() {
    let mut read = 0;
    for set in ["node", "node-0.34"] {
        for case in manifest(set).iter().filter(|case| case["state"] == "healthy" || case["state"] == "benign") {
            let fixture = Fixture::open(&directory(set, case["case"].as_str().unwrap()));
            if !fixture.is_readable() {
                continue;
            }
            for mode in [IavlMode::Off, IavlMode::Sample, IavlMode::Latest] {
                let report = fixture.read(mode);
                assert!(report.checks.untold.is_empty(), "{case}: {:#?}", report.checks);
                assert!(report.checks.severity() <= Some(Severity::Note), "{case}: {:#?}", report.checks);
                assert!(report.stores.iter().all(|store| store.root_fits == Some(true)), "{case}");
                assert_eq!(report.start.as_ref().and_then(Start::starts), Some(true), "{case}");
            }
            read += 1;
        }
    }
    assert!(read >= 8, "only {read} fixtures were read");
}

fn start_of(case: &str) -> Start {
    Fixture::open(&directory("node", case)).read(IavlMode::Off).start.unwrap()
}

/// What the node then did is in the manifest: it started in all four cases, and replayed as said here.
#[test]
fn what_a_node_does_with_benign_heights() {
    assert_eq!(start_of("goleveldb-healthy"), Start::InStep(12));
    assert_eq!(start_of("goleveldb-one-ahead"), Start::Replays { from: 13, to: 13 });
    assert_eq!(start_of("goleveldb-app-behind"), Start::Replays { from: 9, to: 12 });
    assert_eq!(start_of("goleveldb-store-ahead"), Start::Replays { from: 12, to: 12 });
}

/// An application that was taken back to the height before an upgrade asks for its binary again: worth a note.
#[test]
fn notes_of_benign_fixtures() {
    let notes = |case: &str| -> Vec<String> {
        let report = Fixture::open(&directory("node", case)).read(IavlMode::Off);
        report.checks.findings.into_iter().map(|finding| finding.detail).collect()
    };
    assert_eq!(notes("goleveldb-healthy"), Vec::<String>::new());
    assert_eq!(notes("goleveldb-app-behind"), ["the next block (9) needs the binary of upgrade \"v2\""]);
}

#[test]
fn companions_of_a_sound_node() {
    let report = Fixture::open(&directory("node", "goleveldb-healthy")).read(IavlMode::Latest);
    assert_eq!(report.cometbft.as_deref(), Some("0.38.15"));
    assert_eq!(report.signing, SigningState::Signed { height: 12, round: 0, step: 3 });
    let upgrade = report.upgrade.unwrap();
    assert_eq!((upgrade.name.as_str(), upgrade.height, upgrade.is_due(Some(12))), ("v2", 9, false));
    let wal = report.wal.unwrap();
    assert_eq!((wal.files, wal.end_height, wal.repaired_before), (1, Some(12), false));
    assert_eq!(report.snapshots.len(), 1);
    assert_eq!((report.snapshots[0].height, report.snapshots[0].chunks.len()), (8, 1));
    assert_eq!(report.validators.len(), 1);
    assert_eq!(hex(&report.validators[0]), "5d8277382eb9aa99b359fd801331a3f5e941df94");
    // Block 12 was made a minute after the chain's first second, 2026-11-01 12:00:00 UTC.
    assert_eq!(report.last_block_seconds, Some(1_793_534_400 + 55));
    assert!(report.space.unwrap().free_bytes > 0);
    assert_eq!((report.wasm, report.has_node_key, report.genesis_chain_id), (None, None, None));
    let walked: Vec<_> = report.stores.iter().map(|s| (s.name.as_str(), s.walked.leaves, s.walked.nodes)).collect();
    assert_eq!(walked, [("acc", 6, 11), ("bank", 12, 23), ("staking", 3, 5)]);
}

#[test]
fn the_older_line_is_read_too() {
    let report = Fixture::open(&directory("node-0.34", "goleveldb-healthy")).read(IavlMode::Latest);
    assert_eq!(report.cometbft.as_deref(), Some("0.34.29"));
    assert_eq!(report.start, Some(Start::InStep(12)));
    let leaves: Vec<_> = report.stores.iter().map(|store| store.walked.leaves).collect();
    assert_eq!(leaves, [6, 12, 3]);
    // Both formats in one tree.
    let upgraded = Fixture::open(&directory("node-0.34", "goleveldb-upgraded")).read(IavlMode::Latest);
    let leaves: Vec<_> = upgraded.stores.iter().map(|store| (store.walked.leaves, store.newest)).collect();
    assert_eq!(leaves, [(6, Some(12)), (12, Some(12)), (3, Some(12))]);
}
