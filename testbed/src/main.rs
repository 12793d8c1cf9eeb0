//! The test bed: `cargo xtask cluster`, `cargo xtask image` and `cargo xtask e2e` run this program.

mod audit;
mod cluster;
mod conformance;
mod e2e;
mod image;
mod place;
mod rights;
mod scale;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// A real Kubernetes for the tests.
#[derive(Debug, Parser)]
#[command(name = "testbed", bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Debug, Subcommand)]
enum Chore {
    /// Start, stop or look at the cluster
    #[command(subcommand)]
    Cluster(cluster::Command),
    /// Make the operator's image without a container engine
    Image(image::Options),
    /// Run scenarios on the cluster
    E2e(e2e::Options),
    /// Measure the operator beside ten thousand pods
    #[command(name = "bench-scale")]
    Scale(scale::Options),
}

fn main() -> ExitCode {
    let outcome = match Arguments::parse().chore {
        Chore::Cluster(command) => cluster::run(&command),
        Chore::Image(options) => image::run(&options),
        Chore::E2e(options) => e2e::run(&options),
        Chore::Scale(options) => scale::run(&options),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
