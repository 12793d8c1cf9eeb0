//! What the API server answers when it does not do as asked: `Status` objects with the real codes and reasons. *No client.*
//!
//! Codes and reasons as in apimachinery's `pkg/api/errors`; the client decides by them, so they are exact, and the messages
//! have the real form because people and logs see them.

use serde_json::{Value, json};

use crate::object::put;

/// A request that was refused.
#[derive(Debug, Clone, PartialEq)]
pub struct Refusal {
    /// The HTTP status.
    pub code: u16,
    /// `NotFound`, `Conflict` …
    pub reason: &'static str,
    /// In words.
    pub message: String,
    /// `details` of the `Status`, or null.
    pub details: Value,
    /// What `Retry-After` says, in seconds.
    pub retry_after: Option<u32>,
}

impl Refusal {
    fn new(code: u16, reason: &'static str, message: String) -> Self {
        Self { code, reason, message, details: Value::Null, retry_after: None }
    }

    fn about(mut self, resource: &str, name: &str) -> Self {
        let (plural, group) = resource.split_once('.').unwrap_or((resource, ""));
        let mut details = json!({"name": name, "kind": plural});
        if !group.is_empty() {
            put(&mut details, "group", group.into());
        }
        self.details = details;
        self
    }

    /// 404: no such object.
    #[must_use]
    pub fn not_found(resource: &str, name: &str) -> Self {
        Self::new(404, "NotFound", format!("{resource} {name:?} not found")).about(resource, name)
    }

    /// 404: no such kind, as when its definition is not installed. A path that nobody serves is answered with plain text, not
    /// with a `Status`, so that it has no reason.
    #[must_use]
    pub fn no_such_kind() -> Self {
        Self::new(404, "", "404 page not found\n".to_owned())
    }

    /// 405: a verb that the place does not know.
    pub(crate) fn not_allowed() -> Self {
        Self::new(405, "MethodNotAllowed", "the server does not allow this method on the requested resource".to_owned())
    }

    /// 409: the name is taken.
    pub(crate) fn already_exists(resource: &str, name: &str) -> Self {
        Self::new(409, "AlreadyExists", format!("{resource} {name:?} already exists")).about(resource, name)
    }

    /// 409: the name is taken by an object on its way out.
    pub(crate) fn being_deleted(resource: &str, name: &str) -> Self {
        Self::new(409, "AlreadyExists", format!("object is being deleted: {resource} {name:?} already exists"))
            .about(resource, name)
    }

    /// 409: read before, changed since.
    #[must_use]
    pub fn conflict(resource: &str, name: &str) -> Self {
        let why = "the object has been modified; please apply your changes to the latest version and try again";
        Self::conflict_because(resource, name, why)
    }

    /// 409 with its reason.
    pub(crate) fn conflict_because(resource: &str, name: &str, why: &str) -> Self {
        Self::new(409, "Conflict", format!("Operation cannot be fulfilled on {resource} {name:?}: {why}"))
            .about(resource, name)
    }

    /// 409: fields that others manage.
    pub(crate) fn apply_conflict(fields: &[(String, String)]) -> Self {
        let causes: Vec<Value> = fields
            .iter()
            .map(|(manager, field)| {
                json!({"reason": "FieldManagerConflict", "message": format!("conflict with {manager}"), "field": field})
            })
            .collect();
        let listing: Vec<String> =
            fields.iter().map(|(manager, field)| format!("conflict with {manager}: {field}")).collect();
        let mut refusal = Self::new(
            409,
            "Conflict",
            format!(
                "Apply failed with {} {}: {}",
                fields.len(),
                if fields.len() == 1 { "conflict" } else { "conflicts" },
                listing.join(", ")
            ),
        );
        refusal.details = json!({"causes": causes});
        refusal
    }

    /// 422: a field that may not be so.
    pub(crate) fn invalid(kind: &str, name: &str, field: &str, why: &str) -> Self {
        let mut refusal = Self::new(422, "Invalid", format!("{kind} {name:?} is invalid: {field}: {why}"));
        refusal.details =
            json!({"name": name, "kind": kind, "causes": [{"reason": cause_of(why), "message": why, "field": field}]});
        refusal
    }

    /// 422: an apply by nobody.
    pub(crate) fn no_manager() -> Self {
        let why = "Required value: is required for apply patch";
        let mut refusal =
            Self::new(422, "Invalid", format!("PatchOptions.meta.k8s.io \"\" is invalid: fieldManager: {why}"));
        let cause = json!({"reason": "FieldValueRequired", "message": why, "field": "fieldManager"});
        refusal.details = json!({"group": "meta.k8s.io", "kind": "PatchOptions", "causes": [cause]});
        refusal
    }

    /// 422: a JSON patch whose `test` failed or that does not fit.
    pub(crate) fn unprocessable() -> Self {
        let mut refusal =
            Self::new(422, "Invalid", "the server rejected our request due to an error in our request".to_owned());
        refusal.details = json!({});
        refusal
    }

    /// 403: forbidden, with the reason of an admission rule.
    pub(crate) fn forbidden(resource: &str, name: &str, why: &str) -> Self {
        Self::new(403, "Forbidden", format!("{resource} {name:?} is forbidden: {why}")).about(resource, name)
    }

    /// 403: no right to do so.
    #[must_use]
    pub fn no_right(user: &str, verb: &str, resource: &str, name: &str, namespace: Option<&str>) -> Self {
        let (plural, group) = resource.split_once('.').unwrap_or((resource, ""));
        // A subresource stands behind the group in our names and behind the plural in the message.
        let (group, subresource) = group.split_once('/').map_or((group, None), |(group, sub)| (group, Some(sub)));
        let asked = subresource.map_or_else(|| plural.to_owned(), |sub| format!("{plural}/{sub}"));
        let place = namespace
            .map_or_else(|| "at the cluster scope".to_owned(), |namespace| format!("in the namespace {namespace:?}"));
        let subject = if group.is_empty() {
            asked.split('/').next().unwrap_or_default().to_owned()
        } else {
            format!("{}.{group}", asked.split('/').next().unwrap_or_default())
        };
        let object = if name.is_empty() { subject.clone() } else { format!("{subject} {name:?}") };
        let message = format!(
            "{object} is forbidden: User {user:?} cannot {verb} resource {asked:?} in API group {group:?} {place}"
        );
        Self::new(403, "Forbidden", message).about(&subject, name)
    }

    /// 400: not understood.
    pub(crate) fn bad_request(why: impl Into<String>) -> Self {
        Self::new(400, "BadRequest", why.into())
    }

    /// 410: older than what is remembered.
    #[must_use]
    pub fn expired(version: u64, oldest: u64) -> Self {
        Self::new(410, "Expired", format!("too old resource version: {version} ({oldest})"))
    }

    /// 415: a patch of a kind that this place does not take.
    pub(crate) fn unsupported_patch(content_type: &str, supported: &str) -> Self {
        let message = format!(
            "the body of the request was in an unknown format - accepted media types include: {supported} (not {content_type})"
        );
        Self::new(415, "UnsupportedMediaType", message)
    }

    /// 429: too many requests.
    #[must_use]
    pub fn too_many_requests(retry_after: u32) -> Self {
        let mut refusal = Self::new(
            429,
            "TooManyRequests",
            "the server has received too many requests and has asked us to try again later".to_owned(),
        );
        refusal.details = json!({"retryAfterSeconds": retry_after});
        refusal.retry_after = Some(retry_after);
        refusal
    }

    /// 500: etcd or the server itself failed.
    #[must_use]
    pub fn internal(why: &str) -> Self {
        Self::new(500, "InternalError", format!("Internal error occurred: {why}"))
    }

    /// 504: no answer in time; the request may have been done.
    #[must_use]
    pub fn timeout() -> Self {
        Self::new(504, "Timeout", "Timeout: request did not complete within the allotted timeout".to_owned())
    }

    /// 504: the client has seen a version that this server has not.
    pub(crate) fn too_large_version(asked: u64, current: u64) -> Self {
        let mut refusal =
            Self::new(504, "Timeout", format!("Timeout: Too large resource version: {asked}, current: {current}"));
        refusal.details = json!({"causes": [{"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}], "retryAfterSeconds": 1});
        refusal.retry_after = Some(1);
        refusal
    }

    /// The `Status` object.
    #[must_use]
    pub fn status(&self) -> Value {
        let mut status = json!({
            "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
            "message": self.message, "reason": self.reason, "code": self.code,
        });
        if !self.details.is_null() {
            put(&mut status, "details", self.details.clone());
        }
        status
    }
}

/// The reason of a cause, which its message begins with.
fn cause_of(why: &str) -> &'static str {
    match why.split(':').next() {
        Some("Forbidden") => "FieldValueForbidden",
        Some("Required value") => "FieldValueRequired",
        Some("Unsupported value") => "FieldValueNotSupported",
        _ => "FieldValueInvalid",
    }
}

#[cfg(test)]
mod tests {
    use super::Refusal;

    #[test]
    fn a_missing_right_is_said_as_the_api_server_says_it() {
        assert_eq!(
            Refusal::no_right("system:serviceaccount:lb:lb", "get", "pods/log", "osmo-0", Some("cosmos")).message,
            "pods \"osmo-0\" is forbidden: User \"system:serviceaccount:lb:lb\" cannot get resource \"pods/log\" in API group \"\" in the namespace \"cosmos\""
        );
        assert_eq!(
            Refusal::no_right("u", "patch", "cosmosfullnodes.cosmos.strange.love/status", "lab", Some("c")).message,
            "cosmosfullnodes.cosmos.strange.love \"lab\" is forbidden: User \"u\" cannot patch resource \"cosmosfullnodes/status\" in API group \"cosmos.strange.love\" in the namespace \"c\""
        );
        assert_eq!(
            Refusal::no_right("u", "list", "volumesnapshotclasses.snapshot.storage.k8s.io", "", None).message,
            "volumesnapshotclasses.snapshot.storage.k8s.io is forbidden: User \"u\" cannot list resource \"volumesnapshotclasses\" in API group \"snapshot.storage.k8s.io\" at the cluster scope"
        );
    }
}
