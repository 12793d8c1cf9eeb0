//! `cargo xtask test`: every check, cheapest first; stops at the first step that fails.

use std::{process::ExitCode, time::Duration};

use anyhow::Result;
use clap::Args;

use crate::{
    exit_status, fuzz,
    session::{Line, Session, succeed_within},
    testbed, tidy, tools,
};

/// How long the advisory database may take to arrive.
const ADVISORIES_LIMIT: Duration = Duration::from_secs(20);

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Seconds that each fuzz target runs [default: 20, at most 300 for all together]
    #[arg(long, value_name = "N")]
    fuzz_seconds: Option<u64>,
    /// Leave the fuzz runs out
    #[arg(long, conflicts_with = "fuzz_seconds")]
    no_fuzz: bool,
    /// Run the chosen scenarios on a real cluster too; needs Linux, root and Go
    #[arg(long)]
    cluster: bool,
}

pub(crate) fn run(options: &Options) -> ExitCode {
    let mut session = Session::default();
    let status = exit_status(&steps(&mut session, options));
    println!("{}", session.summary());
    status
}

fn steps(session: &mut Session, options: &Options) -> Result<()> {
    session.command("format", &Line::new("cargo fmt --all --check"))?;
    session.step("tidy", "cargo xtask tidy", |_| tidy::check())?;
    session.command("clippy", &Line::new("cargo clippy --locked --workspace --all-targets -- -D warnings"))?;
    if fuzz::exists() {
        session.command("fuzz format", &Line::new("cargo fmt --manifest-path fuzz/Cargo.toml --check"))?;
        if options.no_fuzz {
            session.command("fuzz check", &Line::new("cargo check --manifest-path fuzz/Cargo.toml"))?;
        }
    }
    session.counted("tests", &Line::new("cargo test --locked --workspace --lib --bins --tests --no-fail-fast"))?;
    session.counted("doc tests", &Line::new("cargo test --locked --workspace --doc"))?;
    session
        .command("docs", &Line::new("cargo doc --locked --workspace --no-deps").with("RUSTDOCFLAGS", "-D warnings"))?;
    dependencies(session)?;
    if fuzz::exists() && !options.no_fuzz {
        fuzz::run(session, options.fuzz_seconds)?;
    }
    if options.cluster {
        testbed::scenarios(session)?;
    }
    Ok(())
}

/// `cargo deny`. The advisories need a database from the network; where it cannot be had, that check is left out and said so.
fn dependencies(session: &mut Session) -> Result<()> {
    tools::CARGO_DENY.ensure(session)?;
    session.command("dependencies", &Line::new("cargo deny --locked check bans licenses sources"))?;
    match succeed_within(ADVISORIES_LIMIT, &Line::new("cargo deny fetch db")) {
        Ok(()) => session.command("advisories", &Line::new("cargo deny --locked check --disable-fetch advisories")),
        Err(reason) => {
            println!("── advisories: SKIPPED, their database could not be fetched ({reason})");
            Ok(())
        }
    }
}
