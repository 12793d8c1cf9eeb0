//! Runs the chosen scenarios, several at a time.

use std::{path::PathBuf, time::Duration};

use anyhow::{Context, Error, Result, bail};
use clap::Args;
use futures::{StreamExt, stream};
use kube::{
    Client, Config,
    config::{KubeConfigOptions, Kubeconfig},
};

use super::{
    Bed, Family, Scenario, kept, operator,
    prepare::prepare,
    report::{self, Form},
    scenarios,
};

/// No scenario takes longer.
const LIMIT: Duration = Duration::from_mins(15);

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(crate) struct Options {
    /// Scenarios to run: names, or the beginnings of names
    names: Vec<String>,
    /// Run all of them
    #[arg(long, conflicts_with = "names")]
    all: bool,
    /// Run those that `cargo xtask test --cluster` runs
    #[arg(long, conflicts_with_all = ["names", "all"])]
    ci: bool,
    /// Ask the cluster everything in `testbed/conformance` and keep its answers there
    #[arg(long, conflicts_with_all = ["names", "all", "ci"])]
    record: bool,
    /// Print the scenarios, one a line, and stop
    #[arg(long)]
    list: bool,
    /// How many run at a time
    #[arg(long, value_name = "N", default_value_t = 4)]
    jobs: usize,
    /// How many times each is run
    #[arg(long, value_name = "N", default_value_t = 1)]
    repeat: u32,
    /// The cluster's folder, with admin.kubeconfig in it
    #[arg(long, value_name = "DIR", default_value = "target/testbed/cluster")]
    cluster: PathBuf,
    /// A static `loopbreaker` to be tried, instead of building one
    #[arg(long, value_name = "FILE")]
    loopbreaker: Option<PathBuf>,
    /// How outcomes are printed
    #[arg(long, value_enum, value_name = "FORM", default_value_t)]
    output: Form,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    if options.list {
        for scenario in scenarios::all() {
            println!("{:<40} {}", scenario.name, scenario.shows);
        }
        return Ok(());
    }
    if options.record {
        return tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(record(options));
    }
    let chosen = chosen(options)?;
    tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(run_all(options, &chosen))
}

fn chosen(options: &Options) -> Result<Vec<Scenario>> {
    let all = scenarios::all();
    if options.all {
        return Ok(all);
    }
    if options.ci {
        return Ok(all.into_iter().filter(|each| scenarios::CI.contains(&each.name)).collect());
    }
    if options.names.is_empty() {
        bail!("no scenario is named (`--all` runs all of them, `--list` prints them)");
    }
    for name in &options.names {
        if !all.iter().any(|scenario| scenario.name.starts_with(name.as_str())) {
            bail!("no scenario begins with {name:?}; `cargo xtask e2e --list` prints them");
        }
    }
    Ok(all.into_iter().filter(|each| options.names.iter().any(|name| each.name.starts_with(name.as_str()))).collect())
}

async fn record(options: &Options) -> Result<()> {
    let namespace = format!("record-{}", std::process::id());
    let bed = Bed::open(client(options).await?, options.cluster.clone(), namespace).await?;
    let recorded = scenarios::record(&bed).await;
    recorded.and(bed.close().await)
}

async fn run_all(options: &Options, chosen: &[Scenario]) -> Result<()> {
    let client = client(options).await?;
    if chosen.iter().any(|scenario| scenario.family == Family::Observe) {
        prepare(&client, &options.cluster, options.loopbreaker.as_deref()).await?;
    }
    let (alone, together): (Vec<Scenario>, Vec<Scenario>) =
        chosen.iter().partition(|scenario| scenarios::ALONE.contains(&scenario.name));
    let (mut passed, mut broken) = (0, Vec::new());
    for round in 1..=options.repeat {
        for (part, at_once) in [(&together, options.jobs.max(1)), (&alone, 1)] {
            let mut outcomes = stream::iter(part)
                .map(|scenario| one(client.clone(), options, *scenario, round))
                .buffer_unordered(at_once);
            while let Some((scenario, outcome, took)) = outcomes.next().await {
                report::outcome(options.output, scenario.name, took, outcome.as_ref().err());
                match outcome {
                    Ok(()) => passed += 1,
                    Err(_) => broken.push(scenario.name),
                }
            }
        }
    }
    report::summary(options.output, passed, broken.len());
    if broken.is_empty() { Ok(()) } else { bail!("did not hold: {}", broken.join(", ")) }
}

async fn one(client: Client, options: &Options, scenario: Scenario, round: u32) -> (Scenario, Result<()>, Duration) {
    let begun = tokio::time::Instant::now();
    let namespace = format!("{}-{}-{round}", scenario.name, std::process::id());
    let outcome = async {
        let bed = Bed::open(client, options.cluster.clone(), namespace).await?;
        let outcome = tokio::time::timeout(LIMIT, (scenario.run)(bed.clone()))
            .await
            .with_context(|| format!("not at its end within {} s", LIMIT.as_secs()))
            .and_then(|outcome| outcome);
        let outcome = match outcome {
            Ok(()) => Ok(()),
            Err(error) => Err(with_what_is_kept(&bed, scenario.name, error).await),
        };
        if scenario.family == Family::Observe {
            operator::uninstall(&bed).await?;
        }
        let closed = bed.close().await;
        outcome.and(closed)
    }
    .await;
    (scenario, outcome, begun.elapsed())
}

async fn with_what_is_kept(bed: &Bed, name: &str, error: Error) -> Error {
    match kept::keep(bed, name).await {
        Ok(folder) => error.context(format!("objects and logs in {}", folder.display())),
        Err(unkept) => error.context(format!("nothing could be kept: {unkept:#}")),
    }
}

async fn client(options: &Options) -> Result<Client> {
    let file = options.cluster.join("admin.kubeconfig");
    let kubeconfig = Kubeconfig::read_from(&file)
        .with_context(|| format!("read {}; `cargo xtask cluster up` makes it", file.display()))?;
    let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await?;
    Ok(Client::try_from(config)?)
}
