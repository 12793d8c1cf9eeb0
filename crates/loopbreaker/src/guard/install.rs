//! Putting the program where another container of the pod finds it. *No client.*

use std::{ffi::OsString, fs, path::Path};

use anyhow::Context;

/// Copies the running program, whole or not at all: a container that runs the old one keeps it.
pub(super) fn install(target: &Path) -> anyhow::Result<()> {
    let own = std::env::current_exe().context("this program cannot find its own file")?;
    let mut beside = OsString::from(target);
    beside.push(".new");
    // The permission to run it is copied too.
    fs::copy(own, &beside)
        .and_then(|_| fs::rename(&beside, target))
        .with_context(|| format!("{}: cannot be written", target.display()))
}
