//! What is refused by rules that are objects themselves: holds and quotas. *No client.* (P8)
//!
//! The two `ValidatingAdmissionPolicy` objects of a `Hold` are built in as Rust instead of CEL; they are in force while objects of
//! their names are there, policy and binding both. A hold is seen 30 ms after it was made and lost 30 ms after it is gone,
//! as it was measured on a real API server (real-cluster facts): who does not probe by a dry run comes too early.

use std::collections::{BTreeMap, VecDeque};

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use super::{
    call::Verb,
    refusal::Refusal,
    store::{Change, Event, Key, Store},
};
use crate::object::{Fields, bytes_of};

/// The kind of a hold.
pub(crate) const HOLDS: &str = "holds.loopbreaker.dev";
/// Denies the pod.
pub(crate) const HOLD_PODS: &str = "loopbreaker-hold-pods";
/// Denies other volumes for the claim.
pub(crate) const HOLD_CLAIMS: &str = "loopbreaker-hold-claims";

const SEEN_AFTER: SignedDuration = SignedDuration::from_millis(30);

/// The holds as the API server's own cache has them.
#[derive(Debug, Default)]
pub(crate) struct HoldsSeen {
    coming: VecDeque<(Timestamp, Key, Option<Value>)>,
    seen: BTreeMap<Key, Value>,
}

impl HoldsSeen {
    /// Takes note of a change of a hold.
    pub(crate) fn note(&mut self, event: &Event) {
        if &*event.key.resource == HOLDS {
            let hold = (event.change != Change::Deleted).then(|| event.object.part("/spec").clone());
            let at = event.at.checked_add(SEEN_AFTER).unwrap_or(event.at);
            self.coming.push_back((at, event.key.clone(), hold));
        }
    }

    fn catch_up(&mut self, now: Timestamp) {
        while self.coming.front().is_some_and(|(at, ..)| *at <= now) {
            match self.coming.pop_front() {
                Some((_, key, Some(hold))) => self.seen.insert(key, hold),
                Some((_, key, None)) => self.seen.remove(&key),
                None => None,
            };
        }
    }

    /// Refuses what a hold forbids.
    pub(crate) fn check(
        &mut self,
        now: Timestamp,
        verb: Verb,
        resource: &str,
        object: &Value,
        store: &Store,
    ) -> Result<(), Refusal> {
        let policy = match (resource, verb) {
            ("pods", Verb::Create) => HOLD_PODS,
            ("persistentvolumeclaims", _) => HOLD_CLAIMS,
            _ => return Ok(()),
        };
        self.catch_up(now);
        if self.seen.is_empty() || !is_in_force(policy, store) {
            return Ok(());
        }
        for (key, hold) in self.seen.iter().filter(|(key, _)| key.namespace == object.namespace()) {
            let volumes: Vec<&str> = hold.items("/volumes").iter().filter_map(Value::as_str).collect();
            let why = match resource {
                "pods" if hold.text("/pod") == object.name() => format!("held by loopbreaker {}", key.name),
                "persistentvolumeclaims"
                    if hold.text("/claim") == object.name()
                        && object.has("/spec/volumeName")
                        && !volumes.contains(&object.text("/spec/volumeName")) =>
                {
                    format!("held by loopbreaker {}: only {}", key.name, volumes.join(" or "))
                }
                _ => continue,
            };
            let why = format!("ValidatingAdmissionPolicy '{policy}' with binding '{policy}' denied request: {why}");
            return Err(Refusal::forbidden(resource, object.name(), &why));
        }
        Ok(())
    }
}

fn is_in_force(policy: &str, store: &Store) -> bool {
    ["validatingadmissionpolicies", "validatingadmissionpolicybindings"]
        .iter()
        .all(|plural| store.get(&Key::new(&format!("{plural}.admissionregistration.k8s.io"), "", policy)).is_some())
}

/// Refuses a new object that a quota of its namespace leaves no room for.
pub(crate) fn check_quota(resource: &str, object: &Value, store: &Store) -> Result<(), Refusal> {
    for (_, quota) in store.list("resourcequotas", Some(object.namespace())) {
        for (what, hard) in quota.part("/spec/hard").as_object().into_iter().flatten() {
            let hard_text = hard.as_str().map_or_else(|| hard.to_string(), str::to_owned);
            let Some(hard) = bytes_of(&hard_text) else { continue };
            let Some((asked, used)) = need(what, resource, object, store) else { continue };
            if used.saturating_add(asked) > hard {
                let why = format!(
                    "exceeded quota: {}, requested: {what}={asked}, used: {what}={used}, limited: {what}={hard_text}",
                    quota.name()
                );
                return Err(Refusal::forbidden(resource, object.name(), &why));
            }
        }
    }
    Ok(())
}

/// What a new object asks of a quota's entry, and what is used of it.
fn need(what: &str, resource: &str, object: &Value, store: &Store) -> Option<(u64, u64)> {
    let others = || store.list(resource, Some(object.namespace())).map(|(_, other)| other);
    let counted = what == resource || what.strip_prefix("count/") == Some(resource);
    match (what, resource) {
        ("pods", "pods") => {
            let alive = others().filter(|pod| !matches!(pod.text("/status/phase"), "Succeeded" | "Failed"));
            Some((1, alive.count() as u64))
        }
        ("requests.storage", "persistentvolumeclaims") => {
            let size = |claim: &Value| bytes_of(claim.text("/spec/resources/requests/storage")).unwrap_or_default();
            Some((size(object), others().map(|claim| size(claim)).sum()))
        }
        _ if counted => Some((1, others().count() as u64)),
        _ => None,
    }
}
