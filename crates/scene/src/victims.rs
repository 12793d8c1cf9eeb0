//! Which siblings fail the same way, as far as objects and logs tell. *No client.* Keeps P7.

use std::collections::BTreeMap;

use diagnosis::{
    Cause, CrashLoop, CrashLoopReading, InstanceHistory, InstanceName, Observation, OtherVictims, Victims, detect,
};

use crate::{
    Scene,
    circumstances::{full_node, siblings},
    words::one_line,
};

/// What the log of each replica names as the cause, for those whose log was read and is sure of it.
pub type LogCauses = BTreeMap<InstanceName, Cause>;

/// Siblings that fail the same way, and those that crash-loop otherwise. Alone only where every replica that the owner wants
/// was seen; what cannot be compared counts as the same (P7).
pub(crate) fn victims(scene: &Scene, history: &InstanceHistory, logs: &LogCauses) -> (Victims, Vec<String>) {
    let pod = history.latest();
    let own = detect(history);
    let mut same = OtherVictims::default();
    let mut otherwise = Vec::new();
    let mut seen: u32 = 1;
    for other in siblings(scene, pod) {
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
    let wanted = wanted_by_full_node(scene, pod).or_else(|| wanted_by_set(scene, pod));
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
        // Both logs name it: the exit code may still differ with the container that met it first. One fault of a machine or
        // a program can damage the data of two replicas in different ways.
        (Some(a), Some(b)) if a == b || a.is_local_damage() && b.is_local_damage() => return Likeness::SameCause,
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

fn wanted_by_full_node(scene: &Scene, pod: &Observation) -> Option<u32> {
    u32::try_from(full_node(scene, pod)?.spec.replicas?).ok()
}

fn wanted_by_set(scene: &Scene, pod: &Observation) -> Option<u32> {
    let owner = pod.owner.as_ref().filter(|owner| owner.kind == "StatefulSet")?;
    let set = scene.objects.stateful_sets.iter().rev().find(|set| {
        set.metadata.name.as_ref() == Some(&owner.name)
            && set.metadata.namespace.as_deref().unwrap_or_default() == pod.instance.namespace
    })?;
    u32::try_from(set.spec.as_ref()?.replicas.unwrap_or(1)).ok()
}
