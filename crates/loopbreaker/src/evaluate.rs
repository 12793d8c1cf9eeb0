//! `loopbreaker evaluate`. *No client.* Judges labelled cases and prints figures.

use std::{
    collections::HashMap,
    fs::File,
    io::{self, BufRead, BufReader, Read, Write},
    path::{Path, PathBuf},
};

use anyhow::Context;
use clap::Args;
use crashlog::{Examiner, Finding, model::Model, nearest::known_cases};
use evaluation::{Baselines, CaseInput, Evaluation, Labels, Material, Outcome, TextRules};

use crate::{
    bundle::Bundle,
    diagnose::Format,
    disk_part::DiskReader,
    exit::{STDOUT_FAILED, Status, one_line},
    incident::{self, ByHand, Incident},
    progress::Progress,
    report,
    words::{clean, escaped_json},
};

/// Judge labelled cases and print how good the verdicts are
///
/// CASES holds one JSON object a line:
///
///   {"id", "group", "cause", "restore_fixes": "yes"|"no"|"unknown",
///    "log": TEXT or "bundle": DIR, …}
///
/// A bundle's directory is relative to the file; "subject" picks one of its
/// pods, else the first sick one is judged. "decisive" may list line numbers or
/// parts of lines that show the cause. Labels are read only once a case's
/// verdict stands.
///
/// A line that is no case, or has the id of an earlier one, is named on standard
/// error, the rest goes on, and the exit status is 1 at the end.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
#[expect(clippy::doc_markdown, reason = "the comment is the help, where JSON stands as it is typed")]
pub(crate) struct Arguments {
    /// File of cases, `-` for standard input
    #[arg(value_name = "CASES")]
    cases: PathBuf,

    /// Text for people, or JSON: a line for each case, then {"summary": …}
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    output: Format,
}

/// Longer lines are no cases; a log of that size belongs into a bundle.
const LINE_MAX: u64 = 256 * 1024 * 1024;

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Status> {
    let name = clean(&arguments.cases.to_string_lossy());
    let (mut cases, folder) = open(&arguments.cases)?;
    let mut out = io::BufWriter::new(io::stdout());
    let mut evaluation = Evaluation::default();
    let mut ids = Ids::default();
    let mut line = Vec::new();
    for number in 1_u64.. {
        line.clear();
        let read = cases.by_ref().take(LINE_MAX).read_until(b'\n', &mut line);
        if read.with_context(|| format!("{name}: cannot be read after line {}", number - 1))? == 0 {
            break;
        }
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        let judged = CaseInput::read(&line)
            .map_err(anyhow::Error::from)
            .and_then(|input| ids.take(number, &input.id).map(|()| input))
            .and_then(|input| judge(input, &folder));
        let said = judged.and_then(|(outcome, baselines)| {
            if arguments.output == Format::Json {
                print_json(&mut out, &outcome)?;
            }
            // Only now: the verdict stands.
            Ok((outcome, baselines, Labels::read(&line)?))
        });
        match said {
            Ok((outcome, baselines, labels)) => evaluation.add(outcome, baselines, labels),
            Err(error) if error.downcast_ref::<&'static str>() == Some(&STDOUT_FAILED) => return Err(error),
            Err(error) => {
                evaluation.add_broken();
                anstream::eprintln!("error: {name}, line {number}: {} (skipped; mend the line)", one_line(&error));
            }
        }
    }
    let summary = evaluation.summary();
    if summary.cases == 0 && summary.broken == 0 {
        anyhow::bail!("{name}: holds no case (a case is a JSON object on one line: `loopbreaker evaluate --help`)");
    }
    if ids.are_mostly_known() {
        anstream::eprintln!(
            "note: {name}: {} of {} ids are those of known cases: these cases were used to train, their figures flatter",
            ids.known,
            ids.lines.len()
        );
    }
    if arguments.output == Format::Json {
        print_json(&mut out, &serde_json::json!({ "summary": summary }))?;
    } else {
        let page = report::figures::render(&summary);
        anstream::AutoStream::auto(io::stdout()).write_all(page.as_bytes()).context(STDOUT_FAILED)?;
    }
    out.flush().context(STDOUT_FAILED)?;
    Ok(if summary.broken > 0 { Status::Failed } else { Status::Done })
}

/// The ids so far, each with its line: a case that stands twice in a file would count twice.
#[derive(Default)]
struct Ids {
    lines: HashMap<String, u64>,
    /// How many of them are of the cases that the model was trained on.
    known: usize,
}

impl Ids {
    fn take(&mut self, line: u64, id: &str) -> anyhow::Result<()> {
        if let Some(first) = self.lines.insert(id.to_owned(), line) {
            self.lines.insert(id.to_owned(), first);
            anyhow::bail!("case {}: line {first} has the same id", clean(id));
        }
        self.known += usize::from(known_cases().iter().any(|known| known.id == id));
        Ok(())
    }

    fn are_mostly_known(&self) -> bool {
        self.known * 2 > self.lines.len()
    }
}

fn print_json(out: &mut dyn Write, value: &impl serde::Serialize) -> anyhow::Result<()> {
    let json = escaped_json(&serde_json::to_string(value)?);
    writeln!(out, "{json}").context(STDOUT_FAILED)
}

fn open(path: &Path) -> anyhow::Result<(Box<dyn BufRead>, PathBuf)> {
    if path == Path::new("-") {
        return Ok((Box::new(BufReader::new(io::stdin())), PathBuf::from(".")));
    }
    let cases = File::open(path).with_context(|| format!("{}: the cases cannot be read", path.display()))?;
    Ok((Box::new(BufReader::new(cases)), path.parent().unwrap_or(Path::new(".")).to_owned()))
}

/// The verdict on a case and what the baselines say, from what may be looked at alone.
fn judge(input: CaseInput, folder: &Path) -> anyhow::Result<(Outcome, Baselines)> {
    let CaseInput { id, material } = input;
    let mut rules = TextRules::default();
    match material {
        Material::Log(log) => {
            let mut examiner = Examiner::new();
            examiner.feed(log.as_bytes());
            rules.feed(log.as_bytes());
            let finding = examiner.finish(Model::built_in());
            Ok((Outcome::of_log(id, &finding), rules.finish(&finding)))
        }
        Material::Bundle { path, subject } => {
            let incident = incident_of(&folder.join(path), subject.as_deref(), &mut rules)?;
            let nothing;
            let finding: &Finding = if let Some(chosen) = &incident.log.chosen {
                &chosen.finding
            } else {
                nothing = Examiner::new().finish(Model::built_in());
                &nothing
            };
            Ok((Outcome::new(id, &incident.evidence, &incident.verdict, finding), rules.finish(finding)))
        }
    }
}

fn incident_of(path: &Path, subject: Option<&str>, rules: &mut TextRules) -> anyhow::Result<Incident> {
    let bundle = Bundle::open(path)?;
    let subjects = bundle.subjects(subject)?;
    let first = subjects.get(..1).unwrap_or_default();
    let (progress, reader) = (Progress::new(None), DiskReader::default());
    let tap = &mut |bytes: &[u8]| rules.feed(bytes);
    let mut incidents = incident::of_subjects(&bundle, first, ByHand::default(), &progress, &reader, tap)?;
    incidents.pop().with_context(|| format!("{}: nobody to judge", path.display()))
}
