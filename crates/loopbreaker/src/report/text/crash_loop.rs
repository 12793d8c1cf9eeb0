//! Crash-loop facts for people. *No client.*

use std::fmt::Write as _;

use diagnosis::{ContainerFacts, ContainerRole, ContainerState, CrashLoop, CrashLoopReading, Observation};

use crate::{
    incident::Incident,
    report::page::{FAINT, Page},
    words::duration,
};

/// The facts of the pod objects in a few sentences.
pub(super) fn show(page: &mut Page, incident: &Incident) {
    match &incident.evidence.crash_loop {
        CrashLoopReading::NotRead => return,
        CrashLoopReading::Unclear(why) => {
            page.heading("Crash loop");
            page.paragraph(&format!("It cannot be told whether it crash-loops: {why}."));
        }
        CrashLoopReading::NotLooping => {
            page.heading("Crash loop");
            page.paragraph(&calm(incident));
        }
        CrashLoopReading::Looping(found) => {
            page.heading("Crash loop");
            let runs = incident.running_node().is_some_and(|node| node.name == found.container);
            page.paragraph(&facts(found));
            if runs {
                page.paragraph("It runs at the moment; whether it stays up, a later look tells.");
            }
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

/// What a node that does not crash-loop does.
fn calm(incident: &Incident) -> String {
    let Some(node) = incident.running_node().filter(|node| node.restarts > 0) else {
        return "None: no container died three times without progress in between.".to_owned();
    };
    let times = if node.restarts == 1 { "once".to_owned() } else { format!("{} times", node.restarts) };
    let mut said = format!("Container {} restarted {times}", node.name);
    if let Some(run) = &node.last_run {
        let ran = run.seconds().map_or_else(|| "of unknown length".to_owned(), duration);
        let _ = write!(said, "; last run {ran}, exit {}", run.exit.code);
        if !matches!(run.reason.as_str(), "" | "Error") {
            let _ = write!(said, ", {}", run.reason);
        }
    }
    let since = match node.state {
        ContainerState::Running { since: Some(since) } => format!(" since {since}"),
        _ => String::new(),
    };
    let _ = write!(said, ". It runs at the moment{since}; whether it stays up, a later look tells.");
    said
}

/// Kubernetes' own word as the fact that decides.
pub(super) fn by_kubernetes(page: &mut Page, incident: &Incident) {
    let Some(word) = &incident.word else { return };
    page.heading("What Kubernetes says");
    let exit = word.exit_code.map(|code| format!(", exit {code}")).unwrap_or_default();
    page.styled(FAINT, "  ", "  ", &format!("container {}, {}: {}{exit}", word.container, word.place, word.reason));
    if let Some(message) = &word.message {
        page.quote(&message.replace(['\n', '\t'], " "), &(0..0), 3);
    }
    if word.cannot_start && !word.message.as_ref().is_some_and(|message| message.contains(&word.image)) {
        page.paragraph(&format!("Its image is {}.", word.image));
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
        let _ = write!(said, "; last run {ran}, exit {}{signal}", run.exit.code);
        if !matches!(run.reason.as_str(), "" | "Error") {
            let _ = write!(said, ", {}", run.reason);
        }
    }
    if let Some(back_off) = found.back_off {
        let _ = write!(said, "; back-off {}", duration(back_off.seconds));
    }
    if let Some(rate) = found.rate.filter(|rate| rate.crashes > 0) {
        let _ = write!(said, "; {} crashes within {}", rate.crashes, duration(rate.seconds));
    }
    said.push('.');
    if let Some(onset) = found.onset {
        let _ = write!(said, " Earliest crash seen: {onset}.");
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
            let restarts = match container.restarts {
                0 => String::new(),
                1 => ", 1 restart".to_owned(),
                restarts => format!(", {restarts} restarts"),
            };
            said.push(format!("{} {}{restarts}", container.name, doing(container)));
        }
    }
    if !completed.is_empty() {
        said.push(format!("init containers completed: {}", completed.join(", ")));
    }
    if said.is_empty() {
        String::new()
    } else {
        format!("{}: {}.", if dying.is_some() { "Beside it" } else { "Containers" }, said.join("; "))
    }
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
