//! `loopbreaker operator`. *Client.* Reads flags, connects, and runs the operator until it is asked to end.

use std::{io::IsTerminal, net::SocketAddr, sync::Arc, time::Duration};

use ::operator::{Clock, HttpRpc, Inspector, LeaseTimes, Metrics, Operator, Readiness, Settings};
use anyhow::Context;
use api::Span;
use clap::{Args, ValueEnum};
use tokio::{
    signal::unix::{Signal, SignalKind, signal},
    sync::oneshot,
    time::timeout,
};
use tracing_subscriber::{EnvFilter, filter::LevelFilter};

use crate::{
    cluster::{Cluster, infer},
    exit::{Status, WrongUsage},
};

/// Watch chain nodes on Kubernetes, and record a verdict about each that is sick
///
/// Runs until SIGTERM or Ctrl-C, best as a Deployment of one or two replicas, of
/// which one leads. In a pod it finds the cluster and its own names by itself;
/// elsewhere it takes the kubeconfig. Only objects of our own are written:
/// recoveries, the status of policies, Events, inspector Jobs and what they need. docs/operator.md tells how to install it.
///
/// /livez, /readyz and /metrics are answered on --listen. A kind that is not
/// installed yet, or a right that is missing, is said and waited for.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Arguments {
    /// The operator's own namespace, where its Lease lies
    #[arg(long, env = "POD_NAMESPACE", default_value = "loopbreaker", value_name = "NS")]
    namespace: String,

    /// Watch this namespace only [default: all of them]
    #[arg(long, value_name = "NS")]
    watch_namespace: Option<String>,

    /// Who this process is, another one for each: its pod's name [default: HOSTNAME]
    #[arg(long, env = "POD_NAME", value_name = "NAME")]
    identity: Option<String>,

    /// The image of inspector Jobs, which holds `loopbreaker`
    #[arg(long, env = "LOOPBREAKER_IMAGE", value_name = "IMAGE")]
    inspector_image: String,

    /// The service account of inspector Jobs, in each node's namespace; it needs no right at all
    #[arg(long, value_name = "NAME")]
    inspector_service_account: Option<String>,

    /// A Secret by which the inspector's image is pulled, in each node's namespace; repeatable
    #[arg(long = "pull-secret", value_name = "NAME")]
    pull_secrets: Vec<String>,

    /// Inspector Jobs at once in the whole cluster
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=64), value_name = "N")]
    max_inspections: u32,

    /// Answer probes and metrics on this address
    #[arg(long, default_value = "0.0.0.0:8080", value_name = "ADDRESS")]
    listen: SocketAddr,

    /// How the log is printed, on standard error; `RUST_LOG` says how much of it
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    log_format: LogFormat,

    /// A leader that has not renewed its Lease for so long is none any more; it renews three times as often (3s to 10m)
    #[arg(long, default_value = "15s", value_name = "SPAN")]
    lease_duration: Span,
}

/// How the log is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
enum LogFormat {
    /// For people
    #[default]
    Text,
    /// One JSON object a line
    Json,
}

/// A shorter one is lost to any hiccup, and a longer one leaves the cluster unwatched after a crash.
const LEASE_SECONDS: std::ops::RangeInclusive<u64> = 3..=600;
/// Whoever still reads `/metrics` when we end is given so long.
const LAST_ANSWERS: Duration = Duration::from_secs(2);
/// Watches and probes must not wait for a log that is being examined.
const THREADS: usize = 2;

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Status> {
    let settings = settings(arguments, std::env::var("HOSTNAME").ok())?;
    log_to_standard_error(arguments.log_format)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(THREADS).enable_all().build();
    let runtime = runtime.context("the asynchronous runtime cannot be started")?;
    runtime.block_on(operate(settings, arguments.listen))?;
    Ok(Status::Done)
}

fn settings(arguments: &Arguments, hostname: Option<String>) -> Result<Settings, WrongUsage> {
    let identity = arguments.identity.clone().or(hostname).filter(|identity| !identity.is_empty());
    let identity = identity.ok_or(WrongUsage(
        "neither POD_NAME nor HOSTNAME is set: say who this process is by `--identity NAME`, another name for each",
    ))?;
    if arguments.inspector_image.is_empty() {
        return Err(WrongUsage("--inspector-image is empty: say which image holds `loopbreaker`"));
    }
    let seconds = arguments.lease_duration.as_seconds();
    if !LEASE_SECONDS.contains(&seconds) {
        return Err(WrongUsage("--lease-duration is between 3s and 10m"));
    }
    let duration = arguments.lease_duration.as_duration();
    Ok(Settings {
        identity,
        namespace: arguments.namespace.clone(),
        watched: arguments.watch_namespace.clone(),
        inspector: Inspector {
            image: arguments.inspector_image.clone(),
            service_account: arguments.inspector_service_account.clone(),
            pull_secrets: arguments.pull_secrets.clone(),
            at_once_max: arguments.max_inspections,
            ..Inspector::default()
        },
        lease: LeaseTimes { duration, renew_every: duration / 3 },
    })
}

fn log_to_standard_error(format: LogFormat) -> anyhow::Result<()> {
    let filter = EnvFilter::builder().with_default_directive(LevelFilter::INFO.into()).from_env();
    let filter = filter.context("RUST_LOG cannot be read (set it to a level such as `info`, or unset it)")?;
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    let set = match format {
        LogFormat::Text => log.with_ansi(std::io::stderr().is_terminal()).try_init(),
        LogFormat::Json => log.json().flatten_event(true).try_init(),
    };
    set.map_err(|error| anyhow::anyhow!("the log cannot be set up: {error}"))
}

/// Runs operator and probes until a signal comes, or the probes cannot be answered.
async fn operate(settings: Settings, address: SocketAddr) -> anyhow::Result<()> {
    let Cluster { client, .. } = infer().await?;
    let signals = [SignalKind::terminate(), SignalKind::interrupt()].map(signal);
    let (readiness, metrics) = (Readiness::new(), Arc::new(Metrics::new()));
    let (end, ended) = oneshot::channel::<()>();
    let until = async { ended.await.unwrap_or(()) };
    let mut probes = tokio::spawn(::operator::serve(address, readiness.clone(), Arc::clone(&metrics), until));
    let rpc = Arc::new(HttpRpc::default());
    let operator = Operator { client, rpc, clock: Clock::System, settings, readiness, metrics };
    tokio::select! {
        biased;
        answered = &mut probes => {
            answered?.with_context(|| format!("{address}: cannot be listened on (choose another one with --listen)"))?;
        }
        // The Lease is given up before the process ends, so that another one need not wait for its end.
        () = ::operator::run(operator, asked_to_end(signals)) => {}
    }
    drop(end);
    // Whoever keeps a connection open is not waited for.
    if !probes.is_finished() {
        let _ = timeout(LAST_ANSWERS, &mut probes).await;
    }
    Ok(())
}

async fn asked_to_end(signals: [std::io::Result<Signal>; 2]) {
    let [terminate, interrupt] = signals.map(comes);
    tokio::select! {
        biased;
        () = terminate => tracing::info!("asked to end by SIGTERM"),
        () = interrupt => tracing::info!("asked to end by SIGINT"),
    }
}

async fn comes(signal: std::io::Result<Signal>) {
    match signal {
        Ok(mut signal) => drop(signal.recv().await),
        Err(error) => {
            tracing::warn!(%error, "a signal cannot be listened for; the process ends by it without giving the Lease up");
            std::future::pending::<()>().await;
        }
    }
}

#[cfg(test)]
mod tests;
