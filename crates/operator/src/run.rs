//! Wires everything up and runs it. *Client, reads.* (P11, P12)
//!
//! Every replica of the operator watches; the one that holds the Lease also collects logs, asks siblings, judges and writes.
//! Whoever loses the Lease drops all of that at once and goes on watching. No `select!` here is left to chance.

use std::{future::Future, sync::Arc};

use api::RecoveryPolicy;
use futures::{StreamExt, stream};
use kube::Client;
use tokio::time::sleep;

use crate::{
    Clock, Settings,
    bells::Bells,
    collect::{Collector, Rpc},
    hearing::watch,
    http::Readiness,
    index::CrashNotice,
    lease::Lease,
    log_book::Kept,
    metrics::Metrics,
    recover::{Desk, Leading, Writer, incidents, policies},
};

/// Logs read at once.
const LOGS_AT_ONCE: usize = 8;
/// Siblings asked at once.
const ASKED_AT_ONCE: usize = 16;

/// All that an operator needs.
pub struct Operator {
    /// Speaks to the API server.
    pub client: Client,
    /// Asks nodes for their status.
    pub rpc: Arc<dyn Rpc>,
    /// Tells the time.
    pub clock: Clock,
    /// What whoever starts it says.
    pub settings: Settings,
    /// What `/readyz` answers.
    pub readiness: Readiness,
    /// What `/metrics` answers.
    pub metrics: Arc<Metrics>,
}

impl std::fmt::Debug for Operator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Operator").field("settings", &self.settings).finish_non_exhaustive()
    }
}

/// Runs until `shutdown`, then gives the Lease up.
pub async fn run(operator: Operator, shutdown: impl Future<Output = ()>) {
    // Tens of kilobytes: not on the stack of whoever waits for it.
    Box::pin(work(operator, shutdown)).await;
}

async fn work(operator: Operator, shutdown: impl Future<Output = ()>) {
    let Operator { client, rpc, clock, settings, readiness, metrics } = operator;
    let settings = Arc::new(settings);
    let lease = Lease::new(client.clone(), Arc::clone(&settings), clock.clone());
    let collector = Collector::new(client.clone(), clock.clone());
    let desk = Desk { client, clock, settings, collector, metrics, seen: Arc::default() };
    let bells = Bells::default();
    tokio::select! {
        biased;
        () = shutdown => {}
        () = watch(&desk, &bells, &readiness) => {}
        () = compete(&desk, &lease, &bells, &rpc) => {}
    }
    lease.release().await;
}

/// Leads whenever the Lease can be had.
async fn compete(desk: &Desk, lease: &Lease, bells: &Bells, rpc: &Arc<dyn Rpc>) {
    loop {
        lease.acquire().await;
        desk.metrics.leads(crate::metrics::Leadership::Leader);
        tracing::info!(identity = %desk.settings.identity, "this operator leads");
        tokio::select! {
            biased;
            () = lease.keep() => tracing::warn!("the Lease is lost; another operator goes on"),
            () = lead(desk, lease, bells, rpc) => {}
        }
        desk.metrics.leads(crate::metrics::Leadership::Follower);
    }
}

/// What only the leader does.
async fn lead(desk: &Desk, lease: &Lease, bells: &Bells, rpc: &Arc<dyn Rpc>) {
    let ears = bells.listen();
    let writer = Writer::new(desk.client.clone(), lease.clone(), desk.clock.clone(), Arc::clone(&desk.settings));
    let leading = Arc::new(Leading { desk: desk.clone(), writer });
    tokio::select! {
        biased;
        () = incidents(Arc::clone(&leading), ears.recoveries) => {}
        () = policies(leading, ears.policies) => {}
        () = ears.notices.for_each_concurrent(LOGS_AT_ONCE, |notice| keep_log(desk, notice)) => {}
        () = ask(desk, rpc) => {}
    }
}

/// Reads the log of a crash at once: the kubelet keeps it until the next one.
async fn keep_log(desk: &Desk, notice: CrashNotice) {
    let instance = notice.instance.clone();
    match desk.collector.log_of_crash(&notice).await {
        Ok(log) => {
            let kept = Kept { at: desk.clock.now(), log: Arc::new(log) };
            desk.seen().log_book.keep(&instance, kept);
        }
        Err(error) => {
            tracing::info!(replica = %instance, %error, "the log of a crash could not be read");
            desk.metrics.error(error.category());
            desk.seen().log_book.failed(&instance, error.to_string());
        }
    }
}

/// Asks all replicas for their status, again and again.
async fn ask(desk: &Desk, rpc: &Arc<dyn Rpc>) {
    loop {
        let (addresses, interval) = {
            let seen = desk.seen();
            let policies: Vec<Arc<RecoveryPolicy>> = seen.ledger.policies.all().cloned().collect();
            let shortest = policies.iter().map(|policy| policy.spec.evidence.peers.interval.as_duration()).min();
            (seen.index.to_sample(&policies), shortest.unwrap_or(IDLE).max(ASKED_AT_MOST_EVERY))
        };
        let answers = stream::iter(addresses).map(|address| async move {
            let answer = rpc.status(&address).await.map_err(|error| error.to_string());
            (address.instance, answer)
        });
        // In their order, so that a rehearsal repeats itself.
        let mut answers = std::pin::pin!(answers.buffered(ASKED_AT_ONCE));
        while let Some((instance, answer)) = answers.next().await {
            desk.seen().index.sampled(&instance, desk.clock.now(), answer);
        }
        sleep(interval).await;
    }
}

/// Between two rounds of questions where no policy asks for any.
const IDLE: std::time::Duration = std::time::Duration::from_secs(30);
/// A policy may ask for less, not for more.
const ASKED_AT_MOST_EVERY: std::time::Duration = std::time::Duration::from_secs(5);
