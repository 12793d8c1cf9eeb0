//! What the worker tells the process that becomes the node, and what that one says on standard error. *No client.*
//!
//! Every line on standard error begins with `loopbreaker guard: `, so that it is never taken for the node's own (the log
//! witness passes such lines over: what the guard saw is the disk's word). A finding is
//! `finding severity=… kind=… file=… offset=…: detail`. With `--output json` a line is an object of
//! `loopbreaker.dev/guard/v1`: `event` is `finding` or `note`.

use std::{io::Write, sync::mpsc, thread, time::Duration};

use serde::{Deserialize, Serialize};

use crate::{diagnose::Format, words::clean};

/// Every line begins with it.
pub(crate) const PREFIX: &str = "loopbreaker guard: ";

/// One message of the worker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Message {
    /// To be said.
    Line(String),
    /// Damage that stops the node: the reason for `--fence`.
    Damage(String),
    /// A database that was there before is not: the reason for `--refuse-empty`.
    Lost(String),
    /// All is done.
    Done,
}

/// A line for people, or for scripts.
pub(super) fn note(format: Format, text: &str) -> String {
    match format {
        Format::Text => format!("{PREFIX}{}", clean(text)),
        Format::Json => line_of(&serde_json::json!({"event": "note", "text": clean(text)})),
    }
}

/// An object as a line; its first fields name the format.
pub(super) fn line_of(object: &serde_json::Value) -> String {
    let mut line = serde_json::json!({"loopbreaker": "guard", "schema": "loopbreaker.dev/guard/v1"});
    if let (Some(all), Some(more)) = (line.as_object_mut(), object.as_object()) {
        all.extend(more.clone());
    }
    line.to_string()
}

/// Says a line on standard error, and waits no longer for it than a moment: whoever reads there may be stuck.
pub(super) fn say(format: Format, text: &str) {
    const MOMENT: Duration = Duration::from_millis(500);
    let line = note(format, text);
    let (said, heard) = mpsc::channel();
    let write = move || {
        let _ = writeln!(std::io::stderr(), "{line}");
        let _ = said.send(());
    };
    if thread::Builder::new().spawn(write).is_ok() {
        let _ = heard.recv_timeout(MOMENT);
    }
}
