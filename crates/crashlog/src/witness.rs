//! The log witness: an opinion for every log, a testimony only where the text itself can bear it (P2, P13). *No IO.*
//!
//! Two questions are kept apart. *What is the cause?* is answered for every log that shows a failure, with a probability.
//! *May this log testify that local data is damaged?* is answered with yes only if all of these hold:
//!
//! 1. a local emitter prints a message that is only reachable through a failed integrity check of local storage, as the failure
//!    itself (`testimony.rs`: a panic that the process survived, a quotation, a user's words are none);
//! 2. local damage is the likeliest cause, not just the least unlikely, and its score passes the threshold that training froze;
//! 3. nothing in the log points elsewhere as strongly (a full disk, a held lock, a wrong engine explain the same words);
//! 4. the log was not cut before the failure's own first line.

use diagnosis::{Cause, DatabaseName, LogAbstention, LogOpinion, LogReading, Probability, Symptom, Testimony};

use crate::{
    LogReader, ReadingSummary, Record,
    databases::databases,
    digest::{Digest, Failure},
    features::{Collector, Features},
    model::{Model, Scores, WEIGHT_UNITS},
    testimony::{NoTestimony, doubt, only_speaks_of_failures},
};

/// Reads one log, in pieces of any size, and gives a [`Finding`].
#[derive(Debug)]
pub struct Examiner {
    reader: LogReader,
    digest: Digest,
}

impl Default for Examiner {
    fn default() -> Self {
        Self::new()
    }
}

/// What a log says.
#[derive(Debug)]
pub struct Finding {
    /// For the judge.
    pub reading: LogReading,
    /// Every cause with its probability, the most probable first.
    pub causes: Vec<(Cause, Probability)>,
    /// Log-odds that restoring local data is right, in nats; higher is likelier.
    pub damage_score: f64,
    /// Why the log does not testify, where it reports damage and still does not.
    pub no_testimony: Option<NoTestimony>,
    /// Counts of what was read.
    pub summary: ReadingSummary,
    /// Everything kept of the log, for explanations.
    pub digest: Digest,
    /// Features of the log.
    pub features: Features,
    /// Scores of the log.
    pub scores: Scores,
}

impl Examiner {
    /// A fresh examiner.
    #[must_use]
    pub fn new() -> Self {
        Self { reader: LogReader::new(), digest: Digest::new() }
    }

    /// Takes the next bytes of the log.
    pub fn feed(&mut self, bytes: &[u8]) {
        let Self { reader, digest } = self;
        reader.feed(bytes, &mut |record: &Record| digest.observe(record));
    }

    /// Takes the end of the log and decides.
    #[must_use]
    pub fn finish(self, model: &Model) -> Finding {
        let Self { reader, mut digest } = self;
        let summary = reader.finish(&mut |record: &Record| digest.observe(record));
        digest.settle();
        let (features, _) = digest.features(Collector::new());
        let scores = model.score(&features);
        let ranked = rank(&scores, model);
        let causes = ranked.iter().map(|(cause, p)| (*cause, probability(*p))).collect::<Vec<_>>();
        let doubt = doubt(&digest, &summary).or_else(|| {
            let damage: f64 = ranked.iter().filter(|(cause, _)| cause.is_local_damage()).map(|(_, p)| p).sum();
            let damaged = ranked.first().is_some_and(|(cause, _)| cause.is_local_damage());
            (!damaged || damage < 0.5).then_some(NoTestimony::AnotherCause)
        });
        let damage_score = damage_score(&ranked, model, doubt);
        let threshold = f64::from(model.settings.witness_from_thousandths) / 1000.0;
        let no_testimony = doubt.or((damage_score < threshold).then_some(NoTestimony::ScoreTooLow));
        let likeliest = causes.first().map_or(Probability::ZERO, |(_, p)| *p);
        let unfamiliar = || (likeliest < FAMILIAR_FROM).then_some(LogAbstention::Unfamiliar);
        let reading = match abstention(&summary, &digest).or_else(unfamiliar) {
            Some(reason) => LogReading::Abstained(reason),
            None => LogReading::Read(opinion(&digest, &causes, no_testimony)),
        };
        Finding { reading, causes, damage_score, no_testimony, summary, digest, features, scores }
    }
}

/// Below this the likeliest of 18 causes is a guess, and no answer is the honest one (P13): chance alone gives 0.06.
const FAMILIAR_FROM: Probability = Probability::from_thousandths(150);

fn opinion(digest: &Digest, causes: &[(Cause, Probability)], no_testimony: Option<NoTestimony>) -> LogOpinion {
    let (cause, probability) = causes.first().copied().unwrap_or((Cause::Unknown, Probability::ZERO));
    let testimony = if no_testimony.is_none() { Testimony::Witness } else { Testimony::Opinion };
    let (symptoms, databases) = (symptoms(digest), named_databases(digest));
    LogOpinion {
        cause,
        probability,
        testimony,
        counter_evidence: no_testimony.and_then(NoTestimony::counter_evidence),
        symptoms,
        databases,
    }
}

/// Symptoms of every local failure, in the log's order.
fn symptoms(digest: &Digest) -> Vec<Symptom> {
    let mut symptoms: Vec<Symptom> = Vec::new();
    for symptom in digest.local_failures().flat_map(Failure::entries).filter_map(|phrase| phrase.symptom) {
        if !symptoms.contains(&symptom) {
            symptoms.push(symptom);
        }
    }
    symptoms
}

/// Databases that the decisive record is about.
pub(crate) fn named_databases(digest: &Digest) -> Vec<DatabaseName> {
    let Some(failure) = digest.decisive() else { return Vec::new() };
    let mut named = databases(&failure.record);
    let about_wal = failure.phrases.iter().any(|index| index.phrase().symptom == Some(Symptom::ConsensusWal));
    if named.is_empty() && about_wal {
        named.push(DatabaseName::new("cs.wal"));
    }
    named
}

/// Why the log cannot even give an opinion.
fn abstention(summary: &ReadingSummary, digest: &Digest) -> Option<LogAbstention> {
    if summary.records == 0 {
        return Some(LogAbstention::Empty);
    }
    if summary.binary {
        return Some(LogAbstention::NotText);
    }
    if only_speaks_of_failures(digest) {
        return Some(LogAbstention::ForeignProgram);
    }
    // Frames alone tell where, not why: without the panic's own line they are no opinion.
    let says_why = |failure: &Failure| !failure.record.message.is_empty() || !failure.record.errors.is_empty();
    if digest.failures().any(|failure| failure.strength().is_some() && says_why(failure)) {
        return None;
    }
    if summary.node_lines == 0 {
        return Some(LogAbstention::ForeignProgram);
    }
    match digest.decisive() {
        Some(failure) if !says_why(failure) => Some(LogAbstention::HeadMissing),
        Some(failure) if failure.record.level.reports_failure() => None,
        Some(_) | None => Some(LogAbstention::NoFailure),
    }
}

/// Causes by probability: the softmax of the scores at the model's temperature.
fn rank(scores: &Scores, model: &Model) -> Vec<(Cause, f64)> {
    let temperature = f64::from(model.settings.temperature_thousandths.max(1)) / 1000.0;
    let logits: Vec<f64> = scores.raw.iter().map(|raw| nats(*raw) / temperature).collect();
    let highest = logits.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let weights: Vec<f64> = logits.iter().map(|logit| libm::exp(logit - highest)).collect();
    let total: f64 = weights.iter().sum();
    let mut ranked: Vec<(Cause, f64)> =
        Cause::LABELS.into_iter().zip(weights.iter().map(|weight| weight / total)).collect();
    ranked.sort_by(|(a, p), (b, q)| q.total_cmp(p).then(a.cmp(b)));
    ranked
}

/// Log-odds that restoring local data is right: each cause's probability times how often a restore fixed that cause, and
/// more where the log meets every condition of a testimony.
fn damage_score(causes: &[(Cause, f64)], model: &Model, doubt: Option<NoTestimony>) -> f64 {
    let rates = Cause::LABELS.into_iter().zip(model.settings.restore_fixes_thousandths);
    let p: f64 = rates
        .filter_map(|(label, rate)| {
            let (_, p) = causes.iter().find(|(cause, _)| *cause == label)?;
            Some(p * f64::from(rate) / 1000.0)
        })
        .sum();
    let inside = p.clamp(1e-9, 1.0 - 1e-9);
    let testimony = if doubt.is_none() { f64::from(model.settings.testimony_thousandths) / 1000.0 } else { 0.0 };
    libm::log(inside / (1.0 - inside)) + testimony
}

#[expect(clippy::cast_precision_loss, reason = "sums of some thousand 16-bit weights stay far below 2^52")]
fn nats(raw: i64) -> f64 {
    raw as f64 / WEIGHT_UNITS
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to 0 ..= 1000 before")]
fn probability(p: f64) -> Probability {
    Probability::from_thousandths(libm::round((p * 1000.0).clamp(0.0, 1000.0)) as u16)
}
