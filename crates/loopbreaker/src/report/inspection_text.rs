//! What an inspection found, for people: the verdict, each database, why, what to do. *No client.* Fits 80 columns.

mod next;
mod node;
mod starts;

use std::collections::BTreeMap;

use anstyle::Style;
use chainstore::{Attribution, Checks, DatabaseReport, Depth, Finding, FindingKind, Inspection, Outcome, Severity};

use super::page::{ALARM, FAINT, Page};
use crate::words::{bytes, clean, counted};

/// Findings shown of all databases together; JSON lists every one.
const FINDINGS_SHOWN: usize = 12;

/// Reasons of "could not tell" that are shown.
const REASONS_SHOWN: usize = 6;

/// The whole page.
pub(crate) fn render(label: &str, depth: Depth, inspection: &Inspection) -> String {
    let mut page = Page::default();
    page.heading(label);
    page.styled(verdict_style(inspection), "  ", "  ", &verdict(inspection));
    show(&mut page, inspection);
    page.heading("What to do next");
    for (number, step) in next::steps(label, depth, inspection).iter().enumerate() {
        page.styled(Style::new(), &format!("  {}. ", number + 1), "     ", &step.text);
        if let Some(command) = &step.command {
            super::text::command(&mut page, command);
        }
    }
    page.styled(FAINT, "  ", "  ", &effort(depth, inspection));
    page.finish()
}

/// The sections between the verdict and what to do; `diagnose` shows them below a heading of its own.
pub(super) fn show(page: &mut Page, inspection: &Inspection) {
    databases(page, &inspection.databases);
    findings(page, inspection);
    predictions(page, &inspection.databases);
    if let Some(node) = &inspection.node {
        node::heights(page, node);
        node::companions(page, node);
    }
    untold(page, inspection);
    notes(page, inspection);
    if let Some(ring) = &inspection.ring {
        starts::show(page, ring);
    }
}

fn verdict_style(inspection: &Inspection) -> Style {
    if inspection.outcome == Outcome::Intact { Style::new().bold() } else { ALARM }
}

/// What it adds up to, in one or two sentences.
pub(super) fn verdict(inspection: &Inspection) -> String {
    if is_empty(inspection) {
        return "No database there.".to_owned();
    }
    let heaviest = all_findings(inspection).into_iter().max_by_key(|finding| finding.severity());
    match inspection.outcome {
        Outcome::Intact => "Intact.".to_owned(),
        Outcome::Damaged => format!("Damaged: {}.", where_and_how(inspection, Severity::Damage)),
        Outcome::Inconsistent => format!("Inconsistent: {}.", where_and_how(inspection, Severity::Inconsistency)),
        Outcome::CouldNotTell => match heaviest.map(|finding| (finding.severity(), finding)) {
            Some((Severity::HostSick, _)) => {
                "Could not tell: the same bytes read differently twice. The machine's memory or disk is sick."
                    .to_owned()
            }
            Some((Severity::Misconfiguration, finding)) => format!("Could not tell: {}.", finding.detail),
            _ if has_lost_databases(inspection) => {
                "Could not tell: the databases that a node starts from are not there.".to_owned()
            }
            _ => "Could not tell.".to_owned(),
        },
    }
}

/// Which databases, and the first finding of that weight.
fn where_and_how(inspection: &Inspection, severity: Severity) -> String {
    let of_weight: Vec<&Finding> =
        all_findings(inspection).into_iter().filter(|finding| finding.severity() == severity).collect();
    let mut names: Vec<&str> = of_weight.iter().map(|finding| finding.database.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    let Some(first) = of_weight.first() else { return names.join(", ") };
    let likely = match &first.attribution {
        Attribution::Unknown => String::new(),
        known => format!(", likely by: {known}"),
    };
    let place = match (severity, first.offset) {
        (Severity::Damage, Some(offset)) => format!("{} at {offset}", first.file.display()),
        (Severity::Damage, None) => first.file.display().to_string(),
        _ => return format!("{}: {}", names.join(", "), first.detail),
    };
    format!("{}, {}: {place}{likely}", names.join(", "), first.kind.name().replace('_', " "))
}

/// Whether the databases that a node starts from are gone from among others.
fn has_lost_databases(inspection: &Inspection) -> bool {
    let is_lost = |finding: &Finding| finding.kind == FindingKind::NoDatabase && !finding.database.as_str().is_empty();
    inspection.checks.findings.iter().any(is_lost)
}

/// Whether there is nothing at all to look at.
pub(super) fn is_empty(inspection: &Inspection) -> bool {
    let all = all_findings(inspection);
    inspection.outcome == Outcome::CouldNotTell
        && all.iter().any(|finding| finding.kind == FindingKind::NoDatabase)
        && inspection.databases.iter().all(|database| database.engine.is_none())
        && all.iter().all(|finding| finding.severity() <= Severity::CouldNotTell)
        && all_checks(inspection).all(|checks| checks.untold.is_empty())
}

fn all_checks(inspection: &Inspection) -> impl Iterator<Item = &Checks> {
    inspection.databases.iter().map(|database| &database.checks).chain([&inspection.checks])
}

/// All findings, the databases that a node reads at its start first.
pub(super) fn all_findings(inspection: &Inspection) -> Vec<&Finding> {
    let mut all: Vec<&Finding> = all_checks(inspection).flat_map(|checks| &checks.findings).collect();
    all.sort_by_key(|finding| finding.database.start_role() != diagnosis::StartRole::ReadAtStart);
    all
}

fn databases(page: &mut Page, databases: &[DatabaseReport]) {
    if databases.is_empty() {
        return;
    }
    page.heading("Databases");
    for database in databases {
        let name = short(&clean(database.name.as_str()));
        let engine = database.engine.map_or("–", chainstore::Engine::name);
        let tables = counted(database.tables, "table");
        let size = bytes(database.bytes);
        let outcome = outcome_words(database.outcome);
        let style = if database.outcome == Outcome::Intact { Style::new() } else { ALARM };
        page.as_it_stands(style, &format!("  {name:16} {engine:10} {tables:>14} {size:>11}  {outcome}"));
    }
}

/// A name that does not break the columns.
fn short(name: &str) -> String {
    const WIDTH: usize = 16;
    let end = crate::words::end_of(name, WIDTH);
    if end == name.len() {
        return name.to_owned();
    }
    let end = crate::words::end_of(name, WIDTH - 1);
    format!("{}…", name.get(..end).unwrap_or_default())
}

fn outcome_words(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Intact => "intact",
        Outcome::Damaged => "damaged",
        Outcome::Inconsistent => "inconsistent",
        Outcome::CouldNotTell => "could not tell",
    }
}

fn findings(page: &mut Page, inspection: &Inspection) {
    let wrong: Vec<&Finding> = all_findings(inspection)
        .into_iter()
        .filter(|finding| finding.severity() > Severity::CouldNotTell || finding.kind == FindingKind::NoDatabase)
        .collect();
    if wrong.is_empty() || is_empty(inspection) {
        return;
    }
    page.heading("What was found");
    for finding in wrong.iter().take(FINDINGS_SHOWN) {
        self::finding(page, finding);
    }
    more(page, wrong.len(), FINDINGS_SHOWN, "finding");
}

fn finding(page: &mut Page, finding: &Finding) {
    let file = if finding.file.as_os_str().is_empty() {
        finding.database.as_str().to_owned()
    } else {
        finding.file.to_string_lossy().into_owned()
    };
    let place = finding.offset.map_or_else(|| file.clone(), |offset| format!("{file} at {offset}"));
    page.styled(Style::new(), "  - ", "    ", &format!("{place}: {}", finding.detail));
    if let (Some(expected), Some(computed)) = (&finding.expected, &finding.computed) {
        page.styled(FAINT, "    ", "    ", &format!("expected {expected}, computed {computed}"));
    }
    if finding.attribution != Attribution::Unknown {
        page.styled(FAINT, "    ", "    ", &format!("likely by: {}", finding.attribution));
    }
}

fn more(page: &mut Page, all: usize, shown: usize, noun: &str) {
    let more = u64::try_from(all.saturating_sub(shown)).unwrap_or(u64::MAX);
    if more > 0 {
        let noun = if more == 1 { noun.to_owned() } else { format!("{noun}s") };
        page.styled(FAINT, "  ", "  ", &format!("{more} more {noun}: --output json lists all."));
    }
}

fn predictions(page: &mut Page, databases: &[DatabaseReport]) {
    let told: Vec<(&DatabaseReport, &chainstore::Prediction)> =
        databases.iter().filter_map(|database| Some((database, database.prediction.as_ref()?))).collect();
    if told.is_empty() {
        return;
    }
    page.heading("At the next start");
    for (database, prediction) in told {
        page.styled(Style::new(), "  - ", "    ", &format!("{}: {}.", database.name.as_str(), prediction.summary));
    }
}

fn untold(page: &mut Page, inspection: &Inspection) {
    let mut reasons: Vec<String> = inspection
        .databases
        .iter()
        .flat_map(|database| {
            database.checks.untold.iter().map(|reason| format!("{}: {reason}", database.name.as_str()))
        })
        .chain(inspection.checks.untold.iter().map(ToString::to_string))
        .collect();
    reasons.dedup();
    if reasons.is_empty() {
        return;
    }
    page.heading("What could not be told");
    for reason in reasons.iter().take(REASONS_SHOWN) {
        page.styled(Style::new(), "  - ", "    ", reason);
    }
    more(page, reasons.len(), REASONS_SHOWN, "reason");
}

/// Harmless things, folded into their kinds.
fn notes(page: &mut Page, inspection: &Inspection) {
    let mut kinds: BTreeMap<&str, u64> = BTreeMap::new();
    for finding in all_findings(inspection).into_iter().filter(|finding| finding.severity() == Severity::Note) {
        let count = kinds.entry(note_words(finding.kind)).or_default();
        *count = count.saturating_add(1);
    }
    if kinds.is_empty() {
        return;
    }
    let words: Vec<String> = kinds.iter().map(|(words, count)| format!("{words} ({count})")).collect();
    page.heading("Harmless");
    page.paragraph(&format!("{}. --output json lists them.", words.join(", ")));
}

fn note_words(kind: FindingKind) -> &'static str {
    match kind {
        FindingKind::SelfHealing => "states that the engine repairs by itself",
        FindingKind::Unreferenced => "files that no MANIFEST names",
        _ => "remarks",
    }
}

fn effort(depth: Depth, inspection: &Inspection) -> String {
    let partly = all_checks(inspection).any(|checks| !checks.untold.is_empty());
    // Where no engine's rules apply, or the list of tables is broken, nobody knows which checksums there are.
    let unlisted = all_findings(inspection).iter().any(|finding| {
        matches!(
            finding.kind,
            FindingKind::NoDatabase
                | FindingKind::TwoEngines
                | FindingKind::WrongSetup
                | FindingKind::ManifestCorrupt
                | FindingKind::ManifestMissing
                | FindingKind::ManifestIncomplete
                | FindingKind::VersionEditMalformed
                | FindingKind::EntryPointCorrupt
                | FindingKind::EntryPointMissing
        )
    });
    let looked = match depth {
        _ if is_empty(inspection) => "There was nothing to check",
        _ if partly || unlisted => "Not everything could be read",
        Depth::Quick => "A quick look: entry points, manifests, sizes, footers, heights",
        Depth::Default => "Every checksum was computed",
        Depth::Deep => "Every checksum and the order of every key was looked at",
    };
    let seconds = inspection.took.as_secs();
    let time = if seconds == 0 { "under a second".to_owned() } else { crate::words::duration(seconds) };
    format!("{looked}; {} read in {time}. Nothing was written.", bytes(inspection.bytes_read))
}
