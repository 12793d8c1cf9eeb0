//! Decisive lines of the logs, for people. *No client.* What speaks against the verdict is shown as large as what speaks for it.

use crashlog::{explain::DecisiveLine, phrases::Polarity};
use diagnosis::{Cause, DatabaseName, LogReading};

use super::reasons::because;
use crate::{
    incident::Incident,
    report::page::{FAINT, Page},
};
use crashlog::{Chosen, LogPart, lines, read};

/// Lines shown beside the one that decides.
const SUPPORTING_SHOWN: usize = 3;

/// What the logs say.
pub(super) fn show(page: &mut Page, incident: &Incident, explain: bool) {
    let log = &incident.log;
    page.heading("Log");
    match (log.abstained(), log.files.is_empty()) {
        (_, true) => page.paragraph("None was given."),
        (Some(why), false) => page.paragraph(&format!("It says nothing: {why}.")),
        (None, false) => {}
    }
    for file in &log.files {
        if let Some(gap) = &file.gap {
            page.paragraph(&format!("{} is not complete: {gap}.", file.label));
        }
    }
    let Some(chosen) = &log.chosen else { return };
    let shown_lines = lines(&chosen.finding, if explain { usize::MAX } else { 16 });
    let cause = read(&log.reading).map(|opinion| opinion.cause);
    let (counter, agreeing): (Vec<_>, Vec<_>) =
        shown_lines.iter().partition(|line| cause.is_some_and(|cause| contradicts(line, cause)));
    let shown = if explain { usize::MAX } else { 1 + SUPPORTING_SHOWN };
    for line in agreeing.iter().take(shown) {
        quoted(page, &chosen.label, line, explain);
    }
    named_databases(page, log);
    elsewhere(page, log, chosen, explain);
    if !counter.is_empty() {
        page.heading("Against it, in the log");
        for line in counter.iter().take(shown) {
            quoted(page, &chosen.label, line, explain);
        }
    }
    if let Some(cause) = cause {
        because(page, chosen, cause, explain);
    }
}

/// Whether a line speaks for another cause than the log's own.
fn contradicts(line: &DecisiveLine, cause: Cause) -> bool {
    line.phrase.is_some_and(|phrase| {
        let about_damage = matches!(phrase.polarity, Polarity::Damage(_));
        phrase.cause != cause && !phrase.also.contains(&cause) && about_damage != cause.is_local_damage()
    })
}

fn quoted(page: &mut Page, label: &str, line: &DecisiveLine, explain: bool) {
    let times = if line.repeats > 1 { format!(" ({} times)", line.repeats) } else { String::new() };
    page.styled(FAINT, "  ", "  ", &format!("{label}:{}{times}", line.line));
    page.quote(&line.text, &line.mark, if explain { usize::MAX } else { 3 });
}

/// Which databases the decisive record is about: named in it, or read by the code of its top frames.
fn named_databases(page: &mut Page, log: &LogPart) {
    let databases = read(&log.reading).map_or(&[][..], |opinion| &opinion.databases);
    if !databases.is_empty() {
        let names: Vec<String> = databases.iter().map(directory).collect();
        page.paragraph(&format!("It is about {} (named there, or read by the code that failed).", names.join(", ")));
    }
}

/// A database as its directory is called.
fn directory(database: &DatabaseName) -> String {
    match database.as_str() {
        name @ ("cs.wal" | "snapshots" | "light") => name.to_owned(),
        name => format!("{name}.db"),
    }
}

/// The decisive line of each other log, so that a person sees where they differ.
fn elsewhere(page: &mut Page, log: &LogPart, chosen: &Chosen, explain: bool) {
    let others = log.files.iter().filter(|file| file.label != chosen.label);
    let shown = if explain { usize::MAX } else { SUPPORTING_SHOWN };
    for file in others.take(shown) {
        match (&file.reading, &file.decisive) {
            (LogReading::Read(_), Some(line)) => quoted(page, &file.label, line, explain),
            _ => {
                if let Some(why) = file.abstained() {
                    page.styled(FAINT, "  ", "  ", &format!("{}: {why}", file.label));
                }
            }
        }
    }
}
