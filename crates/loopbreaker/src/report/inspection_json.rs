//! The JSON of `inspect`, and `disk` in that of `diagnose`. *No client.* `loopbreaker.dev/inspection/v1`:
//!
//! ```text
//! schema      the name of this format
//! outcome     intact, damaged, inconsistent or could_not_tell; of everything together
//! depth       quick, default or deep: the most that was looked at
//! databases   name (without `.db`), path below the inspected directory, engine (null where there is none or several), outcome,
//!             tables, bytes; findings: what is wrong; notes: what is harmless; untold: why something could not be told;
//!             next_open: what the engine would do at its next open, null where it would simply open (or nobody could tell)
//! findings    the same for what belongs to none of these databases; with notes and untold
//! heights     null in each field that was not read
//! start       whether the node starts from these heights (null: could not be told), in words
//! chain_id    null where it was not read
//! ring        what `guard` kept of earlier starts, null where it kept nothing: starts (own: whether the start counts here),
//!             erased: findings that count although their traces are gone, foreign: findings of other pods, unreadable
//! trees       walk (off, sample, latest) and each store: version (of the commit), newest (on disk), root_fits (null: could not be
//!             told), leaves, walked_leaves, walked_nodes; null where the application was not read
//! cometbft    the version that wrote the state; genesis_chain_id: the chain by config/genesis.json
//! signing     priv_validator_state.json: state (missing, unreadable, signed), height, round, step
//! upgrade     upgrade-info.json: name, height, is_due (the next block is its height)
//! consensus_wal  cs.wal: files, records, end_height, repaired_before
//! wasm        codes that are stored (null: could not be told) and files of code; null where there are neither
//! snapshots   height, format and chunks of each state-sync snapshot
//! space       free_bytes, total_bytes, free_inodes (null: not counted), read_only, of the inspected directory's volume
//! bytes_read  of files, second reads included
//! seconds     how long it took
//! ```
//!
//! A finding: kind, severity, database, file, offset, expected, computed, attribution (null where nothing fits), detail,
//! evidence (`disk`, or `guard` where only the ring shows it any more). Fields
//! may be added; none is renamed or dropped within v1. Foreign text has its control characters replaced.

mod companions;

use chainstore::{
    Attribution, Checks, DatabaseReport, Depth, Finding, Inspection, Level, NodeReport, Prediction, Severity,
    ring::{RingReport, RingStart},
};
use serde::Serialize;

use crate::words::clean;
use companions::CompanionsJson;

#[derive(Serialize)]
pub(crate) struct InspectionJson {
    schema: &'static str,
    outcome: &'static str,
    depth: &'static str,
    databases: Vec<DatabaseJson>,
    findings: Vec<FindingJson>,
    notes: Vec<FindingJson>,
    untold: Vec<String>,
    heights: HeightsJson,
    start: Option<StartJson>,
    chain_id: Option<String>,
    ring: Option<RingJson>,
    #[serde(flatten)]
    companions: CompanionsJson,
    bytes_read: u64,
    seconds: f64,
}

#[derive(Serialize)]
struct RingJson {
    starts: Vec<RingStartJson>,
    erased: u64,
    foreign: u64,
    unreadable: Vec<String>,
}

#[derive(Serialize)]
struct RingStartJson {
    sequence: u64,
    started_at: String,
    pod_uid: Option<String>,
    own: bool,
    outcome: Option<String>,
}

#[derive(Serialize)]
struct DatabaseJson {
    name: String,
    path: String,
    engine: Option<&'static str>,
    outcome: &'static str,
    tables: u64,
    bytes: u64,
    findings: Vec<FindingJson>,
    notes: Vec<FindingJson>,
    untold: Vec<String>,
    next_open: Option<NextOpenJson>,
}

#[derive(Serialize)]
struct FindingJson {
    kind: &'static str,
    severity: &'static str,
    database: String,
    file: String,
    offset: Option<u64>,
    expected: Option<String>,
    computed: Option<String>,
    attribution: Option<String>,
    detail: String,
    evidence: &'static str,
}

#[derive(Serialize)]
struct NextOpenJson {
    opens: bool,
    error: Option<String>,
    dropped_bytes: u64,
    lost_keys: Option<u64>,
    kept_keys: Option<u64>,
    deleted_tables: Vec<String>,
    summary: String,
}

#[derive(Serialize, Default)]
struct HeightsJson {
    application: Option<u64>,
    state: Option<u64>,
    blockstore: Option<u64>,
    blockstore_base: Option<u64>,
}

#[derive(Serialize)]
struct StartJson {
    starts: Option<bool>,
    detail: String,
}

impl InspectionJson {
    pub(crate) fn of(inspection: &Inspection, depth: Depth) -> Self {
        let node = inspection.node.as_ref();
        let (findings, notes) = findings(&inspection.checks);
        Self {
            schema: "loopbreaker.dev/inspection/v1",
            outcome: inspection.outcome.name(),
            depth: match depth {
                Depth::Quick => "quick",
                Depth::Default => "default",
                Depth::Deep => "deep",
            },
            databases: inspection.databases.iter().map(database).collect(),
            findings,
            notes,
            untold: untold(&inspection.checks),
            heights: node.map(heights).unwrap_or_default(),
            start: node
                .and_then(|node| node.start.as_ref())
                .map(|start| StartJson { starts: start.starts(), detail: clean(&start.to_string()) }),
            chain_id: node.and_then(|node| node.chain_id.as_deref()).map(clean),
            ring: inspection.ring.as_ref().map(ring),
            companions: node.map(CompanionsJson::of).unwrap_or_default(),
            bytes_read: inspection.bytes_read,
            seconds: inspection.took.as_secs_f64(),
        }
    }
}

fn database(report: &DatabaseReport) -> DatabaseJson {
    let (findings, notes) = findings(&report.checks);
    DatabaseJson {
        name: clean(report.name.as_str()),
        path: clean(&report.path.to_string_lossy()),
        engine: report.engine.map(chainstore::Engine::name),
        outcome: report.outcome.name(),
        tables: report.tables,
        bytes: report.bytes,
        findings,
        notes,
        untold: untold(&report.checks),
        next_open: report.prediction.as_ref().map(next_open),
    }
}

/// What is wrong, and what is harmless.
fn findings(checks: &Checks) -> (Vec<FindingJson>, Vec<FindingJson>) {
    let (wrong, notes): (Vec<&Finding>, Vec<&Finding>) =
        checks.findings.iter().partition(|finding| finding.severity() > Severity::Note);
    (wrong.into_iter().map(finding).collect(), notes.into_iter().map(finding).collect())
}

fn untold(checks: &Checks) -> Vec<String> {
    checks.untold.iter().map(|reason| clean(&reason.to_string())).collect()
}

fn finding(finding: &Finding) -> FindingJson {
    FindingJson {
        kind: finding.kind.name(),
        severity: severity(finding.severity()),
        database: clean(finding.database.as_str()),
        file: clean(&finding.file.to_string_lossy()),
        offset: finding.offset,
        expected: finding.expected.as_deref().map(clean),
        computed: finding.computed.as_deref().map(clean),
        attribution: (finding.attribution != Attribution::Unknown).then(|| clean(&finding.attribution.to_string())),
        detail: clean(&finding.detail),
        evidence: finding.evidence.name(),
    }
}

pub(crate) fn severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Note => "note",
        Severity::CouldNotTell => "could_not_tell",
        Severity::Misconfiguration => "misconfiguration",
        Severity::HostSick => "host_sick",
        Severity::Inconsistency => "inconsistency",
        Severity::Damage => "damage",
    }
}

fn next_open(prediction: &Prediction) -> NextOpenJson {
    NextOpenJson {
        opens: prediction.open.is_ok(),
        error: prediction.open.as_ref().err().map(|words| clean(words)),
        dropped_bytes: prediction.dropped_bytes,
        lost_keys: prediction.lost_keys,
        kept_keys: prediction.kept_keys,
        deleted_tables: prediction.deleted_tables.iter().map(|name| clean(name)).collect(),
        summary: clean(&prediction.summary),
    }
}

fn ring(report: &RingReport) -> RingJson {
    let start = |start: &RingStart| RingStartJson {
        sequence: start.sequence,
        started_at: clean(&start.started_at),
        pod_uid: start.pod_uid.as_deref().map(clean),
        own: start.is_own,
        outcome: start.outcome.as_deref().map(clean),
    };
    RingJson {
        starts: report.starts.iter().map(start).collect(),
        erased: report.erased,
        foreign: report.foreign,
        unreadable: report.unreadable.iter().map(|why| clean(why)).collect(),
    }
}

fn heights(node: &NodeReport) -> HeightsJson {
    let heights = node.heights;
    HeightsJson {
        application: heights.application.height(),
        state: heights.state.height(),
        blockstore: heights.blockstore.height(),
        blockstore_base: Level::height(heights.blockstore_base),
    }
}
