//! What was seen of one replica. *No client, no clock.*

use std::collections::VecDeque;

use api::ReplicaMemory;
use diagnosis::{ContainerState, InstanceHistory, Observation, Remembered, Uid};
use jiff::{SignedDuration, Timestamp};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use scene::Sample;

use super::notices::{CrashNotice, new_crashes};

/// Answers that are kept of each replica.
const SAMPLES_MAX: usize = 8;
/// A height that has not risen for longer stands.
const PAUSE: SignedDuration = SignedDuration::from_mins(3);
/// So long ready is progress: the kubelet forgets its own back-off then.
pub(crate) const STEADY: SignedDuration = SignedDuration::from_mins(10);

/// What was seen of one replica.
#[derive(Debug)]
pub(crate) struct Replica {
    /// Its pods, over time.
    pub(crate) history: InstanceHistory,
    /// Whether it has a pod.
    pub(crate) presence: Presence,
    /// Its pod's address.
    pub(crate) address: Option<String>,
    /// Its last answers, the oldest first.
    pub(crate) samples: VecDeque<Sample>,
    /// Why the last question was not answered.
    pub(crate) mute: Option<String>,
    /// Where its height stands still.
    pub(crate) standstill: Option<Standstill>,
    /// Since when we see it ready, by our own clock.
    ready_since: Option<Timestamp>,
    /// The highest height that it was seen at.
    pub(crate) height_max: Option<u64>,
    /// Since when and until when it was seen rising above all heights before, in the present run.
    rising: Option<(Timestamp, Timestamp)>,
    /// The pod of whose end the API server has told.
    buried: Option<Uid>,
}

/// Whether a replica has a pod.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Presence {
    /// It has.
    Here,
    /// It has none.
    Gone {
        /// Since when, by our clock.
        since: Timestamp,
    },
}

/// A height that does not move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Standstill {
    /// Which.
    pub(crate) height: u64,
    /// When it was first answered, by our clock.
    pub(crate) since: Timestamp,
    /// When it was last answered.
    pub(crate) until: Timestamp,
}

impl Replica {
    pub(super) fn new(seen: Observation, address: Option<String>, at: Timestamp) -> Self {
        let ready = is_ready(&seen);
        Self {
            history: InstanceHistory::new(seen),
            presence: Presence::Here,
            address,
            samples: VecDeque::new(),
            mute: None,
            standstill: None,
            ready_since: ready.then_some(at),
            height_max: None,
            rising: None,
            buried: None,
        }
    }

    /// Its pod as it is now; the crashes that were not seen before.
    pub(super) fn is_now(&mut self, seen: Observation, address: Option<String>, at: Timestamp) -> Vec<CrashNotice> {
        let before = self.history.latest().clone();
        if self.buried.is_some() && self.buried == seen.uid {
            return Vec::new();
        }
        if self.is_steady(at) {
            self.history.forgive();
        }
        let same = before == seen;
        if !self.history.push(seen) {
            if same {
                // A list that was behind had not mentioned it.
                self.presence = Presence::Here;
                self.address = address;
                self.ready_since = self.ready_since.or_else(|| is_ready(&before).then_some(at));
            }
            return Vec::new();
        }
        let now = self.history.latest();
        let other_run = run_of(&before) != run_of(now);
        self.presence = Presence::Here;
        self.address = address;
        self.ready_since = match (is_ready(now), self.ready_since) {
            (true, Some(since)) if !other_run => Some(since),
            (true, _) => Some(at),
            (false, _) => None,
        };
        if other_run {
            // Whatever answered before is another process.
            self.samples.clear();
            self.standstill = None;
            self.rising = None;
        }
        new_crashes(Some(&before), now)
    }

    /// All crashes that the first sight of it shows.
    pub(super) fn first_notices(&self) -> Vec<CrashNotice> {
        new_crashes(None, self.history.latest())
    }

    pub(super) fn is_gone(&mut self, last: Option<Observation>, at: Timestamp) {
        if let Some(last) = last {
            self.buried.clone_from(&last.uid);
            self.history.push(last);
        }
        self.address = None;
        self.ready_since = None;
        self.standstill = None;
        self.samples.clear();
        if self.presence == Presence::Here {
            self.presence = Presence::Gone { since: at };
        }
    }

    pub(super) fn sampled(&mut self, at: Timestamp, answer: Result<Sample, String>) {
        match answer {
            Ok(sample) => {
                self.mute = None;
                if let Some(height) = sample.height {
                    self.is_at(height, at);
                }
                self.samples.push_back(Sample { time: Some(at), ..sample });
                while self.samples.len() > SAMPLES_MAX {
                    self.samples.pop_front();
                }
            }
            Err(why) => self.mute = Some(why),
        }
    }

    fn is_at(&mut self, height: u64, at: Timestamp) {
        self.standstill = match self.standstill {
            Some(stand) if stand.height == height => Some(Standstill { until: at, ..stand }),
            _ => Some(Standstill { height, since: at, until: at }),
        };
        if self.has_height(height) {
            let since =
                self.rising.filter(|(_, last)| at.duration_since(*last) <= PAUSE).map_or(at, |(since, _)| since);
            self.rising = Some((since, at));
        }
    }

    /// A height that somebody knows of it; whether it is above all before. That is progress: what was counted is forgiven.
    pub(super) fn has_height(&mut self, height: u64) -> bool {
        let rises = self.height_max.is_some_and(|max| height > max);
        if rises {
            self.history.forgive();
        }
        self.height_max = self.height_max.max(Some(height));
        rises
    }

    pub(super) fn recall(&mut self, memory: &ReplicaMemory) {
        if let Some(still) = memory.height.zip(memory.height_since.as_ref().map(|since| since.0)) {
            let (height, since) = still;
            self.standstill = Some(Standstill { height, since, until: since });
        }
        self.height_max = self.height_max.max(memory.height);
        self.history.recall(Remembered {
            pod: Uid::new(memory.pod_uid.clone()),
            offset: memory.offset,
            crashes: memory.crashes,
            onset: memory.onset.as_ref().map(|time| time.0),
            pods: memory.earlier_pods.iter().map(|uid| Uid::new(uid.clone())).collect(),
        });
    }

    /// What must be known after our own restart; none where the pod itself says it all.
    pub(crate) fn memory(&self, now: Timestamp) -> Option<ReplicaMemory> {
        /// Heights stand still between any two blocks; only a long standstill is worth a write.
        const STANDS: SignedDuration = SignedDuration::from_mins(2);
        let remembered = match self.presence {
            Presence::Here => self.history.memory(),
            Presence::Gone { .. } => self.history.memory_without_pod(),
        };
        let stand = self.standstill.filter(|stand| now.duration_since(stand.since) >= STANDS);
        if remembered.is_none() && stand.is_none() {
            return None;
        }
        let latest = self.history.latest();
        let pod_uid = latest.uid.as_ref().map(ToString::to_string)?;
        let remembered = remembered.unwrap_or(Remembered {
            pod: Uid::new(pod_uid.clone()),
            offset: 0,
            crashes: 0,
            onset: None,
            pods: Vec::new(),
        });
        Some(ReplicaMemory {
            pod: self.history.instance().name.clone(),
            pod_uid,
            offset: remembered.offset,
            crashes: remembered.crashes,
            onset: remembered.onset.map(Time),
            earlier_pods: remembered.pods.iter().map(ToString::to_string).collect(),
            height: stand.map(|stand| stand.height),
            height_since: stand.map(|stand| Time(stand.since)),
        })
    }

    /// Lets the time pass.
    pub(super) fn settle(&mut self, now: Timestamp) {
        if self.is_steady(now) {
            self.history.forgive();
        }
    }

    /// Ready for long, by our own clock: those of machines may differ by hours.
    pub(crate) fn is_steady(&self, now: Timestamp) -> bool {
        self.ready_since.is_some_and(|since| now.duration_since(since) >= STEADY)
    }

    /// Rising above all heights before for so long, in the present run, and still so.
    pub(crate) fn rises_for(&self, now: Timestamp) -> Option<SignedDuration> {
        let (since, last) = self.rising?;
        (now.duration_since(last) <= PAUSE).then(|| last.duration_since(since))
    }

    /// Whether two answers lie far enough apart to tell a halt from the time between two blocks.
    pub(super) fn was_asked_twice(&self) -> bool {
        const APART: SignedDuration = SignedDuration::from_secs(10);
        let times = || self.samples.iter().filter_map(|sample| sample.time);
        matches!((times().min(), times().max()), (Some(first), Some(last)) if last.duration_since(first) >= APART)
    }

    /// The container that runs the node, by name.
    pub(crate) fn node(&self) -> Option<String> {
        self.history.latest().node_container().map(|node| node.name.to_string())
    }

    /// Whether the node's process is there.
    pub(crate) fn is_running(&self) -> bool {
        self.presence == Presence::Here
            && self
                .history
                .latest()
                .node_container()
                .is_some_and(|node| matches!(node.state, ContainerState::Running { .. }))
    }
}

fn is_ready(pod: &Observation) -> bool {
    pod.node_container().is_some_and(|node| node.ready)
}

/// What tells one run of the node from the next.
fn run_of(pod: &Observation) -> (Option<Uid>, Option<u32>) {
    (pod.uid.clone(), pod.node_container().map(|node| node.restarts))
}
