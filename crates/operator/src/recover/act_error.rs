//! Why something was not written, and words for answers of the API server. *No client.*

use crate::lease::NotLeading;

/// Why something was not written.
#[derive(Debug, thiserror::Error)]
pub enum ActError {
    /// The Lease is lost.
    #[error(transparent)]
    NotLeading(#[from] NotLeading),
    /// The API server refused, or did not answer.
    #[error("{verb} {what}: {source} (it is tried again from what is recorded)")]
    Refused {
        /// What was to be done.
        verb: &'static str,
        /// To which object.
        what: String,
        /// Its answer.
        source: Box<kube::Error>,
    },
    /// An object of the name that we use is not ours.
    #[error("{what} exists and is not ours; it was left alone (rename or remove it)")]
    NotOurs {
        /// Which one.
        what: String,
    },
}

impl ActError {
    /// A word for metrics.
    #[must_use]
    pub fn category(&self) -> &'static str {
        match self {
            Self::NotLeading(_) => "not_leading",
            Self::Refused { source, .. } => category(source),
            Self::NotOurs { .. } => "not_ours",
        }
    }

    /// Whether the API server said no to the right: nothing changes by trying again soon.
    #[must_use]
    pub fn is_forbidden(&self) -> bool {
        matches!(self, Self::Refused { source, .. } if code(source) == Some(403))
    }
}

impl ActError {
    /// Whether the API server finds the object itself wrong: nothing changes by trying again.
    #[must_use]
    pub fn is_rejected(&self) -> bool {
        matches!(self, Self::Refused { source, .. } if matches!(code(source), Some(400 | 405 | 415 | 422)))
    }
}

/// A word for what a request failed with.
#[must_use]
pub(crate) fn category(error: &kube::Error) -> &'static str {
    match code(error) {
        Some(403) => "forbidden",
        Some(404) => "not_found",
        Some(409) => "conflict",
        Some(410) => "gone",
        Some(429) => "too_many_requests",
        Some(500..) => "server",
        Some(_) => "rejected",
        None => "unreachable",
    }
}

/// The HTTP status of an answer.
#[must_use]
pub(crate) fn code(error: &kube::Error) -> Option<u16> {
    if let kube::Error::Api(status) = error { Some(status.code) } else { None }
}

/// Whether an object of the name is there already: of the answers with 409 the one that a retry does not change.
#[must_use]
pub(super) fn already_exists(error: &kube::Error) -> bool {
    matches!(error, kube::Error::Api(status) if status.code == 409 && status.reason == "AlreadyExists")
}
