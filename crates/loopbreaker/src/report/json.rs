//! The JSON of `diagnose`. *No client.*
//!
//! One object a report, on one line; a single report is laid out over several lines on a terminal. `loopbreaker.dev/diagnosis/v1`:
//!
//! ```text
//! schema     the name of this format
//! subject    whose report this is; null in each field that was not given
//! crashloop  null where no pod object was given; `detected` false where it does not crash-loop or says too little (`unclear`)
//! verdict    cause, probability (0 … 1), decision; witnesses: log, disk, peers; vetoes: `word: sentence`;
//!            missing: questions with the place and, where one shows it, the command that answers them
//! log        `witness` only where the log alone counts as one of the two witnesses; `decisive` lines, the one that decides
//!            first; `abstained` why the log says nothing; `reasons` with their exact share of the score in nats
//! disk       null: no data directory was given; else the report of `inspect` (`loopbreaker.dev/inspection/v1`), or where nobody
//!            could look its outcome and an `error`; `directory` is where it was read
//! peers      null: no samples were given
//! advice     what to do next, in this order; `command` is null where no single command does it
//! bundle     parts that were not given, and what was passed over
//! ```
//!
//! Fields may be added; none is renamed or dropped within v1. Control characters, and those that turn or hide text, are replaced in text
//! out of logs and everywhere else stand as `\u` escapes.

mod crash_loop;
mod log;
mod parts;

use std::io::Write;

use serde::Serialize;

use crash_loop::CrashLoopJson;
use log::LogJson;
use parts::{BundleJson, PeersJson, SubjectJson, VerdictJson};

use super::inspection_json::InspectionJson;
use crate::{
    disk_part::DiskPart,
    incident::{Incident, Step},
    words::escaped_json,
};

#[derive(Serialize)]
struct Report<'a> {
    schema: &'static str,
    subject: SubjectJson,
    crashloop: Option<CrashLoopJson>,
    verdict: VerdictJson<'a>,
    log: LogJson<'a>,
    disk: Option<DiskJson>,
    peers: Option<PeersJson>,
    advice: Vec<AdviceJson<'a>>,
    bundle: BundleJson<'a>,
}

#[derive(Serialize)]
struct AdviceJson<'a> {
    text: &'a str,
    command: Option<&'a str>,
}

#[derive(Serialize)]
struct DiskJson {
    directory: String,
    #[serde(flatten)]
    looked: LookedJson,
}

#[derive(Serialize)]
#[serde(untagged)]
enum LookedJson {
    Inspected(Box<InspectionJson>),
    CouldNotLook { schema: &'static str, outcome: &'static str, error: String },
}

impl DiskJson {
    fn of(disk: &DiskPart) -> Self {
        let looked = match &disk.looked {
            Ok(inspection) => LookedJson::Inspected(Box::new(InspectionJson::of(inspection, disk.depth))),
            Err(why) => LookedJson::CouldNotLook {
                schema: "loopbreaker.dev/inspection/v1",
                outcome: chainstore::Outcome::CouldNotTell.name(),
                error: why.clone(),
            },
        };
        Self { directory: disk.label.clone(), looked }
    }
}

/// Prints one report and a line break.
pub(crate) fn write(incident: &Incident, pretty: bool, out: &mut dyn Write) -> anyhow::Result<()> {
    let report = Report {
        schema: "loopbreaker.dev/diagnosis/v1",
        subject: SubjectJson::of(incident),
        crashloop: CrashLoopJson::of(incident),
        verdict: VerdictJson::of(incident),
        log: LogJson::of(incident),
        disk: incident.disk.as_ref().map(DiskJson::of),
        peers: PeersJson::of(&incident.evidence.siblings),
        advice: incident.advice.iter().map(advice).collect(),
        bundle: BundleJson::of(incident),
    };
    let json = if pretty { serde_json::to_string_pretty(&report)? } else { serde_json::to_string(&report)? };
    out.write_all(escaped_json(&json).as_bytes())?;
    Ok(out.write_all(b"\n")?)
}

fn advice(step: &Step) -> AdviceJson<'_> {
    AdviceJson { text: &step.text, command: step.command.as_deref() }
}
