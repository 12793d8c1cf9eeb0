//! The API server as a tower service: HTTP in and out, delays, faults, watches as streamed bodies. *Client side of the wire.*
//!
//! Everything waits on virtual time only. Waiters are woken in the order in which they began to wait, and no `select!` is
//! left to chance, so this edge adds no order of its own.

use std::{
    convert::Infallible,
    fmt, io,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use bytes::Bytes;
use futures::{FutureExt, future::BoxFuture};
use http::{Request, Response, header};
use http_body_util::{BodyExt, Full, combinators::UnsyncBoxBody};
use jiff::SignedDuration;
use serde_json::Value;
use tokio::{sync::Notify, time::sleep};

use crate::{
    clock::Clock,
    cluster::{Cluster, Pace},
    faults::{Fault, WatchFault},
    server::{Call, Refusal, Reply, Verb},
    trace::Entry,
    watching,
};

/// The body of an answer.
pub(crate) type Body = UnsyncBoxBody<Bytes, Infallible>;

/// One user's way to the API server.
#[derive(Clone)]
pub(crate) struct Door {
    pub(crate) cluster: Arc<Mutex<Cluster>>,
    pub(crate) clock: Clock,
    pub(crate) user: String,
    /// Rung when a fault kills this user.
    pub(crate) crash: Arc<Notify>,
}

impl fmt::Debug for Door {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Door").field("user", &self.user).finish_non_exhaustive()
    }
}

/// Locks what only one thread uses; a panic elsewhere has been reported already.
pub(crate) fn lock(cluster: &Mutex<Cluster>) -> MutexGuard<'_, Cluster> {
    cluster.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Door {
    /// Answers one request.
    ///
    /// An error is a connection that was refused: the API server is away.
    pub(crate) async fn answer(self, request: Request<kube::client::Body>) -> io::Result<Response<Body>> {
        let (parts, body) = request.into_parts();
        let bytes = body.collect().await.map(http_body_util::Collected::to_bytes).unwrap_or_default();
        let read = lock(&self.cluster).state.server.read(&parts, &bytes);
        let call = match read {
            Ok(call) => call,
            Err(refusal) => return Ok(refused(&refusal)),
        };
        let (there, back) = self.delays();
        sleep(there).await;
        if lock(&self.cluster).state.is_away(self.clock.now()) {
            return Err(io::Error::new(io::ErrorKind::ConnectionRefused, "the API server is away"));
        }
        let response = self.take(&call).await;
        sleep(back).await;
        Ok(response)
    }

    /// A few milliseconds each way, from the seed.
    fn delays(&self) -> (Duration, Duration) {
        let mut cluster = lock(&self.cluster);
        if cluster.state.pace == Pace::Even {
            return (Duration::from_millis(2), Duration::from_millis(2));
        }
        let mut delay = || Duration::from_millis(cluster.state.random.u64(1..=8));
        (delay(), delay())
    }

    async fn take(&self, call: &Call) -> Response<Body> {
        let (entry, fault) = {
            let mut cluster = lock(&self.cluster);
            let entry = cluster.state.announce(self.clock.now(), &self.user, call);
            let fault = cluster.state.faults.next(&entry);
            (entry, fault)
        };
        let Some(fault) = fault else { return self.done(call, entry, None) };
        let entry = Entry { fault: Some(fault.name()), ..entry };
        let name = call.name.clone().unwrap_or_else(|| entry.name.clone());
        match fault {
            Fault::CrashBefore => self.die(entry).await,
            Fault::CrashAfter => {
                drop(self.serve(call, entry, |entry| entry.code = 0));
                self.crash.notify_one();
                std::future::pending().await
            }
            Fault::Conflict => self.refuse(entry, &Refusal::conflict(&call.resource, &name)),
            Fault::NotFound => self.refuse(entry, &Refusal::not_found(&call.resource, &name)),
            Fault::TooManyRequests(seconds) => self.refuse(entry, &Refusal::too_many_requests(seconds)),
            Fault::Internal => self.refuse(entry, &Refusal::internal("etcdserver: leader changed")),
            Fault::TimeoutBefore => self.refuse(entry, &Refusal::timeout()),
            Fault::TimeoutAfter => {
                drop(self.serve(call, entry, |entry| entry.code = 504));
                refused(&Refusal::timeout())
            }
            Fault::Doubled => {
                let first = self.done(call, entry.clone(), None);
                drop(self.serve(call, entry, |_| {}));
                first
            }
            Fault::Late(by) => self.late(call, entry, by).await,
            Fault::Stale(by) => self.done(call, entry, SignedDuration::try_from(by).ok()),
        }
    }

    async fn die(&self, mut entry: Entry) -> Response<Body> {
        entry.at = self.clock.now();
        lock(&self.cluster).state.note(entry);
        self.crash.notify_one();
        std::future::pending().await
    }

    /// The request travels on by itself, whatever becomes of its sender.
    async fn late(&self, call: &Call, entry: Entry, by: Duration) -> Response<Body> {
        let (door, call) = (self.clone(), call.clone());
        let travel = async move {
            sleep(by).await;
            door.done(&call, entry, None)
        };
        // Only a panic in the server ends the task early, and that is reported where it happened.
        match tokio::spawn(travel).await {
            Ok(response) => response,
            Err(_) => refused(&Refusal::internal("the request was lost")),
        }
    }

    fn refuse(&self, mut entry: Entry, refusal: &Refusal) -> Response<Body> {
        (entry.at, entry.code) = (self.clock.now(), refusal.code);
        lock(&self.cluster).state.note(entry);
        refused(refusal)
    }

    fn done(&self, call: &Call, entry: Entry, stale: Option<SignedDuration>) -> Response<Body> {
        let watch = (call.verb == Verb::Watch).then(|| entry.clone());
        match self.serve_with(call, entry, stale, |_| {}) {
            Ok(Reply::Object(code, object)) => json(code, &object),
            Ok(Reply::Text(text)) => text_plain(200, text),
            Ok(Reply::Watch(what)) => {
                let fault = watch.and_then(|entry| lock(&self.cluster).state.faults.next_for_watch(&entry));
                self.stream(*what, fault)
            }
            Err(refusal) => refused(&refusal),
        }
    }

    fn serve(&self, call: &Call, entry: Entry, seen: impl FnOnce(&mut Entry)) -> Result<Reply, Refusal> {
        self.serve_with(call, entry, None, seen)
    }

    fn serve_with(
        &self,
        call: &Call,
        mut entry: Entry,
        stale: Option<SignedDuration>,
        seen: impl FnOnce(&mut Entry),
    ) -> Result<Reply, Refusal> {
        let now = self.clock.now();
        let mut cluster = lock(&self.cluster);
        let answer = cluster.state.serve(now, call, &mut entry, stale);
        seen(&mut entry);
        cluster.state.note(entry);
        cluster.settle(now);
        answer
    }

    fn stream(&self, watch: crate::server::Watch, fault: Option<WatchFault>) -> Response<Body> {
        let lines = watching::lines(Arc::clone(&self.cluster), self.clock, watch, fault);
        let body = http_body_util::StreamBody::new(lines);
        Response::builder()
            .status(200)
            .header(header::CONTENT_TYPE, "application/json")
            .body(BodyExt::boxed_unsync(body))
            .unwrap_or_default_body()
    }
}

impl tower::Service<Request<kube::client::Body>> for Door {
    type Response = Response<Body>;
    type Error = io::Error;
    type Future = BoxFuture<'static, io::Result<Response<Body>>>;

    fn poll_ready(&mut self, _: &mut std::task::Context<'_>) -> std::task::Poll<io::Result<()>> {
        std::task::Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<kube::client::Body>) -> Self::Future {
        self.clone().answer(request).boxed()
    }
}

/// A response from parts that are always valid.
trait OrEmpty {
    fn unwrap_or_default_body(self) -> Response<Body>;
}

impl OrEmpty for http::Result<Response<Body>> {
    fn unwrap_or_default_body(self) -> Response<Body> {
        self.unwrap_or_else(|_| Response::new(full(Bytes::new())))
    }
}

fn full(bytes: Bytes) -> Body {
    Full::new(bytes).boxed_unsync()
}

fn json(code: u16, object: &Value) -> Response<Body> {
    Response::builder()
        .status(code)
        .header(header::CONTENT_TYPE, "application/json")
        .body(full(object.to_string().into()))
        .unwrap_or_default_body()
}

fn text_plain(code: u16, text: String) -> Response<Body> {
    Response::builder()
        .status(code)
        .header(header::CONTENT_TYPE, "text/plain")
        .body(full(text.into()))
        .unwrap_or_default_body()
}

fn refused(refusal: &Refusal) -> Response<Body> {
    if refusal.reason.is_empty() {
        return text_plain(refusal.code, refusal.message.clone());
    }
    let mut response = Response::builder().status(refusal.code).header(header::CONTENT_TYPE, "application/json");
    if let Some(seconds) = refusal.retry_after {
        response = response.header(header::RETRY_AFTER, seconds);
    }
    response.body(full(refusal.status().to_string().into())).unwrap_or_default_body()
}
