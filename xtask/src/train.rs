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

use std::{fs, path::Path, process::ExitCode};

use anyhow::{Context, Result, bail};
use clap::Args;
use crashlog::model::{CAUSES, Model, Settings};
use diagnosis::Cause;

use self::{
    data::{Examined, Incident},
    fit::Problem,
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

/// Inverse of the L2 penalty, chosen among 0.1, 0.3, 1 and 3 leave-one-group-out.
const STRENGTH: f64 = 0.3;

/// Everything the fit is made from.
struct Material {
    incidents: Vec<Incident>,
    real: Vec<Examined>,
    generated: Vec<synthetic::Synthetic>,
    made: Vec<Examined>,
}

impl Material {
    fn gather(root: &Path) -> Result<Self> {
        let incidents = data::incidents(&root.join("model/data/development.jsonl"))?;
        let phrases = data::phrases(&root.join("crates/crashlog/data/phrases.toml"))?;
        let real = incidents.iter().map(|incident| data::examine(&incident.log)).collect();
        let generated = synthetic::generate(&phrases);
        let made = generated.iter().map(|log| data::examine(&log.log)).collect();
        Ok(Self { incidents, real, generated, made })
    }

    /// One number over every feature and label: it changes with the data, the phrases and the code that makes features,
    /// and with nothing else.
    fn fingerprint(&self) -> u64 {
        let mut hash = 0xcbf2_9ce4_8422_2325_u64;
        let mut take = |bytes: &[u8]| {
            for byte in bytes {
                hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
            }
        };
        for (key, value) in self.real.iter().chain(&self.made).flat_map(|examined| &examined.features.values) {
            take(&key.0.to_le_bytes());
            take(&value.to_le_bytes());
        }
        for incident in &self.incidents {
            take(incident.group.as_bytes());
            take(incident.cause.as_str().as_bytes());
            take(&[u8::from(incident.restore_fixes)]);
        }
        for (cause, weight) in self.generated.iter().flat_map(|log| &log.causes) {
            take(cause.as_str().as_bytes());
            take(&weight.to_le_bytes());
        }
        hash
    }
}

fn train(options: &Options) -> Result<()> {
    let root = tidy::root();
    let material = Material::gather(root)?;
    let fingerprint = format!("{:016x}\n", material.fingerprint());
    let Material { incidents, real, generated, made } = material;
    println!("{} incidents, {} generated logs", incidents.len(), generated.len());
    let vocabulary = Vocabulary::choose(&incidents, &real, &generated, &made);
    let fits = problem(&vocabulary, &incidents, &real, &generated, &made).solve(root)?;

    let mut settings = settings_without_threshold(&incidents);
    let rehearsals = report::rehearse(&incidents, &fits, &vocabulary, settings);
    settings.temperature_thousandths = report::temperature(&rehearsals);
    let rehearsals = report::rehearse(&incidents, &fits, &vocabulary, settings);
    settings.testimony_thousandths = report::testimony(&rehearsals);
    let rehearsals = report::rehearse(&incidents, &fits, &vocabulary, settings);
    settings.witness_from_thousandths = report::threshold(&rehearsals);
    let rehearsals = report::rehearse(&incidents, &fits, &vocabulary, settings);

    let model = fits.model(fit::Fit::WHOLE, &vocabulary, settings);
    let cases = known_cases(&incidents);
    let files = [
        (root.join("model/weights.bin"), model.write()),
        (root.join("model/cases.tsv"), cases.into_bytes()),
        (root.join("model/fingerprint.txt"), fingerprint.into_bytes()),
    ];
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
        let words = vocabulary.words_only(&incidents);
        let fits = problem(&words, &incidents, &real, &generated, &made).solve(root)?;
        let words_only = report::rehearse(&incidents, &fits, &words, settings);
        let text = report::text(&rehearsals, &words_only, settings, &model);
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
    let balance = balance(incidents, generated);
    for (incident, examined) in incidents.iter().zip(real) {
        let row = problem.row(vocabulary.row(&examined.features));
        problem.sample(row, incident.cause, 1.0, Some(&incident.group));
    }
    for (log, examined) in generated.iter().zip(made) {
        let row = problem.row(vocabulary.row(&examined.features));
        for (cause, weight) in &log.causes {
            problem.sample(row, *cause, weight * balance(*cause), None);
        }
    }
    let mut groups: Vec<String> = incidents.iter().map(|incident| incident.group.clone()).collect();
    groups.sort_unstable();
    groups.dedup();
    problem.hold_out(groups);
    problem
}

/// Weight of a generated log of each cause.
///
/// How many phrases a cause has says how talkative its software is, not how often it happens: the generated logs of each
/// cause together weigh as much as that cause's share of the real incidents (smoothed by four of each).
fn balance(incidents: &[Incident], generated: &[synthetic::Synthetic]) -> impl Fn(Cause) -> f64 {
    const SMOOTHING: f64 = 4.0;
    let real = |cause| data::float(incidents.iter().filter(|incident| incident.cause == cause).count()) + SMOOTHING;
    let all_real: f64 = Cause::LABELS.into_iter().map(real).sum();
    let made = |cause| {
        generated.iter().flat_map(|log| &log.causes).filter(|(label, _)| *label == cause).map(|(_, w)| w).sum::<f64>()
    };
    let all_made: f64 = Cause::LABELS.into_iter().map(made).sum();
    let weights: Vec<(Cause, f64)> = Cause::LABELS
        .into_iter()
        .map(|cause| (cause, SYNTHETIC_WEIGHT * real(cause) / all_real * all_made / made(cause).max(1.0)))
        .collect();
    move |cause| weights.iter().find(|(label, _)| *label == cause).map_or(SYNTHETIC_WEIGHT, |(_, weight)| *weight)
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
        let smoothed =
            (data::float(fixed) + PRIOR_INCIDENTS * prior_rate(cause)) / (data::float(all) + PRIOR_INCIDENTS);
        *rate = fit::thousandths(smoothed);
    }
    Settings {
        temperature_thousandths: 1000,
        witness_from_thousandths: i32::MAX,
        testimony_thousandths: 0,
        restore_fixes_thousandths,
    }
}

fn known_cases(incidents: &[Incident]) -> String {
    let mut lines = String::new();
    for incident in incidents {
        let finding = data::find(&incident.log, &Model::empty());
        let about = format!("{}: {}", incident.software, incident.why);
        lines.push_str(&crashlog::nearest::case_line(&incident.id, incident.cause, &about, &finding.digest));
        lines.push('\n');
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::{Material, tidy};

    #[test]
    fn the_committed_weights_belong_to_the_committed_data_and_features() {
        let root = tidy::root();
        let committed = std::fs::read_to_string(root.join("model/fingerprint.txt")).unwrap();
        let now = format!("{:016x}", Material::gather(root).unwrap().fingerprint());
        assert_eq!(committed.trim(), now, "data, phrases or features changed: run `cargo xtask train --report`");
    }
}
