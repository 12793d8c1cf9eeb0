//! A request, as far as the API server has understood it: verb, object, options, body. *No client.*

use std::{collections::BTreeMap, fmt};

use serde_json::Value;

use super::{refusal::Refusal, resource::ResourceName, store::Key};
use crate::object::Fields;

/// The verbs, by the names that rights are given for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verb {
    /// One object, or the log of a pod.
    Get,
    /// All objects of a kind that a selector takes.
    List,
    /// The changes of a kind, as they happen.
    Watch,
    /// A new object.
    Create,
    /// A whole object in place of another.
    Update,
    /// A part of an object.
    Patch,
    /// An object is to go.
    Delete,
    /// All objects of a kind that a selector takes are to go.
    DeleteCollection,
    /// What kinds there are, and which version of Kubernetes.
    Discover,
}

impl Verb {
    /// As rights name it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::List => "list",
            Self::Watch => "watch",
            Self::Create => "create",
            Self::Update => "update",
            Self::Patch => "patch",
            Self::Delete => "delete",
            Self::DeleteCollection => "deletecollection",
            Self::Discover => "discover",
        }
    }

    /// Whether it changes anything.
    #[must_use]
    pub fn writes(self) -> bool {
        matches!(self, Self::Create | Self::Update | Self::Patch | Self::Delete | Self::DeleteCollection)
    }
}

impl fmt::Display for Verb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// How the body of a PATCH is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PatchKind {
    /// RFC 7386.
    Merge,
    /// Kubernetes' own, lists by key; built-in kinds only.
    StrategicMerge,
    /// RFC 6902.
    Json,
    /// Server-side apply.
    Apply,
}

impl PatchKind {
    /// By the request's `Content-Type`.
    pub(crate) fn read(content_type: &str) -> Result<Self, Refusal> {
        match content_type.split(';').next().unwrap_or_default().trim() {
            "application/merge-patch+json" => Ok(Self::Merge),
            "application/strategic-merge-patch+json" => Ok(Self::StrategicMerge),
            "application/json-patch+json" => Ok(Self::Json),
            "application/apply-patch+yaml" | "application/apply-patch+cbor" => Ok(Self::Apply),
            other => Err(Refusal::unsupported_patch(
                other,
                "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml",
            )),
        }
    }
}

/// One request.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// What is to be done.
    pub verb: Verb,
    /// To which kind; empty where a client only looks around.
    pub resource: ResourceName,
    /// In which namespace; nothing for all of them and for objects of the whole cluster.
    pub namespace: Option<String>,
    /// To which object.
    pub name: Option<String>,
    /// `status` or `log`.
    pub subresource: Option<String>,
    /// What stands behind the `?`.
    pub query: BTreeMap<String, String>,
    /// How a patch is meant.
    pub patch: Option<PatchKind>,
    /// The body, or null.
    pub body: Value,
}

impl Call {
    /// A request without options.
    #[must_use]
    pub fn new(verb: Verb, resource: &str, namespace: &str, name: &str) -> Self {
        Self {
            verb,
            resource: resource.into(),
            namespace: (!namespace.is_empty()).then(|| namespace.to_owned()),
            name: (!name.is_empty()).then(|| name.to_owned()),
            subresource: None,
            query: BTreeMap::new(),
            patch: None,
            body: Value::Null,
        }
    }

    /// POST of a new object.
    #[must_use]
    pub fn create(resource: &str, object: Value) -> Self {
        let namespace = object.namespace().to_owned();
        Self::new(Verb::Create, resource, &namespace, "").with_body(object)
    }

    /// PUT of a whole object.
    #[must_use]
    pub fn update(resource: &str, object: Value) -> Self {
        let (namespace, name) = (object.namespace().to_owned(), object.name().to_owned());
        Self::new(Verb::Update, resource, &namespace, &name).with_body(object)
    }

    /// PATCH with a merge patch.
    #[must_use]
    pub fn merge(resource: &str, namespace: &str, name: &str, patch: Value) -> Self {
        let mut call = Self::new(Verb::Patch, resource, namespace, name).with_body(patch);
        call.patch = Some(PatchKind::Merge);
        call
    }

    /// DELETE.
    #[must_use]
    pub fn delete(resource: &str, namespace: &str, name: &str) -> Self {
        Self::new(Verb::Delete, resource, namespace, name)
    }

    /// The same request for the object's status.
    #[must_use]
    pub fn of_status(mut self) -> Self {
        self.subresource = Some("status".to_owned());
        self
    }

    /// The same request with a body.
    #[must_use]
    pub fn with_body(mut self, body: Value) -> Self {
        self.body = body;
        self
    }

    /// Where the object is kept.
    pub(crate) fn key(&self) -> Key {
        Key::new(
            &self.resource,
            self.namespace.as_deref().unwrap_or_default(),
            self.name.as_deref().unwrap_or_default(),
        )
    }

    /// One option, or nothing.
    pub(crate) fn option(&self, name: &str) -> &str {
        self.query.get(name).map(String::as_str).unwrap_or_default()
    }

    /// Whether an option is `true`.
    pub(crate) fn is_set(&self, name: &str) -> bool {
        matches!(self.option(name), "true" | "1")
    }

    /// Whether nothing is to be kept: in the query of a write, in the body of a DELETE.
    #[must_use]
    pub fn is_dry_run(&self) -> bool {
        self.option("dryRun") == "All"
            || (self.verb == Verb::Delete && self.body.items("/dryRun").iter().any(|item| item == "All"))
    }

    /// Whether it asks for the status alone.
    pub(crate) fn is_for_status(&self) -> bool {
        self.subresource.as_deref() == Some("status")
    }

    /// `pods/log`, `recoveries.loopbreaker.dev/status`, `pods`.
    #[must_use]
    pub fn place(&self) -> String {
        match &self.subresource {
            Some(subresource) => format!("{}/{subresource}", self.resource),
            None => self.resource.to_string(),
        }
    }
}
