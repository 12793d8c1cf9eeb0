//! `inspect` on directories that real engines wrote, and on what is no database at all (P13).

use std::{fs, os::unix::fs::PermissionsExt, path::Path, process::Command, time::Duration};

use serde_json::{Value, json};

use crate::{Folder, Said, run};

const FIXTURES: &str = "crates/chainstore/tests/fixtures";

/// Each with a list of what was done to what.
const SETS: [&str; 9] =
    ["goleveldb", "goleveldb-newer", "leveldb", "node", "node-0.34", "pebble", "pebble-1.1.5", "pebble-2", "rocksdb"];

fn inspect(fixture: &str, more: &[&str]) -> Said {
    let dir = format!("{FIXTURES}/{fixture}");
    let mut arguments = vec!["inspect", dir.as_str(), "--exit-code"];
    arguments.extend(more);
    run(&arguments)
}

fn json_of(fixture: &str, more: &[&str]) -> (i32, Value) {
    let said = inspect(fixture, &[&["--output", "json"], more].concat());
    assert_eq!(said.stderr, "", "{fixture}");
    (said.status, said.report())
}

/// Copies a directory of files and directories.
pub(crate) fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a directory");
    for entry in fs::read_dir(from).expect("a directory") {
        let entry = entry.expect("an entry");
        if entry.path().is_dir() {
            copy(&entry.path(), &to.join(entry.file_name()));
        } else {
            fs::copy(entry.path(), to.join(entry.file_name())).expect("a copy");
        }
    }
}

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().map(|fields| fields.keys().map(String::as_str).collect()).unwrap_or_default()
}

/// Design 8, field by field: scripts rely on it.
#[test]
fn the_json_has_the_fields_of_the_contract() {
    let (status, report) = json_of("node/goleveldb-healthy", &[]);
    assert_eq!((status, &report["schema"]), (0, &json!("loopbreaker.dev/inspection/v1")));
    assert_eq!(report["outcome"], "intact");
    assert_eq!(report["heights"], json!({"application": 12, "state": 12, "blockstore": 12, "blockstore_base": 1}));
    assert_eq!((&report["chain_id"], &report["start"]["starts"]), (&json!("loopbreaker-1"), &json!(true)));
    assert!(report["bytes_read"].as_u64() > Some(40_000) && report["seconds"].as_f64() > Some(0.0), "{report}");
    let names: Vec<&Value> = report["databases"].as_array().expect("a list").iter().map(|it| &it["name"]).collect();
    assert_eq!(names, ["application", "blockstore", "evidence", "metadata", "state", "tx_index"]);
    for database in report["databases"].as_array().expect("a list") {
        for field in ["name", "engine", "outcome", "tables", "bytes", "findings"] {
            assert!(keys(database).contains(&field), "databases[].{field}");
        }
    }
    let (_, report) = json_of("goleveldb/table-data-flip", &[]);
    let finding = &report["databases"][0]["findings"][0];
    for field in ["kind", "file", "offset", "expected", "computed", "attribution", "detail"] {
        assert!(keys(finding).contains(&field), "findings[].{field}");
    }
    assert_eq!(
        report["heights"],
        json!({"application": null, "state": null, "blockstore": null, "blockstore_base": null})
    );
    assert_eq!(report["chain_id"], json!(null));
}

#[test]
fn each_state_of_a_directory_has_its_outcome_and_status() {
    for (fixture, outcome, status) in [
        ("goleveldb/healthy", "intact", 0),
        ("goleveldb/journal-torn", "intact", 0),
        ("goleveldb/table-not-live", "intact", 0),
        ("goleveldb/table-data-flip", "damaged", 10),
        ("goleveldb/manifest-truncated", "damaged", 10),
        ("goleveldb/current-deleted", "damaged", 10),
        ("goleveldb/only-lock", "could_not_tell", 12),
        ("node/goleveldb-app-ahead", "inconsistent", 10),
        ("node/goleveldb-blockstore-missing", "inconsistent", 10),
        ("node/goleveldb-one-ahead", "intact", 0),
    ] {
        let (said, report) = json_of(fixture, &[]);
        assert_eq!((said, &report["outcome"]), (status, &json!(outcome)), "{fixture}");
        assert_eq!(
            run(&["inspect", &format!("{FIXTURES}/{fixture}")]).status,
            0,
            "{fixture}: the status only when asked"
        );
    }
}

/// What the engines themselves left, by the list of what was done to it: nothing healthy is ever called bad.
#[test]
fn no_healthy_directory_of_any_engine_is_called_bad() {
    for set in SETS {
        let list = fs::read(crate::root().join(FIXTURES).join(set).join("manifest.json")).expect("a list");
        let cases: Vec<Value> = serde_json::from_slice(&list).expect("a list of cases");
        for case in cases {
            let (state, name) = (case["state"].as_str().expect("a state"), case["case"].as_str().expect("a name"));
            if state != "damaged" {
                let (_, report) = json_of(&format!("{set}/{name}"), &["--deep"]);
                let good = ["intact", "could_not_tell"].map(Value::from).contains(&report["outcome"]);
                assert!(good, "{set}/{name}: {report}");
            }
        }
    }
}

#[test]
fn a_flipped_bit_is_named_to_the_bit() {
    let (_, report) = json_of("goleveldb/table-data-flip", &[]);
    let finding = &report["databases"][0]["findings"][0];
    let told = ["kind", "file", "offset", "attribution"].map(|field| &finding[field]);
    let expected =
        [json!("block_checksum"), json!("000011.ldb"), json!(1000), json!("single-bit flip (bit 4 of byte 1162)")];
    assert_eq!(told, expected.each_ref());
    let text = inspect("goleveldb/table-data-flip", &[]).stdout;
    assert!(text.contains("\n  Damaged: table-data-flip, block checksum: 000011.ldb at 1000, likely by:"), "{text}");
}

#[test]
fn a_quick_look_does_not_read_blocks_and_a_deep_one_hashes_trees() {
    let (status, report) = json_of("goleveldb/table-data-flip", &["--quick"]);
    assert_eq!((status, &report["outcome"]), (0, &json!("intact")));
    assert!(inspect("goleveldb/table-data-flip", &["--quick"]).stdout.contains("Read every checksum."));
    let (status, report) = json_of("node/goleveldb-iavl-altered", &["--deep", "--max-read-rate", "50MiB"]);
    assert_eq!(status, 10);
    assert_eq!(report["databases"][0]["findings"][0]["kind"], "tree_hash");
}

/// Each depth has its own walk, and `--iavl` changes that alone.
#[test]
fn trees_are_walked_as_far_as_was_asked_for() {
    for (arguments, walk, status) in [
        (&["--quick"][..], "off", 0),
        (&["--iavl", "off"], "off", 0),
        (&["--deep", "--iavl", "off"], "off", 0),
        (&[], "sample", 10),
        (&["--deep", "--iavl", "sample"], "sample", 10),
        (&["--deep"], "latest", 10),
        (&["--quick", "--iavl", "latest"], "latest", 10),
    ] {
        let (said, report) = json_of("node/goleveldb-iavl-altered", arguments);
        assert_eq!((said, &report["trees"]["walk"]), (status, &json!(walk)), "{arguments:?}");
        let bank = report["trees"]["stores"].as_array().expect("stores").iter().find(|store| store["name"] == "bank");
        let bank = bank.expect("the store");
        assert_eq!((&bank["version"], &bank["root_fits"], &bank["leaves"]), (&json!(12), &json!(true), &json!(12)));
        assert_eq!(bank["walked_leaves"], if walk == "off" { 0 } else { 12 }, "{arguments:?}");
        let finding = &report["databases"][0]["findings"][0];
        if status == 10 {
            assert_eq!(finding["kind"], "tree_hash");
            let detail = finding["detail"].as_str().expect("words");
            let named = ["store bank", "version 12", "12/5 (key b006)"].iter().all(|words| detail.contains(words));
            assert!(named, "{detail}");
        }
    }
    let (_, report) = json_of("node/goleveldb-iavl-deleted", &[]);
    let detail = report["databases"][0]["findings"][0]["detail"].as_str().expect("words");
    assert!(detail.contains("store bank") && detail.contains("is missing (key s/k:bank/ + 73"), "{detail}");
    let page = |arguments: &[&str]| inspect("node/goleveldb-healthy", arguments).stdout;
    assert!(page(&["--deep"]).contains("Trees of 3 stores: every leaf of the latest version (21) was hashed"));
    assert!(page(&["--quick"]).contains("Trees of 3 stores: the roots have the hashes of the commit"));
    assert_eq!(run(&["inspect", "x", "--iavl", "all"]).status, 2);
}

#[test]
fn what_the_engine_would_do_is_told_before_it_does() {
    let (_, report) = json_of("goleveldb/current-deleted", &[]);
    assert_eq!(report["databases"][0]["next_open"]["opens"], false);
    let text = inspect("goleveldb/journal-flip-middle", &[]).stdout;
    assert!(text.contains("At the next start\n  - journal-flip-middle: goleveldb opens"), "{text}");
}

#[test]
fn the_page_fits_and_tells_what_to_do() {
    for directory in fs::read_dir(crate::root().join(FIXTURES)).expect("fixtures") {
        let directory = directory.expect("an entry");
        if !directory.path().is_dir() {
            continue;
        }
        let directory = directory.file_name().into_string().expect("text");
        for fixture in fs::read_dir(crate::root().join(FIXTURES).join(&directory)).expect("fixtures") {
            let fixture = fixture.expect("an entry").file_name().into_string().expect("text");
            if fixture.contains('.') {
                continue;
            }
            let said = inspect(&format!("{directory}/{fixture}"), &[]);
            assert_eq!(said.stderr, "", "{directory}/{fixture}");
            assert!(said.stdout.contains("\nWhat to do next\n  1. "), "{}", said.stdout);
            // The directory stands in a command word for word.
            let wide = said.stdout.lines().find(|line| line.chars().count() > 80 && !line.contains(FIXTURES));
            assert_eq!(wide, None, "{directory}/{fixture}");
        }
    }
}

#[test]
fn no_database_is_a_verdict_of_its_own() {
    let folder = Folder::new().with("data/priv_validator_state.json", "{}").with("config/config.toml", "");
    let path = folder.path().display().to_string();
    let said = run(&["inspect", &path, "--exit-code"]);
    assert_eq!((said.status, said.stderr.as_str()), (12, ""));
    assert!(said.stdout.contains("\n  No database there.\n"), "{}", said.stdout);
    let report = run(&["inspect", &path, "--output", "json"]).report();
    assert_eq!((&report["outcome"], &report["findings"][0]["kind"]), (&json!("could_not_tell"), &json!("no_database")));
}

/// One line, and the next step in it.
fn refused(path: &str, words: &str) {
    let said = run(&["inspect", path]);
    assert_eq!((said.status, said.stdout.as_str()), (1, ""));
    assert_eq!(said.stderr, format!("error: {path}: {words}\n"));
}

#[test]
fn what_is_no_directory() {
    let folder = Folder::new().with("file", "x");
    refused(
        &folder.name("file"),
        "not a directory (give the node's home, its data directory or one database directory)",
    );
    refused(&folder.name("nowhere"), "no such file or directory (check the path, and that the volume is mounted)");
    let said = run(&["inspect", "x", "--quick", "--deep"]);
    assert_eq!(said.status, 2);
    let said = run(&["inspect", "x", "--max-read-rate", "fast"]);
    assert!(said.status == 2 && said.stderr.contains("expected bytes a second, as in 50MiB"), "{}", said.stderr);
}

#[test]
fn a_pipe_in_place_of_a_table_does_not_block() {
    let folder = Folder::new();
    let database = folder.path().join("state.db");
    copy(&crate::root().join(FIXTURES).join("goleveldb/healthy"), &database);
    let table = fs::read_dir(&database)
        .expect("files")
        .filter_map(|entry| Some(entry.ok()?.path()))
        .find(|path| path.extension().is_some_and(|extension| extension == "ldb"))
        .expect("a table");
    fs::remove_file(&table).expect("removed");
    assert!(Command::new("mkfifo").arg(&table).status().expect("it runs").success());
    let said = run(&["inspect", &folder.path().display().to_string(), "--exit-code"]);
    assert!([10, 12].contains(&said.status) && said.stderr.is_empty(), "{} {}", said.status, said.stderr);
}

#[test]
fn what_may_not_be_read_says_which_user_is_needed() {
    let folder = Folder::new();
    let locked = folder.path().join("state.db");
    copy(&crate::root().join(FIXTURES).join("goleveldb/healthy"), &locked);
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o000)).expect("changed");
    if fs::read_dir(&locked).is_ok() {
        // Root reads everything.
        return;
    }
    let user = fs::metadata(folder.path()).map(|data| std::os::unix::fs::MetadataExt::uid(&data)).expect("a user");
    let path = locked.display().to_string();
    let words = format!("permission denied (it belongs to user id {user}) (run it as user id {user} or as root)");
    refused(&path, &words);
    let said = run(&["inspect", &folder.path().display().to_string(), "--exit-code"]);
    assert_eq!(said.status, 12);
    assert!(said.stdout.contains("permission denied"), "{}", said.stdout);
}

/// A healthy directory of which only a part was read is not damaged.
#[test]
fn ctrl_c_prints_what_is_known_so_far() {
    let folder = Folder::new();
    copy(&crate::root().join(FIXTURES).join("node/goleveldb-healthy"), folder.path());
    let child = Command::new(env!("CARGO_BIN_EXE_loopbreaker"))
        .args(["inspect", "--max-read-rate", "5kB", "--output", "json"])
        .arg(folder.path())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("it runs");
    std::thread::sleep(Duration::from_millis(1500));
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("it runs");
    assert!(killed.success());
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(1));
    let report: Value = serde_json::from_slice(&output.stdout).expect("a whole report");
    assert_eq!(report["outcome"], "could_not_tell", "{report}");
    assert!(report["untold"].to_string().contains("stopped before everything was read"), "{report}");
    let words = String::from_utf8(output.stderr).expect("text");
    assert_eq!(words.lines().count(), 1);
    assert!(words.starts_with("error: stopped by a signal before everything was read"), "{words}");
}
