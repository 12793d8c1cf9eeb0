//! The project's own chores, one file a command: `cargo xtask test`, `cargo xtask tidy`, `cargo xtask train`.

mod agreement;
mod bench;
mod fuzz;
mod peers;
mod session;
mod test;
mod testbed;
mod tidy;
mod tools;
mod train;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// The chores of this repository.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Debug, Subcommand)]
enum Chore {
    /// Run every check: format, tidy, lints, tests, docs, dependencies, short fuzz runs
    Test(test::Options),
    /// Check the rules of the house that no compiler knows
    Tidy,
    /// Measure beside the real engines; needs Go
    #[command(subcommand)]
    Bench(bench::What),
    /// Compare verdicts with the real engines, on killed copies and random damage; needs Go and Python
    Agreement(agreement::Options),
    /// Let the real engines start behind the guard on random damage, and see what is still known after; needs Go
    Guard(agreement::guarded::Options),
    /// Start, stop or look at a real one-node cluster; needs root, Linux and Go
    #[command(disable_help_flag = true)]
    Cluster {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        words: Vec<String>,
    },
    /// Make the operator's image without a container engine
    #[command(disable_help_flag = true)]
    Image {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        words: Vec<String>,
    },
    /// Run scenarios on the cluster
    #[command(disable_help_flag = true)]
    E2e {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        words: Vec<String>,
    },
    /// Train the log model from its data; --report measures it leave-one-group-out
    Train(train::Options),
}

fn main() -> ExitCode {
    match Arguments::parse().chore {
        Chore::Test(options) => test::run(&options),
        Chore::Agreement(options) => agreement::run(&options),
        Chore::Guard(options) => agreement::guarded::run(&options),
        Chore::Cluster { words } => testbed::pass("cluster", &words),
        Chore::Image { words } => testbed::pass("image", &words),
        Chore::E2e { words } => testbed::pass("e2e", &words),
        Chore::Bench(what) => bench::run(&what),
        Chore::Train(options) => train::run(&options),
        Chore::Tidy => exit_status(&tidy::check()),
    }
}

/// Says in one line what went wrong, if anything did.
fn exit_status(outcome: &anyhow::Result<()>) -> ExitCode {
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
