//! The `loopbreaker` binary: files in, a verdict out; and the way into a cluster, by `operator`. *No client but in `cluster`.*
//!
//! One file a command; each reads, makes one call into the pure part and prints once. The exit status is decided in
//! [`exit`] alone.

mod bundle;
mod cli;
mod cluster;
mod collect;
mod colour;
mod command_line;
mod completions;
mod crds;
mod diagnose;
mod disk_part;
mod evaluate;
mod examine;
mod exit;
mod guard;
mod incident;
mod inspect;
mod man;
mod operator;
mod progress;
mod rehearse;
mod replica_logs;
mod report;
mod ring_part;
mod standing;
mod status;
mod suspend;
mod unread;
mod words;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    exit::code(run(cli::Cli::parse()))
}

fn run(cli: cli::Cli) -> anyhow::Result<exit::Status> {
    match cli.command {
        cli::Command::Diagnose(arguments) => diagnose::run(&arguments),
        cli::Command::Inspect(arguments) => inspect::run(&arguments),
        cli::Command::Guard(arguments) => guard::run(&arguments),
        cli::Command::Evaluate(arguments) => evaluate::run(&arguments),
        cli::Command::Rehearse(arguments) => rehearse::run(&arguments),
        cli::Command::Operator(arguments) => operator::run(&arguments),
        cli::Command::Status(arguments) => status::run(&arguments),
        cli::Command::Collect(arguments) => collect::run(&arguments),
        cli::Command::Suspend(arguments) => suspend::suspend(&arguments),
        cli::Command::Resume(arguments) => suspend::resume(&arguments),
        cli::Command::Crds(arguments) => crds::run(&arguments),
        cli::Command::Man(arguments) => man::run(&arguments),
        cli::Command::Completions(arguments) => completions::run(&arguments),
    }
}
