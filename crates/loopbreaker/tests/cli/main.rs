//! The program as it is typed: what goes to standard output, what to standard error, and the exit status (design 8).

#![expect(clippy::expect_used, clippy::indexing_slicing, reason = "what is shared by tests is test code too")]

mod bad_data;
mod bad_input;
mod bundles;
mod canned_server;
mod clusters;
mod commands;
mod disks;
mod evaluates;
mod examples;
mod guards;
mod inspects;
mod manners;
mod memory;
mod next_steps;
mod permissions;
mod readme;
mod rehearses;
mod rings;
mod rings_cut_short;
mod samples;
mod standing;

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde_json::Value;
use tempfile::TempDir;

/// What one run said.
struct Said {
    status: i32,
    stdout: String,
    stderr: String,
}

impl Said {
    /// Its reports, one a line.
    fn reports(&self) -> Vec<Value> {
        self.stdout.lines().map(|line| serde_json::from_str(line).expect("a JSON object a line")).collect()
    }

    /// Its only report.
    fn report(&self) -> Value {
        let mut reports = self.reports();
        assert_eq!(reports.len(), 1, "{}{}", self.stdout, self.stderr);
        reports.remove(0)
    }
}

/// Runs the program in the repository's root.
fn run(arguments: &[&str]) -> Said {
    run_with(arguments, "")
}

/// The same with something on standard input.
fn run_with(arguments: &[&str], input: impl Into<Vec<u8>>) -> Said {
    let output = assert_cmd::Command::new(env!("CARGO_BIN_EXE_loopbreaker"))
        .args(arguments)
        .current_dir(root())
        .env_remove("CLICOLOR_FORCE")
        .write_stdin(input)
        .output()
        .expect("it runs");
    Said {
        status: output.status.code().expect("no signal"),
        stdout: String::from_utf8(output.stdout).expect("text"),
        stderr: String::from_utf8(output.stderr).expect("text"),
    }
}

/// Diagnoses a log from standard input, with `--exit-code`.
fn diagnose_log(log: impl Into<Vec<u8>>) -> (Said, Value) {
    let said = run_with(&["diagnose", "--log", "-", "--output", "json", "--exit-code"], log);
    let report = said.report();
    (said, report)
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A directory that is gone when the test ends.
struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a temporary directory"))
    }

    fn with(self, name: &str, content: impl AsRef<[u8]>) -> Self {
        let path = self.path().join(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
        fs::write(path, content).expect("a file");
        self
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    /// A file's name as an argument.
    fn name(&self, name: &str) -> String {
        self.path().join(name).display().to_string()
    }

    /// The words of a run without the directory's name.
    fn shortened(&self, text: &str) -> String {
        text.replace(&format!("{}/", self.path().display()), "").replace(&self.path().display().to_string(), "DIR")
    }
}
