//! What keeps the operator from running at all, or one object from being looked after. *No client.*

use crate::{
    lease::NotLeading,
    recover::{ActError, category},
};

/// What went wrong.
#[derive(Debug, thiserror::Error)]
pub enum OperatorError {
    /// Something could not be written.
    #[error(transparent)]
    Act(#[from] ActError),
    /// Something could not be read.
    #[error("get {what}: {source} (it is tried again)")]
    Unread {
        /// What.
        what: String,
        /// The API server's answer.
        source: Box<kube::Error>,
    },
    /// The Lease is lost.
    #[error(transparent)]
    NotLeading(#[from] NotLeading),
}

impl OperatorError {
    /// A word for metrics.
    #[must_use]
    pub fn category(&self) -> &'static str {
        match self {
            Self::Act(error) => error.category(),
            Self::Unread { source, .. } => category(source),
            Self::NotLeading(_) => "not_leading",
        }
    }
}
