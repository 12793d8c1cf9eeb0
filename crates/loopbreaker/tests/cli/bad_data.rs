//! Data directories that are not what they should be, as they are typed (P13): never a panic, never a wrong "damaged".

use std::{
    ffi::OsStr,
    fs,
    os::unix::{ffi::OsStrExt, fs::symlink},
    path::Path,
    process::{Command, Stdio},
    time::Duration,
};

use serde_json::{Value, json};

use crate::{Folder, Said, inspects::copy, root, run};

const FIXTURES: &str = "crates/chainstore/tests/fixtures";

/// A healthy goleveldb database as `state.db` in a directory of its own.
fn state() -> Folder {
    let folder = Folder::new();
    copy(&root().join(FIXTURES).join("goleveldb/healthy"), &folder.path().join("state.db"));
    folder
}

fn inspect(folder: &Folder, more: &[&str]) -> Said {
    let path = folder.path().display().to_string();
    run(&[&["inspect", path.as_str(), "--exit-code"], more].concat())
}

fn json_of(folder: &Folder) -> Value {
    let said = inspect(folder, &["--output", "json", "--deep"]);
    assert_eq!(said.stderr, "");
    said.report()
}

#[test]
fn files_of_no_bytes() {
    let entry_points = ["CURRENT", "MANIFEST-000000", "000011.ldb"];
    for name in entry_points {
        let folder = state();
        fs::write(folder.path().join("state.db").join(name), "").expect("written");
        let report = json_of(&folder);
        assert_eq!(report["outcome"], "damaged", "{name}: {report}");
        let named = report["databases"][0]["findings"].to_string();
        assert!(named.contains(name), "{named}");
    }
    // A journal of no bytes is one that was just begun.
    let folder = state();
    fs::write(folder.path().join("state.db/000014.log"), "").expect("written");
    assert_eq!(json_of(&folder)["outcome"], "intact");
}

#[test]
fn a_table_of_47_bytes() {
    let folder = state();
    fs::write(folder.path().join("state.db/000011.ldb"), [0x57; 47]).expect("written");
    assert_eq!(json_of(&folder)["databases"][0]["findings"][0]["kind"], "table_size");
}

/// Counts and lengths of a thousand million, with footers that say so: nothing is allocated for what is not there.
#[test]
fn forged_counts_allocate_nothing() {
    let folder = state();
    let table = folder.path().join("state.db/000011.ldb");
    let mut bytes = fs::read(&table).expect("a table");
    let start = bytes.len() - 48;
    // Offset 0 and 1,000,000,000 bytes, twice, as varints.
    let handle = [0, 0x80, 0x94, 0xeb, 0xdc, 0x03];
    bytes[start..start + 6].copy_from_slice(&handle);
    bytes[start + 6..start + 12].copy_from_slice(&handle);
    fs::write(&table, &bytes).expect("written");
    // A MANIFEST whose record promises a gigabyte behind a checksum that nobody will compute.
    fs::write(folder.path().join("state.db/MANIFEST-000099"), [0xff; 64]).expect("written");
    let output = Command::new("sh")
        .args(["-c", "ulimit -v 400000 && exec \"$0\" inspect --deep --output json \"$1\""])
        .arg(env!("CARGO_BIN_EXE_loopbreaker"))
        .arg(folder.path())
        .output()
        .expect("it runs");
    assert_eq!((output.status.code(), output.stderr.len()), (Some(0), 0), "{output:?}");
    let report: Value = serde_json::from_slice(&output.stdout).expect("a report");
    assert_eq!(report["outcome"], "damaged");
    assert_eq!(report["databases"][0]["findings"][0]["kind"], "table_footer");
}

#[test]
fn loops_of_links_and_links_out() {
    let folder = state();
    let outside = state();
    symlink(".", folder.path().join("data")).expect("a link");
    symlink("loop.db", folder.path().join("loop.db")).expect("a link");
    symlink(outside.path().join("state.db"), folder.path().join("blockstore.db")).expect("a link");
    let report = json_of(&folder);
    assert_eq!(report["outcome"], "could_not_tell");
    let untold = report["untold"].to_string();
    assert!(untold.contains("loop.db: a loop of links"), "{untold}");
    assert!(untold.contains("blockstore.db: a link out of the inspected directory; inspect its target"), "{untold}");
    assert_eq!(report["databases"][0]["outcome"], "intact", "{report}");
}

#[test]
fn names_that_are_no_text() {
    let folder = state();
    let strange = OsStr::from_bytes(b"\xff\xfe\x1b[2J.ldb");
    fs::write(folder.path().join("state.db").join(strange), "x").expect("written");
    fs::create_dir(folder.path().join(OsStr::from_bytes(b"\x80.db"))).expect("a directory");
    fs::write(folder.path().join("state.db/99999999999999999999.ldb"), "x").expect("written");
    let report = json_of(&folder);
    let state = report["databases"].as_array().expect("a list").iter().find(|it| it["name"] == "state");
    assert_eq!(state.expect("it is there")["outcome"], "intact", "{report}");
    // The directory itself.
    let named = Folder::new();
    let home = named.path().join(strange);
    copy(folder.path(), &home);
    let output = Command::new(env!("CARGO_BIN_EXE_loopbreaker")).arg("inspect").arg(&home).output().expect("it runs");
    assert_eq!((output.status.code(), output.stderr.len()), (Some(0), 0));
    let page = String::from_utf8(output.stdout).expect("text, whatever the name");
    assert!(!page.contains('\u{1b}') && page.contains("state "), "{page}");
}

/// A rate of 5 kB a second takes longer than the test waits.
#[test]
fn a_directory_that_vanishes_meanwhile() {
    let folder = state();
    let home = folder.path().join("home");
    copy(&root().join(FIXTURES).join("node/goleveldb-healthy"), &home);
    let child = Command::new(env!("CARGO_BIN_EXE_loopbreaker"))
        .args(["inspect", "--max-read-rate", "20kB", "--exit-code"])
        .arg(&home)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it runs");
    std::thread::sleep(Duration::from_millis(700));
    fs::remove_dir_all(&home).expect("removed");
    let output = child.wait_with_output().expect("it ends");
    assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0));
    let words = String::from_utf8(output.stderr).expect("text");
    let path = home.display();
    assert_eq!(words, format!("error: {path}: vanished while it was read (was the volume unmounted?)\n"));
}

/// A file system that the kernel has made read-only is read like any other, and named.
#[test]
fn a_read_only_file_system() {
    let folder = state();
    copy(&root().join(FIXTURES).join("node/goleveldb-healthy"), &folder.path().join("home"));
    let script =
        "mount --bind \"$1\" \"$1\" && mount -o remount,bind,ro \"$1\" && exec \"$0\" inspect --output json \"$1\"";
    let output = Command::new("unshare")
        .args(["--mount", "--map-root-user", "sh", "-c", script])
        .arg(env!("CARGO_BIN_EXE_loopbreaker"))
        .arg(folder.path().join("home"))
        .output();
    let output = match output {
        Ok(output) if output.status.success() => output,
        other => {
            eprintln!("not tested: nothing can be mounted here ({other:?})");
            return;
        }
    };
    let report: Value = serde_json::from_slice(&output.stdout).expect("a report");
    assert_eq!((&report["outcome"], &report["space"]["read_only"]), (&json!("intact"), &json!(true)), "{report}");
}

/// What this version does not read is named, and what to do next fits it.
#[test]
fn engines_that_are_not_read_are_named() {
    let bolt = [&[0; 16][..], &[0xed, 0xda, 0x0c, 0xed], &[0; 44]].concat();
    for (files, named) in [
        (&[("state.db/000001.vlog", &b"x"[..]), ("state.db/KEYREGISTRY", b"x")][..], "badger"),
        (&[("state.db", &bolt)], "boltdb"),
        (&[("iavl2/bank/tree.sqlite", b"SQLite format 3\0"), ("iavl2/bank/changelog.sqlite", b"x")], "sqlite"),
        (&[("memiavl.db/snapshot-00000000000000000012/bank/kvs", b"x"), ("memiavl.db/LOCK", b"")], "memiavl"),
    ] {
        let folder = files.iter().fold(Folder::new(), |folder, (name, content)| folder.with(name, content));
        if named == "memiavl" {
            link_current(folder.path());
        }
        let said = inspect(&folder, &["--output", "json"]);
        assert_eq!((said.status, &said.report()["outcome"]), (12, &json!("could_not_tell")), "{named}");
        assert!(said.stdout.contains(&format!("{named} is not read by this version")), "{}", said.stdout);
        let page = inspect(&folder, &[]).stdout;
        assert!(page.contains("What this version does not read, the engine's own tool may check"), "{page}");
        assert!(!page.contains("No database there") && !page.contains("would begin an empty one"), "{page}");
    }
}

fn link_current(home: &Path) {
    symlink("snapshot-00000000000000000012", home.join("memiavl.db/current")).expect("a link");
}
