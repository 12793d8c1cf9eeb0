//! What a write does to the store: POST, PUT, PATCH. *No client.*

use std::sync::Arc;

use jiff::Timestamp;
use serde_json::Value;

use super::{
    Reply, Server, admission,
    call::{Call, PatchKind, Verb},
    kind_rules,
    ownership::{Manager, apply, note_change},
    patch::patched,
    refusal::Refusal,
    resource::{DEFINITIONS, Resource, stored_version},
    schema,
    store::Key,
};
use crate::object::{Fields, seconds, set, unset};

/// One write under way.
pub(super) struct Write<'w> {
    pub(super) now: Timestamp,
    pub(super) user: &'w str,
    pub(super) call: &'w Call,
    pub(super) kind: &'w Resource,
}

impl Write<'_> {
    pub(super) fn manager(&self) -> Manager {
        let asked = self.call.option("fieldManager");
        let name = if asked.is_empty() { self.user.rsplit(':').next().unwrap_or_default() } else { asked };
        Manager {
            name: name.to_owned(),
            operation: if self.call.patch == Some(PatchKind::Apply) { "Apply" } else { "Update" },
            subresource: self.call.subresource.clone().unwrap_or_default(),
        }
    }

    pub(super) fn key(&self, name: &str) -> Key {
        Key::new(&self.kind.name, self.call.namespace.as_deref().unwrap_or_default(), name)
    }

    fn live(&self, server: &Server) -> Result<Arc<Value>, Refusal> {
        let name = self.call.name.as_deref().unwrap_or_default();
        server.store.get(&self.key(name)).cloned().ok_or_else(|| Refusal::not_found(&self.kind.name, name))
    }

    /// The body must be an object of the kind and place that it was sent to.
    fn body(&self) -> Result<Value, Refusal> {
        let mut body = self.call.body.clone();
        if !body.is_object() {
            return Err(Refusal::bad_request("the body is no object"));
        }
        let version = self.kind.api_version();
        for (field, expected) in [("apiVersion", version.as_str()), ("kind", self.kind.kind.as_str())] {
            match body.get(field).and_then(Value::as_str) {
                None | Some("") => set(&mut body, &format!("/{field}"), expected.into()),
                Some(found) if found == expected => {}
                Some(found) => {
                    return Err(Refusal::bad_request(format!(
                        "the {field} in the data ({found}) does not match the expected {field} ({expected})"
                    )));
                }
            }
        }
        match (self.call.namespace.as_deref(), body.namespace()) {
            (Some(namespace), "") => set(&mut body, "/metadata/namespace", namespace.into()),
            (Some(namespace), found) if found != namespace => {
                return Err(Refusal::bad_request(
                    "the namespace of the provided object does not match the namespace sent on the request",
                ));
            }
            _ => {}
        }
        Ok(body)
    }
}

impl Server {
    pub(super) fn create(&mut self, write: &Write<'_>) -> Result<Reply, Refusal> {
        let mut object = write.body()?;
        if write.kind.namespaced && write.call.namespace.is_none() {
            return Err(Refusal::not_allowed());
        }
        if object.has("/metadata/resourceVersion") && !object.text("/metadata/resourceVersion").is_empty() {
            return Err(Refusal::bad_request("resourceVersion should not be set on objects to be created"));
        }
        if object.name().is_empty() {
            let prefix = object.text("/metadata/generateName").to_owned();
            if prefix.is_empty() {
                let why = "Required value: name or generateName is required";
                return Err(Refusal::invalid(&write.kind.kind, "", "metadata.name", why));
            }
            let name = format!("{prefix}{}", self.names.suffix());
            set(&mut object, "/metadata/name", name.into());
        }
        self.create_object(write, object, false)
    }

    /// Makes an object; `applied` where its owners are noted already.
    fn create_object(&mut self, write: &Write<'_>, mut object: Value, applied: bool) -> Result<Reply, Refusal> {
        let namespace = write.call.namespace.as_deref();
        if let Some(namespace) = namespace
            && self.store.get(&Key::new("namespaces", "", namespace)).is_none()
        {
            return Err(Refusal::not_found("namespaces", namespace));
        }
        let key = write.key(object.name());
        for field in ["deletionTimestamp", "deletionGracePeriodSeconds", "generation", "selfLink"] {
            unset(&mut object, &format!("/metadata/{field}"));
        }
        if write.kind.has_status {
            unset(&mut object, "/status");
        }
        set(&mut object, "/metadata/uid", self.names.uid().into());
        set(&mut object, "/metadata/creationTimestamp", seconds(write.now));
        if write.kind.counts_generations {
            set(&mut object, "/metadata/generation", 1.into());
        }
        kind_rules::on_create(&write.kind.name, &mut object, &self.store);
        self.fit_schema(write.kind, &mut object)?;
        self.holds.check(write.now, Verb::Create, &key.resource, &object, &self.store)?;
        admission::check_quota(&key.resource, &object, &self.store)?;
        // After admission, as in the real one: that is why a dry run of a pod that is there shows whether it is held.
        if let Some(other) = self.store.get(&key) {
            let refusal = if other.is_terminating() { Refusal::being_deleted } else { Refusal::already_exists };
            return Err(refusal(&key.resource, &key.name));
        }
        if !applied {
            note_change(&Value::Null, &mut object, &write.manager(), write.now);
        }
        if write.call.is_dry_run() {
            return Ok(Reply::Object(201, Arc::new(object)));
        }
        Ok(Reply::Object(201, self.store.put(write.now, key, object)))
    }

    pub(super) fn update(&mut self, write: &Write<'_>) -> Result<Reply, Refusal> {
        let object = write.body()?;
        let name = write.call.name.as_deref().unwrap_or_default();
        if object.name() != name {
            let why = format!("the name of the object ({}) does not match the name on the URL ({name})", object.name());
            return Err(Refusal::bad_request(why));
        }
        let live = write.live(self)?;
        if object.text("/metadata/resourceVersion").is_empty()
            && (write.kind.is_custom || &*write.kind.name == "leases.coordination.k8s.io")
        {
            let why = "Invalid value: 0x0: must be specified for an update";
            return Err(Refusal::invalid(&write.kind.kind, name, "metadata.resourceVersion", why));
        }
        let uid = object.uid();
        if !uid.is_empty() && uid != live.uid() {
            let why = format!("Precondition failed: UID in precondition: {uid}, UID in object meta: {}", live.uid());
            return Err(Refusal::conflict_because(&write.kind.name, name, &why));
        }
        self.change(write, &live, object, false)
    }

    pub(super) fn patch(&mut self, write: &Write<'_>) -> Result<Reply, Refusal> {
        let kind = write.call.patch.unwrap_or(PatchKind::Merge);
        if kind == PatchKind::Apply {
            return self.apply(write);
        }
        let live = write.live(self)?;
        let result = patched(&live, &write.call.body, kind, write.kind)?;
        self.change(write, &live, result, false)
    }

    fn apply(&mut self, write: &Write<'_>) -> Result<Reply, Refusal> {
        if write.call.option("fieldManager").is_empty() {
            return Err(Refusal::no_manager());
        }
        let mut config = write.body()?;
        let name = write.call.name.as_deref().unwrap_or_default();
        if config.has("/metadata/managedFields") {
            return Err(Refusal::bad_request("metadata.managedFields must be nil"));
        }
        if !matches!(config.name(), "" | "name") && config.name() != name {
            return Err(Refusal::bad_request("the name of the object does not match the name on the URL"));
        }
        set(&mut config, "/metadata/name", name.into());
        let live = match write.live(self) {
            Ok(live) => live,
            Err(refusal) if write.call.is_for_status() => return Err(refusal),
            Err(_) => {
                let base = config.clone();
                let owned = apply(&base, &config, &write.manager(), true, write.now)?;
                return self.create_object(write, owned, true);
            }
        };
        let mut result = apply(&live, &config, &write.manager(), write.call.is_set("force"), write.now)?;
        for field in ["/metadata/uid", "/metadata/resourceVersion"] {
            if config.has(field) {
                set(&mut result, field, config.part(field).clone());
            }
        }
        self.change(write, &live, result, true)
    }

    /// Custom kinds: defaults, pruning, checks.
    pub(super) fn fit_schema(&self, kind: &Resource, object: &mut Value) -> Result<(), Refusal> {
        if !kind.is_custom {
            return Ok(());
        }
        let Some(definition) = self.store.get(&Key::new(DEFINITIONS, "", &kind.name)).cloned() else { return Ok(()) };
        let schema =
            stored_version(&definition).map_or(&Value::Null, |version| version.part("/schema/openAPIV3Schema"));
        if schema.is_true("/x-kubernetes-preserve-unknown-fields") {
            return Ok(());
        }
        let (version, kind_name, metadata) =
            (object.part("/apiVersion").clone(), object.part("/kind").clone(), object.part("/metadata").clone());
        schema::complete(object, schema);
        for (field, value) in [("/apiVersion", version), ("/kind", kind_name), ("/metadata", metadata)] {
            set(object, field, value);
        }
        match schema::misfit(object, schema, "") {
            Some((field, why)) => Err(Refusal::invalid(&kind.kind, object.name(), &field, &why)),
            None => Ok(()),
        }
    }
}
