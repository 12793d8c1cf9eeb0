//! `guard` before a start: it becomes the command, nothing of its own keeps the node down, and fences only what was asked
//! for and is proven (P8, P13).

use std::{
    fs,
    os::unix::{fs::symlink, process::ExitStatusExt},
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
    time::Duration,
};

use serde_json::Value;

use crate::{Folder, inspects::copy, root};

pub(crate) const FIXTURES: &str = "crates/chainstore/tests/fixtures";

/// A home with one database, a copy of what an engine wrote.
pub(crate) fn home(fixture: &str, database: &str) -> Folder {
    let folder = Folder::new();
    copy(&root().join(FIXTURES).join(fixture), &folder.path().join("data").join(database));
    folder
}

/// `loopbreaker guard` with this home, ready to run.
pub(crate) fn command(home: &Path, options: &[&str], node: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_loopbreaker"));
    command.arg("guard").arg("--home").arg(home).args(options).arg("--").args(node);
    for variable in ["LOOPBREAKER_POD_UID", "LOOPBREAKER_START_ANYWAY"] {
        command.env_remove(variable);
    }
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

pub(crate) fn guard(home: &Path, options: &[&str], node: &[&str]) -> Output {
    command(home, options, node).output().expect("it runs")
}

pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The names in a ring.
pub(crate) fn names(ring: &Path) -> Vec<String> {
    let entries = fs::read_dir(ring).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

pub(crate) fn ring(home: &Folder) -> PathBuf {
    home.path().join(".loopbreaker/ring")
}

pub(crate) fn entry(home: &Folder, sequence: u32) -> Value {
    let path = ring(home).join(format!("{sequence:012}/entry.json"));
    serde_json::from_slice(&fs::read(path).expect("an entry")).expect("JSON")
}

/// Every file below a directory with its bytes.
fn content(dir: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut all = Vec::new();
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            all.extend(content(&path));
        } else {
            all.push((path.clone(), fs::read(&path).unwrap_or_default()));
        }
    }
    all.sort();
    all
}

/// Says that it was started, and as what.
const NODE: [&str; 3] = ["sh", "-c", "echo started"];

fn started(output: &Output) -> bool {
    output.status.code() == Some(0) && output.stdout == b"started\n"
}

#[test]
fn it_becomes_the_command_with_its_own_process_id_arguments_and_status() {
    let home = home("goleveldb/healthy", "evidence.db");
    let script = r#"echo "$$ $# $1 $2"; exit 7"#;
    let child = command(home.path(), &[], &["sh", "-c", script, "x", "a b", "--fence"]).spawn().expect("it runs");
    let id = child.id();
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(7), "{}", stderr(&output));
    assert_eq!(String::from_utf8_lossy(&output.stdout), format!("{id} 2 a b --fence\n"));
    let told = stderr(&output);
    assert!(told.lines().all(|line| line.starts_with("loopbreaker guard: ")), "{told}");
    assert!(told.contains("intact; checked every checksum"), "{told}");
    let killed = guard(home.path(), &[], &["sh", "-c", "kill -TERM $$"]);
    assert_eq!(killed.status.signal(), Some(15), "{killed:?}");
}

#[test]
fn a_command_that_cannot_be_started_has_a_shells_status() {
    let home = Folder::new().with("plain", "no program");
    for (node, status) in [("no-such-command-at-all", 127), (home.name("plain").as_str(), 126)] {
        let output = guard(home.path(), &[], &[node]);
        assert_eq!(output.status.code(), Some(status), "{}", stderr(&output));
        assert!(stderr(&output).lines().any(|line| line.starts_with("error: ") && line.contains("cannot be started")));
    }
    assert_eq!(guard(home.path(), &[], &[]).status.code(), Some(2), "no command is wrong usage");
}

/// An init container puts it in place; the copy runs by itself.
#[test]
fn it_copies_itself_for_another_container() {
    let folder = Folder::new();
    let target = folder.name("loopbreaker");
    let install = |target: &str| crate::run(&["guard", "--install", target]);
    for _ in 0..2 {
        assert_eq!(install(&target).status, 0);
    }
    assert_eq!(names(folder.path()), ["loopbreaker"]);
    let output = Command::new(&target).args(["guard", "--home"]).arg(folder.path()).args(["--", "true"]).output();
    assert_eq!(output.expect("it runs").status.code(), Some(0));
    let said = install(&folder.name("no/such/directory"));
    assert_eq!((said.status, said.stderr.lines().count()), (1, 1), "{}", said.stderr);
    assert_eq!(crate::run(&["guard", "--home", "x", "--install", "y", "--", "true"]).status, 2);
    for option in [["--ring", "x"], ["--deadline", "1s"], ["--keep", "3"], ["--output", "json"]] {
        assert_eq!(crate::run(&[&["guard", "--install", &target], &option[..]].concat()).status, 2, "{option:?}");
    }
}

/// The environment is the pod's, also for the init container that only copies the program.
#[test]
fn a_pods_uid_in_the_environment_does_not_hinder_the_copy() {
    for uid in ["abc", ""] {
        let folder = Folder::new();
        let mut command = Command::new(env!("CARGO_BIN_EXE_loopbreaker"));
        command.args(["guard", "--install", &folder.name("loopbreaker")]).env("LOOPBREAKER_POD_UID", uid);
        let output = command.output().expect("it runs");
        assert_eq!(output.status.code(), Some(0), "{uid:?}: {}", stderr(&output));
        assert_eq!(names(folder.path()), ["loopbreaker"]);
    }
}

#[test]
fn nothing_of_the_data_is_written_to() {
    let home = home("goleveldb/journal-flip-middle", "application.db");
    let before = content(&home.path().join("data"));
    assert!(started(&guard(home.path(), &[], &NODE)));
    assert_eq!(content(&home.path().join("data")), before);
    assert_eq!(names(home.path()), [".loopbreaker", "data"]);
}

/// Each of them starts the node, says why, and never ends in a fence.
#[test]
fn no_failure_of_its_own_keeps_the_node_down() {
    let home = home("goleveldb/healthy", "evidence.db");
    fs::write(home.path().join("file"), "no directory").expect("written");
    let (file, below) = (home.name("file"), home.name("file/ring"));
    let fences = ["--fence", "--refuse-empty"];
    for (options, words) in [
        (vec!["--ring", &below], "Not a directory"),
        (vec!["--ring", &file], "ot a directory"),
        (vec!["--ring", "/proc/loopbreaker"], "nothing is kept of this start"),
        (vec!["--log", "/no/such/log"], "names no file to begin with"),
        (vec!["--log", "/dev/zero"], "not a file"),
        (vec!["--deadline", "0s"], "stopped at its deadline of 0 ms"),
        (vec!["--max-bytes", "0"], "intact"),
    ] {
        let output = guard(home.path(), &[&options[..], &fences].concat(), &NODE);
        assert!(started(&output) && stderr(&output).contains(words), "{options:?}: {}", stderr(&output));
    }
    let inside = home.name("data/ring");
    let output = guard(home.path(), &["--ring", &inside], &NODE);
    assert!(started(&output) && stderr(&output).contains("in the data directory"), "{}", stderr(&output));
    assert!(!home.path().join("data/ring").exists());
    for missing in [home.path().join("missing"), home.path().join("file"), PathBuf::from("/dev/null")] {
        let output = guard(&missing, &fences, &NODE);
        assert!(
            started(&output) && stderr(&output).contains("nothing was checked"),
            "{missing:?}: {}",
            stderr(&output)
        );
    }
}

/// The worker is killed by what it does: here by writing at all, as a limit of its memory or its parser would end it.
#[test]
fn a_worker_that_dies_does_not_keep_the_node_down() {
    let home = home("goleveldb/table-data-flip", "application.db");
    let mut shell = Command::new("sh");
    shell
        .args(["-c", "ulimit -f 0; exec \"$@\"", "sh", env!("CARGO_BIN_EXE_loopbreaker"), "guard", "--home"])
        .arg(home.path());
    let output = shell.args(["--fence", "--", "true"]).output().expect("it runs");
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stderr(&output).contains("ended early"), "{}", stderr(&output));
}

/// What has no room is left out: here a limit of the process stands for the disk's.
#[test]
fn what_fits_is_kept() {
    let home = home("goleveldb/healthy", "application.db");
    fs::write(home.path().join("data/application.db/999999.log"), vec![0; 100_000]).expect("written");
    let mut shell = Command::new("sh");
    shell
        .args([
            "-c",
            "trap '' XFSZ; ulimit -f 40; exec \"$@\"",
            "sh",
            env!("CARGO_BIN_EXE_loopbreaker"),
            "guard",
            "--home",
        ])
        .arg(home.path());
    let output = shell.args(["--", "true"]).output().expect("it runs");
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let said = entry(&home, 1);
    let kept = said["files"].to_string();
    assert!(kept.contains("CURRENT") && kept.contains("MANIFEST-") && !kept.contains("999999.log"), "{said}");
    assert!(said["left_out"].to_string().contains("999999.log: no room on the ring's disk"), "{said}");
    assert_ne!(said["checked"], "nothing", "{said}");
}

/// Nothing that could not be read counts as checked, and the line says why.
#[test]
fn what_could_not_be_read_was_not_checked() {
    let empty = Folder::new();
    let told = stderr(&guard(empty.path(), &[], &NODE));
    assert!(told.contains("could not tell (no database in this directory); checked nothing"), "{told}");
    let linked = Folder::new();
    symlink("/no/such/volume", linked.path().join("data")).expect("a link");
    let told = stderr(&guard(linked.path(), &[], &NODE));
    assert!(told.contains("could not tell (data: ") && told.contains("; checked nothing"), "{told}");
}

/// Things that are no files stand where files should be: none of them is waited for.
#[test]
fn a_fifo_in_the_data_keeps_nobody_waiting() {
    let home = home("goleveldb/healthy", "application.db");
    let fifo = |path: &str| {
        let path = home.path().join(path);
        let _ = fs::remove_file(&path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
        assert!(Command::new("mkfifo").arg(path).status().expect("it runs").success());
    };
    for path in [
        "data/application.db/CURRENT",
        "data/upgrade-info.json",
        "data/priv_validator_state.json",
        "data/cs.wal/wal",
        "log",
    ] {
        fifo(path);
    }
    let output = guard(home.path(), &["--fence", "--log", &home.name("log")], &NODE);
    assert!(started(&output), "{}", stderr(&output));
}

/// A home that takes a while: every database's files are copied and synced one by one.
fn slow_home() -> Folder {
    let folder = Folder::new();
    for number in 0..400 {
        copy(
            &root().join(FIXTURES).join("goleveldb/healthy"),
            &folder.path().join(format!("data/x{number}/application.db")),
        );
    }
    folder
}

/// The guard's worker, as soon as it is at work: it has begun an entry.
fn worker_of(guard: &Child, ring: &Path) -> String {
    while names(ring).is_empty() {
        std::thread::sleep(Duration::from_millis(1));
    }
    let children =
        fs::read_to_string(format!("/proc/{0}/task/{0}/children", guard.id())).expect("the guard is running");
    children.split_whitespace().next().expect("a worker").to_owned()
}

fn signal(name: &str, id: &str) {
    assert!(Command::new("kill").args([name, id]).status().expect("it runs").success());
}

/// Stopped, it does not answer any more, like a process that waits for a dead disk.
#[test]
fn a_stuck_worker_is_left_at_the_deadline() {
    let home = slow_home();
    let child = command(home.path(), &["--deadline", "1s", "--fence"], &NODE).spawn().expect("it runs");
    let worker = worker_of(&child, &ring(&home));
    signal("-STOP", &worker);
    let output = child.wait_with_output().expect("it ends");
    assert!(started(&output) && stderr(&output).contains("stopped at its deadline of 1000 ms"), "{}", stderr(&output));
    while Path::new(&format!("/proc/{worker}/exe")).exists() {
        std::thread::sleep(Duration::from_millis(1)); // Nobody is left behind.
    }
}

#[test]
fn a_signal_during_the_checks_ends_it_and_starts_nothing() {
    for (name, number) in [("-TERM", 15), ("-INT", 2)] {
        let home = slow_home();
        let marker = home.name("started");
        let child = command(home.path(), &["--deadline", "60s"], &["touch", &marker]).spawn().expect("it runs");
        let worker = worker_of(&child, &ring(&home));
        signal("-STOP", &worker);
        signal(name, &child.id().to_string());
        let output = child.wait_with_output().expect("it ends");
        assert_eq!(output.status.signal(), Some(number), "{}", stderr(&output));
        assert!(!Path::new(&marker).exists(), "the node is not started");
        while Path::new(&format!("/proc/{worker}/exe")).exists() {
            std::thread::sleep(Duration::from_millis(1)); // The worker ends with it, at once and not before.
        }
    }
}

/// P13: only damage that is proven and stops the node; P8 has its own test below.
#[test]
fn a_fence_needs_proven_damage_in_a_database_that_the_node_needs() {
    for (fixture, database, fenced) in [
        ("goleveldb/table-data-flip", "application.db", true),
        ("goleveldb/journal-flip-middle", "blockstore.db", true),
        ("goleveldb/current-deleted", "state.db", true),
        ("goleveldb/table-data-flip", "tx_index.db", false),
        ("goleveldb/table-data-flip", "something.db", false),
        ("goleveldb/journal-flip-only-block-then-opened", "application.db", false),
        ("goleveldb/journal-flip-middle-then-opened", "application.db", false),
        ("goleveldb/healthy", "application.db", false),
        ("goleveldb/killed", "state.db", false),
        ("goleveldb/journal-torn", "state.db", false),
        ("goleveldb/only-lock", "state.db", false),
    ] {
        let home = home(fixture, database);
        let output = guard(home.path(), &["--fence"], &NODE);
        assert_eq!(output.status.code(), Some(if fenced { 13 } else { 0 }), "{fixture}: {}", stderr(&output));
        assert_eq!(started(&output), !fenced, "{fixture}");
        assert!(started(&guard(home.path(), &[], &NODE)), "{fixture}: only when asked for");
        assert!(started(&guard(home.path(), &["--refuse-empty"], &NODE)), "{fixture}: nothing was lost");
        let mut overridden = command(home.path(), &["--fence"], &NODE);
        let output = overridden.env("LOOPBREAKER_START_ANYWAY", "1").output().expect("it runs");
        assert!(started(&output), "{fixture}: {}", stderr(&output));
        assert_eq!(stderr(&output).contains("started anyway"), fenced, "{}", stderr(&output));
    }
}

/// P8: a node that had a database does not begin an empty one; a new node does.
#[test]
fn an_emptied_volume_is_refused_and_a_new_one_is_not() {
    let refuse = ["--refuse-empty", "--keep", "2"];
    let new = Folder::new().with("data/priv_validator_state.json", r#"{"height":"0","round":0,"step":0}"#);
    assert!(started(&guard(new.path(), &refuse, &NODE)));
    assert!(started(&guard(new.path(), &refuse, &NODE)), "still new at its second start");
    let home = home("goleveldb/healthy", "application.db");
    copy(&root().join(FIXTURES).join("goleveldb/healthy"), &home.path().join("data/state.db"));
    assert!(started(&guard(home.path(), &refuse, &NODE)));
    fs::remove_dir_all(home.path().join("data/state.db")).expect("removed");
    for _ in 0..4 {
        let output = guard(home.path(), &refuse, &NODE);
        assert_eq!(output.status.code(), Some(13), "however often it is tried: {}", stderr(&output));
        assert!(stderr(&output).contains("state.db is not there"), "{}", stderr(&output));
    }
    assert!(started(&guard(home.path(), &["--fence"], &NODE)), "only when asked for");
    let mut overridden = command(home.path(), &refuse, &NODE);
    assert!(started(&overridden.env("LOOPBREAKER_START_ANYWAY", "yes").output().expect("it runs")));
    for (name, text) in [
        ("data/priv_validator_state.json", r#"{"height":"12","round":0,"step":3}"#),
        ("data/upgrade-info.json", r#"{"name":"v2","height":100}"#),
    ] {
        let home = Folder::new().with(name, text);
        let output = guard(home.path(), &refuse, &NODE);
        assert_eq!(output.status.code(), Some(13), "{name}: {}", stderr(&output));
    }
}

#[test]
fn no_secret_is_kept() {
    const SECRET: &str = "c2VjcmV0IGtleSBtYXRlcmlhbA==";
    let key = format!(r#"{{"priv_key":{{"value":"{SECRET}"}}}}"#);
    let state = format!(r#"{{"height":"12","round":1,"step":3,"signature":"{SECRET}","signbytes":"{SECRET}"}}"#);
    let home = home("goleveldb/healthy", "application.db")
        .with("config/priv_validator_key.json", &key)
        .with("config/node_key.json", &key)
        .with("data/priv_validator_state.json", state);
    for name in ["MANIFEST-999999", "CURRENT.7", "999999.log"] {
        symlink("../../config/priv_validator_key.json", home.path().join("data/application.db").join(name))
            .expect("a link");
    }
    for keyring in ["keys/keys.db", "data/keyring.db", "keyring-test/keys.db", "data/keyring-file/state.db"] {
        copy(&root().join(FIXTURES).join("goleveldb/journal-flip-middle"), &home.path().join(keyring));
        fs::write(home.path().join(keyring).join("LOG"), SECRET).expect("written");
    }
    assert!(started(&guard(home.path(), &[], &NODE)));
    let copied = entry(&home, 1)["files"].to_string();
    assert!(copied.contains("application.db") && !copied.contains("key"), "{copied}");
    let kept = content(&ring(&home));
    assert!(kept.len() > 3, "{kept:?}");
    for (path, bytes) in kept {
        assert!(!String::from_utf8_lossy(&bytes).contains(SECRET), "{}", path.display());
    }
    assert_eq!(entry(&home, 1)["signing"], serde_json::json!({"height": 12, "round": 1, "step": 3}));
}

/// A line a finding, for scripts in either form.
#[test]
fn findings_are_lines_that_a_script_can_read() {
    let home = home("goleveldb/table-data-flip", "application.db");
    let told = stderr(&guard(home.path(), &["--output", "json"], &NODE));
    let lines: Vec<Value> = told.lines().map(|line| serde_json::from_str(line).expect("an object a line")).collect();
    assert!(told.lines().all(|line| line.starts_with(r#"{"loopbreaker":"guard","#)), "known by its beginning: {told}");
    let findings: Vec<&Value> = lines.iter().filter(|line| line["event"] == "finding").collect();
    assert_eq!(findings.len(), 1, "each finding once: {told}");
    assert_eq!(findings[0]["schema"], "loopbreaker.dev/guard/v1");
    let fields =
        ["severity", "kind", "database", "file", "evidence"].map(|field| findings[0][field].as_str().expect("text"));
    assert_eq!(fields, ["damage", "block_checksum", "application", "data/application.db/000011.ldb", "disk"]);
    let sums: Vec<&Value> = lines.iter().filter(|line| line["event"] == "checked").collect();
    assert_eq!(sums.len(), 1, "and one sum of all: {told}");
    assert_eq!((&sums[0]["outcome"], &sums[0]["scope"]), (&Value::from("damaged"), &Value::from("all")), "{told}");
    let told = stderr(&guard(home.path(), &[], &NODE));
    assert!(
        told.contains("loopbreaker guard: checked outcome=damaged scope=all: damaged; checked every checksum in"),
        "{told}"
    );
    let line = told.lines().find(|line| line.contains("finding")).expect("a finding");
    let begin = "loopbreaker guard: finding severity=damage kind=block_checksum file=data/application.db/000011.ldb offset=1000: ";
    assert!(line.starts_with(begin), "{line}");
}

/// The operator reads the guard's words out of the node's log instead of sending an inspector.
#[test]
fn the_operator_reads_the_same_from_both_forms() {
    use diagnosis::{DatabaseName, DiskReading, InspectionScope};
    let damaged = DiskReading::Damaged(vec![DatabaseName::new("application")]);
    let sound = DiskReading::Intact { scope: InspectionScope::AllChecks };
    for (case, database, expected) in
        [("goleveldb/table-data-flip", "application.db", damaged), ("goleveldb/healthy", "evidence.db", sound)]
    {
        for form in ["text", "json"] {
            let home = home(case, database);
            let mut log = stderr(&guard(home.path(), &["--output", form], &NODE));
            log.push_str("INF starting node\n");
            assert_eq!(operator::guard_words(log.as_bytes()), Some(expected.clone()), "{log}");
        }
    }
}
