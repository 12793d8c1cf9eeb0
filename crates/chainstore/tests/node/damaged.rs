//! Each damaged fixture is named as what it is.

use chainstore::{FindingKind, IavlMode, Level, NodeReport, Outcome, Refusal, Severity, Start};

use crate::fixture::{Fixture, directory, manifest};

/// The only finding of a fixture beside notes, whichever engine wrote it; `None` if this version cannot read the engine.
#[track_caller]
fn only(set: &str, case: &str, kind: FindingKind, outcome: Outcome, words: &[&str]) -> Option<NodeReport> {
    let fixture = Fixture::open(&directory(set, case));
    if !fixture.is_readable() {
        return None;
    }
    let report = fixture.read(IavlMode::Latest);
    assert_eq!(report.checks.outcome(), outcome, "{case}: {:#?}", report.checks);
    let heavy: Vec<_> = report.checks.findings.iter().filter(|finding| finding.severity() > Severity::Note).collect();
    let [finding] = heavy[..] else { panic!("{case}: {:#?}", report.checks) };
    assert_eq!(finding.kind, kind, "{case}: {finding:?}");
    for word in words {
        assert!(finding.detail.contains(word), "{case}: {word} not in {}", finding.detail);
    }
    Some(report)
}

#[test]
fn heights_that_do_not_fit() {
    use FindingKind::HeightsDisagree;
    for engine in ["goleveldb", "pebbledb"] {
        let case = |name: &str| format!("{engine}-{name}");
        let row = |name: &str, words: &[&str], refusal| {
            if let Some(report) = only("node", &case(name), HeightsDisagree, Outcome::Inconsistent, words) {
                assert_eq!(report.start, Some(Start::Refuses(refusal)));
            }
        };
        let ahead =
            ["3 blocks ahead of the block store (15 against 12)", "app block height (15) is higher than core (12)"];
        row("app-ahead", &ahead, Refusal::ApplicationAhead { application: 15, blockstore: 12 });
        let behind = ["4 blocks behind", "StoreBlockHeight (12) > StateBlockHeight + 1 (9)"];
        row("state-behind", &behind, Refusal::StateBehind { state: 8, blockstore: 12 });
        let missing = ["state (12) and store (0) height mismatch"];
        row("blockstore-missing", &missing, Refusal::BlockStoreEmpty { state: 12 });
    }
}

/// The words are those with which the real node ended, as the manifest has them.
#[test]
fn a_refusal_quotes_the_error_that_the_node_gave() {
    let mut compared = 0;
    for case in manifest("node") {
        let fixture = Fixture::open(&directory("node", case["case"].as_str().unwrap()));
        let (Some(error), true) = (case["expect"]["start"]["error"].as_str(), fixture.is_readable()) else { continue };
        let Some(Start::Refuses(refusal)) = fixture.read(IavlMode::Off).start else { continue };
        let words = refusal.to_string();
        let quoted = words.split('"').nth(1).unwrap();
        assert!(error.contains(quoted), "{quoted} is not in {error}");
        compared += 1;
    }
    assert!(compared >= 3, "{compared}");
}

#[test]
fn trees_with_one_thing_wrong() {
    use FindingKind::{RecordsMissing, TreeHash};
    use Outcome::Damaged;
    for engine in ["goleveldb", "pebbledb"] {
        let row = |name: &str, kind, words: &[&str]| only("node", &format!("{engine}-{name}"), kind, Damaged, words);
        row("iavl-altered", TreeHash, &["store bank", "version 12", "12/5 (key b006)"]);
        let deleted = ["store bank", "version 12", "node 12/5 is missing", "s/k:bank/ + 73000000000000000c00000005"];
        row("iavl-deleted", TreeHash, &deleted);
        if engine == "goleveldb" {
            row(
                "iavl-root-deleted",
                RecordsMissing,
                &["store bank: version 12 is not there", "version does not exist"],
            );
            let report = row("commit-info-deleted", RecordsMissing, &["s/latest says 12", "no commit info found"]);
            assert_eq!(report.unwrap().heights.application, Level::At(12));
        }
    }
    let key = "s/k:bank/ + 6e728e90ce08ca4fbb32788b415b1bbb5a26995f3081293a8fe6dfa5afb2b370f9";
    only("node-0.34", "goleveldb-iavl-altered", TreeHash, Damaged, &["store bank", "does not hash to its key", key]);
    only("node-0.34", "goleveldb-iavl-deleted", TreeHash, Damaged, &["store bank", "is missing", key]);
}

#[test]
fn a_state_that_cannot_be_read_leaves_its_height_open() {
    let words = ["stateKey cannot be read (next_validators", "LoadState: Data has been corrupted"];
    let report =
        only("node", "goleveldb-state-altered", FindingKind::RecordMalformed, Outcome::Damaged, &words).unwrap();
    assert_eq!((report.heights.state, report.start), (Level::Unknown, Some(Start::Unknown)));
}

/// Only hashes see what a valid write changed: without the walk, the roots are right.
#[test]
fn without_a_walk_an_altered_leaf_is_not_seen() {
    let fixture = Fixture::open(&directory("node", "goleveldb-iavl-altered"));
    assert_eq!(fixture.read(IavlMode::Off).checks.outcome(), Outcome::Intact);
    assert_eq!(fixture.read(IavlMode::Sample).checks.outcome(), Outcome::Damaged);
}
