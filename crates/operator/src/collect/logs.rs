//! Reads the log of a container that has died, or that runs. *Client, reads only.* (P13)
//!
//! The kubelet keeps the log of one dead container only, so this happens at every crash at once. While the container is
//! neither waiting nor running again, the kubelet answers with a sentence of its own, as log text with status 200, or with
//! 400; both are asked again, and neither is ever taken for the node's words.

pub(super) mod stream;

use std::time::Duration;

use crashlog::{ExaminedLog, LogExamination};
use diagnosis::{ContainerName, ContainerState, InstanceName, Uid, observe};
use k8s_openapi::api::core::v1::Pod;
use kube::{Api, api::LogParams};
use tokio::time::sleep;

use self::stream::{Keep, Piece, StreamEnd};
use super::{Collector, guard_words::GuardWords, in_words};
use crate::index::CrashNotice;

/// Lines asked for of the end: fewer, where they are too long to be read.
const TAIL_LINES: [i64; 3] = [5_000, 500, 50];
/// The moment in which the kubelet has no log of the dead container passes within seconds; after this it is given up.
const TRIES: [u64; 7] = [0, 2, 4, 8, 16, 32, 60];

/// Which run's log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LogOf {
    /// Of the run that has ended.
    Crash,
    /// Of the run that goes on.
    Now,
}

/// Why there is no log.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum LogFailure {
    /// The kubelet had none, each time it was asked.
    #[error("the kubelet has no log of container {container} of {instance} (asked {tries} times): {words}")]
    NotThere { instance: InstanceName, container: ContainerName, tries: usize, words: String },
    /// The API server refused.
    #[error("{0}")]
    Refused(String),
}

impl LogFailure {
    /// A word for metrics.
    pub(crate) fn category(&self) -> &'static str {
        match self {
            Self::NotThere { .. } => "log_not_there",
            Self::Refused(_) => "log_refused",
        }
    }
}

/// A log that was read, and what `loopbreaker guard` says in it.
#[derive(Debug, Clone)]
pub(crate) struct ReadLog {
    /// The node's own words.
    pub(crate) examined: ExaminedLog,
    /// The guard's, where it ran.
    pub(crate) guard: Option<GuardWords>,
}

/// What one try gave.
enum Try {
    Log(Box<ReadLog>),
    /// Not now; the kubelet's words.
    NotNow(String),
    /// Nor later.
    Never(String),
}

/// Whose log.
struct Wanted<'w> {
    instance: &'w InstanceName,
    container: &'w ContainerName,
    /// The pod that it must be of, where that is known.
    pod: Option<&'w Uid>,
    of: LogOf,
}

impl Collector {
    /// The log of a crash.
    pub(crate) async fn log_of_crash(&self, notice: &CrashNotice) -> Result<ReadLog, LogFailure> {
        let CrashNotice { instance, container, pod_uid, .. } = notice;
        self.wanted_log(&Wanted { instance, container, pod: Some(pod_uid), of: LogOf::Crash }).await
    }

    /// A container's log, of whichever pod has the name now.
    pub(crate) async fn log(
        &self,
        instance: &InstanceName,
        container: &ContainerName,
        of: LogOf,
    ) -> Result<ReadLog, LogFailure> {
        self.wanted_log(&Wanted { instance, container, pod: None, of }).await
    }

    async fn wanted_log(&self, wanted: &Wanted<'_>) -> Result<ReadLog, LogFailure> {
        let mut last = String::new();
        for wait in TRIES {
            sleep(Duration::from_secs(wait)).await;
            match self.try_log(wanted).await {
                Try::Log(log) => return Ok(*log),
                Try::NotNow(words) => last = words,
                Try::Never(words) => return Err(LogFailure::Refused(words)),
            }
        }
        let (instance, container) = (wanted.instance.clone(), wanted.container.clone());
        Err(LogFailure::NotThere { instance, container, tries: TRIES.len(), words: last })
    }

    async fn try_log(&self, wanted: &Wanted<'_>) -> Try {
        let previous = wanted.of == LogOf::Crash;
        match self.read_log(wanted, previous).await {
            Try::NotNow(words) if previous => self.log_of_ended_run(wanted, words).await,
            Try::Log(log) => match (wanted.pod, self.run(wanted).await) {
                // The name may have gone over to another pod meanwhile.
                (Some(pod), Ok(run)) if run.pod.as_ref() != Some(pod) => Try::Never(replaced(wanted)),
                _ => Try::Log(log),
            },
            other => other,
        }
    }

    /// While a container has just ended, and for ever where nothing starts it again, the present log is that of the crash:
    /// if the run is the same one, ended, before and after the reading.
    async fn log_of_ended_run(&self, wanted: &Wanted<'_>, words: String) -> Try {
        let before = match self.run(wanted).await {
            Ok(run) if wanted.pod.is_some() && run.pod.as_ref() != wanted.pod => return Try::Never(replaced(wanted)),
            Ok(run) if run.has_ended => run,
            _ => return Try::NotNow(words),
        };
        let read = self.read_log(wanted, false).await;
        match self.run(wanted).await {
            Ok(after) if after == before => read,
            _ => Try::NotNow(words),
        }
    }

    /// Which run the pod object shows.
    async fn run(&self, wanted: &Wanted<'_>) -> Result<Run, kube::Error> {
        let pods: Api<Pod> = Api::namespaced(self.client.clone(), &wanted.instance.namespace);
        let seen = observe(&pods.get(&wanted.instance.name).await?);
        let container = seen.container(wanted.container);
        Ok(Run {
            has_ended: container.is_some_and(|container| container.state == ContainerState::Terminated),
            restarts: container.map_or(0, |container| container.restarts),
            pod: seen.uid,
        })
    }

    /// The first part of a log, and where that is not all, the last part.
    async fn read_log(&self, wanted: &Wanted<'_>, previous: bool) -> Try {
        let Wanted { instance, container, .. } = wanted;
        let what = format!("pods/log of {instance}, container {container}");
        let params = LogParams {
            container: Some(container.to_string()),
            previous,
            limit_bytes: i64::try_from(stream::HEAD_MAX).ok(),
            ..LogParams::default()
        };
        let head = match self.read(instance, &params, Keep::Beginning).await {
            Ok(head) => head,
            Err(error) => return failed(&what, &error),
        };
        if is_the_kubelets_own(&head.bytes) {
            return Try::NotNow(String::from_utf8_lossy(&head.bytes).trim().to_owned());
        }
        let mut examination = LogExamination::new();
        examination.feed(&head.bytes);
        // The guard speaks before the node does.
        let guard = GuardWords::of(&head.bytes);
        let gap = match &head.end {
            StreamEnd::BrokeOff(why) => Some(format!("only its beginning was read: {why}")),
            StreamEnd::Reached if head.bytes.len() < stream::HEAD_MAX => None,
            StreamEnd::Reached | StreamEnd::Cut => self.feed_end(instance, params, &head.bytes, &mut examination).await,
        };
        let now = self.clock.now().strftime("%H:%M:%SZ");
        let label = match wanted.of {
            LogOf::Crash => format!("{container}, the run that ended before {now}"),
            LogOf::Now => format!("{container}, the run that went on at {now}"),
        };
        Try::Log(Box::new(ReadLog { examined: examination.finish(label, gap), guard }))
    }

    /// Adds the end of a long log; says what was not read.
    async fn feed_end(
        &self,
        instance: &InstanceName,
        params: LogParams,
        head: &[u8],
        examination: &mut LogExamination,
    ) -> Option<String> {
        for lines in TAIL_LINES {
            let params = LogParams { limit_bytes: None, tail_lines: Some(lines), ..params.clone() };
            let tail = match self.read(instance, &params, Keep::End).await {
                Ok(tail) => tail,
                Err(error) => {
                    return Some(format!("only its first MiB was read: {}", in_words("get", "pods/log", &error)));
                }
            };
            match tail.end {
                StreamEnd::Cut => {}
                StreamEnd::BrokeOff(why) => return Some(format!("only its first MiB was read: {why}")),
                StreamEnd::Reached => {
                    if let Some(rest) = stream::rest(head, &tail.bytes) {
                        examination.feed(rest);
                        return None;
                    }
                    examination.feed(b"\n");
                    examination.feed(&tail.bytes);
                    return Some("only its first and its last part were read, a MiB of each at most".to_owned());
                }
            }
        }
        Some("only its first MiB was read: its lines are too long to find the end".to_owned())
    }

    async fn read(&self, instance: &InstanceName, params: &LogParams, keep: Keep) -> Result<Piece, kube::Error> {
        let pods: Api<Pod> = Api::namespaced(self.client.clone(), &instance.namespace);
        let stream = pods.log_stream(&instance.name, params).await?;
        Ok(stream::read(stream, keep).await)
    }
}

/// One run of a container, as the pod object shows it.
#[derive(Debug, PartialEq, Eq)]
struct Run {
    pod: Option<Uid>,
    restarts: u32,
    has_ended: bool,
}

fn replaced(wanted: &Wanted<'_>) -> String {
    format!("pod {} was replaced by another one before the log of its crash could be read", wanted.instance)
}

/// `unable to retrieve container logs for containerd://…`, the whole answer.
pub(super) fn is_the_kubelets_own(bytes: &[u8]) -> bool {
    const SENTENCE: &[u8] = b"unable to retrieve container logs for ";
    bytes.starts_with(SENTENCE) && !bytes.trim_ascii_end().contains(&b'\n')
}

fn failed(what: &str, error: &kube::Error) -> Try {
    let words = in_words("get", what, error);
    match error {
        kube::Error::Api(status) if matches!(status.code, 401 | 403 | 404) => Try::Never(words),
        // 400: "previous terminated container not found"; the rest passes.
        _ => Try::NotNow(words),
    }
}

#[cfg(test)]
mod tests;
