//! `loopbreaker collect`. *Client, reads only.* Writes a bundle that `diagnose` and `rehearse` read. (P8, P13; design 7)

mod folder;

use std::{io::Write, path::PathBuf, sync::Arc};

use ::operator::{Asking, BundleOf, Clock, CollectedBundle, HttpRpc, collect_bundle};
use anyhow::Context;
use api::Span;
use clap::Args;
use indicatif::{ProgressBar, ProgressDrawTarget};

use crate::{
    cluster::{Cluster, ClusterError, Connection, wait_for},
    exit::{STDOUT_FAILED, Status, WrongUsage, printed},
    words::{clean, counted},
};
use folder::Folder;

/// Collect a bundle of what a cluster says about a node, to look at it elsewhere
///
/// Its objects and those around it, its logs (4 MiB of either end), and twice
/// the heights of all replicas. Secrets and config maps are never asked for,
/// volumes are not read, and what looks like a secret is taken out of objects
/// and logs: look through it all the same before you hand it on.
///
/// What could not be read is said on standard error and in bundle.json. Then:
/// `loopbreaker diagnose DIR`.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Arguments {
    /// The pod
    #[arg(value_name = "POD")]
    pod: String,

    /// Write the bundle into this directory, which must not exist
    #[arg(long, short, value_name = "DIR")]
    output: PathBuf,

    /// The pod's namespace [default: that of the kubeconfig's context]
    #[arg(long, short, value_name = "NS")]
    namespace: Option<String>,

    /// Between the two questions for the heights (1s to 10m)
    #[arg(long, default_value = "10s", value_name = "SPAN")]
    interval: Span,

    /// The port of the nodes' RPC
    #[arg(long, default_value_t = 26_657, value_name = "PORT")]
    rpc_port: u16,

    #[command(flatten)]
    connection: Connection,
}

/// Of blocks that come every few seconds.
const INTERVAL_SECONDS: std::ops::RangeInclusive<u64> = 1..=600;

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Status> {
    if !INTERVAL_SECONDS.contains(&arguments.interval.as_seconds()) {
        return Err(WrongUsage("--interval is between 1s and 10m").into());
    }
    let folder = Folder::begin(&arguments.output)?;
    let doing = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    let collected = wait_for(collect(arguments, &doing));
    doing.finish_and_clear();
    let mut collected = collected?;
    folder.write(&mut collected).with_context(|| format!("{}: cannot be written", arguments.output.display()))?;
    for note in &collected.notes {
        anstream::eprintln!("note: {}", clean(note));
    }
    printed(say(arguments, &collected)).context(STDOUT_FAILED)?;
    Ok(Status::Done)
}

async fn collect(arguments: &Arguments, doing: &ProgressBar) -> anyhow::Result<CollectedBundle> {
    let Cluster { client, namespace } = arguments.connection.open().await?;
    let of = BundleOf {
        namespace: arguments.namespace.clone().unwrap_or(namespace),
        pod: arguments.pod.clone(),
        rpc_port: arguments.rpc_port,
        interval: arguments.interval.as_duration(),
    };
    // A pod's address is that pod only within the cluster.
    let asking = if std::env::var_os("KUBERNETES_SERVICE_HOST").is_some() {
        Asking::PodNetwork(Arc::new(HttpRpc::default()))
    } else {
        Asking::ApiServer
    };
    let tell = |what: &str| {
        doing.set_message(clean(what));
        doing.tick();
    };
    let collected = collect_bundle(&client, &asking, &Clock::System, &of, tell).await;
    let what = format!("pod {}/{}", of.namespace, of.pod);
    Ok(collected.map_err(|error| ClusterError::of("get", "pods", &what, &error))?)
}

fn say(arguments: &Arguments, collected: &CollectedBundle) -> anyhow::Result<()> {
    let count = |count: usize, noun| counted(u64::try_from(count).unwrap_or(u64::MAX), noun);
    let objects = collected.objects.values().map(Vec::len).sum();
    let directory = clean(&arguments.output.display().to_string());
    let (objects, logs) = (count(objects, "object"), count(collected.logs.len(), "log"));
    let samples = count(collected.samples.len(), "sample");
    let next = format!("Next: `loopbreaker diagnose {directory} --subject {}`.", clean(&arguments.pod));
    Ok(writeln!(std::io::stdout().lock(), "{directory}: {objects}, {logs}, {samples} of heights. {next}")?)
}
