//! What the worker tells the process that becomes the node, and what that one says on standard error. *No client.*
//!
//! Every line on standard error begins with `loopbreaker guard: `, so that it is never taken for the node's own (the log
//! witness passes such lines over: what the guard saw is the disk's word). A finding is
//! `finding severity=… kind=… file=… offset=…: detail`, the sum of all `checked outcome=… scope=…: words`. With `--output json` a line is an object of
//! `loopbreaker.dev/guard/v1`: `event` is `finding`, `checked` or `note`.

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

/// What the checks add up to: said once, after every finding.
pub(super) fn checked(format: Format, outcome: &str, scope: &str, text: &str) -> String {
    let text = clean(text);
    match format {
        Format::Text => format!("{PREFIX}checked outcome={outcome} scope={scope}: {text}"),
        Format::Json => {
            line_of(&serde_json::json!({"event": "checked", "outcome": outcome, "scope": scope, "text": text}))
        }
    }
}

/// An object as a line. Its first field names the program, so that the line is known by its beginning.
pub(super) fn line_of(object: &serde_json::Value) -> String {
    #[derive(Serialize)]
    struct Line<'v> {
        loopbreaker: &'static str,
        schema: &'static str,
        #[serde(flatten)]
        object: &'v serde_json::Value,
    }
    let line = Line { loopbreaker: "guard", schema: "loopbreaker.dev/guard/v1", object };
    serde_json::to_string(&line).unwrap_or_default()
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
