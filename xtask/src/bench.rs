//! `cargo xtask bench inspect`: `loopbreaker inspect` beside the engines' own readers and `cat`, in one run.
//!
//! Nothing is asserted: what is printed, and written to `docs/measurements.md`, is for people to compare. Contestants take
//! turns, so that whatever else the machine does falls on all of them.

mod databases;
mod figures;
mod machine;
mod report;

use std::{
    path::Path,
    process::{Command, ExitCode},
};

use anyhow::{Context, Result};
use clap::{Args, Subcommand};

use self::{
    figures::Measured,
    report::{Contest, Table},
};
use crate::{
    exit_status,
    peers::{self, Program},
    tidy,
};

#[derive(Debug, Subcommand)]
pub(crate) enum What {
    /// `loopbreaker inspect` beside goleveldb's and Pebble's own checks and `cat`; writes docs/measurements.md
    Inspect(Options),
    /// The operator beside ten thousand pods on a control plane of its own; writes docs/performance.md
    Scale(Scale),
}

#[derive(Debug, Args)]
pub(crate) struct Scale {
    /// Options of the bench itself; `--help` lists them
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "OPTION")]
    options: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// How often each contestant runs
    #[arg(long, value_name = "N", default_value_t = 9, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Only these of the tables, by the beginnings of their names [default: all]
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
    /// Print, and leave docs/measurements.md as it is
    #[arg(long)]
    dry_run: bool,
}

pub(crate) fn run(what: &What) -> ExitCode {
    exit_status(&match what {
        What::Inspect(options) => inspect(options),
        What::Scale(options) => scale(options),
    })
}

/// The test bed does it, with the operator as it is shipped.
fn scale(scale: &Scale) -> Result<()> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut bench = Command::new(cargo);
    bench.args(["run", "--locked", "--quiet", "-p", "testbed", "--", "bench-scale", "--loopbreaker"]);
    bench.arg(peers::loopbreaker()?).args(&scale.options).current_dir(tidy::root());
    peers::succeed(&mut bench)
}

/// The programs that take part.
struct Programs {
    measure: std::path::PathBuf,
    loopbreaker: std::path::PathBuf,
}

fn inspect(options: &Options) -> Result<()> {
    let programs = Programs { measure: Program::Measure.build()?, loopbreaker: peers::loopbreaker()? };
    let load = machine::load();
    let mut tables = Vec::new();
    for contest in databases::contests(&programs.loopbreaker)? {
        if options.only.is_empty() || options.only.iter().any(|name| contest.name.starts_with(name.as_str())) {
            tables.push(hold(contest, options.rounds, &programs.measure)?);
        }
    }
    let text = report::page(&tables, &machine::describe(), &load);
    println!("{text}");
    if options.dry_run || !options.only.is_empty() {
        return Ok(());
    }
    let page = tidy::root().join("docs/measurements.md");
    std::fs::write(&page, text).with_context(|| page.display().to_string())
}

/// Warms the cache, then lets all contestants run in turn.
fn hold(contest: Contest, rounds: u32, measure: &Path) -> Result<Table> {
    let mut measured: Vec<Measured> = contest.commands.iter().map(|_| Measured::default()).collect();
    for round in 0..=rounds {
        eprintln!("── {}: round {round} of {rounds}", contest.name);
        for (command, measured) in contest.commands.iter().zip(&mut measured) {
            let figures = figures::run(measure, command)?;
            // The first round warms the cache.
            if round > 0 {
                measured.add(figures);
            }
        }
    }
    Ok(Table::new(contest, measured))
}
