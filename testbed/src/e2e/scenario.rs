//! What a scenario is.

use std::pin::Pin;

use anyhow::Result;

use super::Bed;

/// A scenario under way; all of them run on one thread.
pub(crate) type Running = Pin<Box<dyn Future<Output = Result<()>>>>;

/// Something that is done on the real cluster, and what has to come of it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scenario {
    /// Its name on the command line and in the report: words joined by hyphens.
    pub(crate) name: &'static str,
    /// In one sentence, what it shows.
    pub(crate) shows: &'static str,
    pub(crate) family: Family,
    pub(crate) run: fn(Bed) -> Running,
}

/// Which question a scenario answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Family {
    /// Does Kubernetes behave as the recovery assumes?
    Fact,
    /// Does the operator in Observe mode say the right thing about a real node?
    Observe,
    /// Does the simulated cluster answer as the real one does?
    Conformance,
}
