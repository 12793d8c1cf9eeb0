//! What was seen of one replica over time and over pod UIDs. *No client, no clock.*

mod growing;

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::{
    ContainerFacts, ContainerState, LastRun, Observation, Remembered, RestartRate,
    crash::{crashes_shown, is_dying, last_crash, makes_progress, unattributed_crashes},
    run::seconds_between,
};
use crate::InstanceName;

/// One or more observations of one replica, oldest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstanceHistory {
    /// What was known before the first of the observations.
    memory: Option<Remembered>,
    earlier: Vec<Observation>,
    latest: Observation,
}

impl InstanceHistory {
    /// A history of one observation.
    #[must_use]
    pub fn new(only: Observation) -> Self {
        Self { memory: None, earlier: Vec::new(), latest: only }
    }

    /// Sorts observations of any replicas into one history each, by name. The same object given twice counts once.
    #[must_use]
    pub fn group(observations: impl IntoIterator<Item = Observation>) -> Vec<Self> {
        let mut by_instance: BTreeMap<InstanceName, Vec<Observation>> = BTreeMap::new();
        for observation in observations {
            by_instance.entry(observation.instance.clone()).or_default().push(observation);
        }
        by_instance.into_values().filter_map(Self::in_order).collect()
    }

    fn in_order(mut observations: Vec<Observation>) -> Option<Self> {
        // Pods of one name follow each other, so the older object is the older pod, whatever was seen of it later.
        observations.sort_by_key(|seen| (seen.created, seen.seen, restarts(seen)));
        observations.dedup();
        let latest = observations.pop()?;
        Some(Self { memory: None, earlier: observations, latest })
    }

    /// The replica.
    #[must_use]
    pub fn instance(&self) -> &InstanceName {
        &self.latest.instance
    }

    /// The newest observation.
    #[must_use]
    pub fn latest(&self) -> &Observation {
        &self.latest
    }

    /// All of them, oldest first.
    #[must_use]
    pub fn observations(&self) -> impl DoubleEndedIterator<Item = &Observation> {
        self.earlier.iter().chain([&self.latest])
    }

    /// Says when the newest object was really fetched, where somebody knows: an object of a quiet pod carries only old
    /// times, and nobody could tell that it has been quiet since. Earlier than what the object shows is ignored.
    pub fn fetched_at(&mut self, at: Timestamp) {
        self.latest.seen = self.latest.seen.max(Some(at));
    }

    /// What was seen since the node last made progress.
    pub(super) fn streak(&self) -> Streak<'_> {
        let mut observations: Vec<&Observation> = self.observations().collect();
        let progress = observations.iter().rposition(|seen| makes_progress(seen));
        observations.drain(..progress.unwrap_or(0).min(observations.len()));
        // Progress forgives what was before it, the memory too.
        let memory = self.memory.as_ref().filter(|_| progress.is_none());
        Streak { memory, observations }
    }
}

/// Observations without progress in between, oldest first; the first may show the progress itself.
pub(super) struct Streak<'a> {
    memory: Option<&'a Remembered>,
    observations: Vec<&'a Observation>,
}

impl<'a> Streak<'a> {
    /// Crashes that the first observation shows as still going on, and all that came after it.
    pub(super) fn crashes(&self) -> u32 {
        self.crashes_at_first().saturating_add(self.crashes_between())
    }

    fn crashes_at_first(&self) -> u32 {
        let Some(first) = self.observations.first() else { return 0 };
        let still_going_on = || {
            dying(first)
                .map(|container| crashes_shown(first, container))
                .fold(0, u32::saturating_add)
                .saturating_add(unattributed_crashes(first))
        };
        match self.memory {
            Some(memory) if first.uid.as_ref() == Some(&memory.pod) => {
                let counted = i64::from(shown(first)).saturating_add(memory.offset).max(0);
                u32::try_from(counted).unwrap_or(u32::MAX)
            }
            Some(memory) => memory.crashes.saturating_add(still_going_on()),
            None => still_going_on(),
        }
    }

    /// Whether the first observation shows the progress that the streak is counted from.
    fn begins_well(&self) -> bool {
        self.observations.first().is_some_and(|first| makes_progress(first))
    }

    /// Pods of the streak before this one, the oldest first, as many as are remembered.
    pub(super) fn earlier_pods(&self, pod: &crate::Uid) -> Vec<crate::Uid> {
        let remembered = self.memory.into_iter().filter(|memory| memory.crashes > 0);
        let remembered = remembered.flat_map(|memory| memory.pods.iter().chain([&memory.pod]));
        let crashed = self.observations.iter().skip(usize::from(self.memory.is_none() && self.begins_well()));
        let crashed = crashed.filter(|seen| shown(seen) > 0).filter_map(|seen| seen.uid.as_ref());
        let mut pods: Vec<crate::Uid> = Vec::new();
        for uid in remembered.chain(crashed) {
            if uid != pod && !pods.contains(uid) {
                pods.push(uid.clone());
            }
        }
        let too_many = pods.len().saturating_sub(Remembered::PODS_MAX);
        pods.drain(..too_many);
        pods
    }

    /// Crashes between the first and the last observation.
    pub(super) fn crashes_between(&self) -> u32 {
        self.observations
            .iter()
            .zip(self.observations.iter().skip(1))
            .map(|(before, after)| crashes_from_to(before, after))
            .fold(0, u32::saturating_add)
    }

    /// How fast, where two observations with times allow to say.
    pub(super) fn rate(&self) -> Option<RestartRate> {
        let (first, last) = (self.observations.first()?, self.observations.last()?);
        let seconds = seconds_between(first.seen?, last.seen?).filter(|_| self.observations.len() > 1)?;
        Some(RestartRate { crashes: self.crashes_between(), seconds })
    }

    /// Before this none of the counted crashes happened.
    pub(super) fn counted_since(&self) -> Option<Timestamp> {
        let first = self.observations.first()?;
        if dying(first).next().is_some() || unattributed_crashes(first) > 0 { first.started } else { first.seen }
    }

    /// The earliest crash that is shown.
    pub(super) fn onset(&self) -> Option<Timestamp> {
        let first = self.observations.first()?;
        let remembered = self.memory.and_then(|memory| memory.onset);
        let at_first = dying(first).filter_map(|container| last_crash(first, container)?.finished);
        let later = self.observations.iter().skip(1).flat_map(|seen| crashes_in(seen)).filter_map(|run| run.finished);
        remembered.into_iter().chain(at_first).chain(later.filter(|finished| Some(*finished) > first.seen)).min()
    }

    /// The newest crash that is shown, with its container and the observation that shows it.
    pub(super) fn newest_crash(&self) -> Option<(&'a Observation, &'a ContainerFacts)> {
        self.observations.iter().rev().find_map(|seen| {
            seen.containers.iter().find(|container| last_crash(seen, container).is_some()).map(|c| (*seen, c))
        })
    }
}

/// The containers that are dying in an observation, the node's own first.
pub(super) fn dying(pod: &Observation) -> impl Iterator<Item = &ContainerFacts> {
    pod.containers.iter().filter(|container| is_dying(pod, container))
}

fn crashes_in(pod: &Observation) -> impl Iterator<Item = &LastRun> {
    pod.containers.iter().filter_map(|container| last_crash(pod, container))
}

fn restarts(pod: &Observation) -> u64 {
    pod.containers.iter().map(|container| u64::from(container.restarts)).sum()
}

/// Crashes from one observation to the next.
fn crashes_from_to(before: &Observation, after: &Observation) -> u32 {
    let same_pod = before.uid == after.uid || before.uid.is_none() || after.uid.is_none();
    let of_containers = after.containers.iter().map(|container| {
        let now = crashes_shown(after, container);
        match before.container(&container.name).filter(|_| same_pod) {
            None => now,
            // The kubelet may lose its count when the machine restarts and begins again at 0.
            Some(old) if container.restarts < old.restarts => now,
            Some(old) => now.saturating_sub(crashes_shown(before, old)),
        }
    });
    let after_itself = if same_pod {
        unattributed_crashes(after).saturating_sub(unattributed_crashes(before))
    } else {
        // The old pod's last death was never followed by a restart, so no count contains it. A pod that died without any
        // restart has been counted for that death, and one that was healthy when it was taken away never crashed.
        // One that had been started again and was taken away while it ran was told to stop.
        let is_dead = |container: &ContainerFacts| !matches!(container.state, ContainerState::Running { .. });
        let uncounted = dying(before).any(|container| container.restarts > 0 && is_dead(container));
        unattributed_crashes(after).saturating_add(u32::from(uncounted))
    };
    of_containers.fold(after_itself, u32::saturating_add)
}

/// All crashes that one observation shows.
fn shown(pod: &Observation) -> u32 {
    let of_containers = pod.containers.iter().map(|container| crashes_shown(pod, container));
    of_containers.fold(unattributed_crashes(pod), u32::saturating_add)
}
