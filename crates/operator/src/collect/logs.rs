//! Reads the log of a container that has died, or that runs. *Client, reads only.* (P13)
//!
//! The kubelet keeps the log of one dead container only, so this happens at every crash at once. While the container is
//! neither waiting nor running again, the kubelet answers with a sentence of its own, as log text with status 200, or with
//! 400; both are asked again, and neither is ever taken for the node's words.

use crashlog::{ExaminedLog, LogExamination};
use diagnosis::{ContainerName, InstanceName};
use futures::{AsyncRead, AsyncReadExt};
use k8s_openapi::api::core::v1::Pod;
use kube::{Api, api::LogParams};
use std::time::Duration;
use tokio::time::sleep;

use super::{Collector, guard_words::GuardWords, in_words};
use crate::index::CrashNotice;

/// Of the beginning: where the first failure stands.
const HEAD_MAX: usize = 1024 * 1024;
/// Of the end: where the panic stands.
const TAIL_MAX: usize = 1024 * 1024;
/// Lines asked for of the end.
const TAIL_LINES: i64 = 5_000;
/// Lines may be long; more than this is not read of the end, whatever was asked for.
const TAIL_READ_MAX: usize = 16 * 1024 * 1024;
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
    Log(ReadLog),
    /// Not now; the kubelet's words.
    NotNow(String),
    /// Nor later.
    Never(String),
}

impl Collector {
    /// The log of a crash.
    pub(crate) async fn log_of_crash(&self, notice: &CrashNotice) -> Result<ReadLog, LogFailure> {
        self.log(&notice.instance, &notice.container, LogOf::Crash).await
    }

    /// A container's log.
    pub(crate) async fn log(
        &self,
        instance: &InstanceName,
        container: &ContainerName,
        of: LogOf,
    ) -> Result<ReadLog, LogFailure> {
        let mut last = String::new();
        for wait in TRIES {
            sleep(Duration::from_secs(wait)).await;
            match self.try_log(instance, container, of).await {
                Try::Log(log) => return Ok(log),
                Try::NotNow(words) => last = words,
                Try::Never(words) => return Err(LogFailure::Refused(words)),
            }
        }
        let (instance, container) = (instance.clone(), container.clone());
        Err(LogFailure::NotThere { instance, container, tries: TRIES.len(), words: last })
    }

    async fn try_log(&self, instance: &InstanceName, container: &ContainerName, of: LogOf) -> Try {
        let pods: Api<Pod> = Api::namespaced(self.client.clone(), &instance.namespace);
        let what = format!("pods/log of {instance}, container {container}");
        let head = LogParams {
            container: Some(container.to_string()),
            previous: of == LogOf::Crash,
            limit_bytes: i64::try_from(HEAD_MAX).ok(),
            ..LogParams::default()
        };
        let head_bytes = match self.read(&pods, instance, &head, HEAD_MAX, Keep::Beginning).await {
            Ok(bytes) => bytes,
            Err(error) => return failed(&what, &error),
        };
        if is_the_kubelets_own(&head_bytes) {
            return Try::NotNow(String::from_utf8_lossy(&head_bytes).trim().to_owned());
        }
        let mut examination = LogExamination::new();
        examination.feed(&head_bytes);
        let label = match of {
            LogOf::Crash => {
                format!("{container}, the run that ended before {}", self.clock.now().strftime("%H:%M:%SZ"))
            }
            LogOf::Now => format!("{container}, the run that went on at {}", self.clock.now().strftime("%H:%M:%SZ")),
        };
        // The guard speaks before the node does.
        let guard = GuardWords::of(&head_bytes);
        if head_bytes.len() < HEAD_MAX {
            return Try::Log(ReadLog { examined: examination.finish(label, None), guard });
        }
        let tail = LogParams { limit_bytes: None, tail_lines: Some(TAIL_LINES), ..head };
        let gap = match self.read(&pods, instance, &tail, TAIL_MAX, Keep::End).await {
            Ok(tail) => {
                examination.feed(b"\n");
                examination.feed(&tail);
                "only its first and its last MiB were read".to_owned()
            }
            Err(error) => format!("only its first MiB was read: {}", in_words("get", &what, &error)),
        };
        Try::Log(ReadLog { examined: examination.finish(label, Some(gap)), guard })
    }

    async fn read(
        &self,
        pods: &Api<Pod>,
        instance: &InstanceName,
        params: &LogParams,
        bytes_max: usize,
        keep: Keep,
    ) -> Result<Vec<u8>, kube::Error> {
        let stream = pods.log_stream(&instance.name, params).await?;
        Ok(read_bounded(stream, bytes_max, keep).await)
    }
}

/// Which part of a stream is kept where it is longer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Keep {
    Beginning,
    End,
}

/// Reads a stream in bounded memory. One that breaks off gives what came until then.
async fn read_bounded(stream: impl AsyncRead, bytes_max: usize, keep: Keep) -> Vec<u8> {
    let mut stream = std::pin::pin!(stream);
    let mut kept = Vec::new();
    let mut chunk = vec![0; 64 * 1024];
    let mut read: usize = 0;
    while let Ok(bytes @ 1..) = stream.read(&mut chunk).await {
        kept.extend_from_slice(chunk.get(..bytes).unwrap_or_default());
        read = read.saturating_add(bytes);
        match keep {
            Keep::Beginning if kept.len() >= bytes_max => {
                kept.truncate(bytes_max);
                break;
            }
            Keep::End if read >= TAIL_READ_MAX => break,
            Keep::End if kept.len() > bytes_max.saturating_mul(2) => {
                kept.drain(..kept.len().saturating_sub(bytes_max));
            }
            Keep::Beginning | Keep::End => {}
        }
    }
    if keep == Keep::End {
        kept.drain(..kept.len().saturating_sub(bytes_max));
    }
    kept
}

/// `unable to retrieve container logs for containerd://…`, the whole answer.
fn is_the_kubelets_own(bytes: &[u8]) -> bool {
    const SENTENCE: &[u8] = b"unable to retrieve container logs for ";
    bytes.starts_with(SENTENCE) && bytes.iter().filter(|byte| **byte == b'\n').count() <= 1
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
