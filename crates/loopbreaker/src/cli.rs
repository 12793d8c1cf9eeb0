//! What can be typed. *No client.* Help, man pages, completions and `docs/cli.md` all come from here.

use clap::{Parser, Subcommand};

use crate::{completions, diagnose, man};

/// Version and, where the build knew it, commit.
pub(crate) const VERSION: &str = env!("LOOPBREAKER_VERSION");

/// Tells why a Cosmos SDK / CometBFT node on Kubernetes crash-loops, and whether its own data is damaged.
///
/// Everything is read from files; no cluster and no network is needed, and nothing that is read is ever written to.
///
/// Exit status: 0 done; 1 could not do it, the reason is the one line on standard error; 2 wrong usage.
#[derive(Debug, Parser)]
#[command(name = "loopbreaker", version = VERSION, max_term_width = 80)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// One file each.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Diagnose(diagnose::Arguments),
    Man(man::Arguments),
    Completions(completions::Arguments),
}
