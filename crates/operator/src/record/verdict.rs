//! The judge's answer as it is kept. *No client, no clock.* (P13, P14)

use api::{AdviceStep, Decision as Kept, VerdictReport, VetoReport};
use diagnosis::{Decision, Evidence, MissingFact, Verdict, Veto, Witness, advise};
use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use scene::KnownNames;

/// So many vetoes, questions and pieces of advice are kept, as the schema says.
const LIST_MAX: usize = 32;

/// The verdict and what to do next, with the replica's own names in the commands.
pub(crate) fn report(evidence: &Evidence, verdict: &Verdict, names: &KnownNames, now: Timestamp) -> VerdictReport {
    let advice = advise(evidence, verdict).into_iter().map(|step| AdviceStep {
        command: step.command.as_deref().map(|command| names.fill(command)),
        text: step.text,
    });
    VerdictReport {
        cause: verdict.cause.to_string(),
        probability_percent: percent(verdict),
        decision: kept(verdict.decision),
        reason: reason(verdict),
        witnesses: verdict.witnesses.iter().copied().map(Witness::as_str).map(str::to_owned).collect(),
        vetoes: verdict.vetoes.iter().take(LIST_MAX).map(veto).collect(),
        missing: verdict.missing.iter().take(LIST_MAX).map(|fact| question(fact, names)).collect(),
        advice: advice.take(LIST_MAX).collect(),
        judged: Time(now),
    }
}

pub(crate) fn kept(decision: Decision) -> Kept {
    match decision {
        Decision::Restore => Kept::Restore,
        Decision::Propose => Kept::Propose,
        Decision::Hold => Kept::Hold,
    }
}

/// The row of the table in one sentence, and what keeps its word from being the last.
fn reason(verdict: &Verdict) -> String {
    let row = verdict.row.reason();
    match (verdict.vetoes.as_slice(), verdict.unseen.as_slice()) {
        ([], []) => row.to_owned(),
        ([], unseen) => format!("{row}; nobody could look at {}", unseen.join(", ")),
        ([first], _) => format!("{row}; but {first}"),
        ([first, more @ ..], _) => format!("{row}; but {first}, and {} more", more.len()),
    }
}

fn percent(verdict: &Verdict) -> u8 {
    u8::try_from(verdict.probability.thousandths().saturating_add(5) / 10).unwrap_or(100).min(100)
}

fn question(fact: &MissingFact, names: &KnownNames) -> AdviceStep {
    AdviceStep { text: fact.question.to_owned(), command: Some(names.fill(fact.command)) }
}

fn veto(veto: &Veto) -> VetoReport {
    VetoReport { name: veto.word().to_owned(), text: veto.to_string() }
}
