//! What the guard kept, read back: what an engine's start erased is still there, and nothing else is (P13).

use std::{collections::BTreeSet, fs, path::Path, process::Command};

use serde_json::{Value, json};

use crate::{
    Folder,
    guards::{FIXTURES, command, entry, guard, home, names, ring, stderr},
    inspects::copy,
    root, run,
};

const NODE: [&str; 1] = ["true"];

/// What an engine does to a directory: files that it does not change stay the same files, others are written to or come
/// and go.
pub(crate) fn become_twin(fixture: &str, dir: &Path) {
    let twin = root().join(FIXTURES).join(fixture);
    let names = |dir: &Path| -> BTreeSet<_> {
        fs::read_dir(dir).expect("a directory").map(|entry| entry.expect("an entry").file_name()).collect()
    };
    let (then, now) = (names(dir), names(&twin));
    for gone in then.difference(&now) {
        fs::remove_file(dir.join(gone)).expect("removed");
    }
    for name in &now {
        let bytes = fs::read(twin.join(name)).expect("a file");
        if fs::read(dir.join(name)).ok().as_ref() != Some(&bytes) {
            fs::write(dir.join(name), bytes).expect("written");
        }
    }
}

pub(crate) fn inspect(path: &Path, more: &[&str]) -> (i32, Value) {
    let path = path.display().to_string();
    let said = run(&[&["inspect", &path, "--output", "json", "--exit-code"], more].concat());
    (said.status, said.report())
}

/// The findings that only the guard's ring shows.
pub(crate) fn of_guard(report: &Value) -> Vec<&Value> {
    let databases = report["databases"].as_array().expect("a list");
    let findings = databases.iter().flat_map(|database| database["findings"].as_array().expect("a list"));
    findings.filter(|finding| finding["evidence"] == "guard").collect()
}

pub(crate) fn started(home: &Folder) {
    let output = guard(home.path(), &[], &NODE);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
}

/// Guard, the engine's start, inspect: the damage, its twin after the engine was there, and the kind that is gone since.
pub(crate) const ERASED: [(&str, &str, &str); 22] = [
    ("goleveldb/journal-flip-middle", "opened", "journal_corrupt"),
    ("goleveldb/journal-flip-only-block", "opened", "journal_corrupt"),
    ("goleveldb/journal-deleted", "opened", "journal_missing"),
    ("goleveldb/manifest-flip-early", "opened", "manifest_corrupt"),
    ("goleveldb/manifest-flip-late", "opened", "manifest_corrupt"),
    ("goleveldb/manifest-truncated", "opened", "journal_missing"),
    ("goleveldb/table-data-flip", "opened", ""),
    ("goleveldb-newer/journal-flip-middle", "opened", "journal_corrupt"),
    ("goleveldb-newer/manifest-flip-early", "opened", "manifest_corrupt"),
    ("goleveldb-newer/table-data-flip", "opened", ""),
    ("pebble/wal-flip-middle", "opened", "journal_corrupt"),
    ("pebble/wal-flip-blocks", "opened", "journal_corrupt"),
    ("pebble/wal-deleted", "opened", "journal_missing"),
    ("pebble/pointer-deleted", "opened", "entry_point_missing"),
    ("pebble/fmv13-marker-deleted", "opened", "entry_point_missing"),
    ("pebble/manifest-flip-early", "opened", ""),
    ("pebble/table-data-flip", "compacted", "block_checksum"),
    ("pebble-1.1.5/wal-flip-middle", "opened", "journal_corrupt"),
    ("pebble-1.1.5/table-data-flip", "compacted", "block_checksum"),
    ("pebble-2/wal-flip-middle", "opened", "journal_corrupt"),
    ("pebble-2/pointer-deleted", "opened", "entry_point_missing"),
    ("pebble-2/table-data-flip", "compacted", ""),
];

/// Every pair is found every time; what is gone from disk is named as such. An empty kind: the trace stays on disk.
#[test]
fn damage_whose_trace_the_next_start_erases_is_found_and_named() {
    for (damaged, then, kind) in ERASED {
        let twin = &format!("{damaged}-then-{then}");
        let home = home(damaged, "evidence.db");
        started(&home);
        become_twin(twin, &home.path().join("data/evidence.db"));
        for inspected in [home.path().to_path_buf(), home.path().join("data"), home.path().join("data/evidence.db")] {
            for more in [&[][..], &["--quick"]] {
                let (status, report) = inspect(&inspected, more);
                if kind.is_empty() && !more.is_empty() {
                    continue;
                }
                assert_eq!((status, &report["outcome"]), (10, &json!("damaged")), "{twin} {more:?}: {report}");
                let erased = of_guard(&report);
                assert_eq!(!erased.is_empty(), !kind.is_empty(), "{twin}: {report}");
                assert_eq!(report["ring"]["erased"], json!(erased.len()), "{twin}");
                assert!(kind.is_empty() || erased.iter().any(|finding| finding["kind"] == kind), "{twin}: {erased:?}");
                for finding in erased {
                    let detail = finding["detail"].as_str().expect("text");
                    assert!(
                        detail.contains("gone from disk since") && detail.contains("evidence kept by guard"),
                        "{detail}"
                    );
                    let at = entry(&home, 1)["started_at"].as_str().expect("text").to_owned();
                    assert!(detail.contains(&at), "{detail}");
                }
            }
        }
    }
}

/// It is carried on over later starts, though the ring keeps only some of them.
#[test]
fn what_was_erased_stays_known_over_later_starts() {
    let home = home("goleveldb/journal-flip-only-block", "evidence.db");
    started(&home);
    become_twin("goleveldb/journal-flip-only-block-then-opened", &home.path().join("data/evidence.db"));
    for _ in 0..6 {
        let output = guard(home.path(), &["--keep", "3"], &NODE);
        let told = stderr(&output);
        assert!(told.contains("kind=journal_corrupt") && told.contains("evidence=guard"), "{told}");
    }
    assert_eq!(names(&ring(&home)), ["000000000001", "000000000006", "000000000007"], "the first of the loop stays");
    let (status, report) = inspect(home.path(), &[]);
    assert_eq!((status, of_guard(&report).len()), (10, 1), "{report}");
}

#[test]
fn what_is_healthy_stays_intact() {
    for (before, after) in [
        ("goleveldb/healthy", "goleveldb/healthy"),
        ("goleveldb/healthy", "goleveldb/healthy-reopened"),
        ("goleveldb/journal-torn", "goleveldb/journal-torn-then-opened"),
        ("goleveldb/killed", "goleveldb/killed"),
        ("goleveldb/manifest-torn", "goleveldb/manifest-torn"),
        ("pebble/healthy", "pebble/healthy-reopened"),
        ("pebble/healthy", "pebble/healthy-compacted"),
        ("pebble/killed", "pebble/killed"),
        ("pebble-2/healthy", "pebble-2/healthy-reopened"),
        ("pebble-2/healthy", "pebble-2/healthy-compacted"),
        ("pebble-2/only-lock", "pebble-2/only-lock-then-opened"),
    ] {
        let home = home(before, "evidence.db");
        let alone = inspect(&root().join(FIXTURES).join(after), &[]).1;
        started(&home);
        become_twin(after, &home.path().join("data/evidence.db"));
        let (_, report) = inspect(home.path(), &[]);
        assert_eq!(report["outcome"], alone["outcome"], "{after}: {report}");
        assert_eq!(report["ring"]["erased"], 0, "{after}");
        started(&home);
        assert_eq!(inspect(home.path(), &[]).1["outcome"], alone["outcome"], "{after}, after another start");
    }
}

/// Data that was put in the place of the damaged one is other data, whatever the ring beside it says.
#[test]
fn replaced_data_is_not_accused() {
    let goleveldb =
        ["journal-flip-middle", "journal-flip-only-block", "journal-deleted", "manifest-flip-early", "table-data-flip"];
    let pebble = ["wal-flip-middle", "wal-deleted", "pointer-deleted", "manifest-flip-early", "table-data-flip"];
    for (engine, damaged, restored) in [
        ("goleveldb", goleveldb, ["healthy", "healthy-reopened", "healthy-plain", "killed", "walk-003"]),
        ("pebble", pebble, ["healthy", "healthy-reopened", "healthy-compacted", "killed", "walk-003"]),
    ] {
        for (damaged, restored) in damaged.iter().flat_map(|damaged| restored.map(|restored| (damaged, restored))) {
            let home = home(&format!("{engine}/{damaged}"), "evidence.db");
            started(&home);
            let database = home.path().join("data/evidence.db");
            fs::remove_dir_all(&database).expect("removed");
            copy(&root().join(FIXTURES).join(engine).join(restored), &database);
            let (status, report) = inspect(home.path(), &[]);
            assert_eq!((status, &report["outcome"]), (0, &json!("intact")), "{damaged}, {restored}: {report}");
            started(&home);
            let (status, report) = inspect(home.path(), &[]);
            assert_eq!((status, &report["outcome"]), (0, &json!("intact")), "{damaged}, {restored}, started: {report}");
        }
    }
}

/// `rsync` leaves what is the same and brings the rest with its old times: then nobody can tell, and nobody is accused.
#[test]
fn data_that_was_copied_over_is_not_accused() {
    let home = home("pebble/wal-flip-middle", "evidence.db");
    started(&home);
    let database = home.path().join("data/evidence.db");
    let before: BTreeSet<String> = names(&database).into_iter().collect();
    become_twin("pebble/healthy-reopened", &database);
    for new in names(&database).into_iter().filter(|name| !before.contains(name)) {
        let touched = Command::new("touch").args(["-d", "2020-01-01"]).arg(database.join(new)).status();
        assert!(touched.expect("it runs").success());
    }
    let (status, report) = inspect(home.path(), &[]);
    assert_eq!((status, of_guard(&report).len()), (12, 0), "{report}");
}

/// Data and ring copied away together: goleveldb's LOG still proves what became of them, for Pebble nothing does.
#[test]
fn a_copy_of_data_and_ring_proves_what_the_log_proves() {
    for (damaged, status) in [("goleveldb/journal-flip-only-block", 10), ("pebble/wal-flip-middle", 12)] {
        let home = home(damaged, "evidence.db");
        started(&home);
        become_twin(&format!("{damaged}-then-opened"), &home.path().join("data/evidence.db"));
        let away = Folder::new();
        copy(home.path(), away.path());
        let (said, report) = inspect(away.path(), &[]);
        assert_eq!(said, status, "{damaged}: {report}");
    }
}

/// The damaged file was put right by hand before the next start.
#[test]
fn what_was_put_right_is_no_damage() {
    for (damaged, file) in [("journal-flip-only-block", "000014.log"), ("table-data-flip", "000011.ldb")] {
        let home = home(&format!("goleveldb/{damaged}"), "evidence.db");
        started(&home);
        let base = if damaged.starts_with("journal") { "killed" } else { "healthy" };
        let good = root().join(FIXTURES).join("goleveldb").join(base).join(file);
        fs::copy(good, home.path().join("data/evidence.db").join(file)).expect("a copy");
        let (status, report) = inspect(home.path(), &[]);
        assert_eq!((status, &report["outcome"]), (0, &json!("intact")), "{damaged}: {report}");
        if damaged.starts_with("table") {
            become_twin("goleveldb/healthy-reopened", &home.path().join("data/evidence.db"));
            assert_eq!(inspect(home.path(), &[]).1["outcome"], "intact", "{damaged}, opened since");
        }
    }
}

/// A database that ran for over an hour since has been lived with: a remark, no damage.
#[test]
fn what_a_node_has_lived_with_explains_no_crash() {
    let home = home("pebble/wal-flip-middle", "evidence.db");
    started(&home);
    let database = home.path().join("data/evidence.db");
    become_twin("pebble/wal-flip-middle-then-opened", &database);
    assert_eq!(inspect(home.path(), &[]).0, 10);
    let wal = database.join("000019.log");
    assert!(Command::new("touch").args(["-d", "now + 2 hours"]).arg(wal).status().expect("it runs").success());
    let (status, report) = inspect(home.path(), &[]);
    assert_eq!((status, &report["outcome"]), (0, &json!("intact")), "{report}");
    let notes = report["databases"][0]["notes"].as_array().expect("a list");
    assert!(notes.iter().any(|note| note["evidence"] == "guard"), "still told: {report}");
}

fn start_as(home: &Folder, uid: &str) -> String {
    let output = command(home.path(), &[], &NODE).env("LOOPBREAKER_POD_UID", uid).output().expect("it runs");
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    stderr(&output)
}

/// The first start was of a pod with another name: its ring came with a snapshot, inodes and births and all.
fn first_start_was_of_another_node(home: &Folder) {
    let mut first = entry(home, 1);
    first["mark"]["host"] = json!("another-node-0");
    fs::write(ring(home).join("000000000001/entry.json"), first.to_string()).expect("written");
}

/// Snapshots copy the ring: another node's starts are shown, and do not count unless they are named.
#[test]
fn another_pods_starts_are_foreign() {
    let home = home("goleveldb/journal-flip-only-block", "evidence.db");
    start_as(&home, "uid-a");
    become_twin("goleveldb/journal-flip-only-block-then-opened", &home.path().join("data/evidence.db"));
    assert_eq!(inspect(home.path(), &[]).0, 10, "the only pod that was ever there");
    assert_eq!(inspect(home.path(), &["--pod-uid", "uid-b"]).0, 12, "as without a ring");
    first_start_was_of_another_node(&home);
    start_as(&home, "uid-b");
    let (status, report) = inspect(home.path(), &[]);
    assert_eq!((status, of_guard(&report).len()), (12, 0), "{report}");
    assert_eq!((&report["ring"]["foreign"], &report["ring"]["starts"][0]["own"]), (&json!(1), &json!(false)));
    let (status, report) = inspect(home.path(), &["--pod-uid", "uid-b", "--pod-uid", "uid-a"]);
    assert_eq!((status, of_guard(&report).len()), (10, 1), "{report}");
    let text = run(&["inspect", &home.path().display().to_string()]).stdout;
    assert!(text.contains("1 start of other pods does not count"), "{text}");
}

/// A pod that is made anew on its volume has another UID: what its own guard carried on counts, and `inspect` says no
/// less than the guard did.
#[test]
fn a_pod_made_anew_on_the_same_volume_carries_on() {
    for (damaged, then) in [
        ("pebble/wal-flip-middle", "pebble/wal-flip-middle-then-opened"),
        ("goleveldb/journal-flip-only-block", "goleveldb/journal-flip-only-block-then-opened"),
    ] {
        let home = home(damaged, "evidence.db");
        start_as(&home, "uid-a");
        become_twin(then, &home.path().join("data/evidence.db"));
        let told = start_as(&home, "uid-b");
        assert!(told.contains("evidence=guard"), "{told}");
        for more in [&[][..], &["--pod-uid", "uid-b"]] {
            let (status, report) = inspect(home.path(), more);
            assert_eq!((status, of_guard(&report).len()), (10, 1), "{damaged} {more:?}: {report}");
        }
        let text = run(&["inspect", &home.path().display().to_string()]).stdout;
        assert!(text.contains("carried on does"), "{text}");
    }
}

/// Where nobody can tell whether it is the same volume, neither command says damaged or intact.
#[test]
fn what_another_node_saw_is_a_doubt_to_both() {
    let home = home("pebble/wal-flip-middle", "evidence.db");
    start_as(&home, "uid-a");
    become_twin("pebble/wal-flip-middle-then-opened", &home.path().join("data/evidence.db"));
    first_start_was_of_another_node(&home);
    for _ in 0..2 {
        let told = start_as(&home, "uid-b");
        assert!(!told.contains("evidence=guard") && told.contains("another node's guard saw"), "{told}");
        let (status, report) = inspect(home.path(), &[]);
        assert_eq!((status, of_guard(&report).len()), (12, 0), "{report}");
        assert!(report.to_string().contains("`--pod-uid uid-a`"), "{report}");
    }
}

/// All that is there is right, and the three databases that a node starts from are gone.
#[test]
fn a_node_without_its_databases_is_not_intact() {
    let with = |names: &[&str]| {
        let folder = Folder::new().with("config/config.toml", "");
        for name in names {
            copy(&root().join(FIXTURES).join("goleveldb/healthy"), &folder.path().join("data").join(name));
        }
        folder
    };
    let lost = |home: &Folder, words: &str| {
        let (status, report) = inspect(home.path(), &[]);
        assert!(status == 12 && report.to_string().contains(words), "{status}: {report}");
        let home = home.path().display().to_string();
        let text = run(&["inspect", &home]).stdout;
        assert!(text.contains("Could not tell: the databases that a node starts from are not there."), "{text}");
        assert!(text.contains("Do not start a node here"), "{text}");
        let said = run(&["diagnose", "--data", &home, "--output", "json", "--exit-code"]);
        assert_eq!(said.report()["disk"]["outcome"], "could_not_tell", "{}", said.stdout);
    };
    lost(&with(&["evidence.db", "tx_index.db"]), "while others of a node are");
    let signed = r#"{"height":"12","round":0,"step":3}"#;
    lost(&with(&["evidence.db"]).with("data/priv_validator_state.json", signed), "has signed at 12");
    let known = with(&["application.db", "evidence.db"]);
    started(&known);
    fs::remove_dir_all(known.path().join("data/application.db")).expect("removed");
    lost(&known, "the guard saw them");
    let alone = known.path().join("data/evidence.db");
    assert_eq!(inspect(&alone, &[]).0, 0, "one database that was named is what it is");
    for intact in [&["evidence.db"][..], &["tx_index.db"], &["something.db", "other.db"]] {
        let (status, report) = inspect(with(intact).path(), &[]);
        assert_eq!(status, 0, "{intact:?}: {report}");
    }
    let said = run(&["inspect", &Folder::new().path().display().to_string()]).stdout;
    assert!(said.contains("There was nothing to check; 0 B read") && !said.contains("Every checksum"), "{said}");
}

#[test]
fn the_ring_is_bounded() {
    let home = home("goleveldb/healthy", "evidence.db");
    for _ in 0..5 {
        assert_eq!(guard(home.path(), &["--keep", "3"], &NODE).status.code(), Some(0));
    }
    assert_eq!(names(&ring(&home)), ["000000000003", "000000000004", "000000000005"]);
    assert_eq!(guard(home.path(), &["--max-bytes", "1000"], &NODE).status.code(), Some(0));
    assert_eq!(names(&ring(&home)), ["000000000006"]);
    let left_out = entry(&home, 6)["left_out"].as_array().expect("a list").len();
    assert!(left_out > 0, "an entry has a quarter of the ring at most: {}", entry(&home, 6));
}

/// A guard was killed while it wrote; a file system lost a page; somebody put things there.
#[test]
fn a_broken_ring_is_foreign_input() {
    let home = home("goleveldb/journal-flip-only-block", "evidence.db");
    started(&home);
    let deep = format!("{{\"schema\":\"loopbreaker.dev/ring/v1\",\"x\":{}", "[".repeat(100_000));
    for (name, text) in [
        ("000000000002/entry.json", ""),
        ("000000000003/entry.json", "\0\0\0\0"),
        ("000000000004/entry.json", "{}"),
        ("000000000005/entry.json", r#"{"schema":"loopbreaker.dev/ring/v2"}"#),
        ("000000000006/entry.json", deep.as_str()),
        ("000000000007/other", "x"),
        ("000000000008", "a file"),
        ("18446744073709551615/entry.json", "x"),
        ("999999999999/x", "x"),
        (".loopbreaker-unfinished-000000000009-1/entry.json", "{"),
        (".loopbreaker-unfinished-000000000009-1/data/evidence.db/CURRENT", "MANIFEST-000000\n"),
        ("notes.txt", "x"),
    ] {
        let path = ring(&home).join(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
        fs::write(path, text).expect("written");
    }
    become_twin("goleveldb/journal-flip-only-block-then-opened", &home.path().join("data/evidence.db"));
    let (status, report) = inspect(home.path(), &[]);
    assert_eq!((status, of_guard(&report).len()), (10, 1), "{report}");
    assert_eq!(report["ring"]["unreadable"].as_array().map(Vec::len), Some(6), "{}", report["ring"]);
    assert_eq!(report["databases"].as_array().map(Vec::len), Some(1), "copies are no databases");
    started(&home);
    assert!(names(&ring(&home)).iter().all(|name| !name.contains("unfinished")), "{:?}", names(&ring(&home)));
    assert_eq!(entry(&home, 9)["earlier"].as_array().map(Vec::len), Some(1));
}

/// An entry that says what cannot be: every field is a claim, and none is believed without the directory.
#[test]
fn a_forged_entry_proves_nothing() {
    let home = home("goleveldb/healthy", "evidence.db");
    started(&home);
    let mut forged = entry(&home, 1);
    let finding = |kind: &str, file: &str| json!({"kind": kind, "file": file, "detail": "forged"});
    forged["databases"][0]["findings"] = json!([
        finding("journal_corrupt", "data/evidence.db/000099.log"),
        finding("journal_missing", "data/evidence.db/../../../etc/passwd"),
        finding("manifest_corrupt", "data/evidence.db/MANIFEST-000000"),
        finding("block_checksum", "data/evidence.db/000011.ldb"),
        finding("entry_point_missing", "data/evidence.db/CURRENT"),
        finding("no_such_kind", "x"),
    ]);
    let path = ring(&home).join("000000000001/entry.json");
    fs::write(&path, forged.to_string()).expect("written");
    let (status, report) = inspect(home.path(), &[]);
    assert_ne!(status, 10, "{report}");
    for pointer in ["/databases/0/facts/log/bytes", "/databases/0/facts/log/tail_bytes", "/databases/0/facts/largest"] {
        let mut absurd = forged.clone();
        *absurd.pointer_mut(pointer).expect("a field") = json!(u64::MAX);
        fs::write(&path, absurd.to_string()).expect("written");
        assert_ne!(inspect(home.path(), &[]).0, 10, "{pointer}");
    }
}

/// `diagnose --data` reads the ring as `inspect` does.
#[test]
fn diagnose_counts_what_the_guard_kept() {
    let home = home("goleveldb/journal-flip-only-block", "evidence.db");
    started(&home);
    become_twin("goleveldb/journal-flip-only-block-then-opened", &home.path().join("data/evidence.db"));
    let data = home.path().display().to_string();
    let said = run(&["diagnose", "--data", &data, "--output", "json", "--exit-code"]);
    assert_eq!(said.status, 10, "{}", said.stderr);
    assert_eq!(of_guard(&said.report()["disk"]).len(), 1);
}
