//! What was said about one case. *No IO.*

use crashlog::{Finding, explain::decisive_lines};
use diagnosis::{Cause, Evidence, LogReading, Policy, Testimony, Verdict, judge};
use serde::Serialize;

/// What was said about one case; serialised it is the line that `evaluate` prints.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Outcome {
    /// The case.
    pub id: String,
    /// The verdict's cause.
    pub cause: Cause,
    /// How probable it is.
    pub probability: f64,
    /// Whether the log alone counts as a witness of local damage.
    pub log_witness: bool,
    /// Higher = rather local damage.
    pub log_score: f64,
    /// `restore`, `propose` or `hold`.
    pub decision: &'static str,
    /// Why the log said nothing.
    pub abstained: Option<String>,
    /// The second guess at the cause.
    #[serde(skip)]
    pub second_cause: Option<Cause>,
    /// The lines that were shown, the decisive one first.
    #[serde(skip)]
    pub lines: Vec<ShownLine>,
}

/// A line that was shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownLine {
    /// Its number, from 1.
    pub line: u64,
    /// Its text.
    pub text: String,
}

/// Lines of an outcome that are compared with the marked ones.
const LINES: usize = 3;

impl Outcome {
    /// What was said about an incident. `finding` is that of the log whose word was taken; an empty log's where there is none.
    #[must_use]
    pub fn new(id: String, evidence: &Evidence, verdict: &Verdict, finding: &Finding) -> Self {
        let second_cause = finding.causes.iter().map(|(cause, _)| *cause).find(|cause| *cause != verdict.cause);
        Self {
            id,
            cause: verdict.cause,
            probability: verdict.probability.as_f64(),
            log_witness: matches!(&evidence.log, LogReading::Read(opinion)
                if opinion.testimony == Testimony::Witness && opinion.cause.is_local_damage()),
            log_score: finding.damage_score,
            decision: verdict.decision.as_str(),
            abstained: match &evidence.log {
                LogReading::NotRead => Some("no log was given".to_owned()),
                LogReading::Abstained(why) => Some(why.in_words().to_owned()),
                LogReading::Read(_) => None,
            },
            second_cause,
            lines: decisive_lines(finding, LINES)
                .into_iter()
                .map(|line| ShownLine { line: line.line, text: line.text })
                .collect(),
        }
    }

    /// What is said about a log by itself.
    #[must_use]
    pub fn of_log(id: String, finding: &Finding) -> Self {
        let evidence = Evidence { log: finding.reading.clone(), ..Evidence::default() };
        let verdict = judge(&evidence, &Policy::default());
        Self::new(id, &evidence, &verdict, finding)
    }
}
