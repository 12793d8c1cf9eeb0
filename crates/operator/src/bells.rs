//! Who is told when something was heard: the controllers and whoever reads logs. *No client.*
//!
//! Bounded; a bell that is missed costs a look that comes a little later by itself, a notice that is missed costs a log, and
//! is counted.

use std::sync::{Arc, Mutex, PoisonError};

use api::{Recovery, RecoveryPolicy};
use futures::channel::mpsc::{Receiver, Sender, channel};
use kube::{Resource, core::DeserializeGuard, runtime::reflector::ObjectRef};

use crate::{detect::is_open, index::CrashNotice, recover::Seen};

type Policies = ObjectRef<DeserializeGuard<RecoveryPolicy>>;
type Recoveries = ObjectRef<DeserializeGuard<Recovery>>;

/// What may wait in each.
const WAITING_MAX: usize = 1_024;

/// The bells of a leadership; without one nobody listens.
#[derive(Debug, Clone, Default)]
pub(crate) struct Bells {
    wires: Arc<Mutex<Option<Wires>>>,
}

#[derive(Debug)]
struct Wires {
    notices: Sender<CrashNotice>,
    policies: Sender<Policies>,
    recoveries: Sender<Recoveries>,
}

/// The other ends.
#[derive(Debug)]
pub(crate) struct Ears {
    pub(crate) notices: Receiver<CrashNotice>,
    pub(crate) policies: Receiver<Policies>,
    pub(crate) recoveries: Receiver<Recoveries>,
}

/// Whether a notice found its listener.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Heard {
    Taken,
    Missed,
}

impl Bells {
    /// New ends; those of an earlier leadership fall silent.
    pub(crate) fn listen(&self) -> Ears {
        let (notices, notices_end) = channel(WAITING_MAX);
        let (policies, policies_end) = channel(WAITING_MAX);
        let (recoveries, recoveries_end) = channel(WAITING_MAX);
        *self.lock() = Some(Wires { notices, policies, recoveries });
        Ears { notices: notices_end, policies: policies_end, recoveries: recoveries_end }
    }

    /// A crash, for whoever reads its log.
    pub(crate) fn crashed(&self, notice: CrashNotice) -> Heard {
        match self.lock().as_mut().map(|wires| wires.notices.try_send(notice)) {
            None | Some(Ok(())) => Heard::Taken,
            Some(Err(_)) => Heard::Missed,
        }
    }

    /// Something has changed by which the policies of a namespace decide.
    pub(crate) fn look_at_policies(&self, seen: &Seen, namespace: &str) {
        let mut lock = self.lock();
        let Some(wires) = lock.as_mut() else { return };
        for policy in seen.ledger.policies.in_namespace(namespace) {
            // A full one is rung anyway by those that wait in it.
            let _ = wires.policies.try_send(reference(&*policy));
        }
    }

    /// The open incidents of a namespace, or of one replica in it, are to be looked at.
    pub(crate) fn look_at_incidents(&self, seen: &Seen, namespace: &str, pod: Option<&str>) {
        let mut lock = self.lock();
        let Some(wires) = lock.as_mut() else { return };
        let recoveries = seen.ledger.recoveries.in_namespace(namespace);
        let concerned = recoveries
            .iter()
            .filter(|recovery| is_open(recovery) && pod.is_none_or(|pod| recovery.spec.target.pod == pod));
        for recovery in concerned {
            let _ = wires.recoveries.try_send(reference(&**recovery));
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Wires>> {
        self.wires.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The guard changes nothing of a name.
fn reference<K>(object: &K) -> ObjectRef<DeserializeGuard<K>>
where
    K: Resource<DynamicType = ()>,
{
    let mut reference = ObjectRef::new(object.meta().name.as_deref().unwrap_or_default());
    reference.namespace.clone_from(&object.meta().namespace);
    reference
}
