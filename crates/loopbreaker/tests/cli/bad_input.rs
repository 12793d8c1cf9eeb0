//! Files that are not what they should be: one clear line or an honest `unknown`, never a panic (P13).

use std::{io::Write, process::Stdio};

use flate2::{Compression, write::GzEncoder};
use serde_json::json;

use crate::{Folder, diagnose_log, run, run_with, samples::*};

/// A log that cannot bear an opinion.
#[track_caller]
fn abstains(log: impl Into<Vec<u8>>, why: &str) {
    let (said, report) = diagnose_log(log);
    assert_eq!((said.status, said.stderr.as_str()), (12, ""));
    assert_eq!(report["verdict"]["cause"], "unknown");
    assert_eq!(report["verdict"]["decision"], "hold");
    assert_eq!((report["log"]["witness"].as_bool(), report["log"]["abstained"].as_str()), (Some(false), Some(why)));
}

#[test]
fn an_empty_log() {
    abstains("", "the log is empty");
    abstains("\n  \n", "the log is empty");
}

#[test]
fn binary_garbage() {
    let mut state = 1_u64;
    let noise = std::iter::repeat_with(|| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state.to_be_bytes()[0]
    });
    abstains(noise.take(300_000).collect::<Vec<u8>>(), "the log is not text");
}

#[test]
fn one_line_of_a_hundred_megabytes() {
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_loopbreaker"))
        .args(["diagnose", "--log", "-", "--exit-code"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it runs");
    let mut input = child.stdin.take().expect("a pipe");
    let piece = vec![b'x'; 1_000_000];
    for _ in 0..100 {
        input.write_all(&piece).expect("it reads on");
    }
    drop(input);
    let output = child.wait_with_output().expect("it ends");
    assert_eq!((output.status.code(), output.stderr.len()), (Some(12), 0));
    let said = String::from_utf8(output.stdout).expect("text");
    assert!(said.contains("\n  Why the node dies cannot be told: no line looks like a chain node's log.\n"), "{said}");
}

#[test]
fn invalid_utf8_around_the_decisive_line() {
    let log = [b"\xff\xfe\x80 broken \xc3\n".as_slice(), DAMAGED.as_bytes(), b"\xf0\x9f\n"].concat();
    let (said, report) = diagnose_log(log);
    assert_eq!(said.status, 11);
    assert_eq!(report["log"]["decisive"][0]["line"], 3);
    assert_eq!(report["log"]["abstained"], json!(null));
}

#[test]
fn a_truncated_gzip() {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(DAMAGED.as_bytes()).expect("compressed");
    for number in 0..50_000_u32 {
        let noise = number.wrapping_mul(2_654_435_761);
        writeln!(encoder, "8:59PM INF committed state height={number} hash={noise:x} module=state")
            .expect("compressed");
    }
    let whole = encoder.finish().expect("finished");
    let folder = Folder::new().with("node.log.gz", whole.get(..whole.len() / 2).expect("half of it"));
    let said = run(&["diagnose", "--log", &folder.name("node.log.gz"), "--output", "json", "--exit-code"]);
    let note = "node.log.gz: the gzip stream breaks off, what came before it was read (incomplete deflate stream)";
    assert_eq!((said.status, folder.shortened(&said.stderr)), (11, format!("note: {note}\n")));
    let report = said.report();
    assert_eq!(report["log"]["decisive"][0]["line"], 2);
    assert!(report["log"]["files"][0]["incomplete"].as_str().expect("told").starts_with("the gzip stream breaks off"));
}

#[test]
fn a_log_cut_before_the_panics_header() {
    let frames = DAMAGED.split_once("\n\n").expect("an empty line").1;
    abstains(frames, "the log was cut before the panic's own line; only goroutine frames are left");
}

#[test]
fn a_log_of_another_program() {
    abstains(
        "127.0.0.1 - - [01/Jan/2024:00:00:00 +0000] \"GET / HTTP/1.1\" 200 612 \"-\" \"curl/8.5.0\"\n\
         2024/01/01 00:00:00 [error] 29#29: *1 connect() failed (111: Connection refused) while connecting to upstream\n",
        "no line looks like a chain node's log",
    );
}

#[test]
fn a_peer_that_says_checksum_mismatch_is_no_witness() {
    let (said, report) = diagnose_log(
        "3:04PM ERR Stopping peer for error err=\"leveldb/table: corruption on data-block (pos=1): checksum mismatch\" module=p2p peer=abc\n\
         3:04PM ERR Error on broadcastTxRoutine err=\"checksum mismatch\" module=p2p\n",
    );
    assert_ne!(said.status, 11);
    assert_eq!(report["log"]["witness"], false);
    assert_eq!(report["verdict"]["witnesses"], json!([]));
    assert_eq!(report["verdict"]["decision"], "hold");
}

#[test]
fn a_directory_that_is_no_bundle() {
    let folder = Folder::new().with("readme.txt", "x");
    let said = run(&["diagnose", &folder.path().display().to_string()]);
    assert_eq!((said.status, said.stdout.as_str()), (1, ""));
    assert_eq!(
        folder.shortened(&said.stderr),
        "error: DIR: not an incident bundle: expected at least one of objects/*.yaml, logs/POD/CONTAINER.log, data/POD/ \
         or peers.json in it (start with `mkdir -p objects; kubectl get pod POD -n NAMESPACE -o yaml > objects/pod.yaml`)\n"
    );
}

#[test]
fn what_is_not_there_or_not_a_file() {
    let folder = Folder::new().with("pod.yaml", "kind: Service\napiVersion: v1\n").with("empty.yaml", "");
    for (arguments, line) in [
        (vec!["diagnose", "nowhere"], "error: nowhere: no such file or directory (check the path)"),
        (vec!["diagnose", "--log", "nowhere"], "error: nowhere: no such file or directory (check the path)"),
        (vec!["diagnose", "--pod", "nowhere"], "error: nowhere: no such file or directory (check the path)"),
        (
            vec!["diagnose", "--log", "examples"],
            "error: examples: a directory, but `--log` and `--pod` take a file (give a bundle without a flag: `loopbreaker diagnose DIR`)",
        ),
        (
            vec!["diagnose", "README.md"],
            "error: README.md: a file, but an incident bundle is a directory (give a pod with `--pod FILE`, a log with `--log FILE`)",
        ),
        (
            vec!["diagnose", "--pod", &folder.name("pod.yaml")],
            "error: pod.yaml: holds no pod: it holds a Service (print one with `kubectl get pod POD -n NAMESPACE -o yaml`)",
        ),
        (
            vec!["diagnose", "--pod", &folder.name("empty.yaml")],
            "error: empty.yaml: holds no pod: it is empty (print one with `kubectl get pod POD -n NAMESPACE -o yaml`)",
        ),
        (
            vec!["evaluate", "nowhere"],
            "error: nowhere: the cases cannot be read: No such file or directory (os error 2)",
        ),
    ] {
        let said = run(&arguments);
        assert_eq!((said.status, folder.shortened(&said.stderr)), (1, format!("{line}\n")), "{arguments:?}");
        assert_eq!(said.stdout, "");
    }
}

#[test]
fn an_error_stays_on_one_line_whatever_the_file_is_called() {
    let said = run(&["diagnose", "--log", "no\u{1b}[2Jwhere\nat all"]);
    assert_eq!(said.stderr, "error: no\u{fffd}[2Jwhere\u{fffd}at all: no such file or directory (check the path)\n");
}

#[test]
fn wrong_usage() {
    for arguments in
        [vec!["diagnose"], vec!["diagnose", "x", "--pod", "y"], vec!["diagnose", "--colour"], vec!["inspekt"], vec![]]
    {
        let said = run(&arguments);
        assert_eq!((said.status, said.stdout.as_str()), (2, ""), "{arguments:?}");
    }
    let said = run(&["diagnose", "--log", "-", "--pod", "-"]);
    assert_eq!(
        (said.status, said.stderr.as_str()),
        (2, "error: standard input can be given once only (put one of them into a file)\n")
    );
}

#[test]
fn a_pod_without_status() {
    let mut pod = sick("gaia-0");
    pod.as_object_mut().expect("an object").remove("status");
    let said = run_with(&["diagnose", "--pod", "-", "--output", "json", "--exit-code"], pod.to_string());
    assert_eq!((said.status, said.stderr.as_str()), (12, ""));
    let report = said.report();
    assert_eq!(report["crashloop"]["detected"], false);
    assert_eq!(
        report["crashloop"]["unclear"],
        "the pod object of cosmos/gaia-0 has no status; fetch it with `kubectl get pod -o yaml`"
    );
}

#[test]
fn yaml_of_unknown_kinds_is_named_and_passed_over() {
    let objects =
        format!("kind: Gizmo\napiVersion: x.io/v1\n---\n{}\n---\nkind: Service\napiVersion: v1\n", sick("gaia-0"));
    let folder = Folder::new().with("objects/all.yaml", objects);
    let said = run(&["diagnose", &folder.path().display().to_string(), "--output", "json"]);
    assert_eq!(
        folder.shortened(&said.stderr),
        "note: objects/all.yaml, document 1: skipped: kind Gizmo\n\
         note: objects/all.yaml, document 3: skipped: kind Service\n"
    );
    let report = said.report();
    assert_eq!(report["subject"]["name"], "gaia-0");
    assert_eq!(report["bundle"]["absent"], json!(["logs/", "data/", "peers.json", "bundle.json"]));
    assert_eq!(report["bundle"]["notes"].as_array().map(Vec::len), Some(2));
}

#[test]
fn hostile_yaml() {
    let anchors = "a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\n\
                   d: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: [*e,*e,*e,*e,*e,*e,*e,*e,*e]\n";
    for text in [anchors.to_owned(), "[".repeat(100_000), "- ".repeat(50_000), "a: *nobody\n".to_owned()] {
        let said = run_with(&["diagnose", "--pod", "-"], text.as_str());
        assert_eq!((said.status, said.stdout.as_str(), said.stderr.lines().count()), (1, "", 1), "{}", said.stderr);
        assert!(said.stderr.starts_with("error: -: holds no pod: document 1 cannot be read: "), "{}", said.stderr);
    }
    let many = Folder::new().with("objects/x.yaml", "---\n]\n".repeat(3_000)).with("logs/gaia-0/node.log", DAMAGED);
    let said = run(&["diagnose", &many.path().display().to_string()]);
    assert_eq!((said.status, said.stderr.lines().count()), (0, 6));
    assert!(
        said.stderr.ends_with("note: … and 2995 more that cannot be read (`--output json` lists them)\n"),
        "{}",
        said.stderr
    );
}

#[test]
fn notes_of_one_kind_do_not_bury_those_of_another() {
    let folder = (0..40)
        .fold(Folder::new(), |folder, number| folder.with(&format!("logs/etc/file-{number:02}"), ""))
        .with("objects/pod.json", sick("gaia-0").to_string())
        .with("objects/x.yaml", "kind: Gizmo\napiVersion: x.io/v1\n---\n]\n");
    let said = run(&["diagnose", &folder.path().display().to_string()]);
    let lines: Vec<&str> = said.stderr.lines().collect();
    assert_eq!(lines.len(), 8, "{}", said.stderr);
    assert!(lines[0].contains("objects/x.yaml, document 2: skipped, cannot be read"), "{}", said.stderr);
    assert!(lines[5].ends_with(
        "file-04: ignored: expected CONTAINER.log, CONTAINER.previous.log or CONTAINER.crash-N.log, with or without .gz"
    ));
    assert_eq!(lines[6], "note: … and 35 more whose names tell no part of a bundle (`--output json` lists them)");
    assert!(lines[7].ends_with("objects/x.yaml, document 1: skipped: kind Gizmo"), "{}", said.stderr);
}

#[test]
fn a_log_alone_has_no_subject() {
    let said = run_with(&["diagnose", "--log", "-", "--subject", "nobody"], DAMAGED);
    assert_eq!((said.status, said.stdout.as_str()), (1, ""));
    assert_eq!(
        said.stderr,
        "error: no subject `nobody`: all that is known is a log without a pod's name (standard input) (give the pod's \
         object with `--pod FILE`, or leave `--subject` out)\n"
    );
}

#[test]
fn names_that_a_shell_would_obey_are_not_put_into_commands() {
    let said = run_with(&["diagnose", "--pod", "-"], sick("gaia-0; rm -rf ~").to_string());
    assert_eq!(said.status, 0);
    assert!(said.stdout.contains("kubectl logs POD -n cosmos -c node --previous"), "{}", said.stdout);
    for line in said.stdout.lines().filter(|line| line.starts_with("       ")) {
        assert!(!line.contains("rm -rf"), "{line}");
    }
}
