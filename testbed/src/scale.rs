//! `cargo xtask bench scale`: what the real operator costs, and how soon it speaks, beside ten thousand pods.
//!
//! An API server of its own with its controllers and scheduler, machines played by kwok, the operator's release build as a
//! process with the shipped cluster-wide role. Nothing is asserted but that it works; what is printed, and written to
//! docs/performance.md, is for people to compare.

mod chain;
mod figures;
mod fleet;
mod kubelet;
mod kwok;
mod observer;
mod operator;
mod page;
mod phases;
mod plane;
mod process;

use std::{path::PathBuf, time::Duration};

use anyhow::{Context, Result};
use clap::Args;
use kube::{
    Client, Config,
    config::{KubeConfigOptions, Kubeconfig},
};
use tokio::time::Instant;

use self::{chain::Chain, fleet::Size, kwok::Identity, page::Machine, phases::Bench};
use crate::{
    place,
    rights::{Installed, install},
};

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Pods of nodes
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    pods: u32,
    /// Stateful sets that they belong to
    #[arg(long, value_name = "N", default_value_t = 300)]
    workloads: u32,
    /// Namespaces, each with one policy
    #[arg(long, value_name = "N", default_value_t = 30)]
    namespaces: u32,
    /// Pods that crash-loop
    #[arg(long, value_name = "N", default_value_t = 100)]
    looping: u32,
    /// Over so many seconds their first crashes are spread
    #[arg(long, value_name = "SECONDS", default_value_t = 120)]
    spread: u64,
    /// How long each rest is measured
    #[arg(long, value_name = "SECONDS", default_value_t = 120)]
    rest: u64,
    /// Crashes of each looping pod in the hurried hour
    #[arg(long, value_name = "N", default_value_t = 12)]
    crashes: u32,
    /// Where everything of the bench lies
    #[arg(long, value_name = "DIR", default_value = "target/testbed/scale")]
    folder: PathBuf,
    /// Use the control plane that runs in the folder already
    #[arg(long)]
    attach: bool,
    /// The operator's program, a release build
    #[arg(long, value_name = "FILE", default_value = "target/release/loopbreaker")]
    loopbreaker: PathBuf,
    /// Print, and leave docs/performance.md as it is
    #[arg(long)]
    dry_run: bool,
}

/// Where the chain answers: not the usual port, which other nodes on this machine may have.
const RPC_PORT: u16 = 26_757;

pub(crate) fn run(options: &Options) -> Result<()> {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?.block_on(bench(options))
}

async fn bench(options: &Options) -> Result<()> {
    let begun = Instant::now();
    let machine = Machine::read();
    let root = place::repository();
    let loopbreaker = options.loopbreaker.canonicalize().with_context(|| {
        format!("{} is not there (cargo build --release -p loopbreaker)", options.loopbreaker.display())
    })?;
    std::fs::create_dir_all(&options.folder)?;
    let there = plane::Folder(options.folder.canonicalize()?);
    let _plane = if options.attach { None } else { Some(plane::start(&there).await?) };
    said(begun, "the API server answers");
    let folder = there.0.join("bench");
    std::fs::create_dir_all(&folder)?;
    let admin = there.admin();
    let client = client(&admin).await?;
    let size = Size { pods: options.pods, workloads: options.workloads, namespaces: options.namespaces };

    let program = kwok::build(&root, &folder).await?;
    kwok::write_logs(&root, &loopbreaker, &folder).await?;
    let identity = Identity { certificate: there.pki("apiserver.crt"), key: there.pki("apiserver.key") };
    let _kwok = kwok::start(&program, &admin, &folder, &identity)?;
    let chain = Chain::start(RPC_PORT).await?;

    said(begun, "our kinds, the shipped rights");
    fleet::define(&client, &loopbreaker).await?;
    namespace(&client, operator::NAMESPACE).await?;
    install(&client, Installed { own: operator::NAMESPACE, watched: None, suffix: "" }).await?;
    let kubeconfig = operator::kubeconfig(&client, &admin, &folder).await?;

    said(begun, "the fleet");
    fleet::make(&client, size, RPC_PORT).await?;
    said(begun, "every pod runs");

    let bench = Bench {
        client,
        chain,
        size,
        audit: there.audit(),
        loopbreaker,
        kubeconfig,
        folder,
        looping: options.looping,
        spread: Duration::from_secs(options.spread),
        rest: Duration::from_secs(options.rest),
        crashes: options.crashes,
    };
    let told = bench.run(|what| said(begun, what)).await?;
    let page = page::page(options, &machine, &told)?;
    println!("{page}");
    if !options.dry_run {
        std::fs::write(root.join("docs/performance.md"), page)?;
    }
    Ok(())
}

fn said(begun: Instant, what: &str) {
    println!("{:7.1} s {what}", begun.elapsed().as_secs_f64());
}

async fn client(admin: &std::path::Path) -> Result<Client> {
    let kubeconfig = Kubeconfig::read_from(admin).with_context(|| format!("read {}", admin.display()))?;
    let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await?;
    Ok(Client::try_from(config)?)
}

async fn namespace(client: &Client, name: &str) -> Result<()> {
    use k8s_openapi::api::core::v1::Namespace;
    let object: Namespace = serde_json::from_value(serde_json::json!({"metadata": {"name": name}}))?;
    match kube::Api::<Namespace>::all(client.clone()).create(&kube::api::PostParams::default(), &object).await {
        Ok(_) => Ok(()),
        Err(kube::Error::Api(status)) if status.code == 409 => Ok(()),
        Err(error) => Err(error.into()),
    }
}
