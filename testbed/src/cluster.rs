//! The cluster: its programs, its processes, and how it is taken down without a trace.

use anyhow::Result;
use clap::Subcommand;

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Build what is missing and start the cluster
    Up,
    /// Stop every process of the cluster and remove what it left
    Down,
    /// Say what runs
    Status,
}

pub(crate) fn run(_command: &Command) -> Result<()> {
    anyhow::bail!("not there yet")
}
