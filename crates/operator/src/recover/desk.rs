//! What both controllers work with. *Client, reads; writes go through the writer.*

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use api::{Claim, CrashFacts, Recovery, RecoveryPolicy};
use diagnosis::ClaimName;
use k8s_openapi::{NamespaceResourceScope, api::core::v1::PersistentVolumeClaim};
use kube::{Api, Client, Resource, ResourceExt};

use super::Writer;
use crate::{
    Clock, Settings,
    collect::Collector,
    detect::crash_facts,
    error::OperatorError,
    index::{Index, Kind},
    log_book::LogBook,
    metrics::Metrics,
    records::Ledger,
    watch::Watches,
};

/// What was seen so far, shared by watches and controllers of one thread.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    /// Pods and workloads.
    pub(crate) index: Index,
    /// Policies and records.
    pub(crate) ledger: Ledger,
    /// Logs of crashes.
    pub(crate) log_book: LogBook,
    /// How the watches fare.
    pub(crate) watches: Watches,
    /// UIDs of policies of which too many replicas are sick; their status says so a moment later.
    pub(crate) storms: BTreeSet<String>,
}

/// What both controllers work with. Clones are the same one.
#[derive(Clone)]
pub(crate) struct Desk {
    pub(crate) client: Client,
    pub(crate) clock: Clock,
    pub(crate) settings: Arc<Settings>,
    pub(crate) collector: Collector,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) seen: Arc<Mutex<Seen>>,
}

/// The right to write, beside the desk.
pub(crate) struct Leading {
    pub(crate) desk: Desk,
    pub(crate) writer: Writer,
}

impl Desk {
    /// Never held over a wait.
    pub(crate) fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The kind, in the namespaces that are watched.
    pub(crate) fn api_of_watched<K>(&self) -> Api<K>
    where
        K: Resource<DynamicType = (), Scope = NamespaceResourceScope>,
    {
        match &self.settings.watched {
            Some(namespace) => Api::namespaced(self.client.clone(), namespace),
            None => Api::all(self.client.clone()),
        }
    }

    /// Whether everything was seen once by which an incident is judged: a workload not seen yet is not gone.
    pub(crate) fn is_settled(&self, recovery: &Recovery) -> bool {
        let seen = self.seen();
        let workloads = Kind::of(recovery.spec.target.kind).plural();
        ["pods", "recoverypolicies", "recoveries", workloads].iter().all(|kind| seen.watches.is_settled(kind))
    }

    /// The policy that opened an incident, as it was last heard of.
    pub(crate) fn policy_of(&self, recovery: &Recovery) -> Option<Arc<RecoveryPolicy>> {
        self.seen().ledger.policies.get(&recovery.namespace().unwrap_or_default(), &recovery.spec.policy.name)
    }

    /// The crashes of an incident, as far as they are known.
    pub(crate) fn crash_facts(&self, recovery: &Recovery) -> CrashFacts {
        let policy = self.policy_of(recovery);
        crash_facts(&self.seen().index, recovery, policy.as_deref())
    }

    /// A claim, read live, with the volume that it is bound to.
    pub(crate) async fn claim(
        &self,
        policy: &RecoveryPolicy,
        name: &ClaimName,
    ) -> Result<Option<Claim>, OperatorError> {
        let claims: Api<PersistentVolumeClaim> =
            Api::namespaced(self.client.clone(), &policy.namespace().unwrap_or_default());
        let claim = claims.get_opt(name.as_str()).await.map_err(|source| OperatorError::Unread {
            what: format!("claim {}/{name}", policy.namespace().unwrap_or_default()),
            source: Box::new(source),
        })?;
        Ok(claim.and_then(|claim| {
            let uid = claim.uid()?;
            Some(Claim { name: claim.name_any(), uid, volume: claim.spec.and_then(|spec| spec.volume_name) })
        }))
    }
}
