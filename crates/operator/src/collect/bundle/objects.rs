//! The objects of a bundle: the pod, its siblings, whoever makes them, their claims, volumes and machines, and what was said
//! about them. *Client, reads only.* (P8, P13)

use std::collections::{BTreeMap, BTreeSet};

use api::{CosmosFullNode, Recovery, RecoveryPolicy, VolumeSnapshot};
use diagnosis::{ContainerFacts, Observation, observe};
use k8s_openapi::api::{
    apps::v1::StatefulSet,
    core::v1::{Event, Node, PersistentVolume, PersistentVolumeClaim, Pod},
};
use kube::{
    Api, Resource, ResourceExt,
    api::ListParams,
    core::{ApiResource, DynamicObject},
};
use serde_json::Value;

use super::{Collecting, scrub::scrub};
use crate::collect::in_words;

/// Objects asked for at once.
const PAGE: u32 = 500;
/// More pages than a namespace has pods.
const PAGES_MAX: u32 = 20;

/// What was read.
#[derive(Debug, Default)]
pub(super) struct Read {
    /// The pod, its siblings, and whoever else has its claims: as they are and as the rest of the program sees them.
    pub(super) pods: Vec<(Pod, Observation)>,
    files: BTreeMap<&'static str, Vec<Value>>,
}

impl Read {
    /// The containers whose logs are of interest: all of the pod, and of its siblings those that fail too.
    pub(super) fn containers(&self, subject: &str) -> Vec<(String, ContainerFacts)> {
        let mut containers = Vec::new();
        for (pod, seen) in &self.pods {
            let name = pod.name_any();
            let wanted = seen.containers.iter().filter(|container| name == subject || fails(container));
            containers.extend(wanted.map(|container| (name.clone(), container.clone())));
        }
        containers
    }

    /// Without secrets, by file.
    pub(super) fn into_files(self) -> BTreeMap<&'static str, Vec<Value>> {
        self.files
    }

    fn keep(&mut self, file: &'static str, resource: &ApiResource, object: DynamicObject) {
        let Ok(mut value) = serde_json::to_value(object) else { return };
        // Items of a list come without them.
        if let Value::Object(fields) = &mut value {
            fields.insert("apiVersion".to_owned(), resource.api_version.clone().into());
            fields.insert("kind".to_owned(), resource.kind.clone().into());
        }
        scrub(&mut value);
        self.files.entry(file).or_default().push(value);
    }
}

fn fails(container: &ContainerFacts) -> bool {
    use diagnosis::ContainerState;
    container.restarts > 0 && !matches!(container.state, ContainerState::Running { .. })
}

/// Which objects of a kind are wanted.
type Wanted<'w> = &'w (dyn Fn(&DynamicObject) -> bool + Sync);

impl Collecting<'_> {
    /// Reads them all.
    pub(super) async fn objects(&mut self) -> Result<Read, kube::Error> {
        let mut read = Read::default();
        let pods: Api<DynamicObject> = self.api(&erased::<Pod>());
        let subject = pods.get(&self.of.pod).await?;
        self.pods(subject, &mut read).await;
        self.owner(&mut read).await;
        let claims: BTreeSet<String> = read.pods.iter().flat_map(|(pod, _)| claims_of(pod)).collect();
        let is_theirs = |claim: &DynamicObject| claims.contains(&claim.name_any());
        let found = self.listed::<PersistentVolumeClaim>("claims.yaml", &is_theirs, &mut read).await;
        let volumes: BTreeSet<String> =
            found.iter().filter_map(|claim| text_at(&claim.data, "/spec/volumeName")).collect();
        self.each::<PersistentVolume>("volumes.yaml", &volumes, &mut read).await;
        let nodes: BTreeSet<String> =
            read.pods.iter().filter_map(|(_, seen)| Some(seen.node.as_ref()?.to_string())).collect();
        self.each::<Node>("nodes.yaml", &nodes, &mut read).await;
        self.listed::<VolumeSnapshot>("snapshots.yaml", &|_| true, &mut read).await;
        self.ours(&mut read).await;
        self.events(&claims, &nodes, &mut read).await;
        Ok(read)
    }

    /// The pod comes first; where the others cannot be listed it comes alone.
    async fn pods(&mut self, subject: DynamicObject, read: &mut Read) {
        let resource = erased::<Pod>();
        let owner = owner_uid(&subject);
        let own_claims = as_pod(&subject).map(|pod| claims_of(&pod)).unwrap_or_default();
        let name = subject.name_any();
        let mut pods = vec![subject];
        match self.list(&resource, &self.of.namespace.clone(), ListParams::default()).await {
            Ok(all) => pods.extend(all.into_iter().filter(|pod| pod.name_any() != name).filter(|pod| {
                let shares =
                    || as_pod(pod).is_some_and(|pod| claims_of(&pod).iter().any(|one| own_claims.contains(one)));
                owner.is_some() && owner_uid(pod) == owner || shares()
            })),
            Err(error) => self.notes.push(in_words("list", &format!("pods of {}", self.of.namespace), &error)),
        }
        for pod in pods {
            match as_pod(&pod) {
                Some(seen) => {
                    let observation = observe(&seen);
                    read.pods.push((seen, observation));
                    read.keep("pods.yaml", &resource, pod);
                }
                None => self.notes.push(format!("pod {} cannot be read and is left out", pod.name_any())),
            }
        }
    }

    /// Whoever makes the pod, where it is a kind that we know.
    async fn owner(&mut self, read: &mut Read) {
        let Some(owner) = read.pods.first().and_then(|(_, seen)| seen.owner.clone()) else {
            self.notes.push("the pod has no owner".to_owned());
            return;
        };
        let names = BTreeSet::from([owner.name.clone()]);
        match owner.kind.as_str() {
            "StatefulSet" => self.each::<StatefulSet>("owner.yaml", &names, read).await,
            "CosmosFullNode" => self.each::<CosmosFullNode>("owner.yaml", &names, read).await,
            other => self.notes.push(format!("its owner {other} {} is of a kind that is not collected", owner.name)),
        }
    }

    /// Our own kinds may be missing, and then there is nothing to say.
    async fn ours(&mut self, read: &mut Read) {
        self.listed::<RecoveryPolicy>("loopbreaker.yaml", &|_| true, read).await;
        let pods: BTreeSet<String> = read.pods.iter().map(|(pod, _)| pod.name_any()).collect();
        let is_theirs =
            |one: &DynamicObject| text_at(&one.data, "/spec/target/pod").is_some_and(|pod| pods.contains(&pod));
        self.listed::<Recovery>("loopbreaker.yaml", &is_theirs, read).await;
    }

    async fn events(&mut self, claims: &BTreeSet<String>, nodes: &BTreeSet<String>, read: &mut Read) {
        let mut names: BTreeSet<String> = read.pods.iter().map(|(pod, _)| pod.name_any()).collect();
        names.extend(claims.iter().cloned());
        names.extend(read.pods.iter().filter_map(|(_, seen)| Some(seen.owner.as_ref()?.name.clone())));
        let resource = erased::<Event>();
        // Of what belongs to no namespace Events are kept in this one.
        let places = [(self.of.namespace.clone(), &names, None), ("default".to_owned(), nodes, Some("Node"))];
        for (namespace, names, kind) in places {
            let params = kind.map_or_else(ListParams::default, |kind| {
                ListParams::default().fields(&format!("involvedObject.kind={kind}"))
            });
            let events = match self.list(&resource, &namespace, params).await {
                Ok(events) => events,
                Err(error) => {
                    self.notes.push(in_words("list", &format!("events of {namespace}"), &error));
                    continue;
                }
            };
            let about = |event: &DynamicObject, field: &str| text_at(&event.data, &format!("/involvedObject/{field}"));
            for event in events {
                let is_wanted = about(&event, "name").is_some_and(|name| names.contains(&name))
                    && kind.is_none_or(|kind| about(&event, "kind").as_deref() == Some(kind));
                if is_wanted {
                    read.keep("events.yaml", &resource, event);
                }
            }
        }
    }

    /// Those of a namespace's objects that are wanted.
    async fn listed<K>(&mut self, file: &'static str, wanted: Wanted<'_>, read: &mut Read) -> Vec<DynamicObject>
    where
        K: Resource<DynamicType = ()>,
    {
        let resource = erased::<K>();
        let all = match self.list(&resource, &self.of.namespace.clone(), ListParams::default()).await {
            Ok(all) => all,
            Err(kube::Error::Api(status)) if status.code == 404 => {
                self.notes.push(format!("the cluster has no {}", resource.plural));
                return Vec::new();
            }
            Err(error) => {
                let what = format!("{} of {}", resource.plural, self.of.namespace);
                self.notes.push(in_words("list", &what, &error));
                return Vec::new();
            }
        };
        let kept: Vec<DynamicObject> = all.into_iter().filter(|object| wanted(object)).collect();
        for object in &kept {
            read.keep(file, &resource, object.clone());
        }
        kept
    }

    /// Objects by name.
    async fn each<K>(&mut self, file: &'static str, names: &BTreeSet<String>, read: &mut Read)
    where
        K: Resource<DynamicType = ()> + Scoped,
    {
        let resource = erased::<K>();
        let objects: Api<DynamicObject> =
            if K::NAMESPACED { self.api(&resource) } else { Api::all_with(self.client.clone(), &resource) };
        for name in names {
            match objects.get(name).await {
                Ok(object) => read.keep(file, &resource, object),
                Err(error) => self.notes.push(in_words("get", &format!("{} {name}", resource.plural), &error)),
            }
        }
    }

    fn api(&self, resource: &ApiResource) -> Api<DynamicObject> {
        Api::namespaced_with(self.client.clone(), &self.of.namespace, resource)
    }

    /// A whole list, page by page.
    async fn list(
        &mut self,
        resource: &ApiResource,
        namespace: &str,
        about: ListParams,
    ) -> Result<Vec<DynamicObject>, kube::Error> {
        let objects: Api<DynamicObject> = Api::namespaced_with(self.client.clone(), namespace, resource);
        let mut read = Vec::new();
        let mut params = about.limit(PAGE);
        for _ in 0..PAGES_MAX {
            let page = objects.list(&params).await?;
            read.extend(page.items);
            let Some(next) = page.metadata.continue_.filter(|next| !next.is_empty()) else { return Ok(read) };
            params = params.continue_token(&next);
        }
        self.notes.push(format!("of the {} of {namespace} only the first {} were read", resource.plural, read.len()));
        Ok(read)
    }
}

/// Whether a kind lives in a namespace.
trait Scoped {
    const NAMESPACED: bool;
}

impl Scoped for StatefulSet {
    const NAMESPACED: bool = true;
}

impl Scoped for CosmosFullNode {
    const NAMESPACED: bool = true;
}

impl Scoped for PersistentVolume {
    const NAMESPACED: bool = false;
}

impl Scoped for Node {
    const NAMESPACED: bool = false;
}

fn erased<K: Resource<DynamicType = ()>>() -> ApiResource {
    ApiResource::erase::<K>(&())
}

fn as_pod(object: &DynamicObject) -> Option<Pod> {
    serde_json::from_value(serde_json::to_value(object).ok()?).ok()
}

fn claims_of(pod: &Pod) -> Vec<String> {
    let volumes = pod.spec.iter().flat_map(|spec| spec.volumes.iter().flatten());
    volumes.filter_map(|volume| Some(volume.persistent_volume_claim.as_ref()?.claim_name.clone())).collect()
}

fn owner_uid(object: &DynamicObject) -> Option<String> {
    let owner = object.owner_references().iter().find(|owner| owner.controller == Some(true))?;
    Some(owner.uid.clone())
}

fn text_at(value: &Value, pointer: &str) -> Option<String> {
    value.pointer(pointer)?.as_str().map(str::to_owned)
}
