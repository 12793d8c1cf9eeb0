//! A handful of cases whose figures can be told by hand.

use super::*;
use crate::{DecisiveLabel, PhrasesOnly, RestoreFixes, ShownLine};

fn case(
    group: &str,
    witness: bool,
    score: f64,
    told: Cause,
    truth: Cause,
    fixes: RestoreFixes,
) -> (Outcome, Baselines, Labels) {
    let outcome = Outcome {
        id: "x".to_owned(),
        cause: told,
        probability: 0.5,
        log_witness: witness,
        log_score: score,
        decision: "hold",
        abstained: None,
        second_cause: Some(Cause::Oom),
        lines: vec![ShownLine { line: 7, text: "panic: x".to_owned() }],
    };
    let baselines =
        Baselines { keywords: true, k8sgpt: false, phrases: PhrasesOnly { flagged: witness, score, cause: told } };
    (outcome, baselines, Labels { group: group.to_owned(), cause: truth, restore_fixes: fixes, decisive: Vec::new() })
}

fn evaluation() -> Evaluation {
    use Cause::{DiskFull, OtherBug, PhysicalCorruption};
    use RestoreFixes::{No, Unknown, Yes};
    let mut evaluation = Evaluation::default();
    for (outcome, baselines, labels) in [
        case("a", true, 2.0, PhysicalCorruption, PhysicalCorruption, Yes),
        case("a", false, 0.5, DiskFull, PhysicalCorruption, Yes),
        case("b", false, 1.0, DiskFull, DiskFull, No),
        case("b", true, -1.0, PhysicalCorruption, Cause::Oom, Unknown),
        case("b", false, -2.0, OtherBug, OtherBug, No),
    ] {
        evaluation.add(outcome, baselines, labels);
    }
    evaluation
}

#[test]
fn shares_are_counted_with_unknown_as_negative() {
    let summary = evaluation().summary();
    assert_eq!((summary.detection.false_witnesses.k, summary.detection.false_witnesses.n), (1, 3));
    assert_eq!((summary.detection.recall.k, summary.detection.recall.n), (1, 2));
    assert_eq!(summary.detection.recall_at_false, RecallAt { none: Some(0.5), one: Some(1.0), three: Some(1.0) });
    assert_eq!(format!("{:.3}", summary.detection.auc.expect("both kinds")), "0.833");
    assert_eq!((summary.cause.cause_right.k, summary.cause.cause_in_two.k, summary.cause.cause_right.n), (3, 4, 5));
    assert_eq!(summary.decisions, BTreeMap::from([("restore", 0), ("propose", 0), ("hold", 5)]));
}

#[test]
fn groups_and_baselines_are_told_apart() {
    let summary = evaluation().summary();
    let groups: Vec<_> =
        summary.by_group.iter().map(|it| (it.group.as_str(), it.cases, it.recall.k, it.false_witnesses.k)).collect();
    assert_eq!(groups, [("a", 2, 1, 0), ("b", 3, 0, 1)]);
    assert_eq!((summary.baselines.keywords.false_witnesses.k, summary.baselines.keywords.recall.k), (3, 2));
    assert_eq!(summary.baselines.keywords.auc, Some(0.5));
    assert_eq!((summary.baselines.k8sgpt.false_witnesses.k, summary.baselines.k8sgpt.recall.k), (0, 0));
}

#[test]
fn decisive_lines_count_only_where_marked() {
    assert_eq!(evaluation().summary().decisive_line_hits, None);
    let mut evaluation = evaluation();
    for (number, case) in evaluation.cases.iter_mut().take(2).enumerate() {
        case.labels.decisive = vec![DecisiveLabel::Number(if number == 0 { 7 } else { 8 })];
    }
    let hits = evaluation.summary().decisive_line_hits.expect("two are marked");
    assert_eq!((hits.first.k, hits.first.n, hits.in_three.k), (1, 2, 1));
}

#[test]
fn no_case_is_no_figure() {
    let summary = Evaluation::default().summary();
    assert_eq!((summary.detection.auc, summary.cause.macro_f1, summary.detection.recall.rate), (None, None, None));
    assert_eq!(summary.detection.false_witnesses.upper_95, Some(1.0));
}
