//! What a write may change of an object that is there, and when nothing is left of it. *No client.*

use std::sync::Arc;

use serde_json::Value;

use super::{Reply, Server, call::Verb, kind_rules, ownership::note_change, refusal::Refusal, write::Write};
use crate::object::{Fields, set, unset};

impl Server {
    /// The end of every change of an object that is there; `applied` where its owners are noted already.
    pub(super) fn change(
        &mut self,
        write: &Write<'_>,
        live: &Arc<Value>,
        wanted: Value,
        applied: bool,
    ) -> Result<Reply, Refusal> {
        let name = live.name().to_owned();
        let version = wanted.text("/metadata/resourceVersion");
        if !version.is_empty() && version != live.text("/metadata/resourceVersion") {
            return Err(Refusal::conflict(&write.kind.name, &name));
        }
        let owners = wanted.part("/metadata/managedFields").clone();
        let mut result = if write.call.is_for_status() {
            let mut result = Value::clone(live);
            match wanted.get("status") {
                Some(status) => set(&mut result, "/status", status.clone()),
                None => drop(unset(&mut result, "/status")),
            }
            result
        } else {
            Self::changed_outside_status(write, live, wanted)?
        };
        if applied {
            set(&mut result, "/metadata/managedFields", owners);
        }
        self.fit_schema(write.kind, &mut result)?;
        kind_rules::on_update(&write.kind.name, live, &result, &self.store)?;
        if write.kind.counts_generations && !write.call.is_for_status() && spec_differs(live, &result) {
            let generation = live.number("/metadata/generation").unwrap_or_default() + 1;
            set(&mut result, "/metadata/generation", generation.into());
        }
        if same_content(live, &result) && (!applied || **live == result) {
            return Ok(Reply::Object(200, Arc::clone(live)));
        }
        self.holds.check(write.now, Verb::Update, &write.kind.name, &result, &self.store)?;
        if !applied {
            note_change(live, &mut result, &write.manager(), write.now);
        }
        if write.call.is_dry_run() {
            return Ok(Reply::Object(200, Arc::new(result)));
        }
        let key = write.key(&name);
        let freed = result.is_terminating()
            && result.items("/metadata/finalizers").is_empty()
            && result.number("/metadata/deletionGracePeriodSeconds").unwrap_or_default() == 0;
        if freed {
            self.store.put(write.now, key.clone(), result);
            let last = self.store.remove(write.now, &key);
            return Ok(Reply::Object(200, last.unwrap_or_else(|| Arc::clone(live))));
        }
        Ok(Reply::Object(200, self.store.put(write.now, key, result)))
    }

    /// What a write to the object itself may change: not its identity, and not the status that has its own place.
    fn changed_outside_status(write: &Write<'_>, live: &Arc<Value>, wanted: Value) -> Result<Value, Refusal> {
        let mut result = wanted;
        if !result.uid().is_empty() && result.uid() != live.uid() {
            let why = format!("Invalid value: {:?}: field is immutable", result.uid());
            return Err(Refusal::invalid(&write.kind.kind, live.name(), "metadata.uid", &why));
        }
        if live.is_terminating() {
            let old = live.items("/metadata/finalizers");
            if let Some(new) = result.items("/metadata/finalizers").iter().find(|item| !old.contains(item)) {
                let why = format!(
                    "Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{{{new}}}"
                );
                return Err(Refusal::invalid(&write.kind.kind, live.name(), "metadata.finalizers", &why));
            }
        }
        for field in [
            "/apiVersion",
            "/kind",
            "/metadata/name",
            "/metadata/namespace",
            "/metadata/uid",
            "/metadata/resourceVersion",
            "/metadata/creationTimestamp",
            "/metadata/deletionTimestamp",
            "/metadata/deletionGracePeriodSeconds",
            "/metadata/generation",
            "/metadata/managedFields",
        ] {
            match live.pointer(field) {
                Some(value) => set(&mut result, field, value.clone()),
                None => drop(unset(&mut result, field)),
            }
        }
        if write.kind.has_status {
            match live.get("status") {
                Some(status) => set(&mut result, "/status", status.clone()),
                None => drop(unset(&mut result, "/status")),
            }
        }
        Ok(result)
    }
}

fn spec_differs(before: &Value, after: &Value) -> bool {
    !same_fields(before, after, &["metadata", "status"])
}

/// Whether a write changes anything but who owns what.
fn same_content(before: &Value, after: &Value) -> bool {
    same_fields(before, after, &["metadata"])
        && same_fields(before.part("/metadata"), after.part("/metadata"), &["managedFields"])
}

/// Whether two objects have the same fields, apart from some.
fn same_fields(before: &Value, after: &Value, apart_from: &[&str]) -> bool {
    let fields = |object| {
        let map: Option<&serde_json::Map<String, Value>> = Value::as_object(object);
        map.into_iter().flatten().filter(|(name, _)| !apart_from.contains(&name.as_str()))
    };
    fields(before).count() == fields(after).count()
        && fields(before).all(|(name, value)| after.get(name) == Some(value))
}
