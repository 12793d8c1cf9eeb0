//! What the objects tell about everything around a replica. *No client.* Keeps P7 and P10: whatever they do not tell stays
//! `Unknown`.

use std::collections::BTreeMap;

use diagnosis::{
    Cause, Circumstances, ContainerFacts, ContainerRole, ContainerState, CrashLoop, CrashLoopReading, ImageFreshness,
    InstanceHistory, InstanceName, LastRun, Memory, Observation, OtherVictims, Owner, RevisionScope, RollOut,
    SigningRisk, StartFailure, UpgradePlan, Victims, Workload, detect,
};

use super::{Bundle, FullNode, node_health::node_health, note::one_line};

/// An upgrade that is due within so many blocks is at hand: at six seconds a block, ten minutes.
const UPGRADE_NEAR_BLOCKS: u64 = 100;

/// What the log of each replica names as the cause, for those whose log was read.
pub(crate) type LogCauses = BTreeMap<InstanceName, Cause>;

/// All that the bundle's objects tell about one replica.
pub(super) fn circumstances(bundle: &Bundle, history: &InstanceHistory, logs: &LogCauses) -> Circumstances {
    let latest = history.latest();
    let (victims, other_crash_loops) = victims(bundle, history, logs);
    Circumstances {
        upgrade: upgrade(bundle, latest),
        image: image(history),
        roll_out: roll_out(bundle, latest),
        victims,
        other_crash_loops,
        workload: workload(latest),
        memory: memory(latest),
        node: node_health(bundle, latest),
        signing: signing(bundle, latest),
        start_failure: start_failure(latest),
        ..Circumstances::default()
    }
}

/// The owner, where it is a `CosmosFullNode` of this bundle.
pub(super) fn full_node<'b>(bundle: &'b Bundle, pod: &Observation) -> Option<&'b FullNode> {
    let owner = pod.owner.as_ref().filter(|owner| owner.kind == "CosmosFullNode")?;
    // The newest of several prints; they stand in the order of their files.
    bundle
        .objects
        .full_nodes
        .iter()
        .rev()
        .find(|node| node.metadata.name == owner.name && node.metadata.namespace == pod.instance.namespace)
}

/// Cosmos-operator swaps the image when the height that a pod is to make next belongs to another version.
fn upgrade(bundle: &Bundle, pod: &Observation) -> UpgradePlan {
    let Some(owner) = full_node(bundle, pod).filter(|owner| !owner.spec.chain.versions.is_empty()) else {
        return UpgradePlan::Unknown;
    };
    let (Some(next), Some(node)) = (owner.status.height.get(&pod.instance.name).copied(), pod.node_container()) else {
        return UpgradePlan::Unknown;
    };
    let mut versions: Vec<_> = owner.spec.chain.versions.iter().collect();
    versions.sort_by_key(|version| version.height);
    let wanted = versions.iter().rev().find(|version| version.height <= next);
    if let Some(wanted) = wanted.filter(|wanted| wanted.image != node.image) {
        let (wanted, runs) = (one_line(&wanted.image), one_line(&node.image));
        return UpgradePlan::Due(format!("block {next} is to be made by {wanted}, the pod runs {runs}"));
    }
    let near = versions.iter().find(|version| version.height > next && version.height - next <= UPGRADE_NEAR_BLOCKS);
    near.map_or(UpgradePlan::NotDue, |version| {
        UpgradePlan::Due(format!("{} from block {}, the pod is at {next}", one_line(&version.image), version.height))
    })
}

/// Compares the newest pod with the newest one that was ready. One observation alone cannot tell.
fn image(history: &InstanceHistory) -> ImageFreshness {
    let latest = history.latest();
    let well = history.observations().rev().skip(1).find(|seen| seen.node_container().is_some_and(|node| node.ready));
    let Some((then, (before, now))) =
        well.and_then(|well| Some((well, well.node_container().zip(latest.node_container())?)))
    else {
        return ImageFreshness::Unknown;
    };
    let changed = [
        (before.image != now.image, "the image"),
        (before.command_line != now.command_line, "the arguments"),
        (then.config_checksum != latest.config_checksum, "the configuration"),
        (then.revision != latest.revision, "the pod's specification"),
    ];
    let changed: Vec<&str> = changed.into_iter().filter_map(|(differs, what)| differs.then_some(what)).collect();
    if !changed.is_empty() {
        ImageFreshness::Changed(format!("{} since it was last ready", changed.join(" and ")))
    } else if then.config_checksum.is_some() || then.uid == latest.uid {
        ImageFreshness::Unchanged
    } else {
        // A new pod under an owner that leaves no checksum: a ConfigMap may have changed.
        ImageFreshness::Unknown
    }
}

/// The newest observation of each other replica of the same owner.
pub(super) fn siblings<'b>(bundle: &'b Bundle, pod: &'b Observation) -> impl Iterator<Item = &'b InstanceHistory> {
    bundle.instances.iter().filter(move |other| {
        *other.instance() != pod.instance
            && pod.owner.is_some()
            && same_owner(other.latest().owner.as_ref(), pod.owner.as_ref())
    })
}

fn same_owner(a: Option<&Owner>, b: Option<&Owner>) -> bool {
    matches!((a, b), (Some(a), Some(b)) if a.uid == b.uid && a.kind == b.kind && a.name == b.name)
}

/// A rollout shows in the owner's status, or in pods of several revisions.
fn roll_out(bundle: &Bundle, pod: &Observation) -> RollOut {
    let set = bundle.objects.stateful_sets.iter().rev().find(|set| {
        pod.owner
            .as_ref()
            .is_some_and(|owner| owner.kind == "StatefulSet" && Some(&owner.name) == set.metadata.name.as_ref())
            && set.metadata.namespace.as_deref().unwrap_or_default() == pod.instance.namespace
    });
    let revisions = set
        .and_then(|set| set.status.as_ref())
        .and_then(|status| Some((status.current_revision.as_ref()?, status.update_revision.as_ref()?)));
    if let Some((current, update)) = revisions.filter(|(current, update)| current != update) {
        return RollOut::InProgress(format!("the StatefulSet goes from {} to {}", one_line(current), one_line(update)));
    }
    let mut others = siblings(bundle, pod).map(InstanceHistory::latest).peekable();
    if others.peek().is_none() {
        return if revisions.is_some() { RollOut::Settled } else { RollOut::Unknown };
    }
    let differing: Vec<String> =
        others.filter(|other| is_of_another_revision(pod, other)).map(|other| other.instance.to_string()).collect();
    let comparable = pod.revision.as_ref().is_some_and(|revision| revision.scope == RevisionScope::Workload);
    match (differing.is_empty(), comparable) {
        (false, _) => RollOut::InProgress(format!("another revision than {}: {}", pod.instance, differing.join(", "))),
        (true, true) => RollOut::Settled,
        // Cosmos-operator's labels differ between siblings anyway; equal images say nothing about the configuration.
        (true, false) => RollOut::Unknown,
    }
}

fn is_of_another_revision(pod: &Observation, other: &Observation) -> bool {
    let image = |pod: &Observation| pod.node_container().map(|node| node.image.clone());
    match (&pod.revision, &other.revision) {
        (Some(a), Some(b)) if a.scope == RevisionScope::Workload && b.scope == RevisionScope::Workload => {
            a.value != b.value
        }
        _ => image(pod) != image(other),
    }
}

/// Siblings that fail the same way, and those that crash-loop otherwise. Alone only where every replica that the owner wants
/// was seen; what cannot be compared counts as the same (P7).
fn victims(bundle: &Bundle, history: &InstanceHistory, logs: &LogCauses) -> (Victims, Vec<String>) {
    let pod = history.latest();
    let own = detect(history);
    let mut same = OtherVictims::default();
    let mut otherwise = Vec::new();
    let mut seen: u32 = 1;
    for other in siblings(bundle, pod) {
        seen = seen.saturating_add(1);
        let CrashLoopReading::Looping(its_loop) = detect(other) else { continue };
        let name = other.instance().to_string();
        let causes = (known_cause(logs, history.instance()), known_cause(logs, other.instance()));
        match likeness(&own, &its_loop, causes) {
            Likeness::SameCause => same.same_cause.push(name),
            Likeness::SameExitCode => same.same_exit_code.push(name),
            Likeness::Unknown => same.unknown_exit.push(name),
            Likeness::Otherwise => otherwise.push(format!("{name} ({})", ending(&its_loop))),
        }
    }
    let wanted = full_node(bundle, pod).and_then(|owner| owner.spec.replicas).or_else(|| wanted_by_set(bundle, pod));
    let victims = if !same.is_empty() {
        Victims::Others(same)
    } else if wanted.is_some_and(|wanted| seen >= wanted) {
        Victims::Alone
    } else {
        Victims::Unknown
    };
    (victims, otherwise)
}

fn known_cause(logs: &LogCauses, instance: &InstanceName) -> Option<Cause> {
    logs.get(instance).copied().filter(|cause| *cause != Cause::Unknown)
}

/// How much two crash loops have in common.
enum Likeness {
    SameCause,
    SameExitCode,
    Unknown,
    Otherwise,
}

fn likeness(own: &CrashLoopReading, other: &CrashLoop, causes: (Option<Cause>, Option<Cause>)) -> Likeness {
    match causes {
        // Both logs name it: the exit code may still differ with the container that met it first.
        (Some(a), Some(b)) if a == b => return Likeness::SameCause,
        (Some(_), Some(_)) => return Likeness::Otherwise,
        _ => {}
    }
    let CrashLoopReading::Looping(own) = own else { return Likeness::Unknown };
    match (&own.last_run, &other.last_run) {
        _ if own.role != other.role => Likeness::Otherwise,
        (Some(a), Some(b)) if a.exit.code == b.exit.code => Likeness::SameExitCode,
        (Some(_), Some(_)) => Likeness::Otherwise,
        _ => Likeness::Unknown,
    }
}

fn ending(its_loop: &CrashLoop) -> String {
    let container = one_line(its_loop.container.as_str());
    match &its_loop.last_run {
        Some(run) => format!("container {container}, exit {}", run.exit.code),
        None => format!("container {container}"),
    }
}

/// A name is put into commands only where it is one that Kubernetes allows.
fn workload(pod: &Observation) -> Option<Workload> {
    let owner = pod.owner.as_ref()?;
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '.');
    let name = Some(owner.name.clone()).filter(|name| {
        name.len() <= 253 && name.starts_with(|c: char| c.is_ascii_alphanumeric()) && name.chars().all(plain)
    })?;
    match owner.kind.as_str() {
        "CosmosFullNode" => Some(Workload::CosmosFullNode(name)),
        "StatefulSet" => Some(Workload::StatefulSet(name)),
        _ => None,
    }
}

fn wanted_by_set(bundle: &Bundle, pod: &Observation) -> Option<u32> {
    let owner = pod.owner.as_ref().filter(|owner| owner.kind == "StatefulSet")?;
    let set = bundle.objects.stateful_sets.iter().rev().find(|set| {
        set.metadata.name.as_ref() == Some(&owner.name)
            && set.metadata.namespace.as_deref().unwrap_or_default() == pod.instance.namespace
    })?;
    u32::try_from(set.spec.as_ref()?.replicas.unwrap_or(1)).ok()
}

/// The containers that the node cannot run without.
fn own_containers(pod: &Observation) -> impl Iterator<Item = &ContainerFacts> {
    pod.containers.iter().filter(|container| container.role != ContainerRole::SideCar)
}

fn memory(pod: &Observation) -> Memory {
    let runs: Vec<&LastRun> = own_containers(pod).filter_map(|container| container.last_run.as_ref()).collect();
    let node_ended = pod.node_container().is_some_and(|node| node.last_run.is_some());
    if runs.iter().any(|run| run.is_oom_killed()) {
        Memory::OomKilled
    } else if node_ended || runs.iter().any(|run| run.exit.code != 0) {
        Memory::NotKilled
    } else {
        Memory::Unknown
    }
}

/// P10: only a remote signer can be told from objects; everything else stays unknown, which refuses.
fn signing(bundle: &Bundle, pod: &Observation) -> SigningRisk {
    let node_type = match full_node(bundle, pod) {
        // The owner's own word; the pod may still carry the label of an older one.
        Some(owner) => owner.spec.r#type.as_deref(),
        None => pod.node_type.as_deref().filter(|_| is_of_cosmos_operator(pod)),
    };
    let listens = pod.node_container().is_some_and(|node| listens_for_a_signer(&node.command_line));
    if node_type == Some("Sentry") || listens { SigningRisk::NeverSigns } else { SigningRisk::Unknown }
}

fn is_of_cosmos_operator(pod: &Observation) -> bool {
    pod.owner.as_ref().is_some_and(|owner| owner.kind == "CosmosFullNode")
}

/// Programs that read their arguments as a script, or put others in their place: what the node gets is not written here.
const INTERPRETERS: [&str; 12] =
    ["sh", "bash", "ash", "dash", "zsh", "ksh", "fish", "busybox", "env", "xargs", "python3", "perl"];

/// Flags of a node that take no value; after any other the next word is its value, whatever it looks like.
const SWITCHES: [&str; 2] = ["--trace", "--x-crisis-skip-assert-invariants"];

/// `start … --priv_validator_laddr tcp://…`, with `=` or with dashes, word for word as the node gets it: no shell, no
/// variable, and an address each time the flag is given, for the last one counts.
fn listens_for_a_signer(command_line: &[String]) -> bool {
    let program = |word: &str| word.rsplit('/').next().unwrap_or_default().to_owned();
    let interpreted = |word: &String| word == "-c" || INTERPRETERS.contains(&program(word).as_str());
    if command_line.iter().any(|word| word.contains('$') || interpreted(word)) {
        return false;
    }
    let Some(start) = command_line.iter().position(|word| word == "start") else { return false };
    // Behind a bare `--` nothing is a flag any more.
    let words: Vec<&str> =
        command_line.iter().skip(start).map(String::as_str).take_while(|word| *word != "--").collect();
    let addresses: Vec<&str> = words
        .iter()
        .enumerate()
        .filter_map(|(index, word)| {
            let (flag, value) = word.split_once('=').map_or((*word, None), |(flag, value)| (flag, Some(value)));
            let is_ours = flag.replace('-', "_") == "__priv_validator_laddr";
            is_ours.then(|| {
                let before = index.checked_sub(1).and_then(|before| words.get(before)).copied().unwrap_or_default();
                let free = !before.starts_with('-') || before.contains('=') || SWITCHES.contains(&before);
                let value = value.or_else(|| words.get(index + 1).copied()).unwrap_or_default();
                if free { value } else { "" }
            })
        })
        .collect();
    !addresses.is_empty() && addresses.iter().all(|address| is_address(address))
}

/// An address in full: a scheme that CometBFT listens on, and something behind it.
fn is_address(value: &str) -> bool {
    let place = value.strip_prefix("tcp://").or_else(|| value.strip_prefix("unix://")).unwrap_or_default();
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | ':' | '/' | '-' | '_' | '[' | ']');
    !place.is_empty() && place.chars().all(plain)
}

/// Why the runtime could not start a container at all.
fn start_failure(pod: &Observation) -> Option<StartFailure> {
    own_containers(pod).find_map(|container| {
        let waits = match &container.state {
            ContainerState::Waiting { reason, .. } => cause_of_waiting(reason).map(|cause| (reason, cause)),
            _ => None,
        };
        // Between two tries the state is CrashLoopBackOff and only the last run says that nothing was ever executed.
        let ended = container.last_run.as_ref().map(|run| &run.reason);
        let ended = ended.filter(|reason| matches!(reason.as_str(), "StartError" | "ContainerCannotRun"));
        let (reason, cause) = waits.or_else(|| ended.map(|reason| (reason, Cause::ImageOrRuntime)))?;
        Some(StartFailure { reason: reason.clone(), cause })
    })
}

fn cause_of_waiting(reason: &str) -> Option<Cause> {
    match reason {
        "ErrImagePull"
        | "ImagePullBackOff"
        | "InvalidImageName"
        | "ErrImageNeverPull"
        | "ImageInspectError"
        | "RegistryUnavailable"
        | "CreateContainerError"
        | "RunContainerError" => Some(Cause::ImageOrRuntime),
        "CreateContainerConfigError" => Some(Cause::ConfigError),
        _ => None,
    }
}
