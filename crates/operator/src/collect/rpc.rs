//! Asks a node for its `/status`. *Network, reads only.* (P6, P13)
//!
//! Plain HTTP to the pod's own address, as `curl` would; nothing that comes back is trusted beyond its numbers. A node whose
//! RPC listens on 127.0.0.1 only cannot be told from one that is down: said, never guessed.

use std::time::Duration;

use diagnosis::InstanceName;
use futures::future::BoxFuture;
use http_body_util::{BodyExt, Empty, Limited};
use hyper_util::{
    client::legacy::{Client, connect::HttpConnector},
    rt::TokioExecutor,
};
use scene::Sample;
use serde::Deserialize;
use serde_json::Value;
use tokio::time::timeout;

/// Whom to ask.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RpcAddress {
    /// The replica.
    pub instance: InstanceName,
    /// Its pod's address.
    pub ip: String,
    /// CometBFT's RPC port.
    pub port: u16,
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RpcFailure {
    /// Connection refused.
    #[error(
        "nothing listens on port {port} of the pod's address: the node is down, or its RPC listens on 127.0.0.1 only"
    )]
    Refused {
        /// Which port.
        port: u16,
    },
    /// No answer in time.
    #[error("port {port} of the pod did not answer within {seconds} s: a network policy, or a busy node")]
    Timeout {
        /// Which port.
        port: u16,
        /// How long was waited.
        seconds: u64,
    },
    /// Nobody who could be asked knows.
    #[error("{0}")]
    NotKnown(String),
    /// There is no way to it.
    #[error("port {port} of the pod cannot be reached: {what} (does a network policy let the operator's pod through?)")]
    Unreachable {
        /// Which port.
        port: u16,
        /// The network's words.
        what: String,
    },
    /// Something else answered.
    #[error("what answers on port {port} is no CometBFT RPC: {what}")]
    NotAnRpc {
        /// Which port.
        port: u16,
        /// What it is instead.
        what: String,
    },
}

/// Whoever can ask a node for its status.
pub trait Rpc: Send + Sync {
    /// Asks one.
    fn status<'a>(&'a self, to: &'a RpcAddress) -> BoxFuture<'a, Result<Sample, RpcFailure>>;
}

/// Asks over the pod network.
#[derive(Debug, Clone)]
pub struct HttpRpc {
    client: Client<HttpConnector, Empty<&'static [u8]>>,
}

/// No node needs longer for what it knows by heart.
const PATIENCE: Duration = Duration::from_secs(5);
/// A status has two kilobytes.
const ANSWER_MAX: usize = 256 * 1024;

impl Default for HttpRpc {
    fn default() -> Self {
        Self { client: Client::builder(TokioExecutor::new()).pool_max_idle_per_host(0).build_http() }
    }
}

impl HttpRpc {
    async fn ask(&self, to: &RpcAddress) -> Result<Sample, RpcFailure> {
        let port = to.port;
        let host = if to.ip.contains(':') { format!("[{}]", to.ip) } else { to.ip.clone() };
        let other = |what: String| RpcFailure::NotAnRpc { port, what };
        let uri = format!("http://{host}:{port}/status").parse().map_err(|error| other(format!("{error}")))?;
        let response = self.client.get(uri).await.map_err(|error| match connect_error(&error) {
            Some(std::io::ErrorKind::ConnectionRefused) => RpcFailure::Refused { port },
            Some(kind) => RpcFailure::Unreachable { port, what: kind.to_string() },
            None => other(error.to_string()),
        })?;
        if !response.status().is_success() {
            return Err(other(format!("status {}", response.status().as_u16())));
        }
        let body = Limited::new(response.into_body(), ANSWER_MAX).collect().await;
        let bytes = body.map_err(|error| other(error.to_string()))?.to_bytes();
        let answer: Value = serde_json::from_slice(&bytes).map_err(|_| other("the answer is no JSON".to_owned()))?;
        status_of(&answer, to)
    }
}

/// What the network says of a connection that could not be made.
fn connect_error(error: &hyper_util::client::legacy::Error) -> Option<std::io::ErrorKind> {
    let mut source = std::error::Error::source(error).filter(|_| error.is_connect());
    while let Some(inner) = source {
        if let Some(io) = inner.downcast_ref::<std::io::Error>() {
            return Some(io.kind());
        }
        source = inner.source();
    }
    error.is_connect().then_some(std::io::ErrorKind::Other)
}

impl Rpc for HttpRpc {
    fn status<'a>(&'a self, to: &'a RpcAddress) -> BoxFuture<'a, Result<Sample, RpcFailure>> {
        Box::pin(async move {
            let waited = RpcFailure::Timeout { port: to.port, seconds: PATIENCE.as_secs() };
            timeout(PATIENCE, self.ask(to)).await.unwrap_or(Err(waited))
        })
    }
}

/// CometBFT wraps it into `result`; a URI request of some versions does not.
#[derive(Deserialize)]
#[expect(clippy::struct_field_names, reason = "the fields' names are CometBFT's")]
struct Answer {
    sync_info: SyncInfo,
    #[serde(default)]
    node_info: NodeInfo,
    #[serde(default)]
    application_info: ApplicationInfo,
}

#[derive(Deserialize)]
struct SyncInfo {
    latest_block_height: Value,
    #[serde(default)]
    earliest_block_height: Value,
    #[serde(default)]
    latest_app_hash: Option<String>,
    #[serde(default)]
    catching_up: Option<bool>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct NodeInfo {
    version: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct ApplicationInfo {
    version: Option<String>,
}

/// A sample out of the JSON that `/status` answers.
pub fn status_of(answer: &Value, to: &RpcAddress) -> Result<Sample, RpcFailure> {
    let other = |what: String| RpcFailure::NotAnRpc { port: to.port, what };
    let inner = answer.get("result").unwrap_or(answer);
    let read = Answer::deserialize(inner).map_err(|error| other(format!("no status in its answer: {error}")))?;
    let height = number(&read.sync_info.latest_block_height);
    if height.is_none() {
        return Err(other("its height is no number".to_owned()));
    }
    Ok(Sample {
        pod: to.instance.to_string(),
        image_id: None,
        time: None,
        height,
        earliest_height: number(&read.sync_info.earliest_block_height),
        catching_up: read.sync_info.catching_up,
        version: read.application_info.version.or(read.node_info.version),
        app_hash: read.sync_info.latest_app_hash,
    })
}

fn number(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| value.as_str()?.parse().ok())
}

#[cfg(test)]
mod tests;
