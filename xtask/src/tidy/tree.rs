//! The tracked files of the repository, read once, and which of them are what.

use std::{fs, path::Path, process::Command};

use anyhow::{Context, Result, bail};

use super::rust::Rust;

/// Everything that the rules look at.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    pub(crate) files: Vec<File>,
}

/// One tracked file.
#[derive(Debug)]
pub(crate) struct File {
    /// Relative to the root, with `/`.
    pub(crate) path: String,
    /// Empty for data and for what is no text.
    pub(crate) text: String,
    /// For `.rs` files.
    pub(crate) rust: Option<Rust>,
}

impl Tree {
    /// Reads what git tracks under `root`.
    pub(crate) fn read(root: &Path) -> Result<Self> {
        let list = Command::new("git").args(["ls-files", "-z"]).current_dir(root).output().context("git ls-files")?;
        if !list.status.success() {
            bail!("git ls-files: {}", String::from_utf8_lossy(&list.stderr).trim());
        }
        let mut files = Vec::new();
        for path in String::from_utf8_lossy(&list.stdout).split_terminator('\0') {
            let place = root.join(path);
            if !place.is_file() {
                continue; // deleted, and not yet committed as such
            }
            let bytes = if is_data(path) { Vec::new() } else { fs::read(&place).with_context(|| path.to_owned())? };
            files.push(File::new(path, String::from_utf8(bytes).unwrap_or_default()));
        }
        Ok(Self { files })
    }

    /// The `.rs` files that are part of a program, not only of its tests.
    pub(crate) fn product(&self) -> impl Iterator<Item = (&File, &Rust)> {
        self.rust().filter(|(file, _)| file.is_product())
    }

    /// All `.rs` files.
    pub(crate) fn rust(&self) -> impl Iterator<Item = (&File, &Rust)> {
        self.files.iter().filter_map(|file| Some((file, file.rust.as_ref()?)))
    }

    /// The texts of all tests: whole test files, and the `#[cfg(test)]` parts of the others.
    pub(crate) fn test_texts(&self) -> impl Iterator<Item = (&File, &str)> {
        self.rust().map(|(file, rust)| (file, if file.is_product() { rust.tests.as_str() } else { file.text.as_str() }))
    }

    /// Whether a path is a tracked file or a folder with tracked files.
    pub(crate) fn has(&self, path: &str) -> bool {
        let folder = format!("{path}/");
        path.is_empty() || self.files.iter().any(|file| file.path == path || file.path.starts_with(&folder))
    }
}

impl File {
    pub(crate) fn new(path: &str, text: String) -> Self {
        let rust = (extension(path) == "rs").then(|| Rust::read(&text));
        Self { path: path.to_owned(), text, rust }
    }

    /// Whether it belongs to a crate's own code.
    pub(crate) fn is_product(&self) -> bool {
        let in_tests = ["/tests/", "/benches/", "/examples/"].iter().any(|folder| self.path.contains(folder));
        let in_crate = self.path.starts_with("crates/") || self.path.starts_with("xtask/");
        in_crate && !in_tests && !self.path.ends_with("/tests.rs")
    }
}

/// What follows the last dot.
pub(crate) fn extension(path: &str) -> &str {
    path.rsplit('/').next().and_then(|name| name.rsplit_once('.')).map_or("", |(_, extension)| extension)
}

/// Incidents, fixtures and training data: written by others, so no rule of ours holds in them. What explains them
/// (Markdown) and what makes them (Rust) is ours.
fn is_data(path: &str) -> bool {
    let data = ["examples/", "model/data/", "lab/"].iter().any(|folder| path.starts_with(folder))
        || ["/data/", "/fixtures/", "/snapshots/", "/seeds/"].iter().any(|folder| path.contains(folder));
    data && !matches!(extension(path), "md" | "rs")
}
