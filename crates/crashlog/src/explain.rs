//! Why the log witness says what it says: the lines that decided, what spoke for and against, all of it exact. *No IO.*
//!
//! The score is a sum, so each feature's share of it *is* its weight times its value; nothing is approximated.

use diagnosis::Cause;

use crate::{
    Emitter, Record,
    digest::Failure,
    features::{Collector, FeatureName},
    model::{Model, WEIGHT_UNITS},
    phrases::{Phrase, Polarity, Strength},
    witness::Finding,
};

/// A line of the log that mattered.
#[derive(Debug, Clone)]
pub struct DecisiveLine {
    /// Its number in the input, from 1.
    pub line: u64,
    /// The record's text, control characters removed, at most [`TEXT_MAX`] bytes.
    pub text: String,
    /// Byte range within `text` of what mattered; empty where the whole line did.
    pub mark: std::ops::Range<usize>,
    /// What the phrase in it stands for, where one is.
    pub phrase: Option<&'static Phrase>,
    /// How many records like it the log holds.
    pub repeats: u32,
}

/// Bytes of a decisive line that are kept.
pub const TEXT_MAX: usize = 2_048;

/// One reason with its exact share of the score, in nats; positive speaks for.
#[derive(Debug, Clone, PartialEq)]
pub struct Reason {
    /// What it is.
    pub name: FeatureName,
    /// Its share.
    pub share: f64,
}

/// Shares of the score of one cause.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Reasons {
    /// What speaks for it, the strongest first.
    pub for_it: Vec<Reason>,
    /// What speaks against it, the strongest first.
    pub against_it: Vec<Reason>,
}

/// The line that decided, then up to `max - 1` others with evidence, in the order of weight: what speaks for the same cause
/// first, then counter-evidence.
#[must_use]
pub fn decisive_lines(finding: &Finding, max: usize) -> Vec<DecisiveLine> {
    let Some(decisive) = finding.digest.decisive() else { return Vec::new() };
    let mut others: Vec<&Failure> = finding
        .digest
        .failures()
        .filter(|failure| !std::ptr::eq(*failure, decisive) && failure.strength().is_some())
        .filter(|failure| failure.record.emitter != Emitter::Peer)
        .collect();
    let strength_of = |failure: &Failure| failure.strength().unwrap_or(Strength::Hint);
    others.sort_by_key(|failure| (std::cmp::Reverse(strength_of(failure)), failure.record.line));
    std::iter::once(decisive).chain(others).take(max).map(line_of).collect()
}

fn line_of(failure: &Failure) -> DecisiveLine {
    let text = shown(&failure.record);
    let strongest = failure
        .phrases
        .iter()
        .map(|index| index.phrase())
        .filter(|phrase| phrase.polarity != Polarity::Benign)
        .max_by_key(|phrase| (phrase.strength, phrase.text.len()));
    let mark = strongest
        .and_then(|phrase| {
            let at = phrase.position_in(&text)?;
            Some(at..at + phrase.text.len())
        })
        .unwrap_or(0..0);
    DecisiveLine { line: failure.record.line, text, mark, phrase: strongest, repeats: failure.repeats }
}

/// The record on one line, as a person reads it.
fn shown(record: &Record) -> String {
    let mut text = record.message.clone();
    if !record.errors.is_empty() {
        if !text.is_empty() {
            text.push_str(": ");
        }
        text.push_str(&record.errors);
    }
    if text.is_empty()
        && let Some(frame) = record.frames.first()
    {
        text.push_str(frame);
    }
    let mut clean: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    if clean.len() > TEXT_MAX {
        let mut end = TEXT_MAX;
        while !clean.is_char_boundary(end) {
            end -= 1;
        }
        clean.truncate(end);
    }
    clean
}

/// What speaks for and against a cause: exact shares of its score, relative to the average over all causes.
///
/// The softmax only sees differences between causes, so a feature that raises all of them alike explains nothing.
#[must_use]
pub fn reasons(finding: &Finding, model: &Model, cause: Cause) -> Reasons {
    let Some(at) = Cause::LABELS.iter().position(|label| *label == cause) else { return Reasons::default() };
    shares(finding, model, |row| {
        let own = row.get(at).copied().map_or(0.0, f64::from);
        let causes = row.get(..Cause::LABELS.len()).unwrap_or_default();
        let count = u32::try_from(causes.len().max(1)).map_or(1.0, f64::from);
        own - causes.iter().copied().map(f64::from).sum::<f64>() / count
    })
}

fn shares(finding: &Finding, model: &Model, weight: impl Fn(&[i16]) -> f64) -> Reasons {
    let (_, names) = finding.digest.features(Collector::with_names());
    let mut reasons = Reasons::default();
    for (key, value) in &finding.features.values {
        let (Some(row), Some(name)) = (model.weights(*key), names.get(key)) else { continue };
        let share = weight(row) * f64::from(*value) / WEIGHT_UNITS;
        let reason = Reason { name: name.clone(), share };
        if share > 0.0 {
            reasons.for_it.push(reason);
        } else if share < 0.0 {
            reasons.against_it.push(reason);
        }
    }
    reasons.for_it.sort_by(|a, b| b.share.total_cmp(&a.share).then_with(|| a.name.cmp(&b.name)));
    reasons.against_it.sort_by(|a, b| a.share.total_cmp(&b.share).then_with(|| a.name.cmp(&b.name)));
    reasons
}
