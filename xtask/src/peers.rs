//! The real engines, as small programs that this repository builds: they make databases, damage none, and judge copies.
//!
//! Sources are in `testbed/`; what is built lies under the target directory and is built again on every call, which costs
//! nothing where nothing changed.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, bail};

use crate::tidy;

/// One Go program of `testbed/`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Program {
    /// Runs a command and says what it took.
    Measure,
    /// goleveldb as chains pin it.
    GoLevelDb,
    /// Pebble v1.
    Pebble1,
    /// Pebble v2.
    Pebble2,
}

impl Program {
    /// Its folder under `testbed/`.
    fn folder(self) -> &'static str {
        match self {
            Self::Measure => "measure",
            Self::GoLevelDb => "fixtures/goleveldb",
            Self::Pebble1 => "fixtures/pebble",
            Self::Pebble2 => "fixtures/pebble2",
        }
    }

    /// Builds it; its path.
    pub(crate) fn build(self) -> Result<PathBuf> {
        let folder = tidy::root().join("testbed").join(self.folder());
        let name = self.folder().rsplit('/').next().unwrap_or_default();
        let path = target("peers")?.join(name);
        let mut build = Command::new("go");
        build.args(["build", "-buildvcs=false", "-o"]).arg(&path).arg(".").current_dir(folder);
        succeed(&mut build).with_context(|| format!("testbed/{} needs Go and the Go module proxy", self.folder()))?;
        Ok(path)
    }
}

/// A folder under cargo's target directory, made if it is not there.
pub(crate) fn target(name: &str) -> Result<PathBuf> {
    let base = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| tidy::root().join("target"), PathBuf::from);
    let folder = tidy::root().join(base).join(name);
    std::fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
    Ok(folder.canonicalize()?)
}

/// Builds the product as it is shipped; its path.
pub(crate) fn loopbreaker() -> Result<PathBuf> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut build = Command::new(cargo);
    build.args(["build", "--locked", "--release", "-p", "loopbreaker"]).current_dir(tidy::root());
    succeed(&mut build)?;
    Ok(target("release")?.join("loopbreaker"))
}

/// The Python that runs an engine's `make.py`, in a virtual environment with what its `requirements.txt` pins; and that file.
pub(crate) fn python(folder: &str) -> Result<[PathBuf; 2]> {
    let source = tidy::root().join("testbed/fixtures").join(folder);
    let environment = target("peers")?.join(format!("{folder}-venv"));
    once(&environment, |dir| succeed(Command::new("python3").args(["-m", "venv"]).arg(dir)))
        .context("Python with `venv` is needed")?;
    let python = environment.join("bin/python");
    let mut install = Command::new(&python);
    install.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--requirement"]);
    succeed(install.arg(source.join("requirements.txt")))?;
    Ok([python, source.join("make.py")])
}

/// Builds the product as it is tested, which takes less time; its path.
pub(crate) fn tested_loopbreaker() -> Result<PathBuf> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut build = Command::new(cargo);
    build.args(["build", "--locked", "-p", "loopbreaker"]).current_dir(tidy::root());
    succeed(&mut build)?;
    Ok(target("debug")?.join("loopbreaker"))
}

/// Makes a directory once: `make` is given a name beside it, which becomes the directory's when it is whole.
pub(crate) fn once(directory: &Path, make: impl FnOnce(&Path) -> Result<()>) -> Result<()> {
    if directory.is_dir() {
        return Ok(());
    }
    let unfinished = directory.with_extension("unfinished");
    if unfinished.exists() {
        std::fs::remove_dir_all(&unfinished)?;
    }
    make(&unfinished)?;
    std::fs::rename(&unfinished, directory).with_context(|| directory.display().to_string())
}

/// Runs a command to its end.
pub(crate) fn succeed(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("{command:?} could not be started"))?;
    if !status.success() {
        bail!("{command:?}: {status}");
    }
    Ok(())
}
