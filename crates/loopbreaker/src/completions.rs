//! `loopbreaker completions`. *No client.*

use anyhow::Context;
use clap::{Args, CommandFactory};
use clap_complete::Shell;

use crate::{
    cli::Cli,
    exit::{STDOUT_FAILED, Status},
};

/// Print the completion script of a shell
///
/// For bash: `loopbreaker completions bash > /etc/bash_completion.d/loopbreaker`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Which shell
    #[arg(value_enum)]
    shell: Shell,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Status> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Cli::command(), "loopbreaker", &mut script);
    std::io::Write::write_all(&mut std::io::stdout().lock(), &script).context(STDOUT_FAILED)?;
    Ok(Status::Done)
}
