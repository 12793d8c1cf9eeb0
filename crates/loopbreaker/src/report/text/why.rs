//! The verdict in sentences. *No client.* It never says more than the judge said (P13).

use diagnosis::{Cause, CrashLoopReading, Decision, Probability, Veto, Witness};

use crate::{incident::Incident, standing::KubernetesWord, words::rounded};

/// Cause and how sure, in one sentence.
pub(super) fn sentence(incident: &Incident) -> String {
    let verdict = &incident.verdict;
    let calm = incident.evidence.crash_loop == CrashLoopReading::NotLooping;
    let who = incident.instance.as_ref().map_or("the node", |instance| instance.name.as_str());
    let because = incident.log.abstained().map(|why| format!(": {why}")).unwrap_or_default();
    if incident.was_stopped() {
        return format!("{who} runs: its log ends as that of a node that was stopped, which is no crash.");
    }
    if let Some(word) = &incident.word {
        return by_kubernetes(who, incident, word);
    }
    match (verdict.cause, calm) {
        (Cause::Unknown, true) => self::calm(who, incident),
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

/// The cause by Kubernetes' own word; no log is cited that nobody read.
fn by_kubernetes(who: &str, incident: &Incident, word: &KubernetesWord) -> String {
    let cause = incident.verdict.cause.in_words();
    let source = format!("Kubernetes itself says {}, {}", word.reason, likelihood(incident.verdict.probability));
    if word.cannot_start {
        format!("{who} cannot start because of {cause} ({source}).")
    } else if incident.evidence.crash_loop == CrashLoopReading::NotLooping {
        format!("{who} does not crash-loop now; its last run died of {cause} ({source}).")
    } else {
        format!("{who} {} dies of {cause} ({source}).", adverb(incident.verdict.probability))
    }
}

/// A node that does not crash-loop, for no known cause.
fn calm(who: &str, incident: &Incident) -> String {
    if let Some(pod) = incident.pod.as_ref().filter(|pod| pod.ended_by_kubelet()) {
        let reason = pod.reason.as_deref().unwrap_or_default();
        return format!("{who} does not crash-loop: Kubernetes ended the whole pod ({reason}).");
    }
    if let Some(node) = incident.running_node().filter(|node| node.restarts > 0) {
        let times = if node.restarts == 1 { "once".to_owned() } else { format!("{} times", node.restarts) };
        return format!("{who} runs at the moment, after its container {} restarted {times}.", node.name);
    }
    let side_cars: Vec<String> = incident
        .sick_side_cars()
        .into_iter()
        .map(|side_car| format!("{} ({} restarts)", side_car.name, side_car.restarts))
        .collect();
    if !side_cars.is_empty() {
        return format!("{who} does not crash-loop; beside the node, this does: {}.", side_cars.join(", "));
    }
    let silent = incident.log.abstained().filter(|_| !incident.log.files.is_empty());
    silent.map_or_else(|| format!("{who} does not crash-loop."), |why| format!("{who} does not crash-loop; {why}."))
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
    format!("probability {}", rounded(probability))
}

/// What may be done, and why not the other.
pub(super) fn decision(incident: &Incident) -> Vec<String> {
    let verdict = &incident.verdict;
    let mut said = Vec::new();
    if let Some(other) = verdict.other_cause {
        said.push(format!("It could also be {}.", other.in_words()));
    }
    let reason = incident.reason();
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
