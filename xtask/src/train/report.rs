//! Rehearsals, leave-one-group-out: each incident judged by a model that never saw its group; and what is chosen from them.

use std::fmt::Write as _;

use crashlog::{
    Finding, NoTestimony,
    model::{Model, Settings, WEIGHT_UNITS},
};
use diagnosis::{Cause, LogReading, Testimony};
use evaluation::{CauseFigures, Detection, Evaluation, Labels, Outcome, RestoreFixes, Summary, TextRules};

use super::{
    data::{self, Incident},
    fit::{Fit, Fits, thousandths},
    vocabulary::Vocabulary,
};

/// One incident as a model without its group sees it.
pub(super) struct Rehearsal {
    finding: Finding,
    incident: Incident,
}

impl Rehearsal {
    /// Whether everything but the score would let the log testify.
    fn may_testify(&self) -> bool {
        self.is_witness() || self.finding.no_testimony == Some(NoTestimony::ScoreTooLow)
    }

    fn is_witness(&self) -> bool {
        matches!(&self.finding.reading, LogReading::Read(opinion) if opinion.testimony == Testimony::Witness)
    }
}

pub(super) fn rehearse(
    incidents: &[Incident],
    fits: &Fits,
    vocabulary: &Vocabulary,
    settings: Settings,
) -> Vec<Rehearsal> {
    let mut rehearsals = Vec::new();
    let mut known: Option<(&str, Model)> = None;
    let mut order: Vec<&Incident> = incidents.iter().collect();
    order.sort_by(|a, b| a.group.cmp(&b.group).then(a.id.cmp(&b.id)));
    for incident in order {
        if known.as_ref().is_none_or(|(group, _)| *group != incident.group) {
            let fit = fits.without(&incident.group).unwrap_or(Fit::WHOLE);
            known = Some((&incident.group, fits.model(fit, vocabulary, settings)));
        }
        if let Some((_, model)) = &known {
            let finding = data::find(&incident.log, model);
            rehearsals.push(Rehearsal { finding, incident: incident.clone() });
        }
    }
    rehearsals
}

/// The temperature under which the rehearsed probabilities of the true causes are highest.
pub(super) fn temperature(rehearsals: &[Rehearsal]) -> i32 {
    let loss =
        |temperature: f64| -> f64 { rehearsals.iter().map(|rehearsal| surprise(rehearsal, temperature)).sum::<f64>() };
    (10..=40_i32)
        .map(|twentieths| f64::from(twentieths) / 20.0)
        .min_by(|a, b| loss(*a).total_cmp(&loss(*b)))
        .map_or(1000, thousandths)
}

fn surprise(rehearsal: &Rehearsal, temperature: f64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "sums of some thousand 16-bit weights")]
    let nats: Vec<f64> =
        rehearsal.finding.scores.raw.iter().map(|raw| *raw as f64 / WEIGHT_UNITS / temperature).collect();
    let total: f64 = nats.iter().map(|nat| nat.exp()).sum();
    let own = Cause::LABELS
        .iter()
        .zip(&nats)
        .find(|(label, _)| **label == rehearsal.incident.cause)
        .map_or(0.0, |(_, nat)| *nat);
    total.ln() - own
}

/// What meeting every condition of a testimony adds to the damage score: the log-odds that it was right in the rehearsals
/// (one of each added), above what the score of those logs says already.
pub(super) fn testimony(rehearsals: &[Rehearsal]) -> i32 {
    let may: Vec<&Rehearsal> = rehearsals.iter().filter(|rehearsal| rehearsal.may_testify()).collect();
    let right = data::float(may.iter().filter(|rehearsal| rehearsal.incident.restore_fixes).count()) + 1.0;
    let wrong = data::float(may.iter().filter(|rehearsal| !rehearsal.incident.restore_fixes).count()) + 1.0;
    let mean = may.iter().map(|rehearsal| rehearsal.finding.damage_score).sum::<f64>() / data::float(may.len().max(1));
    thousandths(((right / wrong).ln() - mean).max(0.0))
}

/// How far above a rehearsed negative the threshold is set, in nats.
const MARGIN: f64 = 0.1;

/// The damage score from which on a log may testify: above every rehearsed negative that passes the other conditions, save
/// the one that a hundred negatives may show by the bound that is promised (1 of 98).
pub(super) fn threshold(rehearsals: &[Rehearsal]) -> i32 {
    let mut negatives: Vec<f64> = rehearsals
        .iter()
        .filter(|rehearsal| rehearsal.may_testify() && !rehearsal.incident.restore_fixes)
        .map(|rehearsal| rehearsal.finding.damage_score)
        .collect();
    negatives.sort_by(|a, b| b.total_cmp(a));
    negatives.get(1).map_or(0, |second| thousandths(second + MARGIN)).max(0)
}

/// The figures as they stand in `model/figures.md`.
pub(super) fn text(rehearsals: &[Rehearsal], words_only: &[Rehearsal], settings: Settings, model: &Model) -> String {
    let ours = summary(rehearsals);
    let words = summary(words_only);
    let mut out = String::from(HEAD);
    let baselines = &ours.baselines;
    for (name, detection, causes) in [
        ("log witness", &ours.detection, Some(&ours.cause)),
        ("phrases only", &baselines.phrases_only, Some(&baselines.phrases_only_cause)),
        ("n-grams only", &words.detection, Some(&words.cause)),
        ("rule `corrupt\\|checksum`", &baselines.keywords, None),
        ("k8sgpt's `(error\\|exception\\|fail)`", &baselines.k8sgpt, None),
    ] {
        out.push_str(&row(name, detection, causes));
    }
    out.push_str(EXPERT);
    out.push_str(BY_GROUP);
    for group in &ours.by_group {
        let (witness, recall, cause) = (&group.false_witnesses, &group.recall, &group.cause_right);
        let _ = writeln!(
            out,
            "| {} | {} | {}/{} | {}/{} | {}/{} |",
            group.group, group.cases, witness.k, witness.n, recall.k, recall.n, cause.k, cause.n
        );
    }
    let _ = writeln!(
        out,
        "\nWeights: {} features, {} bytes. Temperature {:.2}, testimony {:+.2} nats, threshold {:.2} nats.",
        model.len(),
        model.write().len(),
        f64::from(settings.temperature_thousandths) / 1000.0,
        f64::from(settings.testimony_thousandths) / 1000.0,
        f64::from(settings.witness_from_thousandths) / 1000.0,
    );
    out
}

const HEAD: &str = "<!-- Written by `cargo xtask train --report`; do not edit. -->

# Figures on the development incidents, leave-one-group-out

Each incident is judged by a model that was trained without its group. Bounds are exact, one-sided, 95 %.
\"recall at k\" ranks by score and stops at the k-th false one.

| | false witnesses | recall | recall at 0 / 1 / 3 false | AUC | cause right | in two guesses | macro-F1 |
|---|---|---|---|---|---|---|---|
";

/// Measured for `reference/deciding-facts.md` of the design, on the same 130 incidents.
const EXPERT: &str = "| expert reading the log only | – | – | 0.12 / 0.27 / 0.36 | 0.91 | 0.71 | 0.88 | 0.76 |
";

const BY_GROUP: &str = "
| group | cases | false witnesses | found | cause right |
|---|---|---|---|---|
";

fn row(name: &str, detection: &Detection, causes: Option<&CauseFigures>) -> String {
    let (witness, recall) = (&detection.false_witnesses, &detection.recall);
    let number = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), |value| format!("{value:.2}"));
    let bound = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), |value| format!("{:.1} %", value * 100.0));
    let at = &detection.recall_at_false;
    let (right, two, f1) = causes
        .map_or((None, None, None), |causes| (causes.cause_right.rate, causes.cause_in_two.rate, causes.macro_f1));
    format!(
        "| {name} | {}/{} (≤ {}) | {}/{} (≥ {}) | {} / {} / {} | {} | {} | {} | {} |\n",
        witness.k,
        witness.n,
        bound(witness.upper_95),
        recall.k,
        recall.n,
        bound(recall.lower_95),
        number(at.none),
        number(at.one),
        number(at.three),
        number(detection.auc),
        number(right),
        number(two),
        number(f1),
    )
}

fn summary(rehearsals: &[Rehearsal]) -> Summary {
    let mut evaluation = Evaluation::default();
    for rehearsal in rehearsals {
        let incident = &rehearsal.incident;
        let mut rules = TextRules::default();
        rules.feed(incident.log.as_bytes());
        let outcome = Outcome::of_log(incident.id.clone(), &rehearsal.finding);
        let labels = Labels {
            group: incident.group.clone(),
            cause: incident.cause,
            restore_fixes: if incident.restore_fixes { RestoreFixes::Yes } else { RestoreFixes::No },
            decisive: Vec::new(),
        };
        evaluation.add(outcome, rules.finish(&rehearsal.finding), labels);
    }
    evaluation.summary()
}
