//! How the outcome of each scenario is told: a line for people, or an object for scripts.

use std::time::Duration;

use anyhow::Error;
use clap::ValueEnum;
use serde_json::json;

/// The form of what is printed on standard output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum Form {
    /// For people
    #[default]
    Text,
    /// One JSON object a line
    Json,
}

/// Tells of one scenario.
pub(super) fn outcome(form: Form, name: &str, took: Duration, broken: Option<&Error>) {
    let seconds = took.as_secs_f64();
    match (form, broken) {
        (Form::Json, _) => {
            let error = broken.map(|error| format!("{error:#}"));
            println!("{}", json!({ "scenario": name, "passed": error.is_none(), "seconds": seconds, "error": error }));
        }
        (Form::Text, None) => println!("ok      {name:<40} {seconds:6.1} s"),
        (Form::Text, Some(error)) => println!("BROKEN  {name:<40} {seconds:6.1} s  {error:#}"),
    }
}

/// Tells of all of them.
pub(super) fn summary(form: Form, passed: usize, failed: usize) {
    match form {
        Form::Json => println!("{}", json!({ "summary": { "passed": passed, "failed": failed } })),
        Form::Text => println!("{passed} passed, {failed} failed"),
    }
}
