//! What may not be read: the report says whose it is and as whom to run, and the rest is still read (P13).
//!
//! Permission bits do not stop root. Where the tests run as root, the program runs as somebody else, by util-linux' `setpriv`.

use std::{
    fs,
    os::unix::fs::{MetadataExt, PermissionsExt},
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::json;

use crate::{Folder, Said, inspects::copy, root};

const HOME: &str = "crates/chainstore/tests/fixtures/node/goleveldb-healthy";

/// The user that owns nothing.
const NOBODY: &str = "65534";

/// A copy of a healthy node's home, readable by everybody, and of the program, which may lie where only root looks.
struct Stage {
    folder: Folder,
    owner: u32,
}

impl Stage {
    fn new() -> Self {
        let folder = Folder::new();
        copy(&root().join(HOME), &folder.path().join("home"));
        open_to_all(folder.path());
        let owner = fs::metadata(folder.path()).expect("it is there").uid();
        fs::copy(env!("CARGO_BIN_EXE_loopbreaker"), folder.path().join("loopbreaker")).expect("a copy");
        Self { folder, owner }
    }

    fn path(&self, below: &str) -> PathBuf {
        self.folder.path().join("home").join(below)
    }

    fn lock(&self, below: &str) {
        fs::set_permissions(self.path(below), fs::Permissions::from_mode(0o000)).expect("changed");
    }

    /// Runs the program as one whom permission bits stop; none, with the reason printed, where that cannot be done.
    fn inspect(&self, below: &str, more: &[&str]) -> Option<Said> {
        let program = self.folder.path().join("loopbreaker");
        let mut command = if self.owner == 0 {
            let mut command = Command::new("setpriv");
            command.args(["--reuid", NOBODY, "--regid", NOBODY, "--clear-groups"]).arg(program);
            command
        } else {
            Command::new(program)
        };
        let run = command.arg("inspect").arg(self.path(below)).args(more).output();
        let output = match run {
            Ok(output) => output,
            Err(error) => {
                eprintln!("not tested: the tests run as root, and setpriv does not run ({error})");
                return None;
            }
        };
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
        Some(Said {
            status: output.status.code().expect("no signal"),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        })
    }

    fn whom(&self) -> String {
        if self.owner == 0 {
            "run it as root".to_owned()
        } else {
            format!("run it as user id {} or as root", self.owner)
        }
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        open_to_all(self.folder.path());
    }
}

/// Directories first, or what is below them cannot be reached.
fn open_to_all(path: &Path) {
    let is_directory = path.is_dir();
    let mode = if is_directory { 0o755 } else { 0o644 };
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("changed");
    if is_directory {
        for entry in fs::read_dir(path).expect("a directory") {
            let path = entry.expect("an entry").path();
            if path.file_name().is_some_and(|name| name != "loopbreaker") {
                open_to_all(&path);
            }
        }
    }
}

#[test]
fn a_directory_that_may_not_be_entered() {
    let stage = Stage::new();
    stage.lock("data");
    let Some(said) = stage.inspect("data", &[]) else { return };
    let denied = format!("permission denied (it belongs to user id {})", stage.owner);
    assert_eq!((said.status, said.stdout.as_str()), (1, ""));
    let path = stage.path("data").display().to_string();
    assert_eq!(said.stderr, format!("error: {path}: {denied} ({})\n", stage.whom()));
}

/// Neither one database nor one file keeps the others from being read, and nothing of it is damage.
#[test]
fn what_may_not_be_read_says_which_user_is_needed() {
    for (locked, named) in [
        ("data/state.db", "data/state.db"),
        ("data/state.db/CURRENT", "data/state.db/CURRENT"),
        ("data/tx_index.db", "data/tx_index.db"),
        ("data/cs.wal", "data/cs.wal"),
        ("data/priv_validator_state.json", "data/priv_validator_state.json"),
    ] {
        let stage = Stage::new();
        stage.lock(locked);
        let Some(said) = stage.inspect("", &["--exit-code", "--output", "json"]) else { return };
        assert_eq!((said.status, said.stderr.as_str()), (12, ""), "{locked}: {}", said.stdout);
        let report = said.report();
        assert_eq!(report["outcome"], "could_not_tell");
        let denied = format!("{named}: permission denied (it belongs to user id {})", stage.owner);
        assert!(said.stdout.contains(&denied), "{locked}: {report}");
        let application = report["databases"].as_array().expect("a list").iter().find(|it| it["name"] == "application");
        assert_eq!(application.expect("it was read")["outcome"], json!("intact"));
        let page = stage.inspect("", &[]).expect("it ran before").stdout;
        assert!(page.contains(&format!("Some files may not be read: {}.", stage.whom())), "{locked}: {page}");
    }
}

#[test]
fn each_table_that_may_not_be_read_is_named() {
    let stage = Stage::new();
    let files = fs::read_dir(stage.path("data/application.db")).expect("a database").map(|file| file.expect("a file"));
    let names = files.map(|file| file.file_name().into_string().expect("text"));
    let tables: Vec<String> =
        names.filter(|name| name.rsplit_once('.').is_some_and(|(_, kind)| kind == "ldb")).collect();
    assert!(!tables.is_empty());
    for table in tables {
        stage.lock(&format!("data/application.db/{table}"));
        let Some(said) = stage.inspect("", &["--exit-code", "--output", "json"]) else { return };
        assert_eq!(said.status, 12, "{}", said.stdout);
        assert!(said.stdout.contains(&format!("data/application.db/{table}: permission denied")), "{}", said.stdout);
    }
}
