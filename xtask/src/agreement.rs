//! `cargo xtask agreement`: our verdict beside that of the engines themselves, on copies that kill -9 left and on random
//! damage.
//!
//! Two promises are measured. No copy of a database that was killed at a random moment is called damaged or inconsistent;
//! and no damage that an engine's strictest check sees is called intact. A case that breaks one is printed with its seed,
//! kept, and ends the run with an error. What an engine said is kept too, so that a run can be stopped and gone on with.

mod compare;
mod damage;
mod engines;
mod explain;
pub(crate) mod guarded;
mod judge;
mod page;
mod random;
mod walk;

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Context, Result, bail};
use clap::Args;

use self::engines::EngineUnderTest;
use crate::{exit_status, peers, tidy};

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Random damages for each engine
    #[arg(long, value_name = "N", default_value_t = 2000)]
    cases: u64,
    /// Only this case, with all that is known of it
    #[arg(long, value_name = "N", requires = "engine")]
    case: Option<u64>,
    /// Copies after kill -9 for each engine
    #[arg(long, value_name = "N", default_value_t = 200)]
    copies: usize,
    /// Where the random numbers begin
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// Only these engines [default: all]
    #[arg(long, value_enum, value_name = "NAME")]
    engine: Vec<EngineUnderTest>,
    /// Ask the engines again, and make the copies again
    #[arg(long)]
    fresh: bool,
    /// Print, and leave docs/agreement.md as it is
    #[arg(long)]
    dry_run: bool,
}

/// Where the work is done.
struct Workshop {
    /// Kept from run to run.
    kept: PathBuf,
    /// Of this run alone; in memory, where the machine has such a place: engines write through to the disk.
    scratch: PathBuf,
}

pub(crate) fn run(options: &Options) -> ExitCode {
    exit_status(&agree(options))
}

fn agree(options: &Options) -> Result<()> {
    let memory = Path::new("/dev/shm");
    let base = if memory.is_dir() { memory.to_path_buf() } else { std::env::temp_dir() };
    let scratch = base.join(format!("agreement-{}", std::process::id()));
    let workshop = Workshop { kept: peers::target("agreement")?, scratch };
    std::fs::create_dir_all(&workshop.scratch).with_context(|| workshop.scratch.display().to_string())?;
    let outcome = compare_all(options, &workshop);
    std::fs::remove_dir_all(&workshop.scratch).with_context(|| workshop.scratch.display().to_string())?;
    outcome
}

fn compare_all(options: &Options, workshop: &Workshop) -> Result<()> {
    let engines = if options.engine.is_empty() { EngineUnderTest::ALL } else { &options.engine[..] };
    if let (Some(case), [engine]) = (options.case, engines) {
        return random::show(*engine, options.seed, case, workshop);
    }
    let mut page = page::Page::default();
    for engine in engines {
        match engine.prepare() {
            Ok(peer) => {
                page.walks.push(walk::compare(*engine, &peer, options, workshop)?);
                page.damages.push(random::compare(*engine, &peer, options, workshop)?);
            }
            Err(error) => page.skipped.push(format!("{}: {error:#}", engine.name())),
        }
    }
    let text = page.text(options.seed);
    println!("{text}");
    if !options.dry_run && options.engine.is_empty() {
        let path = tidy::root().join("docs/agreement.md");
        std::fs::write(&path, text).with_context(|| path.display().to_string())?;
    }
    let broken = page.broken();
    if !broken.is_empty() {
        bail!("not in agreement:\n{}", broken.join("\n"));
    }
    Ok(())
}
