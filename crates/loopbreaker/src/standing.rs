//! What a replica does at the moment, and what Kubernetes itself says of it. *No client.* Facts of the objects only; the
//! sentences are the report's.

use diagnosis::{
    Cause, ContainerFacts, ContainerRole, ContainerState, CrashLoopReading, DiskReading, Evidence, LogAbstention,
    LogReading, Memory, Observation, Row, Testimony, Verdict,
};

use crate::incident::Incident;
use crashlog::read;

/// Kubernetes' own word for the cause, where the verdict rests on it and not on a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct KubernetesWord {
    /// Of which container.
    pub(crate) container: String,
    /// Where in its status: `state.waiting` or `lastState.terminated`.
    pub(crate) place: &'static str,
    /// `ImagePullBackOff`, `OOMKilled` …
    pub(crate) reason: String,
    /// The sentence beside it.
    pub(crate) message: Option<String>,
    /// The image that the container asks for.
    pub(crate) image: String,
    /// The exit code of a run that ended.
    pub(crate) exit_code: Option<i32>,
    /// Whether the container could not even be started.
    pub(crate) cannot_start: bool,
}

impl KubernetesWord {
    /// None where a log names the same cause, or where the objects say nothing of it.
    pub(crate) fn of(evidence: &Evidence, verdict: &Verdict, pod: Option<&Observation>) -> Option<Self> {
        if read(&evidence.log).is_some_and(|opinion| opinion.cause == verdict.cause) {
            return None;
        }
        let mut own = own_containers(pod);
        let failure = evidence.circumstances.start_failure.as_ref().filter(|failure| failure.cause == verdict.cause);
        if let Some(failure) = failure {
            return own.find_map(|container| {
                Self::waiting(container, &failure.reason).or_else(|| Self::ended(container, &failure.reason, true))
            });
        }
        let killed = verdict.cause == Cause::Oom && evidence.circumstances.memory == Memory::OomKilled;
        if killed { own.find_map(|container| Self::ended(container, "OOMKilled", false)) } else { None }
    }

    fn waiting(container: &ContainerFacts, wanted: &str) -> Option<Self> {
        let ContainerState::Waiting { reason, message, .. } = &container.state else { return None };
        (reason == wanted).then(|| Self {
            container: container.name.to_string(),
            place: "state.waiting",
            reason: reason.clone(),
            message: message.clone(),
            image: container.image.clone(),
            exit_code: None,
            cannot_start: true,
        })
    }

    fn ended(container: &ContainerFacts, wanted: &str, cannot_start: bool) -> Option<Self> {
        let run = container.last_run.as_ref().filter(|run| run.reason == wanted)?;
        Some(Self {
            container: container.name.to_string(),
            place: if container.state == ContainerState::Terminated {
                "state.terminated"
            } else {
                "lastState.terminated"
            },
            reason: run.reason.clone(),
            message: run.message.clone(),
            image: container.image.clone(),
            exit_code: Some(run.exit.code),
            cannot_start,
        })
    }
}

/// The containers that the node cannot run without.
fn own_containers(pod: Option<&Observation>) -> impl Iterator<Item = &ContainerFacts> {
    pod.into_iter().flat_map(|pod| &pod.containers).filter(|container| container.role != ContainerRole::SideCar)
}

/// Fewer restarts are no pattern.
const RESTARTS_MIN: u32 = 3;

impl Incident {
    /// The node's container, where it runs at the moment.
    pub(crate) fn running_node(&self) -> Option<&ContainerFacts> {
        let node = self.pod.as_ref()?.node_container()?;
        matches!(node.state, ContainerState::Running { .. }).then_some(node)
    }

    /// A node that runs, and whose log ends as that of one that was stopped.
    pub(crate) fn was_stopped(&self) -> bool {
        let no_witness = read(&self.evidence.log).is_none_or(|opinion| opinion.testimony != Testimony::Witness);
        self.evidence.crash_loop == CrashLoopReading::NotLooping
            && no_witness
            && !self.verdict.cause.is_local_damage()
            && self.running_node().is_some_and(|node| node.ready && node.restarts < RESTARTS_MIN)
            && self.log.files.last().is_some_and(|file| file.ends_in_stop)
    }

    /// Nothing was found wrong on the disk, if anybody looked.
    fn disk_is_silent(&self) -> bool {
        matches!(self.evidence.disk, DiskReading::NotRead | DiskReading::Intact { .. })
    }

    /// Why this is the decision, in one sentence.
    pub(crate) fn reason(&self) -> &'static str {
        let nobody_looked = matches!(self.evidence.disk, DiskReading::NotRead);
        match self.verdict.row {
            // Log and siblings may both have testified: what is missing is the disk.
            Row::AnythingElse if nobody_looked && self.verdict.witnesses.len() > 1 => {
                "the disk was not read, and without it nothing is restored"
            }
            row => row.reason(),
        }
    }

    /// Nothing is wrong with the node itself: nobody has to look for anything.
    pub(crate) fn is_well(&self) -> bool {
        let silent = matches!(self.evidence.log, LogReading::NotRead | LogReading::Abstained(LogAbstention::NoFailure));
        let never_restarted = self.evidence.crash_loop == CrashLoopReading::NotLooping
            && self.verdict.cause == Cause::Unknown
            && silent
            && self.running_node().is_some_and(|node| node.restarts == 0);
        self.disk_is_silent() && (never_restarted || self.was_stopped())
    }

    /// Side-cars that die again and again.
    pub(crate) fn sick_side_cars(&self) -> Vec<&ContainerFacts> {
        let dies = |container: &&ContainerFacts| {
            container.role == ContainerRole::SideCar
                && (container.restarts >= RESTARTS_MIN
                    || matches!(&container.state, ContainerState::Waiting { reason, .. } if reason == "CrashLoopBackOff"))
        };
        self.pod.iter().flat_map(|pod| &pod.containers).filter(dies).collect()
    }
}
