//! The one writer. *Client; the only one that writes, but for the Lease.* (P1, P5, P11)
//!
//! Every write is to an object of our own: a Recovery, a policy's status, an Event, an inspector's Job and what it is given
//! (P1). Each is asked for after its last wait with a [`Permit`] of the Lease, carries the resourceVersion or the UID of what
//! was read, or makes an object whose name is the same at every try; so a write that is lost, doubled or late does nothing
//! that was not meant (P11).

use std::{collections::BTreeMap, fmt::Debug, sync::Arc};

use api::{Recovery, RecoveryPolicy, RecoverySpec, RecoveryStatus, VolumeSnapshot};
use k8s_openapi::{
    NamespaceResourceScope,
    api::{batch::v1::Job, core::v1::PersistentVolumeClaim, events::v1::Event},
};
use kube::{
    Api, Client, Resource, ResourceExt,
    api::{DeleteParams, ObjectMeta, Patch, PatchParams, PostParams, Preconditions, PropagationPolicy},
};
use serde::{Serialize, de::DeserializeOwned};

use super::{
    ActError, Said,
    act_error::{already_exists, code},
    said::event,
};
use crate::{Clock, Settings, lease::Lease};

/// Writes, while the Lease is held.
#[derive(Clone)]
pub(crate) struct Writer {
    client: Client,
    lease: Lease,
    clock: Clock,
    settings: Arc<Settings>,
}

/// Field manager of everything that we write.
const MANAGER: &str = "loopbreaker";

impl Writer {
    pub(crate) fn new(client: Client, lease: Lease, clock: Clock, settings: Arc<Settings>) -> Self {
        Self { client, lease, clock, settings }
    }

    /// Opens an incident. Its name is the same at every try, so a doubled one is refused by the API server itself.
    pub(crate) async fn open(
        &self,
        policy: &RecoveryPolicy,
        name: &str,
        spec: RecoverySpec,
    ) -> Result<Recovery, ActError> {
        let namespace = policy.namespace().unwrap_or_default();
        let labels = BTreeMap::from([
            (OWNED.0.to_owned(), OWNED.1.to_owned()),
            ("loopbreaker.dev/policy".to_owned(), label(&spec.policy.name)),
            ("loopbreaker.dev/instance".to_owned(), label(&spec.target.pod)),
        ]);
        let recovery = Recovery {
            metadata: ObjectMeta {
                name: Some(name.to_owned()),
                namespace: Some(namespace),
                labels: Some(labels),
                ..ObjectMeta::default()
            },
            spec,
            status: None,
        };
        // A name that is taken is an incident that is open already, by an answer that was lost or by another leader.
        let found = self.make_or_find(&recovery).await?;
        if found.spec.target.pod == recovery.spec.target.pod {
            Ok(found)
        } else {
            Err(ActError::NotOurs { what: format!("{}, of replica {},", named(&found), found.spec.target.pod) })
        }
    }

    /// Writes a Recovery's status over the one that was read.
    pub(crate) async fn record(&self, read: &Recovery, mut status: RecoveryStatus) -> Result<Recovery, ActError> {
        let recoveries: Api<Recovery> = self.api(read);
        let permit = self.lease.permit()?;
        status.fencing_token = Some(permit.token);
        let mut written = read.clone();
        written.metadata.managed_fields = None;
        written.status = Some(status);
        recoveries.replace_status(&read.name_any(), &params(), &written).await.map_err(refused("update", read))
    }

    /// Writes a policy's status over the one that was read.
    pub(crate) async fn record_policy(&self, read: &RecoveryPolicy) -> Result<(), ActError> {
        let policies: Api<RecoveryPolicy> = self.api(read);
        let _permit = self.lease.permit()?;
        let mut written = read.clone();
        written.metadata.managed_fields = None;
        policies.replace_status(&read.name_any(), &params(), &written).await.map_err(refused("update", read))?;
        Ok(())
    }

    /// Sends an inspector.
    pub(crate) async fn send_inspector(&self, job: &Job) -> Result<(), ActError> {
        self.make_or_find(job).await.map(drop)
    }

    /// Takes a snapshot of our own to be inspected.
    pub(crate) async fn take_snapshot(&self, snapshot: &VolumeSnapshot) -> Result<(), ActError> {
        self.make_or_find(snapshot).await.map(drop)
    }

    /// Makes a claim of our own from such a snapshot.
    pub(crate) async fn make_claim(&self, claim: &PersistentVolumeClaim) -> Result<(), ActError> {
        self.make_or_find(claim).await.map(drop)
    }

    /// Takes away what an inspection has made, as far as it is there: the Job with its pod, then the claim, then the snapshot.
    pub(crate) async fn remove_inspection(&self, recovery: &Recovery, name: &str) -> Result<(), ActError> {
        self.remove::<Job>(recovery, name).await?;
        self.remove::<PersistentVolumeClaim>(recovery, name).await?;
        match self.remove::<VolumeSnapshot>(recovery, name).await {
            // A cluster without snapshots has none of ours, and a right that is missing now was missing then.
            Err(error @ ActError::Refused { .. }) if error.is_forbidden() => Ok(()),
            other => other,
        }
    }

    /// P5: read live, known as ours by its owner's UID, and deleted by its own UID.
    async fn remove<K>(&self, recovery: &Recovery, name: &str) -> Result<(), ActError>
    where
        K: Ours,
    {
        let objects: Api<K> = Api::namespaced(self.client.clone(), &recovery.namespace().unwrap_or_default());
        let unread = refused_by_name::<K>;
        let mut object = get(&objects, name).await.map_err(unread("get", name))?;
        if object.is_none() {
            // Asked twice: what is left behind by one wrong answer nobody looks for again.
            object = get(&objects, name).await.map_err(unread("get", name))?;
        }
        let Some(object) = object else { return Ok(()) };
        let owned = object.owner_references().iter().any(|owner| Some(&owner.uid) == recovery.metadata.uid.as_ref());
        if !owned || object.meta().deletion_timestamp.is_some() {
            return Ok(());
        }
        let only_it = Preconditions { uid: object.uid(), resource_version: None };
        let how = DeleteParams {
            preconditions: Some(only_it),
            propagation_policy: Some(PropagationPolicy::Background),
            ..DeleteParams::default()
        };
        let _permit = self.lease.permit()?;
        match objects.delete(name, &how).await {
            Ok(_) => Ok(()),
            // Gone, or another one by now, as it should be; a server that says so while it is there is asked again.
            Err(error) if matches!(code(&error), Some(404 | 409)) => match objects.get_opt(name).await {
                Ok(Some(there)) if there.uid() == object.uid() && there.meta().deletion_timestamp.is_none() => {
                    Err(refused("delete", &object)(error))
                }
                Ok(_) => Ok(()),
                Err(error) => Err(refused("get", &object)(error)),
            },
            Err(error) => Err(refused("delete", &object)(error)),
        }
    }

    /// Says something about an object of ours, once.
    pub(crate) async fn say<K>(&self, about: &K, said: Said) -> Result<(), ActError>
    where
        K: Resource<DynamicType = ()>,
    {
        let namespace = about.meta().namespace.clone().unwrap_or_default();
        let events: Api<Event> = Api::namespaced(self.client.clone(), &namespace);
        let event = event(about.object_ref(&()), &namespace, &self.settings.identity, self.clock.now(), &said);
        let _permit = self.lease.permit()?;
        match events.create(&params(), &event).await {
            Ok(_) => Ok(()),
            Err(error) if already_exists(&error) => Ok(()),
            // An incident does not wait for the right to speak of it: the record has it all.
            Err(error) if code(&error) == Some(403) => {
                tracing::warn!(%error, "an Event could not be written (grant `create` on events)");
                Ok(())
            }
            Err(error) => Err(refused("create", &event)(error)),
        }
    }

    /// Makes an object; where the name is taken, finds whether the one that is there is ours.
    async fn make_or_find<K>(&self, object: &K) -> Result<K, ActError>
    where
        K: Ours,
    {
        let objects: Api<K> = self.api(object);
        let permit = self.lease.permit();
        let _permit = permit?;
        let error = match objects.create(&params(), object).await {
            Ok(made) => return Ok(made),
            Err(error) if already_exists(&error) => error,
            Err(error) => return Err(refused("create", object)(error)),
        };
        let there = objects.get_opt(&object.name_any()).await.map_err(refused("get", object))?;
        // Between the two answers it has gone: the next look decides anew.
        let there = there.ok_or_else(|| refused("create", object)(error))?;
        let same = there.labels().get(OWNED.0).map(String::as_str) == Some(OWNED.1)
            && there.owner_references() == object.owner_references();
        if same { Ok(there) } else { Err(ActError::NotOurs { what: named(object) }) }
    }

    fn api<K: Ours>(&self, of: &K) -> Api<K> {
        Api::namespaced(self.client.clone(), &of.namespace().unwrap_or_default())
    }
}

/// None of a kind that the cluster does not have is there either: the API server answers that with text, which the client does
/// not take for "not found".
async fn get<K: Ours>(objects: &Api<K>, name: &str) -> Result<Option<K>, kube::Error> {
    match objects.get_opt(name).await {
        Err(error) if code(&error) == Some(404) => Ok(None),
        answer => answer,
    }
}

/// Kinds that are written here.
pub(crate) trait Ours:
    Resource<DynamicType = (), Scope = NamespaceResourceScope> + Clone + Debug + Serialize + DeserializeOwned
{
}

impl<K> Ours for K where
    K: Resource<DynamicType = (), Scope = NamespaceResourceScope> + Clone + Debug + Serialize + DeserializeOwned
{
}

/// The label of everything that we make.
pub(crate) const OWNED: (&str, &str) = ("app.kubernetes.io/managed-by", "loopbreaker");

/// What a label may hold of a name.
fn label(name: &str) -> String {
    const LENGTH_MAX: usize = 63;
    let cut: String = name.chars().take(LENGTH_MAX).collect();
    cut.trim_end_matches(|c: char| !c.is_ascii_alphanumeric()).to_owned()
}

fn params() -> PostParams {
    PostParams { field_manager: Some(MANAGER.to_owned()), ..PostParams::default() }
}

fn named<K: Resource<DynamicType = ()>>(object: &K) -> String {
    let namespace = object.meta().namespace.clone().unwrap_or_default();
    format!("{} {namespace}/{}", K::kind(&()), object.meta().name.clone().unwrap_or_default())
}

fn refused<K: Resource<DynamicType = ()>>(
    verb: &'static str,
    object: &K,
) -> impl FnOnce(kube::Error) -> ActError + use<K> {
    let what = named(object);
    move |source| ActError::Refused { verb, what, source: Box::new(source) }
}

fn refused_by_name<K: Resource<DynamicType = ()>>(
    verb: &'static str,
    name: &str,
) -> impl FnOnce(kube::Error) -> ActError + use<K> {
    let what = format!("{} {name}", K::kind(&()));
    move |source| ActError::Refused { verb, what, source: Box::new(source) }
}

/// The kill switch of a policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Suspension {
    /// Nothing new is begun.
    Suspended,
    /// As the mode says.
    InForce,
}

/// Throws a policy's kill switch: for a human at a terminal, whose right it needs, not the Lease (P12).
pub async fn set_suspended(
    client: &Client,
    namespace: &str,
    name: &str,
    suspension: Suspension,
) -> Result<RecoveryPolicy, ActError> {
    let policies: Api<RecoveryPolicy> = Api::namespaced(client.clone(), namespace);
    let patch = serde_json::json!({"spec": {"suspend": suspension == Suspension::Suspended}});
    let how = PatchParams { field_manager: Some(format!("{MANAGER}-cli")), ..PatchParams::default() };
    policies.patch(name, &how, &Patch::Merge(&patch)).await.map_err(refused_by_name::<RecoveryPolicy>("patch", name))
}
