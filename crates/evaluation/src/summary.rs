//! The figures over all cases. *No IO.* Serialised it is the last line that `evaluate` prints.

use std::collections::BTreeMap;

use diagnosis::Cause;
use serde::Serialize;

use crate::{
    Baselines, Labels, Outcome,
    statistics::{area_under_curve, float, lower_bound, macro_f1, recall_at, upper_bound},
};

/// Takes one case after the other.
#[derive(Debug, Default)]
pub struct Evaluation {
    cases: Vec<Judged>,
    broken: usize,
}

#[derive(Debug)]
struct Judged {
    outcome: Outcome,
    baselines: Baselines,
    labels: Labels,
}

/// k of n, and a one-sided 95 % bound of the rate behind it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Share {
    /// How many.
    pub k: usize,
    /// Of how many.
    pub n: usize,
    /// k / n; null where n is 0.
    pub rate: Option<f64>,
    /// Exact (Clopper–Pearson) upper bound, where a low rate is good.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub upper_95: Option<f64>,
    /// Exact lower bound, where a high rate is good.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lower_95: Option<f64>,
}

/// How well local damage is told.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Detection {
    /// Cases in which a restore is not right, and which were taken for damage.
    pub false_witnesses: Share,
    /// Cases in which it is right, and which were taken for damage.
    pub recall: Share,
    /// Recall by score alone.
    pub recall_at_false: RecallAt,
    /// Area under the curve of the score; a tie counts half.
    pub auc: Option<f64>,
}

/// Positives found by score while so many negatives are.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RecallAt {
    /// No negative.
    #[serde(rename = "0")]
    pub none: Option<f64>,
    /// One.
    #[serde(rename = "1")]
    pub one: Option<f64>,
    /// Three.
    #[serde(rename = "3")]
    pub three: Option<f64>,
}

/// How well the cause is told; an abstention is wrong.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CauseFigures {
    /// The first guess.
    pub cause_right: Share,
    /// The first or the second.
    pub cause_in_two: Share,
    /// Mean of F1 over the causes that occur.
    pub macro_f1: Option<f64>,
}

/// Cases with a marked line in which that line was shown.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LineHits {
    /// As the first.
    pub first: Share,
    /// Among the first three.
    pub in_three: Share,
}

/// One group of cases.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GroupFigures {
    /// Its name.
    pub group: String,
    /// Its cases.
    pub cases: usize,
    /// False witnesses among its negatives.
    pub false_witnesses: Share,
    /// Witnesses among its positives.
    pub recall: Share,
    /// Causes told right.
    pub cause_right: Share,
}

/// The baselines, in the same terms.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BaselineFigures {
    /// `corrupt|checksum`.
    pub keywords: Detection,
    /// `(error|exception|fail)`.
    pub k8sgpt: Detection,
    /// Phrases without the model.
    pub phrases_only: Detection,
    /// Their causes.
    pub phrases_only_cause: CauseFigures,
}

/// All figures.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    /// Cases judged and labelled.
    pub cases: usize,
    /// Lines that are no case, not counted anywhere else.
    pub broken: usize,
    /// Independent sources of cases.
    pub groups: usize,
    /// Cases in which the log said nothing.
    pub abstained: usize,
    /// How often each decision was given.
    pub decisions: BTreeMap<&'static str, usize>,
    /// Local damage.
    #[serde(flatten)]
    pub detection: Detection,
    /// The cause.
    #[serde(flatten)]
    pub cause: CauseFigures,
    /// Decisive lines; null where no case marks one.
    pub decisive_line_hits: Option<LineHits>,
    /// By group.
    pub by_group: Vec<GroupFigures>,
    /// What others would have said.
    pub baselines: BaselineFigures,
}

impl Evaluation {
    /// Takes one case: what was said, and then what is true.
    pub fn add(&mut self, outcome: Outcome, baselines: Baselines, labels: Labels) {
        self.cases.push(Judged { outcome, baselines, labels });
    }

    /// Counts a line that is no case.
    pub fn add_broken(&mut self) {
        self.broken += 1;
    }

    /// All figures.
    #[must_use]
    pub fn summary(&self) -> Summary {
        let mut decisions = BTreeMap::from([("restore", 0), ("propose", 0), ("hold", 0)]);
        for case in &self.cases {
            *decisions.entry(case.outcome.decision).or_default() += 1;
        }
        let groups = self.groups();
        Summary {
            cases: self.cases.len(),
            broken: self.broken,
            groups: groups.len(),
            abstained: self.cases.iter().filter(|case| case.outcome.abstained.is_some()).count(),
            decisions,
            detection: detection(self.cases.iter(), |case| case.outcome.log_witness, |case| case.outcome.log_score),
            cause: causes(self.cases.iter(), |case| case.outcome.cause, |case| case.outcome.second_cause),
            decisive_line_hits: self.line_hits(),
            by_group: groups.into_iter().map(|(name, cases)| group(name, &cases)).collect(),
            baselines: self.baselines(),
        }
    }

    fn groups(&self) -> BTreeMap<&str, Vec<&Judged>> {
        let mut groups: BTreeMap<&str, Vec<&Judged>> = BTreeMap::new();
        for case in &self.cases {
            groups.entry(&case.labels.group).or_default().push(case);
        }
        groups
    }

    fn baselines(&self) -> BaselineFigures {
        let cases = || self.cases.iter();
        let as_score = |says: bool| if says { 1.0 } else { 0.0 };
        BaselineFigures {
            keywords: detection(cases(), |it| it.baselines.keywords, |it| as_score(it.baselines.keywords)),
            k8sgpt: detection(cases(), |it| it.baselines.k8sgpt, |it| as_score(it.baselines.k8sgpt)),
            phrases_only: detection(cases(), |it| it.baselines.phrases.flagged, |it| it.baselines.phrases.score),
            phrases_only_cause: causes(cases(), |it| it.baselines.phrases.cause, |_| None),
        }
    }

    fn line_hits(&self) -> Option<LineHits> {
        let marked: Vec<&Judged> = self.cases.iter().filter(|case| !case.labels.decisive.is_empty()).collect();
        let hits = |shown: usize| {
            let hit = |case: &&&Judged| {
                case.outcome
                    .lines
                    .iter()
                    .take(shown)
                    .any(|line| case.labels.decisive.iter().any(|label| label.is(line.line, &line.text)))
            };
            Share::high(marked.iter().filter(hit).count(), marked.len())
        };
        (!marked.is_empty()).then(|| LineHits { first: hits(1), in_three: hits(3) })
    }
}

fn detection<'a>(
    cases: impl Iterator<Item = &'a Judged>,
    flagged: impl Fn(&Judged) -> bool,
    score: impl Fn(&Judged) -> f64,
) -> Detection {
    let (positives, negatives): (Vec<&Judged>, Vec<&Judged>) = cases.partition(|case| case.labels.is_positive());
    let flagged_of = |cases: &[&Judged]| cases.iter().filter(|case| flagged(case)).count();
    let scores = |cases: &[&Judged]| cases.iter().map(|case| score(case)).collect::<Vec<f64>>();
    let (of_positives, of_negatives) = (scores(&positives), scores(&negatives));
    let recall = |false_ones| {
        recall_at(false_ones, &of_positives, &of_negatives).map(|found| float(found) / float(positives.len()))
    };
    Detection {
        false_witnesses: Share::low(flagged_of(&negatives), negatives.len()),
        recall: Share::high(flagged_of(&positives), positives.len()),
        recall_at_false: RecallAt { none: recall(0), one: recall(1), three: recall(3) },
        auc: area_under_curve(&of_positives, &of_negatives),
    }
}

fn causes<'a>(
    cases: impl Iterator<Item = &'a Judged>,
    first: impl Fn(&Judged) -> Cause,
    second: impl Fn(&Judged) -> Option<Cause>,
) -> CauseFigures {
    let cases: Vec<&Judged> = cases.collect();
    let pairs: Vec<(Cause, Cause)> = cases.iter().map(|case| (first(case), case.labels.cause)).collect();
    let right = pairs.iter().filter(|(told, truth)| told == truth).count();
    let in_two =
        cases.iter().filter(|case| first(case) == case.labels.cause || second(case) == Some(case.labels.cause)).count();
    CauseFigures {
        cause_right: Share::high(right, cases.len()),
        cause_in_two: Share::high(in_two, cases.len()),
        macro_f1: macro_f1(&pairs),
    }
}

fn group(name: &str, cases: &[&Judged]) -> GroupFigures {
    let cases_again = || cases.iter().copied();
    let detection = detection(cases_again(), |case| case.outcome.log_witness, |case| case.outcome.log_score);
    let told = causes(cases_again(), |case| case.outcome.cause, |case| case.outcome.second_cause);
    GroupFigures {
        group: name.to_owned(),
        cases: cases.len(),
        false_witnesses: detection.false_witnesses,
        recall: detection.recall,
        cause_right: told.cause_right,
    }
}

impl Share {
    fn low(k: usize, n: usize) -> Self {
        Self { upper_95: Some(upper_bound(k, n)), ..Self::plain(k, n) }
    }

    fn high(k: usize, n: usize) -> Self {
        Self { lower_95: Some(lower_bound(k, n)), ..Self::plain(k, n) }
    }

    fn plain(k: usize, n: usize) -> Self {
        Self { k, n, rate: (n > 0).then(|| float(k) / float(n)), upper_95: None, lower_95: None }
    }
}

#[cfg(test)]
mod tests;
