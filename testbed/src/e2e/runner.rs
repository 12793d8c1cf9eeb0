//! Runs the chosen scenarios, several at a time.

use std::{path::PathBuf, time::Duration};

use anyhow::{Context, Result, bail};
use clap::Args;
use futures::{StreamExt, stream};
use kube::{
    Client, Config,
    config::{KubeConfigOptions, Kubeconfig},
};

use super::{Bed, Scenario, scenarios};

/// No scenario takes longer.
const LIMIT: Duration = Duration::from_secs(900);

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Scenarios to run: names, or the beginnings of names
    names: Vec<String>,
    /// Run all of them
    #[arg(long, conflicts_with = "names")]
    all: bool,
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
}

pub(crate) fn run(options: &Options) -> Result<()> {
    if options.list {
        for scenario in scenarios::all() {
            println!("{:<40} {}", scenario.name, scenario.shows);
        }
        return Ok(());
    }
    let chosen = chosen(options)?;
    tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(run_all(options, &chosen))
}

fn chosen(options: &Options) -> Result<Vec<Scenario>> {
    let all = scenarios::all();
    if options.all {
        return Ok(all);
    }
    for name in &options.names {
        if !all.iter().any(|scenario| scenario.name.starts_with(name.as_str())) {
            bail!("no scenario begins with {name:?}; `cargo xtask e2e --list` prints them");
        }
    }
    Ok(all.into_iter().filter(|each| options.names.iter().any(|name| each.name.starts_with(name.as_str()))).collect())
}

async fn run_all(options: &Options, chosen: &[Scenario]) -> Result<()> {
    let client = client(options).await?;
    let mut held = 0;
    let mut broken = Vec::new();
    for round in 1..=options.repeat {
        let mut outcomes = stream::iter(chosen)
            .map(|scenario| one(client.clone(), options, *scenario, round))
            .buffer_unordered(options.jobs.max(1));
        while let Some((scenario, outcome, took)) = outcomes.next().await {
            match outcome {
                Ok(()) => {
                    held += 1;
                    println!("ok      {:<40} {:6.1} s", scenario.name, took.as_secs_f64());
                }
                Err(error) => {
                    println!("BROKEN  {:<40} {:6.1} s  {error:#}", scenario.name, took.as_secs_f64());
                    broken.push(scenario.name);
                }
            }
        }
    }
    println!("{held} passed, {} failed", broken.len());
    if broken.is_empty() { Ok(()) } else { bail!("did not hold: {}", broken.join(", ")) }
}

async fn one(client: Client, options: &Options, scenario: Scenario, round: u32) -> (Scenario, Result<()>, Duration) {
    let begun = tokio::time::Instant::now();
    let namespace = format!("{}-{}-{round}", scenario.name, std::process::id());
    let outcome = async {
        let bed = Bed::open(client, options.cluster.clone(), namespace).await?;
        let outcome = tokio::time::timeout(LIMIT, (scenario.run)(bed.clone())).await;
        let closed = bed.close().await;
        outcome.with_context(|| format!("not at its end within {} s", LIMIT.as_secs()))??;
        closed
    }
    .await;
    (scenario, outcome, begun.elapsed())
}

async fn client(options: &Options) -> Result<Client> {
    let file = options.cluster.join("admin.kubeconfig");
    let kubeconfig = Kubeconfig::read_from(&file)
        .with_context(|| format!("read {}; `cargo xtask cluster up` makes it", file.display()))?;
    let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await?;
    Ok(Client::try_from(config)?)
}
