//! What a container does when it is started: the node that follows its chain, or the crash that a story wants. *No client.*
//!
//! Decided anew at each start, from the volume, the image and the world, as a real process would: the same pod crashes on
//! a damaged volume and runs on another, whatever the operator believes about it.

mod node;

use std::{collections::BTreeMap, fmt};

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

pub(crate) use self::node::upgrade_end;
use self::node::{chain_of, init_container, node, plain_report, version_of};
use crate::{
    object::Fields,
    outside::{Chain, End, Run, VolumeContent},
};

/// One start of one container.
#[derive(Debug, Clone, Copy)]
pub struct Start<'s> {
    /// The pod.
    pub pod: &'s Value,
    /// The container's name.
    pub container: &'s str,
    /// The container, as the pod's spec has it.
    pub spec: &'s Value,
    /// Whether it runs before the others.
    pub is_init: bool,
    /// Its image.
    pub image: &'s str,
    /// How often it was started before, in this pod.
    pub restarts: u32,
    /// When.
    pub now: Timestamp,
    /// All chains, by ID.
    pub chains: &'s BTreeMap<String, Chain>,
}

/// Decides what a container does.
pub trait Program: Send {
    /// One start; the content is that of the first claim which the container mounts.
    fn start(&mut self, start: &Start<'_>, content: Option<&mut VolumeContent>) -> Run;

    /// The standard program, for stories that change how it behaves.
    fn as_chain_node(&mut self) -> Option<&mut ChainNode> {
        None
    }
}

/// Something besides its volume that ails a container.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ailment {
    /// It prints, and ends with this status and reason, so long after its start.
    Crash {
        /// How long after its start.
        after: SignedDuration,
        /// What it prints.
        log: Vec<String>,
        /// Its exit status.
        code: i32,
        /// `Error` or `OOMKilled`.
        reason: String,
    },
    /// It stays up, prints, and its height stands still.
    Stuck {
        /// What it prints.
        log: Vec<String>,
    },
}

impl Ailment {
    /// A crash of a process that prints and exits, one second after its start.
    #[must_use]
    pub fn crash(log: &str, code: i32) -> Self {
        Self::Crash {
            after: SignedDuration::from_secs(1),
            log: log.lines().map(str::to_owned).collect(),
            code,
            reason: if code == 0 { "Completed" } else { "Error" }.to_owned(),
        }
    }

    /// Killed for want of memory, so long after the start.
    #[must_use]
    pub fn out_of_memory(after: SignedDuration) -> Self {
        Self::Crash { after, log: Vec::new(), code: 137, reason: "OOMKilled".to_owned() }
    }
}

/// What ails whom, and how often still.
#[derive(Debug, Clone)]
struct Case {
    namespace: String,
    pod: String,
    container: String,
    /// Only with this image, if any.
    image: Option<String>,
    ailment: Ailment,
    times: u32,
}

/// What an inspector's Job is given to look at.
#[derive(Debug, Clone, Copy)]
pub struct Inspection<'i> {
    /// The start of its container.
    pub start: Start<'i>,
    /// What is on the volume; nothing where none is mounted.
    pub content: Option<&'i VolumeContent>,
}

/// What an inspector's Job prints.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// Its log.
    pub lines: Vec<String>,
    /// Its exit status.
    pub exit_code: i32,
    /// How long it takes.
    pub takes: SignedDuration,
}

type Inspector = Box<dyn FnMut(&Inspection<'_>) -> Report + Send>;

/// The standard program: nodes of chains, their init containers and side-cars, and inspectors.
pub struct ChainNode {
    cases: Vec<Case>,
    inspector: Inspector,
}

impl fmt::Debug for ChainNode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChainNode").field("cases", &self.cases).finish_non_exhaustive()
    }
}

impl Default for ChainNode {
    fn default() -> Self {
        Self { cases: Vec::new(), inspector: Box::new(plain_report) }
    }
}

/// Names of side-cars that stay up whatever the node does.
const SIDE_CARS: [&str; 2] = ["healthcheck", "version-check-interval"];
/// The label by which a pod says which chain its node follows.
pub(crate) const CHAIN_LABEL: &str = "simcluster/chain";

impl ChainNode {
    /// Lets something ail a container at its next starts.
    pub(crate) fn ail(
        &mut self,
        namespace: &str,
        pod: &str,
        container: &str,
        image: Option<&str>,
        ailment: Ailment,
        times: u32,
    ) {
        self.cases.push(Case {
            namespace: namespace.to_owned(),
            pod: pod.to_owned(),
            container: container.to_owned(),
            image: image.map(str::to_owned),
            ailment,
            times,
        });
    }

    /// Takes away whatever ails a pod.
    pub(crate) fn heal(&mut self, namespace: &str, pod: &str) {
        self.cases.retain(|case| case.namespace != namespace || case.pod != pod);
    }

    /// Says what inspectors print.
    pub(crate) fn inspect_by(&mut self, inspector: Inspector) {
        self.inspector = inspector;
    }

    fn ailing(&mut self, start: &Start<'_>) -> Option<Run> {
        let case = self.cases.iter_mut().find(|case| {
            case.times > 0
                && case.namespace == start.pod.namespace()
                && case.pod == start.pod.name()
                && case.container == start.container
                && case.image.as_ref().is_none_or(|image| image == start.image)
        })?;
        case.times -= 1;
        Some(match &case.ailment {
            Ailment::Crash { after, log, code, reason } => {
                let mut run = Run::ending(*after, *code, log);
                run.ends = Some(End { after: *after, code: *code, reason: reason.clone() });
                run
            }
            Ailment::Stuck { log } => Run {
                lines: log.iter().map(|line| (SignedDuration::from_secs(1), line.clone())).collect(),
                ready_after: None,
                rpc_after: Some(SignedDuration::from_secs(2)),
                version: version_of(start.image),
                ..Run::forever()
            },
        })
    }
}

impl Program for ChainNode {
    fn start(&mut self, start: &Start<'_>, content: Option<&mut VolumeContent>) -> Run {
        if let Some(mut run) = self.ailing(start) {
            run.chain = content.and_then(|content| content.chain.clone()).or_else(|| chain_of(start));
            return run;
        }
        if start.pod.items("/metadata/ownerReferences").iter().any(|owner| owner.text("/kind") == "Job") {
            let report = (self.inspector)(&Inspection { start: *start, content: content.as_deref() });
            return Run::ending(report.takes, report.exit_code, &report.lines);
        }
        let damage = content.as_ref().and_then(|content| content.damage.clone());
        let listed = |names: &[String]| names.iter().any(|name| name == start.container);
        let runs_the_node = !start.is_init && !SIDE_CARS.contains(&start.container);
        if let Some(damage) = damage
            && (listed(&damage.containers) || runs_the_node)
        {
            let mut run = Run::ending(damage.after, damage.exit_code, &damage.log);
            run.stop.code = damage.exit_code;
            return run;
        }
        if start.is_init {
            return init_container(start, content);
        }
        match content {
            Some(content) if runs_the_node => node(start, content),
            _ => Run::forever(),
        }
    }

    fn as_chain_node(&mut self) -> Option<&mut ChainNode> {
        Some(self)
    }
}
