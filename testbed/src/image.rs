//! The operator's image, made without a container engine.

use anyhow::Result;
use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct Options {}

pub(crate) fn run(_options: &Options) -> Result<()> {
    anyhow::bail!("not there yet")
}
