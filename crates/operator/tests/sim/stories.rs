//! What befalls a cluster, and what the operator makes of it: one test a story.

mod damage;
mod detection;
mod look_alikes;
mod out_of_reach;
mod policies;

use std::{future::Future, time::Duration};

use serde_json::Value;

use crate::stage::{at, condition};

pub(crate) fn mins(minutes: u64) -> Duration {
    Duration::from_mins(minutes)
}

/// Runs a story in virtual time, on seeded entropy.
pub(crate) fn story<F: Future<Output = ()>>(story: impl FnOnce() -> F + Send + 'static) {
    simentropy::case(1, story);
}

/// Phase, cause, decision.
pub(crate) fn gist(recovery: &Value) -> (&str, &str, &str) {
    (at(recovery, "/status/phase"), at(recovery, "/status/verdict/cause"), at(recovery, "/status/verdict/decision"))
}

/// Names of the vetoes.
pub(crate) fn vetoes(recovery: &Value) -> Vec<&str> {
    let vetoes = recovery["status"]["verdict"]["vetoes"].as_array().map(Vec::as_slice).unwrap_or_default();
    vetoes.iter().map(|veto| at(veto, "/name")).collect()
}

/// What could not be got, in one text.
pub(crate) fn missing(recovery: &Value) -> String {
    recovery["status"]["evidence"]["missing"].to_string()
}

/// Why it is held.
pub(crate) fn held_for(recovery: &Value) -> String {
    condition(&recovery["status"], "Acting").1
}
