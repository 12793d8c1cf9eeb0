//! DELETE: preconditions, grace, finalizers, what becomes of dependents. *No client.*

use std::sync::Arc;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::{Reply, Server, call::Call, refusal::Refusal, store::Key, write::Write};
use crate::object::{Fields, add_finalizer, later, seconds, set};

/// Dependents go first.
pub(crate) const FOREGROUND: &str = "foregroundDeletion";
/// Dependents stay.
pub(crate) const ORPHAN: &str = "orphan";

impl Server {
    pub(super) fn delete(&mut self, write: &Write<'_>) -> Result<Reply, Refusal> {
        let key = write.call.key();
        let live = self.store.get(&key).cloned().ok_or_else(|| Refusal::not_found(&key.resource, &key.name))?;
        check_preconditions(write.call, &live)?;
        let mut object = Value::clone(&live);
        match policy_of(write.call) {
            "Foreground" => {
                add_finalizer(&mut object, FOREGROUND);
            }
            "Orphan" => {
                add_finalizer(&mut object, ORPHAN);
            }
            _ => {}
        }
        let grace = grace_of(&key.resource, write.call, &live);
        let at_once = grace == 0 && object.items("/metadata/finalizers").is_empty();
        if write.call.is_dry_run() {
            let answer = if at_once { Arc::new(success(&key, live.uid())) } else { live };
            return Ok(Reply::Object(200, answer));
        }
        if at_once {
            self.store.remove(write.now, &key);
            return Ok(Reply::Object(200, Arc::new(success(&key, live.uid()))));
        }
        let ends = later(write.now, grace);
        let already = live.number("/metadata/deletionGracePeriodSeconds");
        if already.is_some_and(|already| already <= grace) && live.is_terminating() {
            return Ok(Reply::Object(200, live));
        }
        mark(&mut object, ends, grace);
        Ok(Reply::Object(200, self.store.put(write.now, key, object)))
    }

    pub(super) fn delete_collection(&mut self, write: &Write<'_>) -> Result<Reply, Refusal> {
        let selector = super::read::selector_of(write.call)?;
        let kept = self.store.list(&write.kind.name, write.call.namespace.as_deref());
        let names: Vec<Key> = kept.filter(|(_, object)| selector.takes(object)).map(|(key, _)| key.clone()).collect();
        let listed = names.iter().filter_map(|key| self.store.get(key).map(|object| Value::clone(object)));
        let items: Vec<Value> = listed.collect();
        for key in names {
            let mut call = Call::delete(&key.resource, &key.namespace, &key.name);
            call.query.clone_from(&write.call.query);
            call.body = write.call.body.clone();
            self.delete(&Write { call: &call, ..*write })?;
        }
        Ok(Reply::Object(
            200,
            Arc::new(json!({
                "apiVersion": write.kind.api_version(), "kind": format!("{}List", write.kind.kind),
                "metadata": {"resourceVersion": self.store.version().to_string()}, "items": items,
            })),
        ))
    }
}

fn mark(object: &mut Value, ends: Timestamp, grace: i64) {
    set(object, "/metadata/deletionTimestamp", seconds(ends));
    set(object, "/metadata/deletionGracePeriodSeconds", grace.into());
}

fn check_preconditions(call: &Call, live: &Value) -> Result<(), Refusal> {
    for (field, name, happened) in
        [("uid", "UID", "deleted and then recreated"), ("resourceVersion", "ResourceVersion", "modified")]
    {
        let wanted = call.body.text(&format!("/preconditions/{field}"));
        let found = live.text(&format!("/metadata/{field}"));
        if !wanted.is_empty() && wanted != found {
            let why = format!(
                "the {name} in the precondition ({wanted}) does not match the {name} in record ({found}). The object might have been {happened}"
            );
            // Here the real one says the kind where it says the resource elsewhere.
            return Err(Refusal::conflict_because(live.text("/kind"), live.name(), &why));
        }
    }
    Ok(())
}

fn policy_of(call: &Call) -> &str {
    match call.body.text("/propagationPolicy") {
        "" => call.option("propagationPolicy"),
        policy => policy,
    }
}

/// Only pods have a grace period, and only those that may still run somewhere.
fn grace_of(resource: &str, call: &Call, live: &Value) -> i64 {
    let settled = matches!(live.text("/status/phase"), "Succeeded" | "Failed");
    if resource != "pods" || live.text("/spec/nodeName").is_empty() || settled {
        return 0;
    }
    let asked = call.body.number("/gracePeriodSeconds").or_else(|| call.option("gracePeriodSeconds").parse().ok());
    asked.or_else(|| live.number("/spec/terminationGracePeriodSeconds")).unwrap_or(30).max(0)
}

fn success(key: &Key, uid: &str) -> Value {
    let (plural, group) = key.resource.split_once('.').unwrap_or((&key.resource, ""));
    json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success",
        "details": {"name": key.name, "group": group, "kind": plural, "uid": uid},
    })
}
