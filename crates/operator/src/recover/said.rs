//! What an Event says, and the object that says it. *No client, no clock.* (P14)

use std::collections::BTreeMap;

use jiff::Timestamp;
use k8s_openapi::{
    api::{core::v1::ObjectReference, events::v1::Event},
    apimachinery::pkg::apis::meta::v1::MicroTime,
};
use kube::api::ObjectMeta;

use super::OWNED;

/// What an Event says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Said {
    /// One of a kind for this object: the same Event told twice is one.
    pub(crate) key: String,
    /// In one word.
    pub(crate) reason: &'static str,
    /// What was being done, in one word.
    pub(crate) action: &'static str,
    /// `Normal` or `Warning`.
    pub(crate) kind: &'static str,
    /// In words.
    pub(crate) note: String,
}

/// The object. Its name is the same at every try.
pub(super) fn event(about: ObjectReference, namespace: &str, identity: &str, now: Timestamp, said: &Said) -> Event {
    const NOTE_MAX: usize = 1_000;
    let name = format!("{}.{}", about.name.clone().unwrap_or_default(), said.key);
    Event {
        metadata: ObjectMeta {
            name: Some(name),
            namespace: Some(namespace.to_owned()),
            labels: Some(BTreeMap::from([(OWNED.0.to_owned(), OWNED.1.to_owned())])),
            ..ObjectMeta::default()
        },
        event_time: Some(MicroTime(now)),
        reporting_controller: Some("loopbreaker.dev/operator".to_owned()),
        reporting_instance: Some(identity.to_owned()),
        action: Some(said.action.to_owned()),
        reason: Some(said.reason.to_owned()),
        type_: Some(said.kind.to_owned()),
        regarding: Some(about),
        note: Some(said.note.chars().take(NOTE_MAX).collect()),
        ..Event::default()
    }
}
