//! The report for people, in this order: the verdict, then why, then what to do next. *No client.* Fits 80 columns.

mod crash_loop;
mod log;
mod reasons;
mod why;

use diagnosis::{AppHashQuestion, CrashLoopReading, Siblings};

use super::inspection_text;
use super::page::{ALARM, COMMAND, FAINT, Page};
use crate::{
    command_line::broken,
    incident::{Incident, Step},
    words::COLUMNS,
};

/// Open questions shown without `--explain`.
const QUESTIONS_SHOWN: usize = 3;

/// The whole page.
pub(crate) fn render(incident: &Incident, explain: bool) -> String {
    let mut page = Page::default();
    page.heading(&title(incident));
    page.styled(ALARM, "  ", "  ", &why::sentence(incident));
    if incident.is_well() {
        crash_loop::show(&mut page, incident);
        unread(&mut page, incident, explain);
    } else {
        for reason in why::decision(incident) {
            page.paragraph(&reason);
        }
        crash_loop::show(&mut page, incident);
        crash_loop::by_kubernetes(&mut page, incident);
        log::show(&mut page, incident, explain);
        disk(&mut page, incident);
        siblings(&mut page, incident);
        vetoes(&mut page, incident);
        missing(&mut page, incident, explain);
    }
    if !incident.advice.is_empty() {
        page.heading("What to do next");
    }
    for (number, step) in incident.advice.iter().enumerate() {
        numbered(&mut page, number + 1, step);
    }
    page.finish()
}

fn title(incident: &Incident) -> String {
    let name = incident.instance.as_ref().map_or_else(
        || {
            let labels: Vec<&str> = incident.log.files.iter().map(|file| file.label.as_str()).collect();
            match (&incident.disk, labels.is_empty()) {
                (Some(disk), true) => format!("Data of a node: {}", disk.label),
                _ => format!("Log of a node: {}", labels.join(", ")),
            }
        },
        ToString::to_string,
    );
    let looping = matches!(incident.evidence.crash_loop, CrashLoopReading::Looping(_));
    let title = if looping { format!("{name} crash-loops") } else { name };
    let clean = crate::words::clean(&title);
    clean.get(..crate::words::end_of(&clean, COLUMNS)).unwrap_or_default().to_owned()
}

fn vetoes(page: &mut Page, incident: &Incident) {
    let vetoes = why::vetoes_of_concern(incident);
    if !vetoes.is_empty() {
        page.heading("What forbids a restore");
    }
    for veto in vetoes {
        page.styled(anstyle::Style::new(), "  - ", "    ", &veto.to_string());
    }
}

fn missing(page: &mut Page, incident: &Incident, explain: bool) {
    let origin = &incident.origin;
    let shown = if explain { incident.missing.len() } else { QUESTIONS_SHOWN };
    page.heading("What is not known");
    for step in incident.missing.iter().take(shown) {
        page.styled(anstyle::Style::new(), "  - ", "    ", &step.text);
        match &step.command {
            Some(command) => self::command(page, command),
            None => page.styled(FAINT, "    ", "    ", &format!("see {}", step.place.unwrap_or_default())),
        }
    }
    let more = incident.missing.len().saturating_sub(shown);
    if more > 0 {
        let questions = if more == 1 { "question" } else { "questions" };
        page.styled(FAINT, "  ", "  ", &format!("{more} more open {questions}: --explain shows them."));
    }
    if !origin.absent.is_empty() {
        let parts: Vec<&str> = origin.absent.iter().map(|part| part.as_str()).collect();
        page.paragraph(&format!("Not given: {}.", parts.join(", ")));
    }
    unread(page, incident, explain);
}

/// Logs of the bundle that were not read, the first few.
fn unread(page: &mut Page, incident: &Incident, explain: bool) {
    const SHOWN: usize = 5;
    let unread = &incident.origin.unread;
    let shown = if explain { unread.len() } else { SHOWN.min(unread.len()) };
    for text in unread.iter().take(shown) {
        page.paragraph(&format!("{text}."));
    }
    if unread.len() > shown {
        page.paragraph(&format!("… and {} more logs that were not read.", unread.len() - shown));
    }
}

fn numbered(page: &mut Page, number: usize, step: &Step) {
    page.styled(anstyle::Style::new(), &format!("  {number}. "), "     ", &step.text);
    if let Some(command) = &step.command {
        self::command(page, command);
    }
}

/// A command stands apart, so that it can be marked and pasted whole.
pub(super) fn command(page: &mut Page, command: &str) {
    for line in broken(command, COLUMNS, "       ") {
        page.as_it_stands(COMMAND, &line);
    }
}

/// What the data directory says.
fn disk(page: &mut Page, incident: &Incident) {
    let Some(disk) = &incident.disk else { return };
    page.heading(&format!("Disk: {}", disk.label));
    match &disk.looked {
        Ok(inspection) => {
            page.paragraph(&inspection_text::verdict(inspection));
            inspection_text::show(page, inspection);
        }
        Err(why) => page.paragraph(&format!("Could not look: {why}.")),
    }
}

/// What the other replicas do.
fn siblings(page: &mut Page, incident: &Incident) {
    let said = match &incident.evidence.siblings {
        Siblings::Unknown => return,
        Siblings::Halted { height } => format!("None that answered advances; they stand at block {height}."),
        Siblings::Advancing { count, height, app_hash } => {
            let image = match app_hash {
                AppHashQuestion::SameImagePasses => "; the identical image passes this replica's height",
                AppHashQuestion::SameImageDoesNot => "; but not with this replica's image",
                AppHashQuestion::Unknown => "",
            };
            let does = match (*count == 1, incident.height_known) {
                (true, true) => "One is ahead and advances",
                (false, true) => "Several are ahead and advance",
                (true, false) => "One advances",
                (false, false) => "Several advance",
            };
            format!("{does} ({count}), up to block {height}{image}.")
        }
    };
    page.heading("Siblings");
    page.paragraph(&said);
}
