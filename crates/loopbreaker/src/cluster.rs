//! The way to a cluster, and what is said where there is none. *Client; reads its configuration only.*
//!
//! The connection is `kubectl`'s own: `KUBECONFIG`, `~/.kube/config`, or the service account that a pod is given.

use std::{future::Future, time::Duration};

use anyhow::Context;
use clap::Args;
use kube::{
    Client, Config,
    config::{KubeConfigOptions, Kubeconfig},
};

/// Which cluster is asked.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct Connection {
    /// Ask the cluster of this context of the kubeconfig, not of its current one
    #[arg(long, value_name = "NAME")]
    context: Option<String>,
}

/// Whoever waits at a terminal has seen by then that nothing answers.
const CONNECTED_WITHIN: Duration = Duration::from_secs(10);
/// No answer of an API server takes longer, but for a watch.
const ANSWERED_WITHIN: Duration = Duration::from_secs(30);

/// A cluster that can be asked.
#[derive(Clone)]
pub(crate) struct Cluster {
    /// Speaks to its API server.
    pub(crate) client: Client,
    /// Where whoever asks is at home.
    pub(crate) namespace: String,
}

/// Why a cluster could not be asked, or did not do what it was asked for.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ClusterError {
    /// There is none that we know of.
    #[error("no cluster is known here: {why} (set KUBECONFIG, or run this in a pod of the cluster)")]
    NoneKnown {
        /// What is wrong with the configuration.
        why: String,
    },
    /// It has not our kinds.
    #[error(
        "the cluster does not know {plural} (install our kinds: `loopbreaker crds | kubectl apply --server-side -f -`)"
    )]
    NoKinds {
        /// The kind.
        plural: &'static str,
    },
    /// The right is missing.
    #[error("you may not {verb} {what} (ask whoever runs the cluster for the right to {verb} them)")]
    Forbidden {
        /// What was to be done.
        verb: &'static str,
        /// To what.
        what: String,
    },
    /// The API server does not know us.
    #[error("the API server does not accept your credentials (log in again, as for kubectl)")]
    Unauthorized,
    /// There is no such object.
    #[error("{what} is not there (is it the right namespace? -n names another one)")]
    NotThere {
        /// Which one.
        what: String,
    },
    /// Another answer.
    #[error("{verb} {what}: the API server says {code}: {words}")]
    Refused {
        /// What was to be done.
        verb: &'static str,
        /// To what.
        what: String,
        /// The answer's status.
        code: u16,
        /// The answer.
        words: String,
    },
    /// Something else answers.
    #[error("{verb} {what}: the answer is none of a Kubernetes API: {why} (is the kubeconfig the right one?)")]
    Garbled {
        /// What was to be done.
        verb: &'static str,
        /// To what.
        what: String,
        /// What is wrong with it.
        why: String,
    },
    /// No answer.
    #[error(
        "{verb} {what}: the API server does not answer: {why} (is the cluster up, and the kubeconfig the right one?)"
    )]
    Unreachable {
        /// What was to be done.
        verb: &'static str,
        /// To what.
        what: String,
        /// The network's words.
        why: String,
    },
}

impl ClusterError {
    /// A stable word for scripts.
    #[cfg_attr(not(test), expect(dead_code, reason = "errors are told apart by it in tests"))]
    pub(crate) fn category(&self) -> &'static str {
        match self {
            Self::NoneKnown { .. } => "none_known",
            Self::NoKinds { .. } => "no_kinds",
            Self::Forbidden { .. } => "forbidden",
            Self::Unauthorized => "unauthorized",
            Self::NotThere { .. } => "not_there",
            Self::Refused { .. } => "refused",
            Self::Garbled { .. } => "garbled",
            Self::Unreachable { .. } => "unreachable",
        }
    }

    /// What the API server's answer means; `plural` is the kind that was asked for, `what` the object in words.
    pub(crate) fn of(verb: &'static str, plural: &'static str, what: &str, error: &kube::Error) -> Self {
        let what = what.to_owned();
        let answer = match error {
            kube::Error::Api(answer) => answer,
            kube::Error::SerdeError(why) => return Self::Garbled { verb, what, why: why.to_string() },
            other => return Self::Unreachable { verb, what, why: innermost(other) },
        };
        let names_it = answer.details.as_ref().is_some_and(|details| !details.name.is_empty());
        match answer.code {
            401 => Self::Unauthorized,
            403 => Self::Forbidden { verb, what },
            404 if names_it => Self::NotThere { what },
            // What is not there by no name is the kind.
            404 => Self::NoKinds { plural },
            code => Self::Refused { verb, what, code, words: answer.message.clone() },
        }
    }
}

impl Connection {
    /// For a command that a human waits for.
    pub(crate) async fn open(&self) -> anyhow::Result<Cluster> {
        let mut config = self.config().await?;
        config.connect_timeout = Some(CONNECTED_WITHIN);
        config.read_timeout = Some(ANSWERED_WITHIN);
        connect(config)
    }

    async fn config(&self) -> Result<Config, ClusterError> {
        let none = |why: String| ClusterError::NoneKnown { why };
        let Some(context) = &self.context else {
            return Config::infer().await.map_err(|error| none(innermost(&error)));
        };
        let kubeconfig = Kubeconfig::read().map_err(|error| none(innermost(&error)))?;
        let options = KubeConfigOptions { context: Some(context.clone()), ..KubeConfigOptions::default() };
        Config::from_custom_kubeconfig(kubeconfig, &options).await.map_err(|error| none(innermost(&error)))
    }
}

/// For a process that stays: its watches wait for news as long as there are none.
pub(crate) async fn infer() -> anyhow::Result<Cluster> {
    connect(Connection::default().config().await?)
}

fn connect(config: Config) -> anyhow::Result<Cluster> {
    let namespace = config.default_namespace.clone();
    let client = Client::try_from(config).map_err(|error| ClusterError::NoneKnown { why: innermost(&error) })?;
    Ok(Cluster { client, namespace })
}

/// Waits for a command's answers on this thread.
pub(crate) fn wait_for<T>(work: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.context("the asynchronous runtime cannot be started")?.block_on(work)
}

/// The last cause, which says what is wrong; those around it say where, in the library's own terms.
pub(crate) fn innermost(error: &dyn std::error::Error) -> String {
    let mut last = error;
    while let Some(source) = last.source() {
        last = source;
    }
    last.to_string()
}

#[cfg(test)]
mod tests {
    use kube::core::Status;

    use super::*;

    fn meaning(answer: serde_json::Value) -> ClusterError {
        let status: Status = serde_json::from_value(answer).expect("a status");
        ClusterError::of("list", "recoveries", "recoveries of cosmos", &kube::Error::Api(status.boxed()))
    }

    #[test]
    fn what_is_no_kubernetes_is_not_said_to_be_silent() {
        let why = serde_json::from_str::<serde_json::Value>("<html>").expect_err("no JSON");
        let error = ClusterError::of("list", "recoveries", "recoveries", &kube::Error::SerdeError(why));
        assert_eq!(error.category(), "garbled");
    }

    #[test]
    fn an_answer_is_told_by_what_to_do_about_it() {
        for (answer, category) in [
            (serde_json::json!({"code": 401}), "unauthorized"),
            (serde_json::json!({"code": 403, "message": "no"}), "forbidden"),
            (serde_json::json!({"code": 404, "message": "404 page not found"}), "no_kinds"),
            (serde_json::json!({"code": 404, "details": {"name": "nodes"}}), "not_there"),
            (serde_json::json!({"code": 500, "message": "etcd"}), "refused"),
        ] {
            assert_eq!(meaning(answer.clone()).category(), category, "{answer}");
        }
        let words = meaning(serde_json::json!({"code": 500, "message": "etcd"})).to_string();
        assert_eq!(words, "list recoveries of cosmos: the API server says 500: etcd");
    }
}
