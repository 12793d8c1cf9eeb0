//! What must not change a verdict: names, times, colours, log formats, prefixes, heights, healthy lines before, help after.
//! Over the samples of all phrases and the development incidents.

#![expect(clippy::expect_used, clippy::string_slice, reason = "a test may panic")]

mod changes;
mod formats;

use crashlog::{Examiner, Finding, NoTestimony, model::Model};
use diagnosis::{Cause, LogAbstention, LogReading, Probability};
use serde::Deserialize;

#[derive(Deserialize)]
struct File {
    phrase: Vec<Phrase>,
}

#[derive(Deserialize)]
struct Phrase {
    id: String,
    sample: String,
}

#[derive(Deserialize)]
struct Incident {
    id: String,
    log: String,
}

/// A log and where it comes from.
struct Log {
    id: String,
    text: String,
}

fn logs() -> Vec<Log> {
    let file: File = toml::from_str(include_str!("../../data/phrases.toml")).expect("the data file parses");
    let samples = file.phrase.into_iter().map(|phrase| Log { id: phrase.id, text: phrase.sample });
    let incidents = include_str!("../../../../model/data/development.jsonl").lines();
    let incidents = incidents.map(|line| serde_json::from_str::<Incident>(line).expect("the data set parses"));
    samples.chain(incidents.map(|incident| Log { id: incident.id, text: incident.log })).collect()
}

/// What a user is told.
#[derive(Debug, PartialEq)]
struct Verdict {
    reading: LogReading,
    causes: Vec<(Cause, Probability)>,
    no_testimony: Option<NoTestimony>,
}

fn verdict(log: &str) -> Verdict {
    let mut examiner = Examiner::new();
    examiner.feed(log.as_bytes());
    let Finding { reading, causes, no_testimony, .. } = examiner.finish(Model::built_in());
    Verdict { reading, causes, no_testimony }
}

/// Changes each log that `change` applies to; at least `least` of them, and none may get another verdict.
fn unchanged(least: usize, change: impl Fn(&str) -> Option<String>) {
    let (mut count, mut wrong) = (0, Vec::new());
    for log in logs() {
        let Some(changed) = change(&log.text) else { continue };
        let before = verdict(&log.text);
        if before.reading == LogReading::Abstained(LogAbstention::ForeignProgram) {
            // Whose log it is may well be told by what is added.
            continue;
        }
        count += 1;
        let after = verdict(&changed);
        if before != after {
            let causes: Vec<_> = before.causes.iter().zip(&after.causes).filter(|(a, b)| a != b).take(2).collect();
            wrong.push(format!(
                "{}\n--- {}\n+++ {changed}\n  {:?} {:?}\n  {:?} {:?}\n  {causes:?}",
                log.id, log.text, before.reading, before.no_testimony, after.reading, after.no_testimony
            ));
        }
    }
    assert!(wrong.is_empty(), "{} of {count}:\n{}", wrong.len(), wrong.join("\n\n"));
    assert!(count >= least, "only {count} logs");
}

#[test]
fn renaming_the_chain() {
    unchanged(40, changes::rename);
}

#[test]
fn shifting_time() {
    unchanged(40, changes::shift_time);
}

#[test]
fn other_heights_and_hashes() {
    unchanged(40, changes::other_numbers);
}

#[test]
fn colour() {
    unchanged(1000, |log| Some(changes::each_line(log, |line| format!("\u{1b}[31m{line}\u{1b}[0m"))));
    unchanged(40, formats::coloured);
}

#[test]
fn journald() {
    unchanged(1000, |log| {
        Some(changes::each_line(log, |line| format!("Nov 30 20:59:28 host-1 foochaind[4679]: {line}")))
    });
}

#[test]
fn container_runtimes() {
    unchanged(1000, |log| {
        Some(changes::each_line(log, |line| format!("2026-11-30T20:59:28.346051788Z stderr F {line}")))
    });
    unchanged(1000, |log| {
        Some(changes::each_line(log, |line| {
            let line = serde_json::Value::String(format!("{line}\n"));
            format!("{{\"log\":{line},\"stream\":\"stderr\",\"time\":\"2026-11-30T20:59:28.346051788Z\"}}")
        }))
    });
}

#[test]
fn compose() {
    unchanged(1000, |log| Some(changes::each_line(log, |line| format!("node-0  | {line}"))));
}

#[test]
fn windows_line_ends() {
    unchanged(1000, |log| Some(changes::each_line(log, |line| format!("{line}\r"))));
}

#[test]
fn healthy_lines_before() {
    unchanged(1000, |log| Some(changes::HEALTHY_CONSOLE.to_owned() + log));
    unchanged(1000, |log| Some(changes::HEALTHY_JSON.to_owned() + log));
}

#[test]
fn help_text_after() {
    unchanged(1000, |log| Some(format!("{}\n{}", log.trim_end_matches('\n'), changes::USAGE)));
}

#[test]
fn log_formats() {
    unchanged(40, formats::plain);
    unchanged(40, formats::console);
    unchanged(40, formats::json);
}

/// Not only records that the samples are: any text as message or as error of a record.
#[test]
fn any_text_in_each_log_format() {
    let mut wrong = Vec::new();
    for log in logs() {
        for lines in formats::carried(&log.text) {
            let [plain, others @ ..] = &lines;
            let before = verdict(plain);
            let other = others.iter().find(|other| verdict(other) != before);
            wrong.extend(
                other.map(|other| format!("{}\n--- {plain}\n+++ {other}\n {before:?}\n {:?}", log.id, verdict(other))),
            );
        }
    }
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n\n"));
}
