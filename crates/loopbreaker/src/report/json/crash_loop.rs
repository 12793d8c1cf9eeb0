//! Crash-loop facts for scripts. *No client.*

use diagnosis::{ContainerFacts, ContainerRole, ContainerState, CrashLoop, CrashLoopReading, LastRun, Observation};
use serde::Serialize;

use crate::{incident::Incident, words::clean};

#[derive(Serialize)]
pub(super) struct CrashLoopJson {
    detected: bool,
    container: Option<String>,
    role: Option<&'static str>,
    /// Of a node that does not crash-loop: its restart count, which may be an old story.
    crashes: u32,
    exit_code: Option<i32>,
    signal: Option<i32>,
    reason: Option<String>,
    ran_seconds: Option<u64>,
    finished_at: Option<String>,
    back_off_seconds: Option<u64>,
    rate: Option<RateJson>,
    onset: Option<String>,
    counted_since: Option<String>,
    /// Why it cannot be told whether it crash-loops.
    unclear: Option<String>,
    containers: Vec<ContainerJson>,
}

#[derive(Serialize)]
struct RateJson {
    crashes: u32,
    seconds: u64,
}

#[derive(Serialize)]
struct ContainerJson {
    name: String,
    role: &'static str,
    state: &'static str,
    waiting_for: Option<String>,
    ready: bool,
    restarts: u32,
    exit_code: Option<i32>,
    image: String,
}

impl CrashLoopJson {
    /// None where no pod object was given.
    pub(super) fn of(incident: &Incident) -> Option<Self> {
        let containers = incident.pod.iter().flat_map(|pod| &pod.containers).map(container).collect();
        match &incident.evidence.crash_loop {
            CrashLoopReading::NotRead => None,
            CrashLoopReading::Looping(found) => Some(Self::looping(found, containers)),
            CrashLoopReading::NotLooping => Some(Self::calm(incident.pod.as_ref(), None, containers)),
            CrashLoopReading::Unclear(why) => Some(Self::calm(incident.pod.as_ref(), Some(clean(why)), containers)),
        }
    }

    fn looping(found: &CrashLoop, containers: Vec<ContainerJson>) -> Self {
        Self {
            detected: true,
            container: Some(clean(found.container.as_str())),
            role: Some(role(found.role)),
            crashes: found.crashes,
            back_off_seconds: found.back_off.map(|back_off| back_off.seconds),
            rate: found.rate.map(|rate| RateJson { crashes: rate.crashes, seconds: rate.seconds }),
            onset: found.onset.map(|time| time.to_string()),
            counted_since: found.counted_since.map(|time| time.to_string()),
            unclear: None,
            containers,
            ..Self::ended(found.last_run.as_ref())
        }
    }

    fn calm(pod: Option<&Observation>, unclear: Option<String>, containers: Vec<ContainerJson>) -> Self {
        let node = pod.and_then(Observation::node_container);
        Self {
            container: node.map(|node| clean(node.name.as_str())),
            role: node.map(|node| role(node.role)),
            crashes: node.map_or(0, |node| node.restarts),
            unclear,
            containers,
            ..Self::ended(node.and_then(|node| node.last_run.as_ref()))
        }
    }

    /// What the last finished run tells; everything else empty.
    fn ended(run: Option<&LastRun>) -> Self {
        Self {
            detected: false,
            container: None,
            role: None,
            crashes: 0,
            exit_code: run.map(|run| run.exit.code),
            signal: run.and_then(|run| run.exit.signal),
            reason: run.map(|run| clean(&run.reason)).filter(|reason| !reason.is_empty()),
            ran_seconds: run.and_then(LastRun::seconds),
            finished_at: run.and_then(|run| run.finished).map(|time| time.to_string()),
            back_off_seconds: None,
            rate: None,
            onset: None,
            counted_since: None,
            unclear: None,
            containers: Vec::new(),
        }
    }
}

fn container(facts: &ContainerFacts) -> ContainerJson {
    let (state, waiting_for) = match &facts.state {
        ContainerState::Unknown => ("unknown", None),
        ContainerState::Waiting { reason, .. } => ("waiting", Some(clean(reason))),
        ContainerState::Running { .. } => ("running", None),
        ContainerState::Terminated => ("terminated", None),
    };
    ContainerJson {
        name: clean(facts.name.as_str()),
        role: role(facts.role),
        state,
        waiting_for,
        ready: facts.ready,
        restarts: facts.restarts,
        exit_code: facts.last_run.as_ref().map(|run| run.exit.code),
        image: clean(&facts.image),
    }
}

fn role(role: ContainerRole) -> &'static str {
    match role {
        ContainerRole::Node => "node",
        ContainerRole::SideCar => "side_car",
        ContainerRole::Init => "init",
        ContainerRole::VersionCheck => "version_check",
    }
}
