//! `cargo xtask tidy`: the rules of the house that no compiler knows, each held by a function and shown to bite by a test.
//!
//! Every rule looks at the [`Tree`] of tracked files and returns findings; only [`Tree::read`] and the question for
//! dependencies touch the machine. A test of this crate runs all of it, so `cargo test` holds the rules too.

mod documents;
mod length;
mod promises;
mod purity;
mod rust;
mod tree;
mod wording;

#[cfg(test)]
mod tests;

use std::{
    fmt,
    path::{Path, PathBuf},
};

use anyhow::{Result, bail};

pub(crate) use self::tree::Tree;

/// One breach of a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Finding {
    path: String,
    /// 0: the file as a whole.
    line: usize,
    what: String,
}

impl Finding {
    fn new(path: &str, line: usize, what: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line, what: what.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(f, "{}: {}", self.path, self.what),
            line => write!(f, "{}:{line}: {}", self.path, self.what),
        }
    }
}

/// Checks every rule on this repository.
pub(crate) fn findings() -> Result<Vec<Finding>> {
    let tree = Tree::read(root())?;
    let mut found = Vec::new();
    for rule in [
        length::files,
        length::functions,
        wording::module_names,
        wording::first_lines,
        wording::lint_exceptions,
        wording::idle_matches,
        wording::unwrapping_macros,
        wording::unfinished_work,
        purity::sources,
        purity::cluster_writes,
        purity::entropy_hook,
        promises::page,
        promises::tests,
        promises::numbers,
        documents::links,
        documents::machine_paths,
        documents::examples,
    ] {
        found.extend(rule(&tree));
    }
    for package in purity::PURE {
        found.extend(purity::dependencies(package, &purity::dependencies_of(package)?));
    }
    found.sort_by(|a, b| (&a.path, a.line).cmp(&(&b.path, b.line)));
    Ok(found)
}

/// Prints what is wrong; an error if anything is.
pub(crate) fn check() -> Result<()> {
    let found = findings()?;
    for finding in &found {
        println!("{finding}");
    }
    if !found.is_empty() {
        bail!("rules of CONTRIBUTING.md broken: {}", found.len());
    }
    println!("tidy: no rule of CONTRIBUTING.md is broken");
    Ok(())
}

/// The root of the repository.
pub(crate) fn root() -> &'static Path {
    static ROOT: std::sync::LazyLock<PathBuf> =
        std::sync::LazyLock::new(|| Path::new(env!("CARGO_MANIFEST_DIR")).join(".."));
    &ROOT
}
