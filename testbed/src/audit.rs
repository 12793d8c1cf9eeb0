//! The API server's audit log: what an account has asked for.

use std::{
    collections::BTreeMap,
    io::{BufRead, BufReader, Seek, SeekFrom},
    path::Path,
};

use anyhow::{Context, Result};
use jiff::Timestamp;
use serde::Deserialize;

/// One request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Request {
    pub(crate) at: Timestamp,
    pub(crate) account: String,
    pub(crate) what: Asked,
    pub(crate) namespace: String,
    pub(crate) name: String,
    /// The status that was answered.
    pub(crate) code: u16,
}

/// Verb and resource; a subresource follows a slash.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Asked {
    pub(crate) verb: String,
    pub(crate) group: String,
    pub(crate) resource: String,
}

impl Asked {
    /// Whether it changes anything.
    pub(crate) fn writes(&self) -> bool {
        !matches!(self.verb.as_str(), "get" | "list" | "watch")
    }

    pub(crate) fn is_of_leases(&self) -> bool {
        self.group == "coordination.k8s.io"
    }
}

impl std::fmt::Display for Asked {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let group = if self.group.is_empty() { "core" } else { &self.group };
        write!(f, "{} {group} {}", self.verb, self.resource)
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Line {
    stage: String,
    verb: String,
    user: User,
    object_ref: Option<ObjectRef>,
    response_status: Option<Status>,
    request_received_timestamp: Timestamp,
}

#[derive(Deserialize)]
struct User {
    username: String,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct ObjectRef {
    api_group: String,
    resource: String,
    subresource: String,
    namespace: String,
    name: String,
}

#[derive(Deserialize)]
struct Status {
    code: Option<u16>,
}

/// Where the log ends now: what is read from here on is news.
pub(crate) fn end(log: &Path) -> u64 {
    std::fs::metadata(log).map(|there| there.len()).unwrap_or_default()
}

/// The requests of the accounts that are asked for, from a place in the log on. A watch counts once, when it begins.
pub(crate) fn read(log: &Path, from: u64, of: impl Fn(&str) -> bool) -> Result<Vec<Request>> {
    let mut file = std::fs::File::open(log).with_context(|| format!("read the audit log {}", log.display()))?;
    file.seek(SeekFrom::Start(from))?;
    let mut requests = Vec::new();
    for line in BufReader::new(file).lines() {
        // The last line may be in the making.
        let Ok(line) = serde_json::from_str::<Line>(&line?) else { continue };
        let is_end = match line.stage.as_str() {
            "ResponseComplete" | "Panic" => line.verb != "watch" || is_refused(line.response_status.as_ref()),
            "ResponseStarted" => line.verb == "watch",
            _ => false,
        };
        let Some(object) = line.object_ref.filter(|_| is_end && of(&line.user.username)) else { continue };
        let sub = if object.subresource.is_empty() { String::new() } else { format!("/{}", object.subresource) };
        requests.push(Request {
            at: line.request_received_timestamp,
            account: line.user.username,
            what: Asked { verb: line.verb, group: object.api_group, resource: format!("{}{sub}", object.resource) },
            namespace: object.namespace,
            name: object.name,
            code: line.response_status.and_then(|status| status.code).unwrap_or_default(),
        });
    }
    Ok(requests)
}

fn is_refused(status: Option<&Status>) -> bool {
    status.and_then(|status| status.code).is_some_and(|code| code >= 400)
}

/// How often each was asked.
pub(crate) fn counts(requests: &[Request]) -> BTreeMap<Asked, usize> {
    let mut counts = BTreeMap::new();
    for request in requests {
        *counts.entry(request.what.clone()).or_default() += 1;
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINES: &str = r#"{"kind":"Event","level":"Metadata","stage":"ResponseStarted","requestURI":"/api/v1/pods?watch=1","verb":"watch","user":{"username":"system:serviceaccount:a:loopbreaker"},"objectRef":{"resource":"pods","apiVersion":"v1"},"responseStatus":{"code":200},"requestReceivedTimestamp":"2026-12-01T14:00:00.000000Z"}
{"stage":"ResponseComplete","verb":"watch","user":{"username":"system:serviceaccount:a:loopbreaker"},"objectRef":{"resource":"pods"},"responseStatus":{"code":200},"requestReceivedTimestamp":"2026-12-01T14:00:00.000000Z"}
{"stage":"ResponseComplete","verb":"watch","user":{"username":"system:serviceaccount:a:loopbreaker"},"objectRef":{"resource":"jobs","apiGroup":"batch"},"responseStatus":{"code":403},"requestReceivedTimestamp":"2026-12-01T14:00:01.000000Z"}
{"stage":"ResponseComplete","verb":"update","user":{"username":"system:serviceaccount:a:loopbreaker"},"objectRef":{"resource":"recoveries","subresource":"status","apiGroup":"loopbreaker.dev","namespace":"a","name":"x-1"},"responseStatus":{"code":200},"requestReceivedTimestamp":"2026-12-01T14:00:02.000000Z"}
{"stage":"ResponseComplete","verb":"get","user":{"username":"admin"},"objectRef":{"resource":"nodes"},"responseStatus":{"code":200},"requestReceivedTimestamp":"2026-12-01T14:00:02.000000Z"}
{"stage":"ResponseComplete","verb":"get","us"#;

    #[test]
    fn a_request_is_read_once_and_a_line_in_the_making_not_at_all() {
        let file = std::env::temp_dir().join(format!("audit-{}", std::process::id()));
        std::fs::write(&file, LINES).expect("written");
        let read = read(&file, 0, |account| account.ends_with(":loopbreaker")).expect("read");
        std::fs::remove_file(&file).expect("removed");
        let words: Vec<String> = read.iter().map(|request| format!("{} {}", request.what, request.code)).collect();
        assert_eq!(
            words,
            ["watch core pods 200", "watch batch jobs 403", "update loopbreaker.dev recoveries/status 200"]
        );
        assert!(read.iter().map(|request| request.what.writes()).eq([false, false, true]));
    }
}
