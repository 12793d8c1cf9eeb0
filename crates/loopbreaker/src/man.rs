//! `loopbreaker man`. *No client.* Writes into the directory that it is given, and nowhere else.

use std::{io::Write, path::PathBuf};

use anyhow::Context;
use clap::{Args, CommandFactory};

use crate::{
    cli::Cli,
    exit::{STDOUT_FAILED, Status},
};

/// Print the manual page, or write all pages into a directory
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Write loopbreaker.1 and one page a command here
    #[arg(value_name = "DIR")]
    directory: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Status> {
    if let Some(directory) = &arguments.directory {
        clap_mangen::generate_to(Cli::command(), directory).with_context(|| {
            format!("{}: the manual pages cannot be written (make the directory first)", directory.display())
        })?;
    } else {
        let mut page = Vec::new();
        clap_mangen::Man::new(Cli::command()).render(&mut page)?;
        std::io::stdout().lock().write_all(&page).context(STDOUT_FAILED)?;
    }
    Ok(Status::Done)
}
