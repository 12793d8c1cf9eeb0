//! The verdict in sentences. *No client.* It never says more than the judge said (P13).

use diagnosis::{Cause, CrashLoopReading, Decision, Probability, Veto, Witness};

use crate::incident::Incident;

/// Cause and how sure, in one sentence.
pub(super) fn sentence(incident: &Incident) -> String {
    let verdict = &incident.verdict;
    let calm = incident.evidence.crash_loop == CrashLoopReading::NotLooping;
    let who = incident.instance.as_ref().map_or("the node", |instance| instance.name.as_str());
    let because = incident.log.abstained().map(|why| format!(": {why}")).unwrap_or_default();
    match (verdict.cause, calm) {
        (Cause::Unknown, true) => format!("{who} does not crash-loop{because}."),
        (Cause::Unknown, false) => format!("Why {who} dies cannot be told{because}."),
        (cause, true) => format!(
            "{who} does not crash-loop now; its log {} {} ({}).",
            if verdict.probability < SURE_ENOUGH { "may show" } else { "shows" },
            cause.in_words(),
            likelihood(verdict.probability)
        ),
        (cause, false) => format!(
            "{who} {} dies of {} ({}).",
            adverb(verdict.probability),
            cause.in_words(),
            likelihood(verdict.probability)
        ),
    }
}

const SURE_ENOUGH: Probability = Probability::from_thousandths(700);

fn adverb(probability: Probability) -> &'static str {
    match probability.thousandths() {
        900.. => "almost certainly",
        700..900 => "probably",
        400..700 => "perhaps",
        _ => "conceivably",
    }
}

fn likelihood(probability: Probability) -> String {
    format!("probability {probability}")
}

/// What may be done, and why not the other.
pub(super) fn decision(incident: &Incident) -> Vec<String> {
    let verdict = &incident.verdict;
    let mut said = Vec::new();
    if let Some(other) = verdict.other_cause {
        said.push(format!("It could also be {}.", other.in_words()));
    }
    let reason = verdict.row.reason();
    said.push(match verdict.decision {
        Decision::Restore => format!("Decision: restore, because {reason}."),
        Decision::Propose => format!("Decision: propose a restore to a human, because {reason}."),
        Decision::Hold => format!("Decision: hold, nothing is to be restored now: {reason}{}.", vetoed(incident)),
    });
    said.push(witnesses(incident));
    said
}

fn vetoed(incident: &Incident) -> &'static str {
    if vetoes_of_concern(incident).is_empty() { "" } else { ", and a veto stands (below)" }
}

/// What forbids a restore. Whether the node may sign is of no concern where nobody thinks of its data.
pub(super) fn vetoes_of_concern(incident: &Incident) -> Vec<&Veto> {
    let verdict = &incident.verdict;
    let about_data =
        verdict.cause.is_local_damage() || !verdict.witnesses.is_empty() || verdict.decision != Decision::Hold;
    verdict.vetoes.iter().filter(|veto| about_data || !matches!(veto, Veto::MaySign(_))).collect()
}

fn witnesses(incident: &Incident) -> String {
    let named: Vec<&str> = incident
        .verdict
        .witnesses
        .iter()
        .map(|witness| match witness {
            Witness::Log => "the log (damage)",
            Witness::Disk => "the disk (damage)",
            Witness::Peers => "the siblings (the fault is local)",
        })
        .collect();
    let who = if named.is_empty() { "none".to_owned() } else { named.join(", ") };
    let silent = incident.log.no_testimony().map(|why| format!(" The log does not count: {why}.")).unwrap_or_default();
    format!("Witnesses of local damage: {who}.{silent}")
}
