//! What a container does when it is started: the node that follows its chain, or the crash that a story wants. *No client.*
//!
//! Decided anew at each start, from the volume, the image and the world, as a real process would: the same pod crashes on
//! a damaged volume and runs on another, whatever the operator believes about it.

use std::{collections::BTreeMap, fmt};

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use crate::{
    object::Fields,
    outside::{Chain, Course, End, Run, Stop, VolumeContent},
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
/// How many blocks a second a node behind its chain catches up.
const CATCH_UP: u64 = 100;
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

fn init_container(start: &Start<'_>, content: Option<&mut VolumeContent>) -> Run {
    let quick = SignedDuration::from_millis(300);
    let Some(content) = content else { return Run::done_after(quick) };
    match start.container {
        "chain-init" => begin_from_genesis(start, content),
        "version-check" => {
            // Takes the next height and panics if the image is not the one for it (cosmos-operator, cmd/versioncheck.go).
            let next = content.height().saturating_add(1);
            let chain = content.chain.as_ref().and_then(|id| start.chains.get(id));
            if let Some(upgrade) = chain.and_then(|chain| chain.stops_at(start.image))
                && upgrade.height <= next
            {
                let line =
                    format!("panic: image mismatch for height {next}: want {}, have {}", upgrade.image, start.image);
                return Run::ending(quick, 2, &[line]);
            }
        }
        _ => {}
    }
    Run::done_after(quick)
}

/// A node that finds no database makes one: nothing stops it from starting at the first block.
fn begin_from_genesis(start: &Start<'_>, content: &mut VolumeContent) {
    if content.is_empty() {
        let chain = chain_of(start);
        *content = VolumeContent {
            identity: Some(start.pod.name().to_owned()),
            chain,
            heights: Some(crate::outside::Heights::default()),
            base: 1,
            marks: std::mem::take(&mut content.marks),
            ..VolumeContent::default()
        };
    }
}

/// The chain that a pod is for: by our label, by `--chain-id` on a command line, or the only one.
fn chain_of(start: &Start<'_>) -> Option<String> {
    let label = start.pod.label(CHAIN_LABEL);
    let lists = ["/spec/initContainers", "/spec/containers"];
    let arguments = lists
        .iter()
        .flat_map(|list| start.pod.items(list))
        .flat_map(|container| container.items("/args"))
        .filter_map(Value::as_str);
    let mut named = std::iter::once(label).chain(arguments).filter(|name| start.chains.contains_key(*name));
    named.next().map(str::to_owned).or_else(|| start.chains.keys().next().cloned())
}

fn node(start: &Start<'_>, content: &mut VolumeContent) -> Run {
    begin_from_genesis(start, content);
    let height = content.height();
    let Some(chain) = content.chain.as_ref().and_then(|id| start.chains.get(id)) else { return Run::forever() };
    let quick = SignedDuration::from_secs(1);
    if let Some(upgrade) = chain.too_new(height, start.image) {
        let line = format!(
            "panic: BINARY UPDATED BEFORE TRIGGER! UPGRADE \"{}\" - in binary but not executed on chain. Downgrade your binary",
            upgrade.name
        );
        return Run::ending(quick, 2, &[line]);
    }
    let mut run = Run {
        lines: vec![
            (
                SignedDuration::ZERO,
                format!(
                    "INF starting node with ABCI CometBFT in-process module=server version={}",
                    version_of(start.image)
                ),
            ),
            (
                quick,
                format!(
                    "INF Completed ABCI Handshake - CometBFT and App are synced appHash={height:08X} appHeight={height} module=consensus"
                ),
            ),
        ],
        ready_after: Some(SignedDuration::from_secs(3)),
        rpc_after: Some(SignedDuration::from_secs(2)),
        course: Course::Following { catch_up: CATCH_UP },
        version: version_of(start.image),
        chain: Some(chain.id.clone()),
        stop: Stop {
            after: SignedDuration::from_secs(1),
            code: 0,
            lines: vec!["INF caught signal module=server signal=terminated".to_owned()],
        },
        ..Run::forever()
    };
    if let Some(end) = upgrade_end(chain, height, start.image, start.now) {
        run.lines.push((end.0.after, end.1));
        run.ends = Some(end.0);
    }
    run
}

/// How and when a node with this image stops for the next upgrade.
pub(crate) fn upgrade_end(chain: &Chain, from: u64, image: &str, now: Timestamp) -> Option<(End, String)> {
    let upgrade = chain.stops_at(image)?;
    let behind = i64::try_from(upgrade.height.saturating_sub(from) / CATCH_UP).unwrap_or(i64::MAX);
    let reached = chain.time_of(upgrade.height)?.duration_since(now).max(SignedDuration::from_secs(behind.max(1)));
    let line = format!("ERR UPGRADE \"{}\" NEEDED at height: {}:  module=x/upgrade", upgrade.name, upgrade.height);
    Some((End { after: reached, code: 2, reason: "Error".to_owned() }, line))
}

fn version_of(image: &str) -> String {
    image.rsplit_once(':').map_or_else(|| "0".to_owned(), |(_, tag)| tag.to_owned())
}

/// What an inspector prints if a story does not say: the facts in one line of JSON.
fn plain_report(inspection: &Inspection<'_>) -> Report {
    let facts = inspection.content.map_or(Value::Null, |content| {
        json!({
            "identity": content.identity, "chain": content.chain, "height": content.heights.map(|heights| heights.application),
            "damage": content.damage.as_ref().map(|damage| damage.part.clone()),
        })
    });
    Report { lines: vec![facts.to_string()], exit_code: 0, takes: SignedDuration::from_secs(5) }
}
