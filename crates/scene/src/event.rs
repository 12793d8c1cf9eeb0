//! Events, of `v1` and of `events.k8s.io/v1`. *No client.*
//!
//! Only what is used is read, and every field may be missing: the two versions name them differently.

use serde::Deserialize;

/// An Event.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Event {
    /// The object it is about.
    #[serde(alias = "regarding")]
    pub involved_object: ObjectReference,
    /// `FailedMount`, `BackOff` …
    pub reason: String,
    /// The sentence.
    #[serde(alias = "note")]
    pub message: String,
}

/// What an [`Event`] is about.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct ObjectReference {
    /// Its kind.
    pub kind: String,
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
}
