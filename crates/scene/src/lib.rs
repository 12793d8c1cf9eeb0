//! What Kubernetes objects and samples of `/status` say about a replica and about everything around it. *No client, no
//! files, no clock.*
//!
//! The second half of *collect*: whoever has the objects (a bundle's files, a watch's caches) fills a [`Scene`], and gets
//! the [`Circumstances`] and [`Siblings`] of any replica in it, ready for the judge. Whatever the objects do not tell stays
//! `Unknown` (P13), the victim itself never counts as its own sibling (P6), and nothing clears a node of signing but a
//! signer elsewhere (P10).

mod words;

mod event;

mod objects;

mod sample;

mod circumstances;

mod node_health;

mod signing;

mod victims;

mod peers;

mod sick;

mod names_known;

use diagnosis::{Circumstances, Height, InstanceHistory, InstanceName, Observation, Siblings};
use jiff::Timestamp;

pub use event::{Event, ObjectReference, Series};
pub use names_known::{KnownNames, is_plain};
pub use objects::{Objects, Taken};
pub use sample::Sample;
pub use sick::is_sick;
pub use victims::LogCauses;
pub use words::one_line;

use peers::Victim;

/// Everything that was seen, of all replicas.
#[derive(Debug, Default)]
pub struct Scene {
    /// The objects.
    pub objects: Objects,
    /// What was seen of each replica, healthy and sick, by namespace and name.
    pub instances: Vec<InstanceHistory>,
    /// Samples of the replicas' `/status`.
    pub peers: Vec<Sample>,
}

impl Scene {
    /// Makes the replicas' histories of the pod objects. `fetched_at` is when these were fetched, where somebody knows.
    pub fn line_up(&mut self, fetched_at: Option<Timestamp>) {
        self.instances = InstanceHistory::group(self.objects.pods.iter().cloned());
        if let Some(fetched_at) = fetched_at {
            self.instances.iter_mut().for_each(|history| history.fetched_at(fetched_at));
        }
    }

    /// A replica's history.
    #[must_use]
    pub fn history(&self, instance: &InstanceName) -> Option<&InstanceHistory> {
        self.instances.iter().find(|history| history.instance() == instance)
    }

    /// What the objects say about everything around a replica, and the logs about who fails the same way: with what its
    /// log and those of its siblings name as the cause, two that end alike for different reasons are not one failure.
    #[must_use]
    pub fn circumstances(&self, history: &InstanceHistory, logs: &LogCauses) -> Circumstances {
        circumstances::circumstances(self, history, logs)
    }

    /// What the other replicas do, by the samples.
    #[must_use]
    pub fn siblings(&self, instance: &InstanceName) -> Siblings {
        let history = self.history(instance);
        let latest = history.map(InstanceHistory::latest);
        let image_id = history.and_then(|history| {
            history.observations().rev().find_map(|seen| seen.node_container()?.image_id.as_deref())
        });
        // The owner notes the block that a pod is to make *next*.
        let height =
            latest.and_then(|latest| self.owner_height(latest, &instance.name)).map(|next| next.0.saturating_sub(1));
        let victim = Victim { instance, image_id, height };
        let image_of = |pod: &str| {
            let of_pod = |history: &&InstanceHistory| {
                let same_place = latest.is_none_or(|latest| latest.instance.namespace == history.instance().namespace);
                (history.instance().name == pod && same_place) || history.instance().to_string() == pod
            };
            self.instances.iter().find(of_pod)?.latest().node_container()?.image_id.clone()
        };
        peers::siblings(&self.peers, &victim, image_of)
    }

    /// The other replicas of the same owner.
    pub fn replicas_beside<'s>(&'s self, pod: &'s Observation) -> impl Iterator<Item = &'s InstanceHistory> {
        circumstances::siblings(self, pod)
    }

    /// The height that the owner of `pod` noted for a replica of its own: the block it was to make next, when that was
    /// last looked at. One number cannot show that anybody advances.
    #[must_use]
    pub fn owner_height(&self, pod: &Observation, replica: &str) -> Option<Height> {
        let owner = circumstances::full_node(self, pod)?;
        owner.status.as_ref()?.height.get(replica).copied().map(Height)
    }

    /// The chain's id, by the owner.
    #[must_use]
    pub fn chain_id(&self, pod: &Observation) -> Option<&str> {
        circumstances::full_node(self, pod)?.spec.chain.chain_id.as_deref()
    }

    /// Another replica of the same owner, a ready one, to compare with.
    #[must_use]
    pub fn healthy_sibling<'s>(&'s self, pod: &'s Observation) -> Option<&'s InstanceName> {
        self.replicas_beside(pod)
            .find(|other| other.latest().node_container().is_some_and(|node| node.ready))
            .map(InstanceHistory::instance)
    }
}
