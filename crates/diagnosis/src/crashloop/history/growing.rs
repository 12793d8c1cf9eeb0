//! A history that grows while somebody watches, and what is left of it when the watcher is started anew. *No client, no
//! clock.*

use super::{InstanceHistory, restarts, shown};
use crate::{
    Uid,
    crashloop::{ContainerState, Observation, Remembered, crash::makes_progress},
};

/// Earlier observations that are kept; what goes before them is folded into the memory.
const EARLIER_MAX: usize = 64;

impl InstanceHistory {
    /// Takes up what somebody else remembers. Of what was seen before the pod that the memory is about it knows already,
    /// and better: counted beside it, those crashes would count twice.
    pub fn recall(&mut self, memory: Remembered) {
        let same = |seen: &Observation| seen.uid.as_ref() == Some(&memory.pod);
        if let Some(first) = self.earlier.iter().position(same) {
            self.earlier.drain(..first);
        } else if same(&self.latest) {
            self.earlier.clear();
        }
        self.memory = Some(memory);
    }

    /// Adds what was seen next; whether it was news. An older state of the same pod, or an older pod, is none.
    pub fn push(&mut self, next: Observation) -> bool {
        if next == self.latest || next.instance != self.latest.instance || is_older(&next, &self.latest) {
            return false;
        }
        let mut before = std::mem::replace(&mut self.latest, next);
        lasted(&mut before, &self.latest);
        if self.is_worth_keeping(&before) {
            self.earlier.push(before);
        }
        if let Some(progress) = self.earlier.iter().rposition(makes_progress) {
            self.earlier.drain(..progress);
            self.memory = None;
        }
        while self.earlier.len() > EARLIER_MAX {
            self.fold();
        }
        true
    }

    /// The node has made progress that no object shows: all that was counted until now is forgiven.
    pub fn forgive(&mut self) {
        let shown = self.shown_by_latest();
        self.earlier.clear();
        self.memory = self.latest.uid.clone().map(|pod| Remembered {
            pod,
            offset: i64::from(shown).saturating_neg(),
            crashes: 0,
            onset: None,
            pods: Vec::new(),
        });
    }

    /// What whoever watches next must be told; none where the pod's own count says it all.
    #[must_use]
    pub fn memory(&self) -> Option<Remembered> {
        let shown = Self::new(self.latest.clone());
        let (alone, streak) = (shown.streak(), self.streak());
        let is_all_said = alone.crashes() == streak.crashes() && alone.onset() == streak.onset();
        self.memory_without_pod()
            .filter(|memory| !is_all_said || memory.offset != 0 || (memory.crashes > 0 && !memory.pods.is_empty()))
    }

    /// The same where the pod is gone: no object shows its count any more.
    #[must_use]
    pub fn memory_without_pod(&self) -> Option<Remembered> {
        /// Beyond any number of crashes that is asked for, exactness costs a write for each crash.
        const COUNTED_MAX: u32 = 20;
        let pod = self.latest.uid.clone()?;
        let streak = self.streak();
        let crashes = streak.crashes();
        let offset = i64::from(crashes).saturating_sub(i64::from(self.shown_by_latest()));
        let pods = streak.earlier_pods(&pod);
        (crashes > 0 || offset != 0).then(|| Remembered {
            pod,
            offset,
            crashes: crashes.min(COUNTED_MAX),
            onset: streak.onset(),
            pods,
        })
    }

    /// UIDs of the pods of the present trouble, the oldest first.
    #[must_use]
    pub fn pods(&self) -> Vec<Uid> {
        let Some(pod) = self.latest.uid.clone() else { return Vec::new() };
        let mut pods = self.streak().earlier_pods(&pod);
        pods.push(pod);
        pods
    }

    fn shown_by_latest(&self) -> u32 {
        shown(&self.latest)
    }

    /// Of one pod the first state, the first crash, the last readiness and progress are enough, for its count goes on.
    fn is_worth_keeping(&self, before: &Observation) -> bool {
        let Some(last) = self.earlier.last() else { return true };
        let same_pod = |a: &Observation, b: &Observation| a.uid == b.uid;
        let is_ready = |seen: &Observation| seen.node_container().is_some_and(|node| node.ready);
        makes_progress(before)
            || !same_pod(before, &self.latest)
            || !same_pod(last, before)
            || (shown(last) == 0 && shown(before) > 0)
            || (is_ready(before) && !is_ready(&self.latest))
            || restarts(&self.latest) < restarts(before)
    }

    /// Puts the oldest observation into the memory.
    fn fold(&mut self) {
        let oldest = self.earlier.remove(0);
        let Some(next) = self.earlier.first().cloned() else { return };
        let until = Self { memory: self.memory.take(), earlier: vec![oldest], latest: next };
        self.memory = until.memory();
    }
}

/// Whether a state is from before another one of the same replica: watches tell old news after they broke.
fn is_older(seen: &Observation, than: &Observation) -> bool {
    if seen.uid != than.uid {
        return seen.created < than.created;
    }
    restarts(seen) < restarts(than) && seen.seen < than.seen
}

/// A state lasted until the next one began: an object is written when something changes, not while it lasts.
fn lasted(before: &mut Observation, after: &Observation) {
    if before.uid != after.uid {
        return;
    }
    let ended = before.node_container().zip(after.node_container()).and_then(|(node, later)| {
        let run = later.last_run.as_ref()?;
        let same = matches!(node.state, ContainerState::Running { since } if since == run.started);
        // A moment before, so that the crash itself is later than the state that it ended.
        run.finished.filter(|_| same)?.checked_sub(jiff::SignedDuration::from_millis(1)).ok()
    });
    before.seen = before.seen.max(ended);
}

#[cfg(test)]
mod tests;
