//! Requests played to an API server, real or simulated, and its answers with everything taken out that is chance.
//!
//! A recording is a file of steps: what is asked, and what the real one answered. This file is also compiled into the
//! simulator's test, so that both are asked and read in the same way.

use std::{collections::BTreeMap, time::Duration};

use http::{Method, Request, header};
use http_body_util::BodyExt;
use kube::client::Body;
use serde_json::{Map, Value, json};

/// How often a step is asked again while it waits for something, and how long.
const PAUSE: Duration = Duration::from_millis(200);
const TRIES: usize = 300;
/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// What a cluster calls the things that recordings speak of: `{{class}}` and the like.
pub(crate) type Names = BTreeMap<String, String>;

/// One client and what it has seen so far.
pub(crate) struct Player {
    client: kube::Client,
    names: Names,
    /// By a step's `as`: its whole answer.
    kept: BTreeMap<String, Value>,
    uids: Vec<String>,
    versions: Vec<String>,
}

impl Player {
    pub(crate) fn new(client: kube::Client, names: Names) -> Self {
        Self { client, names, kept: BTreeMap::new(), uids: Vec::new(), versions: Vec::new() }
    }

    /// Asks for one step, as often as it says; what is answered, without chance.
    pub(crate) async fn play(&mut self, step: &Value) -> Result<Value, String> {
        let ask = self.filled(&step["ask"])?;
        for _ in 0..TRIES {
            let (code, answer) = self.send(&ask).await?;
            let until = step.get("until").and_then(Value::as_object);
            let so = until.into_iter().flatten().all(|(pointer, wanted)| {
                if pointer == "code" {
                    *wanted == json!(code)
                } else {
                    answer.pointer(pointer).unwrap_or(&Value::Null) == wanted
                }
            });
            if !so {
                tokio::time::sleep(PAUSE).await;
                continue;
            }
            if let Some(name) = step.get("as").and_then(Value::as_str) {
                self.kept.insert(name.to_owned(), answer.clone());
            }
            let shown =
                step.get("show").and_then(Value::as_array).map_or_else(|| answer.clone(), |parts| only(&answer, parts));
            return Ok(json!({"code": code, "body": self.plain(&shown)}));
        }
        Err(format!("never so: {}", step["until"]))
    }

    /// Puts names and parts of kept answers where the step has `{{name}}` or `{{kept:/pointer}}`.
    fn filled(&self, value: &Value) -> Result<Value, String> {
        Ok(match value {
            Value::String(text) => Value::String(self.filled_text(text)?),
            Value::Array(items) => Value::Array(items.iter().map(|item| self.filled(item)).collect::<Result<_, _>>()?),
            Value::Object(map) => {
                let fields = map.iter().map(|(name, part)| Ok((name.clone(), self.filled(part)?)));
                Value::Object(fields.collect::<Result<Map<String, Value>, String>>()?)
            }
            other => other.clone(),
        })
    }

    fn filled_text(&self, text: &str) -> Result<String, String> {
        let Some((before, rest)) = text.split_once("{{") else { return Ok(text.to_owned()) };
        let (name, after) = rest.split_once("}}").ok_or_else(|| format!("an open {{{{ in {text:?}"))?;
        let value = match name.split_once(':') {
            Some((kept, pointer)) => {
                self.kept.get(kept).and_then(|answer| answer.pointer(pointer)).and_then(Value::as_str)
            }
            None => self.names.get(name).map(String::as_str),
        };
        let value = value.ok_or_else(|| format!("nothing is known of {name:?}"))?;
        Ok(format!("{before}{value}{}", self.filled_text(after)?))
    }

    async fn send(&self, ask: &Value) -> Result<(u16, Value), String> {
        let text = |field: &str| ask.get(field).and_then(Value::as_str);
        let method: Method = text("method").unwrap_or("GET").parse().map_err(|_| "no method".to_owned())?;
        let mut request = Request::builder().method(method).uri(text("path").unwrap_or_default());
        let body = match ask.get("body") {
            Some(body) => {
                request = request.header(header::CONTENT_TYPE, text("type").unwrap_or("application/json"));
                Body::from(body.to_string().into_bytes())
            }
            None => Body::empty(),
        };
        let request = request.body(body).map_err(|error| error.to_string())?;
        let response = self.client.send(request).await.map_err(|error| error.to_string())?;
        let code = response.status().as_u16();
        let mut body = response.into_body();
        let events = ask.get("events").and_then(Value::as_u64).unwrap_or(u64::MAX);
        let watches = ask.get("events").is_some();
        let mut bytes = Vec::new();
        loop {
            let lines = bytes.split(|byte: &u8| *byte == b'\n').skip(1).count() as u64;
            if watches && lines >= events {
                break;
            }
            let frame = tokio::time::timeout(PATIENCE, body.frame()).await;
            match frame.map_err(|_| format!("the watch says nothing more after {lines} events"))? {
                Some(Ok(frame)) => bytes.extend_from_slice(&frame.into_data().unwrap_or_default()),
                Some(Err(error)) => return Err(error.to_string()),
                None => break,
            }
        }
        if watches && code == 200 {
            let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
            let seen: Vec<Value> = lines
                .take(usize::try_from(events).unwrap_or(usize::MAX))
                .filter_map(|line| serde_json::from_slice(line).ok())
                .collect();
            return Ok((code, Value::Array(seen)));
        }
        Ok((
            code,
            serde_json::from_slice(&bytes)
                .unwrap_or_else(|_| Value::String(String::from_utf8_lossy(&bytes).into_owned())),
        ))
    }

    /// An answer with UIDs, versions, times and made-up names as symbols, and without the owners of fields.
    fn plain(&mut self, value: &Value) -> Value {
        match value {
            Value::Array(items) => Value::Array(items.iter().map(|item| self.plain(item)).collect()),
            Value::Object(map) => {
                let made_up = map.get("generateName").and_then(Value::as_str).map(str::to_owned);
                let mut fields = Map::new();
                for (name, part) in map {
                    let part = match (name.as_str(), part, &made_up) {
                        ("managedFields", _, _) => continue,
                        ("resourceVersion", Value::String(version), _) => Value::String(self.version(version)),
                        ("name", Value::String(_), Some(prefix)) => Value::String(format!("{prefix}<suffix>")),
                        ("continue", Value::String(token), _) if !token.is_empty() => "<continue>".into(),
                        _ => self.plain(part),
                    };
                    fields.insert(self.plain_text(name), part);
                }
                Value::Object(fields)
            }
            Value::String(text) => Value::String(self.plain_text(text)),
            other => other.clone(),
        }
    }

    fn version(&mut self, version: &str) -> String {
        match version {
            "" | "0" => version.to_owned(),
            _ => format!("<version {}>", place(&mut self.versions, version)),
        }
    }

    fn plain_text(&mut self, text: &str) -> String {
        if is_time(text) {
            return "<time>".to_owned();
        }
        let mut text = text.to_owned();
        while let Some(uid) = first_uid(&text).map(str::to_owned) {
            let symbol = format!("<uid {}>", place(&mut self.uids, &uid));
            text = text.replace(&uid, &symbol);
        }
        for (name, value) in &self.names {
            text = text.replace(value.as_str(), &format!("<{name}>"));
        }
        if let Some((before, _)) = text.split_once("resource version: ") {
            return format!("{before}resource version: <numbers>");
        }
        for version in self.versions.iter().filter(|version| version.len() > 2) {
            text = text.replace(version.as_str(), "<a version>");
        }
        text
    }
}

/// The number of a value, by first appearance.
fn place(seen: &mut Vec<String>, value: &str) -> usize {
    let at = seen.iter().position(|other| other == value).unwrap_or_else(|| {
        seen.push(value.to_owned());
        seen.len() - 1
    });
    at + 1
}

fn is_time(text: &str) -> bool {
    text.len() >= 20 && text.ends_with('Z') && text.contains('T') && text.starts_with("20") && !text.contains(' ')
}

/// The first UID in a text that is none of the plain ones that requests invent.
fn first_uid(text: &str) -> Option<&str> {
    let starts = text.char_indices().map(|(at, _)| at);
    let mut found = starts.filter_map(|at| text.get(at..at + 36)).filter(|part| {
        part.bytes().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte),
        })
    });
    found.find(|part| !part.starts_with("00000000-"))
}

/// Only these parts of an answer; of a watch, of each of its objects, and nothing twice in a row.
fn only(answer: &Value, parts: &[Value]) -> Value {
    let pick = |object: &Value| -> Value {
        let pointers = parts.iter().filter_map(Value::as_str);
        Value::Object(
            pointers
                .map(|pointer| (pointer.to_owned(), object.pointer(pointer).cloned().unwrap_or_default()))
                .collect(),
        )
    };
    let Value::Array(events) = answer else { return pick(answer) };
    let mut seen: Vec<Value> = events.iter().map(pick).collect();
    seen.dedup();
    Value::Array(seen)
}
