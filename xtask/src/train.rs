//! `cargo xtask train`: the log model from its data, by the product's own features.
//!
//! Data → features → a convex fit → integer weights → thresholds chosen leave-one-group-out → `model/weights.bin`, and
//! the known cases → `model/cases.tsv`. The same input gives the same bytes; `--check` fails if they differ from what is
//! committed. `--report` also writes the figures of every rehearsal into `model/figures.md`.

mod data;
mod fit;
mod report;
mod synthetic;
mod vocabulary;

use std::{fs, process::ExitCode};

use anyhow::{Context, Result, bail};
use clap::Args;
use crashlog::model::{CAUSES, Model, Settings};
use diagnosis::Cause;

use self::{
    data::{Examined, Incident},
    fit::{Fits, Problem},
    vocabulary::Vocabulary,
};
use crate::{exit_status, tidy};

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Also write the leave-one-group-out figures into model/figures.md
    #[arg(long)]
    report: bool,
    /// Write nothing; fail if the committed files differ from what the data gives
    #[arg(long, conflicts_with = "report")]
    check: bool,
}

pub(crate) fn run(options: &Options) -> ExitCode {
    exit_status(&train(options))
}

/// Weight of a generated log beside one real incident. Chosen among 0.03, 0.1, 0.3 and 1 leave-one-group-out.
const SYNTHETIC_WEIGHT: f64 = 1.0;

/// Inverse of the L2 penalty, chosen among 0.3, 1 and 3.
const STRENGTH: f64 = 1.0;

fn train(options: &Options) -> Result<()> {
    let root = tidy::root();
    let incidents = data::incidents(&root.join("model/data/development.jsonl"))?;
    let phrases = data::phrases(&root.join("crates/crashlog/data/phrases.toml"))?;
    let real: Vec<Examined> = incidents.iter().map(|incident| data::examine(&incident.log)).collect();
    let generated = synthetic::generate(&phrases);
    println!("{} incidents, {} phrases, {} generated logs", incidents.len(), phrases.len(), generated.len());

    let made: Vec<Examined> = generated.iter().map(|log| data::examine(&log.log)).collect();
    let vocabulary = Vocabulary::choose(&incidents, &real, &generated, &made);
    let problem = problem(&vocabulary, &incidents, &real, &generated, &made);
    let fits = problem.solve(&root)?;

    let mut settings = settings_without_threshold(&incidents);
    let rehearsals = report::rehearse(&incidents, &fits, &vocabulary, settings);
    settings.temperature_thousandths = report::temperature(&rehearsals);
    let rehearsals = report::rehearse(&incidents, &fits, &vocabulary, settings);
    settings.witness_from_thousandths = report::threshold(&rehearsals);

    let model = fits.model(fits.whole(), &vocabulary, settings);
    let cases = known_cases(&incidents)?;
    let files = [(root.join("model/weights.bin"), model.write()), (root.join("model/cases.tsv"), cases.into_bytes())];
    for (path, bytes) in &files {
        if options.check {
            if fs::read(path).with_context(|| path.display().to_string())? != *bytes {
                bail!("{} is not what the data gives; run `cargo xtask train`", path.display());
            }
        } else {
            fs::write(path, bytes).with_context(|| path.display().to_string())?;
        }
    }
    println!("{} features, {} bytes of weights", model.len(), files.first().map_or(0, |(_, bytes)| bytes.len()));
    if options.report {
        let text = report::text(&incidents, &rehearsals, settings, &model)?;
        fs::write(root.join("model/figures.md"), &text)?;
        println!("{text}");
    }
    Ok(())
}

fn problem(
    vocabulary: &Vocabulary,
    incidents: &[Incident],
    real: &[Examined],
    generated: &[synthetic::Synthetic],
    made: &[Examined],
) -> Problem {
    let mut problem = Problem::new(vocabulary.len(), STRENGTH);
    for (incident, examined) in incidents.iter().zip(real) {
        let row = problem.row(vocabulary.row(&examined.features));
        problem.sample(row, incident.cause, 1.0, Some(&incident.group));
    }
    for (log, examined) in generated.iter().zip(made) {
        let row = problem.row(vocabulary.row(&examined.features));
        for (cause, weight) in &log.causes {
            problem.sample(row, *cause, weight * SYNTHETIC_WEIGHT, None);
        }
    }
    let mut groups: Vec<String> = incidents.iter().map(|incident| incident.group.clone()).collect();
    groups.sort_unstable();
    groups.dedup();
    problem.hold_out(groups);
    problem
}

/// What is known beforehand of how often restoring local data fixes each cause; the data move it (four incidents' worth).
fn prior_rate(cause: Cause) -> f64 {
    match cause {
        Cause::PhysicalCorruption | Cause::WalCorruption | Cause::LogicalInconsistency => 0.8,
        Cause::BadSnapshot => 0.6,
        Cause::IoError => 0.3,
        Cause::DiskFull => 0.2,
        Cause::WrongBinary => 0.08,
        Cause::Oom | Cause::OtherBug => 0.05,
        _ => 0.02,
    }
}

fn settings_without_threshold(incidents: &[Incident]) -> Settings {
    const PRIOR_INCIDENTS: f64 = 4.0;
    let mut restore_fixes_thousandths = [0; CAUSES];
    for (rate, cause) in restore_fixes_thousandths.iter_mut().zip(Cause::LABELS) {
        let of_cause = || incidents.iter().filter(|incident| incident.cause == cause);
        let (all, fixed) = (of_cause().count(), of_cause().filter(|incident| incident.restore_fixes).count());
        let smoothed = (data::float(fixed) + PRIOR_INCIDENTS * prior_rate(cause)) / (data::float(all) + PRIOR_INCIDENTS);
        *rate = fit::thousandths(smoothed);
    }
    Settings { temperature_thousandths: 1000, witness_from_thousandths: i32::MAX, restore_fixes_thousandths }
}

fn known_cases(incidents: &[Incident]) -> Result<String> {
    let mut lines = String::new();
    for incident in incidents {
        let finding = data::find(&incident.log, &Model::empty());
        let about = format!("{}: {}", incident.software, incident.why);
        lines.push_str(&crashlog::nearest::case_line(&incident.id, incident.cause, &about, &finding.digest));
        lines.push('\n');
    }
    Ok(lines)
}
