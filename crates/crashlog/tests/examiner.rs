//! The whole examiner: the same bytes in any chunks give the same finding; any bytes give one; damage is testified only where
//! the node itself names a failed integrity check.

#![expect(clippy::expect_used, reason = "a test may panic")]

use std::sync::LazyLock;

use crashlog::{Emitter, Examiner, Finding, LogReader, Record, model::Model};
use diagnosis::{LogReading, Testimony};
use proptest::prelude::*;
use serde::Deserialize;

const LOGS: [&str; 3] = [
    include_str!("data/state-db-node.log"),
    include_str!("data/application-db-node.log"),
    include_str!("data/application-db-version-check.log"),
];

fn examine<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> Finding {
    let mut examiner = Examiner::new();
    for chunk in chunks {
        examiner.feed(chunk);
    }
    examiner.finish(Model::built_in())
}

fn testifies(finding: &Finding) -> bool {
    matches!(&finding.reading, LogReading::Read(opinion) if opinion.testimony == Testimony::Witness)
}

/// Everything that a finding says.
fn shown(finding: &Finding) -> String {
    format!("{finding:?}")
}

#[test]
fn a_thousand_runs_give_the_same_bytes() {
    for log in LOGS {
        let first = shown(&examine([log.as_bytes()]));
        for _ in 0..1000 {
            assert_eq!(shown(&examine([log.as_bytes()])), first);
        }
    }
}

#[test]
fn chunks_change_nothing() {
    for log in LOGS {
        let whole = shown(&examine([log.as_bytes()]));
        for size in [1, 2, 3, 7, 64, 1000, 4096] {
            assert_eq!(shown(&examine(log.as_bytes().chunks(size))), whole, "chunks of {size}");
        }
    }
}

/// The phrases of the data file that prove a failed check, read a second time: the test must not share the product's table.
#[derive(Deserialize)]
struct File {
    phrase: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    text: String,
    #[serde(default)]
    with: Vec<String>,
    #[serde(default)]
    integrity: bool,
    sample: String,
    strength: u8,
}

static ENTRIES: LazyLock<Vec<Entry>> = LazyLock::new(|| {
    let file: File = toml::from_str(include_str!("../data/phrases.toml")).expect("the data file parses");
    file.phrase
});

/// Whether a record that no peer said holds the words of a failed check.
fn names_a_failed_check(record: &Record) -> bool {
    if matches!(record.emitter, Emitter::Peer | Emitter::Usage) {
        return false;
    }
    let said = [&record.message, &record.errors].map(|text| text.to_ascii_lowercase());
    let all = format!("{said:?} {} {:?}", record.fields, record.frames).to_ascii_lowercase().replace("\\\"", "\"");
    ENTRIES.iter().filter(|entry| entry.integrity && entry.strength == 3).any(|entry| {
        let text = entry.text.to_ascii_lowercase();
        let in_frame = record.frames.iter().any(|frame| frame.to_ascii_lowercase().contains(&text));
        (in_frame || said.iter().any(|part| part.contains(&text)))
            && entry.with.iter().all(|with| all.contains(&with.to_ascii_lowercase()))
    })
}

/// P13: a witness only where the node itself names a failed integrity check.
fn no_witness_without_a_check(log: &[u8]) {
    let finding = examine([log]);
    if testifies(&finding) {
        let mut named = false;
        let mut reader = LogReader::new();
        let mut sink = |record: &Record| named |= names_a_failed_check(record);
        reader.feed(log, &mut sink);
        let _ = reader.finish(&mut sink);
        assert!(named, "{finding:?}");
    }
}

/// Samples of any phrases, in any order, with whatever in between, as records of a peer or as they are.
fn composed() -> impl Strategy<Value = Vec<u8>> {
    let line = prop_oneof![
        6 => any::<prop::sample::Index>().prop_map(|index| index.get(&ENTRIES).sample.clone()),
        2 => any::<prop::sample::Index>().prop_map(|index| {
            format!("8:59PM ERR Stopping peer for error err={:?} module=p2p peer=x", index.get(&ENTRIES).sample)
        }),
        2 => (any::<prop::sample::Index>(), any::<prop::sample::Index>()).prop_map(|(index, cut)| {
            let sample = &index.get(&ENTRIES).sample;
            sample.chars().take(cut.index(sample.len() + 1)).collect()
        }),
        1 => "\\PC{0,60}",
        1 => Just("8:59PM INF executed block height=12 module=state".to_owned()),
        1 => Just("Usage:\n  gaiad start [flags]".to_owned()),
    ];
    prop::collection::vec(line, 0..8).prop_map(|lines| lines.join("\n").into_bytes())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn a_witness_needs_a_failed_check(log in composed()) {
        no_witness_without_a_check(&log);
    }

    #[test]
    fn any_bytes_give_a_finding(log in prop::collection::vec(any::<u8>(), 0..2000), size in 1..200_usize) {
        let finding = examine(log.chunks(size));
        prop_assert!(!testifies(&finding) || finding.no_testimony.is_none());
        prop_assert!(finding.damage_score.is_finite());
        prop_assert_eq!(shown(&finding), shown(&examine([log.as_slice()])));
        no_witness_without_a_check(&log);
    }

    #[test]
    fn composed_logs_in_any_chunks(log in composed(), size in 1..200_usize) {
        prop_assert_eq!(shown(&examine(log.chunks(size))), shown(&examine([log.as_slice()])));
    }
}

/// The tests above are not empty: most samples of failed checks do testify.
#[test]
fn samples_of_failed_checks_testify() {
    let checks: Vec<_> = ENTRIES.iter().filter(|entry| entry.integrity && entry.strength == 3).collect();
    let testify = checks.iter().filter(|entry| testifies(&examine([entry.sample.as_bytes()]))).count();
    assert!(testify * 2 > checks.len(), "{testify} of {}", checks.len());
}
