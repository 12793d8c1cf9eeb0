//! What can be typed. *No client.* Help, man pages, completions and `docs/cli.md` all come from here.

use clap::{Parser, Subcommand};

use crate::{collect, completions, crds, diagnose, evaluate, guard, inspect, man, operator, rehearse, status, suspend};

/// Version and, where the build knew it, commit.
pub(crate) const VERSION: &str = env!("LOOPBREAKER_VERSION");

/// Tells why a Cosmos SDK / CometBFT node on Kubernetes crash-loops, and whether its own data is damaged.
///
/// `diagnose`, `inspect`, `guard` and `evaluate` need files only, no cluster and no network, and never write to what they
/// read. `operator` watches a cluster; `status`, `collect`, `suspend` and `resume` ask one, by the kubeconfig. Installed as
/// `kubectl-loopbreaker`, all of it is `kubectl loopbreaker …`.
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
    Inspect(inspect::Arguments),
    Guard(guard::Arguments),
    Rehearse(rehearse::Arguments),
    Evaluate(evaluate::Arguments),
    Operator(operator::Arguments),
    Status(status::Arguments),
    Collect(collect::Arguments),
    Suspend(suspend::SuspendArguments),
    Resume(suspend::ResumeArguments),
    Crds(crds::Arguments),
    Man(man::Arguments),
    Completions(completions::Arguments),
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use clap::CommandFactory;

    use super::Cli;

    #[test]
    fn the_definition_is_sound() {
        Cli::command().debug_assert();
    }

    /// `docs/cli.md` is what `--help` says, so no flag changes unseen. `UPDATE_DOCS=1` writes it again.
    #[test]
    fn the_reference_says_what_the_help_says() {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/cli.md");
        let written = std::fs::read_to_string(&path).unwrap_or_default();
        let rendered = reference();
        if std::env::var_os("UPDATE_DOCS").is_some() {
            std::fs::write(&path, &rendered).expect("docs/ can be written to");
            return;
        }
        assert!(
            written == rendered,
            "docs/cli.md is not what the help says; write it again: UPDATE_DOCS=1 cargo test -p loopbreaker reference"
        );
    }

    fn reference() -> String {
        let mut text = "# Command line\n\nWritten by a test from the program's own help: change \
            [the definition](../crates/loopbreaker/src/cli.rs), not this file.\n"
            .to_owned();
        let mut whole = Cli::command().term_width(80);
        whole.build();
        let commands =
            whole.get_subcommands().map(|command| command.get_name().to_owned()).filter(|name| name != "help");
        let names: Vec<String> = commands.collect();
        let mut section = |name: &str, help: String| {
            let help: Vec<&str> = help.lines().map(str::trim_end).collect();
            let _ = write!(text, "\n## {name}\n\n```text\n{}\n```\n", help.join("\n").trim_end());
        };
        section("loopbreaker", whole.render_long_help().to_string());
        for name in names {
            let command = whole.find_subcommand_mut(&name).expect("just listed");
            section(&format!("loopbreaker {name}"), command.render_long_help().to_string());
        }
        text
    }
}
