//! What `inspect` says to do next: for the file that is wrong, and never against the signing state (P10); and that the
//! status is the verdict's even where nobody reads the report to its end.

use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
};

use crate::{Folder, inspects::copy, root, run};

const NODE: &str = "crates/chainstore/tests/fixtures/node";

/// What is said about a copy of a node after one change.
fn said_of(node: &str, change: impl FnOnce(&Path)) -> String {
    let folder = Folder::new();
    copy(&root().join(NODE).join(node), folder.path());
    change(folder.path());
    let text = run(&["inspect", &folder.path().display().to_string()]).stdout;
    // Lines are broken for the page, not for the reader.
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_broken_signing_state_is_never_answered_with_a_snapshot() {
    let said = said_of("goleveldb-healthy", |home| {
        fs::write(home.join("data/priv_validator_state.json"), "").expect("written");
    });
    assert!(said.contains("Find the last height, round and step that this key signed"), "{said}");
    assert!(!said.contains("Restore a snapshot"), "{said}");
}

#[test]
fn a_node_that_has_signed_takes_its_signing_state_along() {
    for node in ["goleveldb-iavl-altered", "goleveldb-app-ahead"] {
        let said = said_of(node, |_| {});
        assert!(said.contains("Restore") && said.contains("signed last at height 12: take"), "{node}: {said}");
    }
}

#[test]
fn a_wrong_file_is_answered_with_that_file() {
    let of_upgrade = said_of("goleveldb-healthy", |home| {
        fs::write(home.join("data/upgrade-info.json"), "").expect("written");
    });
    assert!(of_upgrade.contains("Put a whole upgrade-info.json"), "{of_upgrade}");
    assert!(!of_upgrade.contains("db_backend"), "{of_upgrade}");
    let of_genesis = said_of("goleveldb-healthy", |home| {
        fs::create_dir_all(home.join("config")).expect("made");
        fs::write(home.join("config/genesis.json"), r#"{"chain_id":"another-1"}"#).expect("written");
    });
    assert!(of_genesis.contains("the genesis file of the data's own chain"), "{of_genesis}");
    assert!(!of_genesis.contains("db_backend"), "{of_genesis}");
}

#[test]
fn checksums_that_nobody_could_list_were_not_computed() {
    let said = said_of("goleveldb-healthy", |home| {
        let state = home.join("data/state.db");
        let manifest = fs::read_to_string(state.join("CURRENT")).expect("a pointer");
        fs::write(state.join(manifest.trim()), "").expect("written");
    });
    assert!(!said.contains("Every checksum was computed"), "{said}");
}

#[test]
fn the_status_is_the_verdicts_also_where_nobody_reads_the_report() {
    let damaged = format!("{NODE}/goleveldb-iavl-altered");
    for arguments in [
        vec!["inspect", damaged.as_str(), "--exit-code"],
        vec!["inspect", damaged.as_str(), "--exit-code", "--output", "json"],
        vec!["diagnose", "--data", damaged.as_str(), "--exit-code"],
    ] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_loopbreaker"))
            .args(&arguments)
            .current_dir(root())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it runs");
        drop(child.stdout.take());
        let output = child.wait_with_output().expect("it ends");
        assert_eq!(output.status.code(), Some(10), "{arguments:?}");
        assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}
