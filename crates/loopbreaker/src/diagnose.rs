//! `loopbreaker diagnose`. *No client.* Reads files, judges, prints.

use std::{
    io::{IsTerminal, Write},
    num::NonZeroU64,
    path::{Path, PathBuf},
    sync::Arc,
};

use anyhow::Context;
use chainstore::Depth;
use clap::{ArgGroup, Args, ValueEnum};

use crate::{
    bundle::{Bundle, BundleError, Note, Passed},
    colour::Colour,
    disk_part::DiskReader,
    examine::LogSource,
    exit::{STDOUT_FAILED, Status, WrongUsage, printed},
    incident::{self, ByHand, Incident},
    inspect::{CannotLook, Stopped, rate},
    progress::{Progress, Stop},
    replica_logs::log_bytes,
    report,
    words::clean,
};

/// Tell why a node crash-loops, how sure that is, and what to run next
///
/// BUNDLE is a directory with any mix of these parts; whatever is missing is
/// named in the report:
///
///   objects/*.yaml                      objects, as kubectl prints them
///   logs/POD/CONTAINER[.previous].log   logs, also as .log.gz
///   logs/POD/CONTAINER.crash-N.log      logs of more crashes
///   data/POD/                           the node's data directory
///   peers.json                          samples of the replicas' /status
///   bundle.json                         when and how it was collected
///
/// Every sick pod of a bundle gets a report. Without a bundle, give a pod's
/// object with --pod, a log with --log, the node's data with --data, or several
/// of them. Data is read as `loopbreaker inspect` reads it: no engine is opened
/// and nothing is written. Beside a bundle, --data takes the place of its data.
/// Ctrl-C while data is read prints what is known so far, and the status is 1.
///
/// With --exit-code the status is 10 where damage is proven on disk, 11 where
/// the log alone suspects local damage, 12 where the cause could not be told, 0
/// where it is another one or nothing is wrong. Of several reports the worst
/// counts, in the order 10, 11, 12, 0.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment, group(ArgGroup::new("input").required(true).multiple(true).args(["bundle", "log", "pod", "data"])))]
pub(crate) struct Arguments {
    /// Directory of an incident
    #[arg(value_name = "BUNDLE", conflicts_with = "pod")]
    bundle: Option<PathBuf>,

    /// A log of the node, plain or gzip, `-` for standard input; further ones are of later crashes
    #[arg(long, value_name = "FILE")]
    log: Vec<PathBuf>,

    /// The pod's object as `kubectl get pod -o yaml` prints it, `-` for standard input
    #[arg(long, value_name = "FILE")]
    pod: Option<PathBuf>,

    /// The node's home, its data directory or one database, of a stopped node or a restored volume
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,

    /// Of the data, only entry points, manifests, sizes, footers and heights: seconds, even on a terabyte
    #[arg(long)]
    quick: bool,

    /// Read the data at most so many bytes a second (`50MiB`, `200MB`), to leave the disk to others
    #[arg(long, value_name = "RATE", value_parser = rate)]
    max_read_rate: Option<NonZeroU64>,

    /// Report on this pod only, sick or not: POD or NAMESPACE/POD
    #[arg(long, value_name = "NAME")]
    subject: Option<String>,

    /// Text for people, or JSON (loopbreaker.dev/diagnosis/v1), one report a line
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    output: Format,

    /// Show every reason, line and open question, not only the first ones
    #[arg(long)]
    explain: bool,

    /// Tell the verdict by the exit status too
    #[arg(long)]
    exit_code: bool,

    /// Colour the text
    #[arg(long, value_enum, default_value_t, value_name = "WHEN")]
    color: Colour,
}

/// How a report is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum Format {
    /// For people
    #[default]
    Text,
    /// For scripts
    Json,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Status> {
    let reader = DiskReader {
        depth: arguments.quick.then_some(Depth::Quick),
        max_read_rate: arguments.max_read_rate,
        stop: Stop::default(),
    };
    let incidents = incidents(arguments, &reader)?;
    printed(print(arguments, &incidents).context(STDOUT_FAILED))?;
    if reader.stop.is_asked() {
        return Err(Stopped.into());
    }
    let worst = incidents.iter().map(Status::of).max().unwrap_or(Status::Done);
    Ok(if arguments.exit_code { worst } else { Status::Done })
}

fn incidents(arguments: &Arguments, reader: &DiskReader) -> anyhow::Result<Vec<Incident>> {
    let standard_inputs = arguments.log.iter().chain(&arguments.pod).filter(|path| path.as_os_str() == "-").count();
    if standard_inputs > 1 {
        return Err(WrongUsage("standard input can be given once only (put one of them into a file)").into());
    }
    let logs: Vec<LogSource> = arguments.log.iter().map(|path| LogSource::by_hand(path)).collect();
    let by_hand = ByHand { logs: &logs, data: arguments.data.as_deref() };
    if let Some(data) = by_hand.data {
        can_be_inspected(data)?;
    }
    let bundle = match (&arguments.bundle, &arguments.pod) {
        (Some(path), _) => Bundle::open(path)?,
        (None, Some(path)) => Bundle::open_pod_file(path)?,
        (None, None) => {
            if let Some(wanted) = &arguments.subject {
                let labels: Vec<&str> = logs.iter().map(|log| log.label.as_str()).collect();
                anyhow::bail!(
                    "no subject `{wanted}`: all that is known is a log without a pod's name ({}) (give the pod's object \
                     with `--pod FILE`, or leave `--subject` out)",
                    labels.join(", ")
                );
            }
            let progress = Progress::new(logs.iter().map(LogSource::bytes).sum());
            let incident = incident::without_objects(by_hand, &progress, reader)?;
            drop(progress);
            warn_of_gaps(std::slice::from_ref(&incident))?;
            return Ok(vec![incident]);
        }
    };
    warn(&bundle.notes)?;
    let subjects = bundle.subjects(arguments.subject.as_deref())?;
    if (!logs.is_empty() || by_hand.data.is_some()) && subjects.len() > 1 {
        let names = subjects.iter().map(|subject| subject.instance.to_string()).collect();
        let path = bundle.path.clone();
        let whose = if logs.is_empty() {
            BundleError::WhoseData { path, names }
        } else {
            BundleError::WhoseLog { path, names }
        };
        return Err(whose.into());
    }
    let progress = Progress::new(log_bytes(&bundle, &subjects, &logs));
    let incidents = incident::of_subjects(&bundle, &subjects, by_hand, &progress, reader, &mut |_| {})?;
    drop(progress);
    warn_of_gaps(&incidents)?;
    Ok(incidents)
}

/// A directory that was named by hand and cannot be opened is an error; what is wrong inside of it is part of the report.
fn can_be_inspected(dir: &Path) -> anyhow::Result<()> {
    let meter = chainstore::Meter::new(None, Arc::new(chainstore::Silent));
    chainstore::DataDir::open(dir, Arc::new(meter)).map_err(|error| CannotLook(error).into_error())?;
    Ok(())
}

/// Notes printed of each kind.
const NOTES_SHOWN: usize = 5;

/// What was passed over, a line each, the first few of each kind: a file of ten thousand broken documents shall bury
/// neither the report nor the one note that matters.
fn warn(notes: &[Note]) -> std::io::Result<()> {
    const KINDS: [&str; 3] =
        ["that cannot be read", "whose names tell no part of a bundle", "of kinds that say nothing about a crash loop"];
    let mut stderr = anstream::stderr().lock();
    let kind = |note: &Note| match note.what {
        Passed::Broken(_) => 0,
        Passed::Ignored(_) => 1,
        Passed::Kind { .. } => 2,
    };
    for (number, of_kind) in KINDS.iter().enumerate() {
        let of_this: Vec<&Note> = notes.iter().filter(|note| kind(note) == number).collect();
        for note in of_this.iter().take(NOTES_SHOWN) {
            writeln!(stderr, "note: {}", clean(&note.to_string()))?;
        }
        let more = of_this.len().saturating_sub(NOTES_SHOWN);
        if more > 0 {
            writeln!(stderr, "note: … and {more} more {of_kind} (`--output json` lists them)")?;
        }
    }
    Ok(())
}

fn warn_of_gaps(incidents: &[Incident]) -> std::io::Result<()> {
    let mut stderr = anstream::stderr().lock();
    for file in incidents.iter().flat_map(|incident| &incident.log.files) {
        if let Some(gap) = &file.gap {
            writeln!(stderr, "note: {}: {}", file.label, clean(gap))?;
        }
    }
    let mut unread: Vec<&String> = incidents.iter().flat_map(|incident| &incident.origin.unread).collect();
    unread.sort();
    unread.dedup();
    for text in unread.iter().take(NOTES_SHOWN) {
        writeln!(stderr, "note: {text}")?;
    }
    if unread.len() > NOTES_SHOWN {
        writeln!(stderr, "note: … and {} more logs that were not read", unread.len() - NOTES_SHOWN)?;
    }
    Ok(())
}

fn print(arguments: &Arguments, incidents: &[Incident]) -> anyhow::Result<()> {
    let stdout = std::io::stdout();
    if arguments.output == Format::Json {
        let pretty = incidents.len() == 1 && stdout.is_terminal();
        let mut out = std::io::BufWriter::new(stdout.lock());
        for incident in incidents {
            report::json::write(incident, pretty, &mut out)?;
        }
        return Ok(out.flush()?);
    }
    let choice = arguments.color.choice(&stdout);
    let mut out = anstream::AutoStream::new(stdout.lock(), choice);
    let reports: Vec<String> =
        incidents.iter().map(|incident| report::text::render(incident, arguments.explain)).collect();
    out.write_all(reports.join(&format!("\n{}\n\n", "─".repeat(crate::words::COLUMNS))).as_bytes())?;
    Ok(out.flush()?)
}
