//! What the verdict stands on, for people: crash-loop facts, decisive lines, reasons, siblings. *No client.*

use crashlog::{
    explain::{DecisiveLine, Reason, damage_reasons, decisive_lines, reasons},
    features::FeatureName,
    model::Model,
    nearest::nearest,
    phrases::{PHRASES, Polarity},
};
use diagnosis::{
    AppHashQuestion, Cause, ContainerFacts, ContainerRole, ContainerState, CrashLoop, CrashLoopReading, LogReading,
    Observation, Siblings,
};

use super::page::{FAINT, Page};
use crate::{
    incident::Incident,
    log_part::{Chosen, LogPart, read},
    words::duration,
};

/// The facts of the pod objects in a few sentences.
pub(super) fn crash_loop(page: &mut Page, incident: &Incident) {
    match &incident.evidence.crash_loop {
        CrashLoopReading::NotRead => return,
        CrashLoopReading::Unclear(why) => {
            page.heading("Crash loop");
            page.paragraph(&format!("It cannot be told whether it crash-loops: {why}."));
        }
        CrashLoopReading::NotLooping => {
            page.heading("Crash loop");
            page.paragraph("None: no container died three times without progress in between.");
        }
        CrashLoopReading::Looping(found) => {
            page.heading("Crash loop");
            page.paragraph(&facts(found));
        }
    }
    let Some(pod) = &incident.pod else { return };
    let others = others(pod, &incident.evidence.crash_loop);
    if !others.is_empty() {
        page.paragraph(&others);
    }
    let mut places = Vec::new();
    if let Some(owner) = &pod.owner {
        places.push(format!("owner {} {}", owner.kind, owner.name));
    }
    places.extend(pod.data_claim.as_ref().map(|claim| format!("claim {claim}")));
    places.extend(pod.node.as_ref().map(|node| format!("machine {node}")));
    places.extend(incident.chain_id.as_ref().map(|chain| format!("chain {chain}")));
    if !places.is_empty() {
        page.styled(FAINT, "  ", "  ", &places.join(", "));
    }
}

/// "Container node died 100 times; last run 3 m 47 s, exit 2; back-off 5 m."
fn facts(found: &CrashLoop) -> String {
    let init = match found.role {
        ContainerRole::Init | ContainerRole::VersionCheck => "Init container",
        ContainerRole::Node | ContainerRole::SideCar => "Container",
    };
    let times = if found.crashes == 1 { "time" } else { "times" };
    let mut said = format!("{init} {} died {} {times}", found.container, found.crashes);
    if let Some(run) = &found.last_run {
        let ran = run.seconds().map_or_else(|| "of unknown length".to_owned(), duration);
        let signal = run.exit.signal.map(|signal| format!(" (signal {signal})")).unwrap_or_default();
        said.push_str(&format!("; last run {ran}, exit {}{signal}", run.exit.code));
        if !matches!(run.reason.as_str(), "" | "Error") {
            said.push_str(&format!(", {}", run.reason));
        }
    }
    if let Some(back_off) = found.back_off {
        said.push_str(&format!("; back-off {}", duration(back_off.seconds)));
    }
    if let Some(rate) = found.rate.filter(|rate| rate.crashes > 0) {
        said.push_str(&format!("; {} crashes within {}", rate.crashes, duration(rate.seconds)));
    }
    said.push('.');
    if let Some(onset) = found.onset {
        said.push_str(&format!(" Earliest crash seen: {onset}."));
    }
    said
}

/// What the other containers do.
fn others(pod: &Observation, reading: &CrashLoopReading) -> String {
    let dying = match reading {
        CrashLoopReading::Looping(found) => Some(&found.container),
        _ => None,
    };
    let mut said: Vec<String> = Vec::new();
    let mut completed = Vec::new();
    for container in pod.containers.iter().filter(|container| Some(&container.name) != dying) {
        if is_init(container) && container.last_run.as_ref().is_some_and(|run| run.exit.code == 0) {
            completed.push(container.name.to_string());
        } else {
            said.push(format!("{} {}", container.name, doing(container)));
        }
    }
    if !completed.is_empty() {
        said.push(format!("init containers completed: {}", completed.join(", ")));
    }
    if said.is_empty() { String::new() } else { format!("Beside it: {}.", said.join("; ")) }
}

fn is_init(container: &ContainerFacts) -> bool {
    matches!(container.role, ContainerRole::Init | ContainerRole::VersionCheck)
}

fn doing(container: &ContainerFacts) -> String {
    match &container.state {
        ContainerState::Unknown => "shows no state".to_owned(),
        ContainerState::Waiting { reason, .. } if reason.is_empty() => "waits".to_owned(),
        ContainerState::Waiting { reason, .. } => format!("waits ({reason})"),
        ContainerState::Running { .. } if container.ready => "runs and is ready".to_owned(),
        ContainerState::Running { .. } => "runs but is not ready".to_owned(),
        ContainerState::Terminated => match &container.last_run {
            Some(run) => format!("has ended (exit {})", run.exit.code),
            None => "has ended".to_owned(),
        },
    }
}

/// Lines shown beside the one that decides.
const SUPPORTING_SHOWN: usize = 3;

/// What the logs say.
pub(super) fn log(page: &mut Page, incident: &Incident, explain: bool) {
    let log = &incident.log;
    page.heading("Log");
    if let Some(why) = log.abstained() {
        page.paragraph(&format!("It says nothing: {why}."));
    }
    for file in &log.files {
        if let Some(gap) = &file.gap {
            page.paragraph(&format!("{} is not complete: {gap}.", file.label));
        }
    }
    let Some(chosen) = &log.chosen else { return };
    let lines = decisive_lines(&chosen.finding, if explain { usize::MAX } else { 16 });
    let cause = read(&log.reading).map(|opinion| opinion.cause);
    let (counter, agreeing): (Vec<_>, Vec<_>) =
        lines.iter().partition(|line| cause.is_some_and(|cause| contradicts(line, cause)));
    let shown = if explain { usize::MAX } else { 1 + SUPPORTING_SHOWN };
    for line in agreeing.iter().take(shown) {
        quoted(page, &chosen.label, line, explain);
    }
    elsewhere(page, log, chosen, explain);
    if !counter.is_empty() {
        page.heading("Against it, in the log");
        for line in counter.iter().take(shown) {
            quoted(page, &chosen.label, line, explain);
        }
    }
    if let Some(cause) = cause {
        because(page, chosen, cause, explain);
    }
}

/// Whether a line speaks for another cause than the log's own.
fn contradicts(line: &DecisiveLine, cause: Cause) -> bool {
    line.phrase.is_some_and(|phrase| {
        let about_damage = matches!(phrase.polarity, Polarity::Damage(_));
        phrase.cause != cause && !phrase.also.contains(&cause) && about_damage != cause.is_local_damage()
    })
}

fn quoted(page: &mut Page, label: &str, line: &DecisiveLine, explain: bool) {
    let times = if line.repeats > 1 { format!(" ({} times)", line.repeats) } else { String::new() };
    page.styled(FAINT, "  ", "  ", &format!("{label}:{}{times}", line.line));
    page.quote(&line.text, &line.mark, if explain { usize::MAX } else { 3 });
}

/// The decisive line of each other log, so that a person sees where they differ.
fn elsewhere(page: &mut Page, log: &LogPart, chosen: &Chosen, explain: bool) {
    let others = log.files.iter().filter(|file| file.label != chosen.label);
    let shown = if explain { usize::MAX } else { SUPPORTING_SHOWN };
    for file in others.take(shown) {
        match (&file.reading, &file.decisive) {
            (LogReading::Read(_), Some(line)) => quoted(page, &file.label, line, explain),
            (LogReading::Abstained(why), _) => {
                page.styled(FAINT, "  ", "  ", &format!("{}: {}", file.label, why.in_words()));
            }
            _ => {}
        }
    }
}

/// Reasons for and against, and the nearest known case.
fn because(page: &mut Page, chosen: &Chosen, cause: Cause, explain: bool) {
    let model = Model::built_in();
    let of_cause = reasons(&chosen.finding, model, cause);
    let shown = if explain { usize::MAX } else { 3 };
    listed(page, "Reasons for it", &of_cause.for_it, shown);
    listed(page, "Reasons against it", &of_cause.against_it, shown);
    if explain {
        let of_damage = damage_reasons(&chosen.finding, model);
        listed(page, "Reasons for damage of its own data", &of_damage.for_it, shown);
        listed(page, "Reasons against damage of its own data", &of_damage.against_it, shown);
        page.heading("Every cause");
        for (cause, probability) in &chosen.finding.causes {
            page.paragraph(&format!("{probability}  {}", cause.in_words()));
        }
    }
    if let Some(nearest) = nearest(&chosen.finding.digest) {
        page.heading("Nearest known case");
        let percent = nearest.similarity_thousandths / 10;
        let case = nearest.case;
        page.paragraph(&format!("{} ({percent} % alike): {}. {}", case.id, case.cause.in_words(), case.about));
    }
}

fn listed(page: &mut Page, heading: &str, reasons: &[Reason], shown: usize) {
    if reasons.is_empty() {
        return;
    }
    page.heading(heading);
    for reason in reasons.iter().take(shown) {
        page.styled(
            anstyle::Style::new(),
            &format!("  {:+6.2}  ", reason.share),
            "          ",
            &in_words(&reason.name),
        );
    }
}

fn in_words(name: &FeatureName) -> String {
    match name {
        FeatureName::Phrase(id) => {
            let text = PHRASES.iter().find(|phrase| phrase.id == *id).map_or(*id, |phrase| phrase.text);
            format!("the message \"{text}\"")
        }
        FeatureName::PhraseKind(kind) => format!("a message of the kind: {}", kind.replace('_', " ")),
        FeatureName::Words(words) => format!("the words \"{words}\""),
        FeatureName::Frame(frame) => format!("the stack has {frame}"),
        FeatureName::Shape(shape) => format!(
            "the log {}",
            shape.strip_prefix("ends ").map_or_else(|| format!("has {shape}"), |rest| format!("ends {rest}"))
        ),
    }
}

/// What the other replicas do.
pub(super) fn peers(page: &mut Page, incident: &Incident) {
    let said = match &incident.evidence.siblings {
        Siblings::Unknown => return,
        Siblings::Halted { height } => format!("None that answered advances; they stand at block {height}."),
        Siblings::Advancing { count, height, app_hash } => {
            let image = match app_hash {
                AppHashQuestion::SameImagePasses => "; the identical image passes this replica's height",
                AppHashQuestion::SameImageDoesNot => "; but not with this replica's image",
                AppHashQuestion::Unknown => "",
            };
            let who = if *count == 1 { "One is" } else { "Several are" };
            format!("{who} ahead and advancing ({count}), up to block {height}{image}.")
        }
    };
    page.heading("Siblings");
    page.paragraph(&said);
}
