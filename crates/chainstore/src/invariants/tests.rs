//! Every pair of heights: what a node does with it.

use super::*;
use crate::heights::Level::{self, At, Empty, Unknown};

fn situation(application: Level, state: Level, blockstore: Level, base: Level) -> Situation {
    Situation {
        heights: Heights { application, state, blockstore, blockstore_base: base },
        responses_to_next: Some(true),
        ..Situation::default()
    }
}

#[track_caller]
fn row(what: &str, application: Level, state: Level, blockstore: Level, base: Level, expected: &Start) {
    assert_eq!(&start(&situation(application, state, blockstore, base)), expected, "{what}");
}

#[test]
fn benign_heights_are_no_refusal() {
    let from = |from, to| Start::Replays { from, to };
    row("nothing yet", Empty, Empty, Empty, Empty, &Start::Genesis);
    row("genesis saved, no block", At(0), At(0), At(0), At(0), &Start::Genesis);
    row("in step", At(12), At(12), At(12), At(1), &Start::InStep(12));
    row("in step, pruned", At(12), At(12), At(12), At(12), &Start::InStep(12));
    row("an early store without base", At(12), At(12), At(12), At(0), &Start::InStep(12));
    row("block stored, not applied", At(12), At(12), At(13), At(1), &from(13, 13));
    row(
        "block stored and committed, state not saved",
        At(13),
        At(12),
        At(13),
        At(1),
        &Start::AppliesSavedResponses(13),
    );
    row("application 4 behind", At(8), At(12), At(12), At(1), &from(9, 12));
    row("application behind, block stored", At(8), At(12), At(13), At(1), &from(9, 13));
    row("application empty, all blocks there", Empty, At(12), At(12), At(1), &from(1, 12));
    row("first block stored only", At(0), At(0), At(1), At(1), &from(1, 1));
    row("application one below the base", At(8), At(12), At(12), At(9), &from(9, 12));
}

#[test]
fn heights_that_cannot_be_are_refused_with_the_reason_that_the_node_gives() {
    let no = |refusal| Start::Refuses(refusal);
    let ahead = Refusal::ApplicationAhead { application: 15, blockstore: 12 };
    row("application 3 ahead", At(15), At(12), At(12), At(1), &no(ahead));
    let one = Refusal::ApplicationAhead { application: 13, blockstore: 12 };
    row("application 1 ahead", At(13), At(12), At(12), At(1), &no(one));
    let behind = Refusal::StateBehind { state: 8, blockstore: 12 };
    row("state 4 behind", At(12), At(8), At(12), At(1), &no(behind));
    let two = Refusal::StateBehind { state: 10, blockstore: 12 };
    row("state 2 behind", At(10), At(10), At(12), At(1), &no(two));
    let missing = Refusal::StateBehind { state: 0, blockstore: 12 };
    row("state missing", At(12), Empty, At(12), At(1), &no(missing));
    let before = Refusal::StateAhead { state: 12, blockstore: 11 };
    row("block store older", At(11), At(12), At(11), At(1), &no(before));
    let empty = Refusal::BlockStoreEmpty { state: 12 };
    row("block store missing", At(12), At(12), Empty, Empty, &no(empty));
    row("block store and application missing", Empty, At(12), Empty, Empty, &no(empty));
    let alone = Refusal::ApplicationAlone { application: 12 };
    row("only the application", At(12), Empty, Empty, Empty, &no(alone));
    let below = Refusal::ApplicationBelowBase { application: 7, base: 9 };
    row("application two below the base", At(7), At(12), At(12), At(9), &no(below));
    let gone = Refusal::ApplicationEmpty { base: 9 };
    row("application empty, blocks pruned", Empty, At(12), At(12), At(9), &no(gone));
}

#[test]
fn what_is_not_known_rules_nothing_out_and_nothing_in() {
    row("application unknown", Unknown, At(12), At(12), At(1), &Start::Unknown);
    row("block store unknown", At(15), At(12), Unknown, Unknown, &Start::Unknown);
    row("state unknown", At(12), Unknown, At(12), At(1), &Start::Unknown);
    row("state unknown, store empty", At(12), Unknown, Empty, Empty, &Start::Unknown);
    row("base unknown", At(8), At(12), At(12), Unknown, &Start::Replays { from: 9, to: 12 });
    let behind = Start::Refuses(Refusal::StateBehind { state: 8, blockstore: 12 });
    row("application unknown, state behind", Unknown, At(8), At(12), At(1), &behind);
}

#[test]
fn one_thing_more_decides_in_three_cases() {
    let mut late = situation(At(13), At(12), At(13), At(1));
    late.responses_to_next = Some(false);
    assert_eq!(start(&late), Start::Refuses(Refusal::ResponsesMissing { height: 13 }));
    late.responses_to_next = None;
    assert_eq!(start(&late), Start::Unknown);

    let mut synced = situation(At(500), At(500), Empty, Empty);
    synced.offline_state_sync = Some(500);
    assert_eq!(start(&synced), Start::AfterStateSync(500));
    synced.offline_state_sync = Some(400);
    assert_eq!(start(&synced), Start::Refuses(Refusal::BlockStoreEmpty { state: 500 }));

    let mut later_genesis = situation(Empty, At(5_001), At(5_001), At(5_000));
    later_genesis.initial_height = Some(5_000);
    assert_eq!(start(&later_genesis), Start::Replays { from: 5_000, to: 5_001 });
}

/// The node's own switch, put down case by case from `replay.go` and `reactor.go`: an independent reading of the source.
fn by_the_source(a: u64, t: u64, s: u64, b: u64) -> bool {
    if s == 0 {
        // Equal application hashes are needed, which only equal heights have; then the reactor compares T with 0.
        return a == t && t == 0;
    }
    if a == 0 && 1 < b {
        return false;
    }
    if a > 0 && a + 1 < b {
        return false;
    }
    if s < a {
        return false;
    }
    if s < t {
        return false;
    }
    s <= t + 1
}

#[test]
fn every_combination_of_small_heights_is_judged_as_the_source_does() {
    for a in 0..=6 {
        for t in 0..=6 {
            for s in 0..=6 {
                for b in u64::from(s > 0)..=s {
                    let verdict = start(&situation(At(a), At(t), At(s), At(b)));
                    assert_eq!(verdict.starts(), Some(by_the_source(a, t, s, b)), "A {a} T {t} S {s} B {b}: {verdict}");
                }
            }
        }
    }
}

#[test]
fn the_words_say_what_it_means() {
    let ahead = Refusal::ApplicationAhead { application: 15, blockstore: 12 };
    assert_eq!(
        ahead.to_string(),
        "the application is 3 blocks ahead of the block store (15 against 12): this node cannot replay, and ends with \
         \"app block height (15) is higher than core (12)\""
    );
    let behind = Refusal::StateBehind { state: 8, blockstore: 12 };
    assert!(behind.to_string().ends_with("\"StoreBlockHeight (12) > StateBlockHeight + 1 (9)\""), "{behind}");
    assert_eq!(Start::Replays { from: 13, to: 13 }.to_string(), "the node starts and replays block 13");
}
