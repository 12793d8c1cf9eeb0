//! Short runs of every target in `fuzz/`, a cargo workspace of its own.

use std::{fs, path::Path};

use anyhow::{Context, Result};

use crate::{
    session::{Line, Session},
    tidy, tools,
};

/// How long each target runs when nobody says.
const SECONDS_EACH: u64 = 20;
/// How long all targets together run when nobody says.
const SECONDS_IN_ALL: u64 = 300;

/// Whether there is anything to fuzz.
pub(crate) fn exists() -> bool {
    tidy::root().join("fuzz/Cargo.toml").is_file()
}

/// Builds the targets and runs each for `seconds`.
pub(crate) fn run(session: &mut Session, seconds: Option<u64>) -> Result<()> {
    tools::CARGO_FUZZ.ensure(session)?;
    let names = targets(&tidy::root().join("fuzz/fuzz_targets"))?;
    let seconds = seconds.unwrap_or_else(|| seconds_each(names.len()));
    let (cargo, variable) = tools::fuzzing_cargo();
    let line = |words: &str| {
        let line = Line::new(&format!("{cargo} fuzz {words}"));
        variable.map_or(line.clone(), |(name, value)| line.with(name, value))
    };
    session.command("fuzz build", &line("build"))?;
    for name in names {
        // Seeds are committed, what a run finds on its way is not.
        let corpus = format!("fuzz/corpus/{name}");
        fs::create_dir_all(tidy::root().join(&corpus)).with_context(|| corpus.clone())?;
        let seeds = Some(format!("fuzz/seeds/{name}")).filter(|seeds| tidy::root().join(seeds).is_dir());
        let seeds = seeds.unwrap_or_default();
        let run = line(&format!("run {name} {corpus} {seeds} -- -max_total_time={seconds} -verbosity=0"));
        session.command(&format!("fuzz {name}"), &run)?;
    }
    Ok(())
}

fn seconds_each(targets: usize) -> u64 {
    let targets = u64::try_from(targets).unwrap_or(u64::MAX).max(1);
    SECONDS_EACH.min(SECONDS_IN_ALL / targets).max(1)
}

/// The names of the targets, sorted.
fn targets(folder: &Path) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "rs") {
            names.extend(path.file_stem().map(|stem| stem.to_string_lossy().into_owned()));
        }
    }
    names.sort();
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::seconds_each;

    #[test]
    fn all_targets_together_stay_within_five_minutes() {
        assert_eq!(seconds_each(3), 20);
        assert_eq!(seconds_each(30), 10);
        assert_eq!(seconds_each(0), 20);
    }
}
