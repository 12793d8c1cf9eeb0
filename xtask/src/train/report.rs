//! Rehearsals, leave-one-group-out: each incident judged by a model that never saw its group; and what is chosen from them.

use std::fmt::Write as _;

use anyhow::Result;
use crashlog::{
    Finding, NoTestimony,
    model::{Model, Settings, WEIGHT_UNITS},
};
use diagnosis::{Cause, LogReading, Probability, Testimony};

use super::{
    data::{self, Incident},
    fit::{Fit, Fits, thousandths},
    vocabulary::Vocabulary,
};

/// One incident as a model without its group sees it.
pub(super) struct Rehearsal {
    pub(super) finding: Finding,
    pub(super) truth: Cause,
    pub(super) restore_fixes: bool,
}

impl Rehearsal {
    /// Whether everything but the score would let the log testify.
    fn may_testify(&self) -> bool {
        self.is_witness() || self.finding.no_testimony == Some(NoTestimony::ScoreTooLow)
    }

    fn is_witness(&self) -> bool {
        matches!(&self.finding.reading, LogReading::Read(opinion) if opinion.testimony == Testimony::Witness)
    }

    fn cause(&self) -> (Cause, Probability) {
        match &self.finding.reading {
            LogReading::Read(opinion) => (opinion.cause, opinion.probability),
            LogReading::Abstained(_) | LogReading::NotRead => (Cause::Unknown, Probability::ZERO),
        }
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
            rehearsals.push(Rehearsal { finding, truth: incident.cause, restore_fixes: incident.restore_fixes });
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
    let own =
        Cause::LABELS.iter().zip(&nats).find(|(label, _)| **label == rehearsal.truth).map_or(0.0, |(_, nat)| *nat);
    total.ln() - own
}

/// What meeting every condition of a testimony adds to the damage score: the log-odds that it was right in the rehearsals
/// (one of each added), above what the score of those logs says already.
pub(super) fn testimony(rehearsals: &[Rehearsal]) -> i32 {
    let may: Vec<&Rehearsal> = rehearsals.iter().filter(|rehearsal| rehearsal.may_testify()).collect();
    let right = data::float(may.iter().filter(|rehearsal| rehearsal.restore_fixes).count()) + 1.0;
    let wrong = data::float(may.iter().filter(|rehearsal| !rehearsal.restore_fixes).count()) + 1.0;
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
        .filter(|rehearsal| rehearsal.may_testify() && !rehearsal.restore_fixes)
        .map(|rehearsal| rehearsal.finding.damage_score)
        .collect();
    negatives.sort_by(|a, b| b.total_cmp(a));
    negatives.get(1).map_or(0, |second| thousandths(second + MARGIN)).max(0)
}

pub(super) fn text(
    incidents: &[Incident],
    rehearsals: &[Rehearsal],
    settings: Settings,
    model: &Model,
) -> Result<String> {
    let mut out = String::new();
    let right = rehearsals.iter().filter(|rehearsal| rehearsal.cause().0 == rehearsal.truth).count();
    writeln!(
        out,
        "{} incidents, {} features, cause right {right}, threshold {}, temperature {}",
        incidents.len(),
        model.len(),
        settings.witness_from_thousandths,
        settings.temperature_thousandths
    )?;
    for r in rehearsals {
        if r.cause().0 != r.truth {
            writeln!(
                out,
                "wrong {} {} -> {} {} | {:?} | {}",
                r.truth,
                r.restore_fixes,
                r.cause().0,
                r.cause().1,
                match &r.finding.reading {
                    LogReading::Abstained(a) => Some(a.clone()),
                    _ => None,
                },
                r.finding.digest.decisive().map_or(String::new(), |f| format!(
                    "{:?} {:?} {}",
                    f.record.emitter,
                    f.phrases.iter().map(|p| p.phrase().id).collect::<Vec<_>>(),
                    f.record.message.chars().take(110).collect::<String>().replace('\n', "/")
                ))
            )?;
        }
        if r.may_testify() {
            writeln!(
                out,
                "gate {} {} {:.2} {}",
                r.truth,
                r.restore_fixes,
                r.finding.damage_score,
                r.finding.digest.decisive().map_or(String::new(), |f| f.record.message.chars().take(90).collect())
            )?;
        }
    }
    let (mut pos, mut neg): (Vec<f64>, Vec<f64>) = (vec![], vec![]);
    for r in rehearsals {
        if r.restore_fixes { pos.push(r.finding.damage_score) } else { neg.push(r.finding.damage_score) }
    }
    let mut auc = 0.0;
    for p in &pos {
        for n in &neg {
            auc += if p > n {
                1.0
            } else if p == n {
                0.5
            } else {
                0.0
            }
        }
    }
    writeln!(out, "auc {:.3}", auc / data::float(pos.len()) / data::float(neg.len()))?;
    neg.sort_by(|a, b| b.total_cmp(a));
    for k in [0, 1, 3] {
        if let Some(t) = neg.get(k) {
            writeln!(out, "recall at {k}: {}/{}", pos.iter().filter(|p| *p > t).count(), pos.len())?;
        }
    }
    Ok(out)
}
