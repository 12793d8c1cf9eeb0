//! `/livez`, `/readyz` and `/metrics`. *Network, reads only.*
//!
//! Not ready is no reason to be restarted: a kind that is not installed yet, or a right that is missing, is waited for and
//! said, where a crash loop of our own would help nobody.

use std::{
    collections::BTreeSet,
    future::Future,
    net::SocketAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use axum::{
    Router,
    extract::State,
    http::{StatusCode, header},
    response::IntoResponse,
    routing::get,
};
use tokio::net::TcpListener;

use crate::metrics::Metrics;

/// What has still to come before this process is of use. Clones are the same one.
#[derive(Debug, Clone)]
pub struct Readiness {
    waits: Arc<Mutex<BTreeSet<&'static str>>>,
}

impl Default for Readiness {
    fn default() -> Self {
        Self::new()
    }
}

impl Readiness {
    /// Nothing has been seen yet.
    #[must_use]
    pub fn new() -> Self {
        let all = ["pods", "statefulsets", "cosmosfullnodes", "recoverypolicies", "recoveries"];
        Self { waits: Arc::new(Mutex::new(all.into_iter().collect())) }
    }

    pub(crate) fn waits_for(&self, what: &'static str) {
        self.lock().insert(what);
    }

    pub(crate) fn has(&self, what: &'static str) {
        self.lock().remove(what);
    }

    /// What is waited for.
    #[must_use]
    pub fn waiting(&self) -> Vec<&'static str> {
        self.lock().iter().copied().collect()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeSet<&'static str>> {
        self.waits.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Clone)]
struct Answers {
    readiness: Readiness,
    metrics: Arc<Metrics>,
}

/// Answers until `shutdown`; the error says which address cannot be listened on.
pub async fn serve(
    address: SocketAddr,
    readiness: Readiness,
    metrics: Arc<Metrics>,
    shutdown: impl Future<Output = ()> + Send + 'static,
) -> std::io::Result<()> {
    let listener = TcpListener::bind(address).await?;
    axum::serve(listener, routes(Answers { readiness, metrics })).with_graceful_shutdown(shutdown).await
}

fn routes(answers: Answers) -> Router {
    Router::new()
        .route("/livez", get(|| async { "alive\n" }))
        .route("/readyz", get(ready))
        .route("/metrics", get(metrics))
        .with_state(answers)
}

async fn ready(State(answers): State<Answers>) -> impl IntoResponse {
    let waiting = answers.readiness.waiting();
    if waiting.is_empty() {
        (StatusCode::OK, "ready\n".to_owned())
    } else {
        (StatusCode::SERVICE_UNAVAILABLE, format!("waits for: {}\n", waiting.join(", ")))
    }
}

async fn metrics(State(answers): State<Answers>) -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "application/openmetrics-text; version=1.0.0; charset=utf-8")], answers.metrics.text())
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};

    use super::*;

    fn ask(address: SocketAddr, path: &str) -> String {
        let mut stream = std::net::TcpStream::connect(address).expect("it listens");
        write!(stream, "GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").expect("written");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("text");
        answer
    }

    #[test]
    fn not_ready_says_what_is_waited_for_and_stays_alive() {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a runtime");
        let readiness = Readiness::new();
        for kind in ["pods", "statefulsets", "cosmosfullnodes", "recoverypolicies"] {
            readiness.has(kind);
        }
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).expect("a port");
        let address = listener.local_addr().expect("bound");
        let answers = Answers { readiness: readiness.clone(), metrics: Arc::new(Metrics::new()) };
        runtime.spawn(async move { axum::serve(listener, routes(answers)).await });
        assert!(ask(address, "/livez").starts_with("HTTP/1.1 200"));
        let answer = ask(address, "/readyz");
        assert!(answer.starts_with("HTTP/1.1 503") && answer.ends_with("waits for: recoveries\n"), "{answer}");
        readiness.has("recoveries");
        assert!(ask(address, "/readyz").starts_with("HTTP/1.1 200"));
        assert!(ask(address, "/metrics").contains("# EOF"));
    }
}
