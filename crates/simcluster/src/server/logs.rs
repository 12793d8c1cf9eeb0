//! `pods/log`: what the kubelet still has of each container's output. *No client.*
//!
//! The kubelet keeps the running container and the last dead one. `previous` asks for the container of
//! `lastState.terminated`; in the short `Error` moment that is one that was removed already, and the answer is a sentence
//! **as log text with status 200** (real-cluster facts; seen on Kubernetes 1.34 with containerd).

use std::collections::{BTreeMap, VecDeque};

use jiff::Timestamp;
use serde_json::Value;

use super::{call::Call, refusal::Refusal};
use crate::object::{Fields, nanoseconds};

/// The output of one container.
#[derive(Debug, Clone, Default)]
pub(crate) struct Output {
    /// `containerd://…`
    pub(crate) id: String,
    pub(crate) lines: Vec<(Timestamp, String)>,
}

/// All output that is kept: by pod UID and container, newest last.
#[derive(Debug, Default)]
pub(crate) struct Logs {
    kept: BTreeMap<(String, String), VecDeque<Output>>,
}

/// The running one and the last dead one.
const KEPT: usize = 2;

impl Logs {
    /// A container was started: an older dead one is removed.
    pub(crate) fn start(&mut self, pod: &str, container: &str, output: Output) {
        let outputs = self.kept.entry((pod.to_owned(), container.to_owned())).or_default();
        outputs.push_back(output);
        while outputs.len() > KEPT {
            outputs.pop_front();
        }
    }

    /// A container has died: of the dead ones only it is kept.
    pub(crate) fn end(&mut self, pod: &str, container: &str) {
        if let Some(outputs) = self.kept.get_mut(&(pod.to_owned(), container.to_owned())) {
            while outputs.len() > 1 {
                outputs.pop_front();
            }
        }
    }

    /// Adds to the output of the newest container.
    pub(crate) fn append(&mut self, pod: &str, container: &str, lines: impl IntoIterator<Item = (Timestamp, String)>) {
        let newest = self.kept.get_mut(&(pod.to_owned(), container.to_owned())).and_then(VecDeque::back_mut);
        if let Some(output) = newest {
            output.lines.extend(lines);
        }
    }

    /// A pod is gone, and so are its logs.
    pub(crate) fn forget(&mut self, pod: &str) {
        self.kept.retain(|(uid, _), _| uid != pod);
    }

    /// Answers a request for the log of a pod as it stands.
    pub(crate) fn read(&self, pod: &Value, call: &Call, now: Timestamp) -> Result<String, Refusal> {
        let container = container_of(pod, call)?;
        let state = container_status(pod, &container);
        let id = container_id(pod, &container, state, call.is_set("previous"))?;
        let outputs = self.kept.get(&(pod.uid().to_owned(), container));
        let Some(output) = outputs.into_iter().flatten().find(|output| output.id == id) else {
            return Ok(format!("unable to retrieve container logs for {id}"));
        };
        let since = match (call.option("sinceTime").parse::<Timestamp>(), call.option("sinceSeconds").parse::<i64>()) {
            (Ok(time), _) => Some(time),
            (_, Ok(seconds)) => Some(crate::object::later(now, -seconds)),
            _ => None,
        };
        let lines: Vec<&(Timestamp, String)> =
            output.lines.iter().filter(|(time, _)| *time <= now && since.is_none_or(|since| *time >= since)).collect();
        let tail = call.option("tailLines").parse::<usize>().unwrap_or(lines.len()).min(lines.len());
        let mut text = String::new();
        for (time, line) in lines.get(lines.len() - tail..).unwrap_or_default() {
            if call.is_set("timestamps") {
                text.push_str(&nanoseconds(*time));
                text.push(' ');
            }
            text.push_str(line);
            text.push('\n');
        }
        Ok(limited(text, call.option("limitBytes").parse().ok()))
    }
}

fn limited(text: String, limit: Option<usize>) -> String {
    match limit {
        Some(limit) if limit < text.len() => {
            String::from_utf8_lossy(text.as_bytes().get(..limit).unwrap_or_default()).into_owned()
        }
        _ => text,
    }
}

/// The container that is asked for, or the only one.
fn container_of(pod: &Value, call: &Call) -> Result<String, Refusal> {
    let asked = call.option("container");
    let names: Vec<&str> = ["/spec/initContainers", "/spec/containers"]
        .iter()
        .flat_map(|list| pod.items(list))
        .map(|container| container.text("/name"))
        .collect();
    match (asked, pod.items("/spec/containers")) {
        ("", [only]) => Ok(only.text("/name").to_owned()),
        ("", several) => {
            let choice: Vec<&str> = several.iter().map(|container| container.text("/name")).collect();
            Err(Refusal::bad_request(format!(
                "a container name must be specified for pod {}, choose one of: [{}]",
                pod.name(),
                choice.join(" ")
            )))
        }
        (asked, _) if names.contains(&asked) => Ok(asked.to_owned()),
        (asked, _) => Err(Refusal::bad_request(format!("container {asked} is not valid for pod {}", pod.name()))),
    }
}

fn container_status<'p>(pod: &'p Value, container: &str) -> &'p Value {
    static NONE: Value = Value::Null;
    ["/status/containerStatuses", "/status/initContainerStatuses"]
        .iter()
        .flat_map(|list| pod.items(list))
        .find(|status| status.text("/name") == container)
        .unwrap_or(&NONE)
}

/// The container that the kubelet would read, as its `validateContainerLogStatus` picks it.
fn container_id(pod: &Value, container: &str, status: &Value, previous: bool) -> Result<String, Refusal> {
    let last = status.text("/lastState/terminated/containerID");
    if previous {
        return if last.is_empty() {
            Err(Refusal::bad_request(format!(
                "previous terminated container {container:?} in pod {:?} not found",
                pod.name()
            )))
        } else {
            Ok(last.to_owned())
        };
    }
    if status.has("/state/running") {
        return Ok(status.text("/containerID").to_owned());
    }
    if status.has("/state/terminated") {
        return Ok(status.text("/state/terminated/containerID").to_owned());
    }
    if !last.is_empty() {
        return Ok(last.to_owned());
    }
    let reason = match status.text("/state/waiting/reason") {
        "" => "ContainerCreating",
        reason => reason,
    };
    let why = match reason {
        "ErrImagePull" | "ImagePullBackOff" => "trying and failing to pull image",
        reason => reason,
    };
    Err(Refusal::bad_request(format!("container {container:?} in pod {:?} is waiting to start: {why}", pod.name())))
}
