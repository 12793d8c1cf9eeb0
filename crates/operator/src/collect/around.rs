//! Reads what stands around a replica: its owner, claim and machine, the Events about them, snapshots in flight. *Client,
//! reads only.* (P7, P13)

use std::fmt::Debug;

use api::{CosmosFullNode, TargetInstance, VolumeSnapshot, WorkloadKind};
use diagnosis::{InstanceHistory, InstanceName, Lock, Observation, observe};
use k8s_openapi::api::{
    apps::v1::StatefulSet,
    core::v1::{Event, Node, PersistentVolumeClaim, Pod},
};
use kube::{Api, Resource, ResourceExt, api::ListParams, core::DeserializeGuard};
use scene::{ObjectReference, Scene, Series};
use serde::de::DeserializeOwned;

use super::{Collector, in_words};

/// Objects asked for at once.
const PAGE: u32 = 500;
/// More pages than a namespace has pods.
const PAGES_MAX: u32 = 20;

/// What was read, and what could not be.
#[derive(Debug, Default)]
pub(crate) struct Around {
    /// Ready for the judge, but for histories and samples.
    pub(crate) scene: Scene,
    /// Who may hold the database's lock.
    pub(crate) lock: Lock,
    /// What could not be read, and why.
    pub(crate) missing: Vec<String>,
    /// What was seen, in words.
    pub(crate) circumstances: Vec<String>,
}

impl Collector {
    /// Reads it all. `histories` are what the watch has seen of the replica and its siblings.
    pub(crate) async fn around(
        &self,
        instance: &InstanceName,
        target: &TargetInstance,
        pod: Option<&Observation>,
        histories: Vec<InstanceHistory>,
    ) -> Around {
        let mut around = Around::default();
        around.scene.instances = histories;
        self.owner(instance, target, &mut around).await;
        self.pods(instance, target, pod, &mut around).await;
        self.claim(instance, target, &mut around).await;
        if let Some(node) = pod.and_then(|pod| pod.node.as_ref()) {
            let nodes: Api<Node> = Api::all(self.client.clone());
            let machine = nodes.get(node.as_str()).await;
            around.keep(machine, "get", &format!("nodes {node}"), |around, node| around.scene.objects.nodes.push(node));
        }
        self.events(instance, target, pod, &mut around).await;
        self.snapshots(instance, target, &mut around).await;
        around
    }

    async fn owner(&self, instance: &InstanceName, target: &TargetInstance, around: &mut Around) {
        match target.kind {
            WorkloadKind::StatefulSet => {
                let sets: Api<StatefulSet> = Api::namespaced(self.client.clone(), &instance.namespace);
                let set = sets.get(&target.workload).await;
                around.keep(set, "get", &format!("statefulsets {}", target.workload), |around, set| {
                    around.scene.objects.stateful_sets.push(set);
                });
            }
            WorkloadKind::CosmosFullNode => {
                let nodes: Api<CosmosFullNode> = Api::namespaced(self.client.clone(), &instance.namespace);
                let node = nodes.get(&target.workload).await;
                around.keep(node, "get", &format!("cosmosfullnodes {}", target.workload), |around, node| {
                    around.scene.objects.full_nodes.push(node);
                });
            }
        }
    }

    /// The pods of the namespace tell who else has the claim.
    async fn pods(
        &self,
        instance: &InstanceName,
        target: &TargetInstance,
        seen: Option<&Observation>,
        around: &mut Around,
    ) {
        let Some(claim) = &target.claim else { return };
        let pods: Api<DeserializeGuard<Pod>> = Api::namespaced(self.client.clone(), &instance.namespace);
        let what = format!("pods of {}", instance.namespace);
        let pods = match self.all(pods, ListParams::default(), &what, around).await {
            Ok(pods) => pods,
            Err(error) => return around.missing.push(in_words("list", &what, &error)),
        };
        let others: Vec<String> = pods
            .iter()
            .filter(|pod| pod.name_any() != instance.name && !is_an_inspector(pod) && uses(pod, &claim.name))
            .map(ResourceExt::name_any)
            .collect();
        let is_down = seen.and_then(Observation::node_container).is_some_and(|node| {
            !matches!(node.state, diagnosis::ContainerState::Running { .. } | diagnosis::ContainerState::Unknown)
        });
        around.lock = match (others.first(), is_down) {
            (Some(other), _) => Lock::HeldByLiveProcess(format!("pod {other} uses claim {} too", claim.name)),
            (None, true) => Lock::Free,
            (None, false) => Lock::Unknown,
        };
        around.scene.objects.pods.extend(pods.iter().map(observe));
    }

    async fn claim(&self, instance: &InstanceName, target: &TargetInstance, around: &mut Around) {
        let Some(claim) = &target.claim else {
            around.missing.push("it is not known on which claim the replica keeps its data".to_owned());
            return;
        };
        let claims: Api<PersistentVolumeClaim> = Api::namespaced(self.client.clone(), &instance.namespace);
        let read = claims.get(&claim.name).await;
        let what = format!("persistentvolumeclaims {}", claim.name);
        around.keep(read, "get", &what, |around, claim| around.scene.objects.claims.push(claim));
    }

    async fn events(
        &self,
        instance: &InstanceName,
        target: &TargetInstance,
        pod: Option<&Observation>,
        around: &mut Around,
    ) {
        let claim = target.claim.as_ref().map(|claim| claim.name.clone());
        let machine = pod.and_then(|pod| pod.node.as_ref()).map(ToString::to_string);
        let about = [
            (Some(instance.name.clone()), "Pod", instance.namespace.as_str()),
            (claim, "PersistentVolumeClaim", instance.namespace.as_str()),
            // Of what belongs to no namespace Events are kept in this one.
            (machine, "Node", "default"),
        ];
        for (name, kind, namespace) in about {
            let Some(name) = name else { continue };
            let events: Api<DeserializeGuard<Event>> = Api::namespaced(self.client.clone(), namespace);
            let selector = format!("involvedObject.name={name},involvedObject.kind={kind}");
            let about = ListParams::default().fields(&selector);
            let what = format!("events of {namespace}");
            match self.all(events, about, &what, around).await {
                Ok(events) => around.scene.objects.events.extend(events.into_iter().map(plain)),
                Err(error) => around.missing.push(in_words("list", &what, &error)),
            }
        }
    }

    /// A snapshot that is being taken explains an absence, and stands in the way of whoever wants the claim.
    async fn snapshots(&self, instance: &InstanceName, target: &TargetInstance, around: &mut Around) {
        let snapshots: Api<DeserializeGuard<VolumeSnapshot>> =
            Api::namespaced(self.client.clone(), &instance.namespace);
        let what = format!("volumesnapshots of {}", instance.namespace);
        let read = match self.all(snapshots, ListParams::default(), &what, around).await {
            Ok(read) => read,
            // A cluster without snapshots has none in flight.
            Err(kube::Error::Api(status)) if status.code == 404 => return,
            Err(error) => return around.missing.push(in_words("list", &what, &error)),
        };
        let Some(claim) = target.claim.as_ref().map(|claim| claim.name.as_str()) else { return };
        let in_flight = read.iter().filter(|snapshot| {
            snapshot.spec.source.persistent_volume_claim_name.as_deref() == Some(claim)
                && snapshot.status.as_ref().and_then(|status| status.ready_to_use) != Some(true)
        });
        let names: Vec<String> = in_flight.map(ResourceExt::name_any).collect();
        if !names.is_empty() {
            around.circumstances.push(format!("snapshots of its claim are being taken: {}", names.join(", ")));
        }
        around.scene.objects.snapshots.extend(read);
    }

    /// A whole list, page by page; a broken object is passed over and said.
    async fn all<K>(
        &self,
        objects: Api<DeserializeGuard<K>>,
        about: ListParams,
        what: &str,
        around: &mut Around,
    ) -> Result<Vec<K>, kube::Error>
    where
        K: Resource<DynamicType = ()> + Clone + Debug + DeserializeOwned,
    {
        let mut read = Vec::new();
        let mut params = about.limit(PAGE);
        for _ in 0..PAGES_MAX {
            let page = objects.list(&params).await?;
            for object in page.items {
                let name = object.name_any();
                match object.0 {
                    Ok(object) => read.push(object),
                    Err(error) => {
                        around.missing.push(format!("{} {name} cannot be read: {}", K::kind(&()), error.error));
                    }
                }
            }
            let Some(next) = page.metadata.continue_.filter(|next| !next.is_empty()) else { return Ok(read) };
            params = params.continue_token(&next);
        }
        around.missing.push(format!("of {what} only the first {} were read", read.len()));
        Ok(read)
    }
}

impl Around {
    fn keep<T>(&mut self, read: Result<T, kube::Error>, verb: &str, what: &str, keep: impl FnOnce(&mut Self, T)) {
        match read {
            Ok(object) => keep(self, object),
            Err(error) => self.missing.push(in_words(verb, what, &error)),
        }
    }
}

fn plain(event: Event) -> scene::Event {
    scene::Event {
        involved_object: ObjectReference {
            kind: event.involved_object.kind.unwrap_or_default(),
            namespace: event.involved_object.namespace.unwrap_or_default(),
            name: event.involved_object.name.unwrap_or_default(),
            uid: event.involved_object.uid.unwrap_or_default(),
        },
        reason: event.reason.unwrap_or_default(),
        message: event.message.unwrap_or_default(),
        last_timestamp: event.last_timestamp.map(|time| time.0),
        event_time: event.event_time.map(|time| time.0),
        series: event.series.map(|series| Series { last_observed_time: series.last_observed_time.map(|time| time.0) }),
    }
}

fn uses(pod: &Pod, claim: &str) -> bool {
    let over = pod.status.as_ref().and_then(|status| status.phase.as_deref());
    let volumes = pod.spec.iter().flat_map(|spec| spec.volumes.iter().flatten());
    let mut claims = volumes.filter_map(|volume| volume.persistent_volume_claim.as_ref());
    !matches!(over, Some("Succeeded" | "Failed")) && claims.any(|volume| volume.claim_name == claim)
}

fn is_an_inspector(pod: &Pod) -> bool {
    pod.labels().get("app.kubernetes.io/managed-by").map(String::as_str) == Some("loopbreaker")
}

#[cfg(test)]
mod tests;
