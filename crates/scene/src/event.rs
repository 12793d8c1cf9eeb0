//! Events, of `v1` and of `events.k8s.io/v1`. *No client.*
//!
//! Only what is used is read, and every field may be missing: the two versions name them differently.

use jiff::Timestamp;
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
    /// When it was seen last, of Events that are counted up.
    #[serde(alias = "deprecatedLastTimestamp")]
    pub last_timestamp: Option<Timestamp>,
    /// When it was seen, of Events that are not.
    pub event_time: Option<Timestamp>,
    /// Its repetitions, where they are kept apart.
    pub series: Option<Series>,
}

/// Repetitions of an [`Event`].
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Series {
    /// When the last one was seen.
    pub last_observed_time: Option<Timestamp>,
}

impl Event {
    /// When it was seen last, where it says so.
    #[must_use]
    pub fn seen_last(&self) -> Option<Timestamp> {
        let repeated = self.series.as_ref().and_then(|series| series.last_observed_time);
        [repeated, self.last_timestamp, self.event_time].into_iter().flatten().max()
    }
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
    /// Its UID.
    pub uid: String,
}
