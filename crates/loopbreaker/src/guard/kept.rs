//! What an entry of the ring says of one start. *No client.*

use std::path::Path;

use chainstore::{
    DataDir, Finding, Inspection, Severity, SigningState, UpgradeInfo, parse_signing_state,
    ring::{
        self, Checked, DatabaseFacts, Looked, Mark, RING_SCHEMA, Ring, RingDatabase, RingEntry, RingFinding,
        RingHeights, RingSigning, RingUpgrade,
    },
};
use jiff::Timestamp;

use crate::cli::VERSION;

/// Findings kept of one database: more of them say nothing more.
const FINDINGS_MAX: usize = 64;
/// Characters of a sentence.
const DETAIL_MAX: usize = 1000;
/// A signing state and an upgrade have some hundred bytes.
const SMALL_BYTES_MAX: u64 = 64 * 1024;

/// An entry before anything was checked.
pub(super) fn begin(sequence: u64, mark: Mark, facts: Vec<DatabaseFacts>, home: &DataDir) -> RingEntry {
    let now = Timestamp::now();
    let databases = facts.into_iter().map(|facts| RingDatabase { facts, outcome: None, findings: Vec::new() });
    RingEntry {
        schema: RING_SCHEMA.to_owned(),
        sequence,
        started_at: format!("{now:.0}"),
        started_at_seconds: now.as_second(),
        program: VERSION.to_owned(),
        mark,
        place: None,
        checked: Checked::Nothing,
        outcome: None,
        databases: databases.collect(),
        had: Vec::new(),
        heights: RingHeights::default(),
        chain_id: None,
        signing: signing(home),
        upgrade: upgrade(home),
        files: Vec::new(),
        left_out: Vec::new(),
        earlier: Vec::new(),
    }
}

/// Adds what the checks found. `checked` is how far they came.
pub(super) fn fill(entry: &mut RingEntry, inspection: &Inspection, checked: Checked) {
    entry.checked = checked;
    entry.outcome = Some(inspection.outcome.name().to_owned());
    for database in &mut entry.databases {
        let report = inspection.databases.iter().find(|report| report.path == Path::new(&database.facts.path));
        let Some(report) = report else { continue };
        database.outcome = Some(report.outcome.name().to_owned());
        let mut found: Vec<&Finding> = report.checks.findings.iter().filter(|it| is_wrong(it)).collect();
        found.sort_by_key(|finding| std::cmp::Reverse(finding.severity()));
        let kept =
            found.into_iter().take(FINDINGS_MAX).map(|finding| shortened(RingFinding::of(finding, &finding.file)));
        // A check that came further has seen what one before it saw; one that was stopped earlier has not.
        let before = std::mem::take(&mut database.findings);
        database.findings = kept.collect();
        for finding in before {
            if database.findings.len() < FINDINGS_MAX && !database.findings.contains(&finding) {
                database.findings.push(finding);
            }
        }
    }
    if let Some(node) = &inspection.node {
        entry.heights = RingHeights {
            application: node.heights.application.height(),
            state: node.heights.state.height(),
            blockstore: node.heights.blockstore.height(),
        };
        entry.chain_id.clone_from(&node.chain_id);
    }
}

/// Whether a finding is worth a line: not a note, and not what nobody could tell.
pub(super) fn is_wrong(finding: &Finding) -> bool {
    finding.severity() > Severity::CouldNotTell
}

/// The databases that this node had, by now: those of its last entry and those that are here.
pub(super) fn remember(entry: &mut RingEntry, before: Option<&RingEntry>) {
    let mut had: Vec<String> = before.map(|before| before.had.clone()).unwrap_or_default();
    for database in entry.databases.iter().filter(|database| database.facts.engine.is_some()) {
        had.push(database.facts.path.clone());
    }
    had.sort();
    had.dedup();
    entry.had = had;
}

/// What the entry carries on of the newest one in the ring, as far as `looked` and `findings` tell what became of it.
pub(super) fn carry_on(entry: &mut RingEntry, ring: &Ring, root: &DataDir, findings: &[Finding], looked: Looked) {
    let Some((newest, slot)) = ring.newest() else { return };
    let facts: Vec<_> = entry.databases.iter().map(|database| database.facts.clone()).collect();
    entry.earlier = ring::carry(newest, slot.stayed, root, Path::new(""), &facts, findings, looked);
}

/// Height, round and step of the last signature; nothing else of that file.
fn signing(home: &DataDir) -> Option<RingSigning> {
    let file = home.directory("data").and_then(|data| data.file("priv_validator_state.json")).ok()?;
    match parse_signing_state(&file.read_all(SMALL_BYTES_MAX).ok()?)? {
        SigningState::Signed { height, round, step } => Some(RingSigning { height, round, step }),
        SigningState::Missing | SigningState::Unreadable => None,
    }
}

/// The upgrade that was reached last, if there was one.
fn upgrade(home: &DataDir) -> Option<RingUpgrade> {
    let file = home.directory("data").and_then(|data| data.file("upgrade-info.json")).ok()?;
    let info: UpgradeInfo = serde_json::from_slice(&file.read_all(SMALL_BYTES_MAX).ok()?).ok()?;
    Some(RingUpgrade { name: info.name, height: info.height })
}

fn shortened(mut finding: RingFinding) -> RingFinding {
    let cut = |text: &mut String| {
        if let Some((at, _)) = text.char_indices().nth(DETAIL_MAX) {
            text.truncate(at);
        }
    };
    cut(&mut finding.detail);
    for text in [&mut finding.expected, &mut finding.computed, &mut finding.attribution].into_iter().flatten() {
        cut(text);
    }
    finding
}
