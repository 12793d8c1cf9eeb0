//! The data file, phrase by phrase: its own sample, read as a log, holds it. Each test names every phrase that fails.

#![expect(clippy::expect_used, reason = "a test may panic")]

use std::collections::HashSet;

use crashlog::{
    LogReader, Record,
    phrases::{Extent, Matcher, PHRASES},
};
use serde::Deserialize;

#[derive(Deserialize)]
struct File {
    phrase: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    id: String,
    text: String,
    #[serde(default)]
    with: Vec<String>,
    #[serde(default)]
    without: Vec<String>,
    polarity: String,
    #[serde(default)]
    integrity: bool,
    #[serde(default)]
    whole: bool,
    emitter: Vec<String>,
    source: String,
    sample: String,
}

fn entries() -> Vec<Entry> {
    let file: File = toml::from_str(include_str!("../data/phrases.toml")).expect("the data file parses");
    file.phrase
}

/// The ids of all entries that are not as they should be.
fn wrong(is_right: impl Fn(&Entry) -> bool) -> Vec<String> {
    entries().into_iter().filter(|entry| !is_right(entry)).map(|entry| entry.id).collect()
}

fn records(log: &str) -> Vec<Record> {
    let mut records = Vec::new();
    let mut sink = |record: &Record| records.push(record.clone());
    let mut reader = LogReader::new();
    reader.feed(log.as_bytes(), &mut sink);
    let _ = reader.finish(&mut sink);
    records
}

/// Whether some record of the sample says the phrase, from an emitter that may.
fn is_found(entry: &Entry) -> bool {
    let mut matcher = Matcher::new();
    let mut found = Vec::new();
    records(&entry.sample).iter().any(|record| {
        matcher.phrases(record, &mut found);
        found.iter().any(|index| index.phrase().id == entry.id)
    })
}

/// One test a phrase: they are run in one function, so that all that fail are named at once.
#[test]
fn every_phrase_is_found_in_its_sample() {
    let missed: Vec<String> = entries()
        .iter()
        .filter(|entry| !is_found(entry))
        .map(|entry| {
            let seen: Vec<String> = records(&entry.sample)
                .iter()
                .map(|record| format!("{:?}: {} | {}", record.emitter, record.message, record.errors))
                .collect();
            format!("{} {:?}: read as {seen:#?}", entry.id, entry.emitter)
        })
        .collect();
    assert!(missed.is_empty(), "{} phrases:\n{}", missed.len(), missed.join("\n"));
}

#[test]
fn the_table_is_the_data_file() {
    let entries = entries();
    assert!(entries.len() >= 250, "{} phrases", entries.len());
    assert!(entries.iter().map(|entry| entry.id.as_str()).eq(PHRASES.iter().map(|phrase| phrase.id)));
    let extents = PHRASES.iter().map(|phrase| phrase.extent == Extent::Whole);
    assert!(entries.iter().map(|entry| entry.whole).eq(extents));
}

#[test]
fn ids_are_unique_and_kebab_case() {
    let entries = entries();
    let ids: HashSet<&str> = entries.iter().map(|entry| entry.id.as_str()).collect();
    assert_eq!(ids.len(), entries.len());
    let kebab = |id: &str| {
        id.split('-')
            .all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit()))
    };
    assert_eq!(wrong(|entry| kebab(&entry.id)), [""; 0]);
}

#[test]
fn a_short_text_is_a_whole_message() {
    assert_eq!(wrong(|entry| entry.text.len() >= 6 || entry.whole), [""; 0]);
}

/// P13: only a phrase of damage may carry a testimony, and never one that a peer may say.
#[test]
fn integrity_only_with_damage_and_never_from_a_peer() {
    assert_eq!(wrong(|entry| !entry.integrity || entry.polarity == "damage"), [""; 0]);
    assert_eq!(wrong(|entry| !entry.integrity || !entry.emitter.iter().any(|emitter| emitter == "peer")), [""; 0]);
}

#[test]
fn every_entry_has_an_emitter_and_a_source() {
    assert_eq!(wrong(|entry| !entry.emitter.is_empty() && !entry.source.trim().is_empty()), [""; 0]);
}

/// `with` says something beyond the text, and `without` can exclude anything: it is neither in the text or in `with` (the
/// phrase would never be found) nor does it hold another of its own (one of the two would do nothing).
#[test]
fn with_and_without_are_needed() {
    let holds = |whole: &str, part: &str| whole.to_ascii_lowercase().contains(&part.to_ascii_lowercase());
    assert_eq!(wrong(|entry| !entry.with.iter().any(|with| with.is_empty() || holds(&entry.text, with))), [""; 0]);
    let contradicts = |entry: &Entry, without: &String| {
        holds(&entry.text, without)
            || entry.with.iter().any(|with| holds(with, without))
            || holds(&entry.sample, without)
    };
    let idle = |entry: &Entry, without: &String| {
        without.is_empty() || entry.without.iter().any(|other| other != without && holds(without, other))
    };
    assert_eq!(
        wrong(|entry| !entry.without.iter().any(|without| contradicts(entry, without) || idle(entry, without))),
        [""; 0]
    );
}
