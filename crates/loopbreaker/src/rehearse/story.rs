//! Prints a rehearsal. *No IO but the printing.* `loopbreaker.dev/rehearsal/v1`:
//!
//! ```text
//! a line an event: schema, at, event (crash, log, record, phase, inspector, event), subject, text
//! the last line:   schema, event "summary", begins, ends, incidents: each record's name, replica, phase, cause, decision,
//!                  would_restore, reason, vetoes, missing, advice
//! ```

use std::io::Write;

use anstyle::Style;
use jiff::Timestamp;
use serde_json::{Value, json};

use super::timeline::Timeline;
use crate::{
    report::page::{ALARM, COMMAND, FAINT, Page},
    words::{clean, duration},
};

const SCHEMA: &str = "loopbreaker.dev/rehearsal/v1";
/// Advice and open questions shown to people.
const SHOWN: usize = 3;

/// One object a line.
pub(super) fn json(timeline: &Timeline, out: &mut impl Write) -> anyhow::Result<()> {
    for entry in timeline.entries() {
        let line = json!({
            "schema": SCHEMA, "at": entry.at.to_string(), "event": entry.event, "subject": clean(&entry.subject),
            "text": clean(&entry.text),
        });
        writeln!(out, "{line}")?;
    }
    let (begins, ends) = timeline.span();
    let incidents: Vec<Value> = timeline.records().iter().map(gist).collect();
    let summary = json!({
        "schema": SCHEMA, "event": "summary", "begins": begins.to_string(), "ends": ends.to_string(), "incidents": incidents,
    });
    writeln!(out, "{summary}")?;
    Ok(())
}

fn gist(record: &Value) -> Value {
    let at = |pointer: &str| record.pointer(pointer).cloned().unwrap_or_default();
    let would = condition(record, "WouldRestore") == "True";
    json!({
        "name": at("/metadata/name"), "replica": at("/spec/target/pod"), "phase": at("/status/phase"),
        "cause": at("/status/verdict/cause"), "probability_percent": at("/status/verdict/probabilityPercent"),
        "decision": at("/status/verdict/decision"), "would_restore": would, "reason": at("/status/verdict/reason"),
        "vetoes": at("/status/verdict/vetoes"), "missing": at("/status/verdict/missing"),
        "advice": at("/status/verdict/advice"), "not_got": at("/status/evidence/missing"),
    })
}

fn condition<'r>(record: &'r Value, about: &str) -> &'r str {
    let conditions =
        record.pointer("/status/conditions").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let field = |condition: &'r Value, name: &str| condition.get(name).and_then(Value::as_str).unwrap_or_default();
    conditions.iter().find(|condition| field(condition, "type") == about).map_or("", |found| field(found, "status"))
}

/// For people.
pub(super) fn text(timeline: &Timeline) -> String {
    let mut page = Page::default();
    let (begins, ends) = timeline.span();
    page.heading(&clean(&format!("Rehearsal of {}", timeline.bundle())));
    for watched in timeline.watched() {
        page.paragraph(&clean(&format!("{}.", capital(&watched))));
    }
    let lasted = u64::try_from(ends.duration_since(begins).as_secs()).unwrap_or_default();
    page.paragraph(&format!("Virtual time, {} from {}.", duration(lasted), begins.strftime("%Y-%m-%d %H:%M:%S UTC")));
    page.heading("What happens");
    let entries = timeline.entries();
    for entry in &entries {
        let style = match entry.event {
            "phase" | "record" => Style::new(),
            _ => FAINT,
        };
        let when = since(begins, entry.at);
        let name = entry.subject.rsplit('/').next().unwrap_or_default();
        page.styled(style, &format!("  {when}  "), "           ", &clean(&format!("{name}: {}", entry.text)));
    }
    let records = timeline.records();
    if records.is_empty() {
        page.heading("Nothing to report");
        let why = if entries.iter().any(|entry| entry.event == "crash") {
            "No replica came to the configured number of crashes without progress in this time."
        } else {
            "No replica that the policy watches is sick."
        };
        page.paragraph(why);
    }
    for record in &records {
        told(&mut page, record);
    }
    page.finish()
}

fn told(page: &mut Page, record: &Value) {
    let field = |pointer: &str| record.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    page.heading(&clean(&format!("{}, {}", field("/spec/target/pod"), field("/status/phase"))));
    page.styled(ALARM, "  ", "  ", &clean(&capital(field("/status/summary"))));
    for (title, pointer) in [
        ("Log", "/status/evidence/log/says"),
        ("Disk", "/status/evidence/disk/says"),
        ("Siblings", "/status/evidence/peers/says"),
    ] {
        if !field(pointer).is_empty() {
            page.paragraph(&clean(&format!("{title}: {}.", field(pointer).trim_end_matches('.'))));
        }
    }
    let list = |pointer: &str| record.pointer(pointer).and_then(Value::as_array).cloned().unwrap_or_default();
    let vetoes = list("/status/verdict/vetoes");
    if !vetoes.is_empty() {
        page.heading("What forbids a restore");
    }
    for veto in &vetoes {
        page.styled(Style::new(), "  - ", "    ", &clean(text_of(veto, "text")));
    }
    let not_got = list("/status/evidence/missing");
    if !not_got.is_empty() {
        page.heading("What could not be had");
    }
    for why in &not_got {
        page.styled(Style::new(), "  - ", "    ", &clean(why.as_str().unwrap_or_default()));
    }
    let advice = list("/status/verdict/advice");
    if !advice.is_empty() {
        page.heading("What to do next");
    }
    for step in advice.iter().take(SHOWN) {
        page.styled(Style::new(), "  - ", "    ", &clean(text_of(step, "text")));
        if let Some(command) = step.get("command").and_then(Value::as_str) {
            for line in crate::command_line::broken(command, crate::words::COLUMNS, "    ") {
                page.as_it_stands(COMMAND, &line);
            }
        }
    }
}

fn text_of<'o>(object: &'o Value, name: &str) -> &'o str {
    object.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// Minutes and seconds since the begin.
fn since(begins: Timestamp, at: Timestamp) -> String {
    let seconds = at.duration_since(begins).as_secs().max(0);
    format!("{:>2}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
