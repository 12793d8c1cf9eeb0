//! Manners of a command-line program: colour, pipes, the JSON contract, generated documents.

use std::process::{Command, Stdio};

use serde_json::json;

use crate::{Folder, diagnose_log, run, run_with, samples::*};

/// Design 8, field by field: scripts rely on it.
#[test]
fn the_json_has_the_fields_of_the_contract() {
    let (_, report) = diagnose_log(DAMAGED);
    assert_eq!(report["schema"], "loopbreaker.dev/diagnosis/v1");
    let keys = |value: &serde_json::Value| -> Vec<String> {
        value.as_object().map(|fields| fields.keys().cloned().collect()).unwrap_or_default()
    };
    assert_eq!(
        keys(&report),
        ["advice", "bundle", "crashloop", "disk", "log", "peers", "schema", "subject", "verdict"]
    );
    assert_eq!((&report["crashloop"], &report["disk"], &report["peers"]), (&json!(null), &json!(null), &json!(null)));
    for field in ["cause", "probability", "decision", "witnesses", "vetoes", "missing"] {
        assert!(keys(&report["verdict"]).contains(&field.to_owned()), "verdict.{field}");
    }
    for field in ["witness", "cause", "probability", "decisive", "abstained"] {
        assert!(keys(&report["log"]).contains(&field.to_owned()), "log.{field}");
    }
    assert!(report["verdict"]["probability"].as_f64().is_some_and(|p| (0.0..=1.0).contains(&p)));
    assert_eq!(report["verdict"]["witnesses"], json!(["log"]));
    assert_eq!(keys(&report["advice"][0]), ["command", "text"]);
    assert_eq!(keys(&report["verdict"]["missing"][0]), ["command", "place", "question"]);
}

#[test]
fn the_status_tells_the_verdict_only_when_asked() {
    for (log, status) in [(DAMAGED, 11), (DISK_FULL, 0), ("", 12)] {
        assert_eq!(run_with(&["diagnose", "--log", "-", "--exit-code"], log).status, status);
        assert_eq!(run_with(&["diagnose", "--log", "-"], log).status, 0);
    }
}

#[test]
fn colour_is_for_terminals() {
    let escape = "\u{1b}[";
    assert!(!run_with(&["diagnose", "--log", "-"], DAMAGED).stdout.contains(escape));
    assert!(run_with(&["diagnose", "--log", "-", "--color", "always"], DAMAGED).stdout.contains(escape));
    assert!(!run_with(&["diagnose", "--log", "-", "--color", "never"], DAMAGED).stdout.contains(escape));
}

#[test]
fn a_logs_own_escapes_never_reach_the_terminal() {
    let log = format!("{}\u{1b}]0;owned\u{7}\u{202e}\n", DAMAGED.trim_end())
        .replace("corruption on", "corruption on\u{1b}[31m");
    let (_, report) = diagnose_log(log.as_str());
    let said = run_with(&["diagnose", "--log", "-", "--explain"], log);
    for text in [said.stdout, report["log"]["decisive"].to_string()] {
        assert!(!text.chars().any(|c| (c.is_control() && c != '\n') || c == '\u{202e}'), "{text:?}");
    }
}

#[test]
fn marks_that_turn_or_hide_text_are_escaped_in_json() {
    let log = DAMAGED.replace("checksum mismatch", "checksum \u{202e}mis\u{200b}match\u{2067}\u{feff}");
    let said = run_with(&["diagnose", "--log", "-", "--output", "json"], log);
    assert!(said.stdout.contains("\\u202e") || said.stdout.contains('\u{fffd}'), "{}", said.stdout);
    let case = json!({"id": "a\u{202e}b", "cause": "oom", "restore_fixes": "no", "log": ""});
    let judged = run_with(&["evaluate", "-", "--output", "json"], format!("{case}\n"));
    assert!(judged.stdout.contains("\"a\\u202eb\""), "{}", judged.stdout);
    for text in [said.stdout, judged.stdout] {
        let turns = |c: char| matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}');
        assert!(!text.contains(turns), "{text:?}");
    }
}

#[test]
fn output_that_cannot_be_written_is_named() {
    for arguments in [
        vec!["diagnose", "examples/cosmosfullnode-state-db"],
        vec!["diagnose", "examples/cosmosfullnode-state-db", "--output", "json"],
        vec!["evaluate", "model/data/development.jsonl", "--output", "json"],
        vec!["evaluate", "model/data/development.jsonl"],
        vec!["man"],
        vec!["completions", "bash"],
    ] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("/dev/full");
        let output = Command::new(env!("CARGO_BIN_EXE_loopbreaker"))
            .args(&arguments)
            .current_dir(crate::root())
            .stdout(full)
            .output()
            .expect("it runs");
        let said = String::from_utf8(output.stderr).expect("text");
        let error = said.lines().last().unwrap_or_default();
        assert_eq!(
            (output.status.code(), error),
            (Some(1), "error: standard output: cannot be written: No space left on device (os error 28)"),
            "{arguments:?}"
        );
    }
}

#[test]
fn several_logs_are_several_crashes() {
    let folder = Folder::new().with("1.log", "").with("2.log", DAMAGED);
    let (first, second) = (folder.name("1.log"), folder.name("2.log"));
    let said = run(&["diagnose", "--log", &first, "--log", &second, "--output", "json"]);
    let report = said.report();
    assert_eq!(report["log"]["files"].as_array().map(Vec::len), Some(2));
    assert_eq!(report["log"]["decisive"][0]["file"], second.as_str());
}

#[test]
fn a_pod_and_its_log_make_one_report() {
    let folder = Folder::new().with("pod.json", sick("gaia-0").to_string());
    let pod = folder.name("pod.json");
    let report = run_with(&["diagnose", "--pod", &pod, "--log", "-", "--output", "json"], DAMAGED).report();
    assert_eq!(report["subject"]["name"], "gaia-0");
    assert_eq!(report["crashloop"]["crashes"], 9);
    assert_eq!(report["log"]["decisive"][0]["file"], "standard input");
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_loopbreaker"))
        .args(["completions", "bash"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it runs");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("it ends");
    assert_eq!((output.status.code(), String::from_utf8_lossy(&output.stderr).as_ref()), (Some(0), ""));
}

#[test]
fn pages_and_completions_come_from_the_definition() {
    let folder = Folder::new();
    let directory = folder.path().display().to_string();
    assert_eq!(run(&["man", &directory]).status, 0);
    let page = std::fs::read_to_string(folder.path().join("loopbreaker-diagnose.1")).expect("written");
    assert!(page.contains("exit\\-code"), "{page}");
    assert!(run(&["man"]).stdout.contains("loopbreaker"));
    for shell in ["bash", "zsh", "fish"] {
        assert!(run(&["completions", shell]).stdout.contains("exit-code"), "{shell}");
    }
    let said = run(&["man", &folder.name("nowhere")]);
    assert_eq!(said.status, 1);
    assert_eq!(
        folder.shortened(&said.stderr),
        "error: nowhere: the manual pages cannot be written (make the directory first): No such file or directory (os error 2)\n"
    );
}

#[test]
fn the_version_names_the_release() {
    let said = run(&["--version"]);
    assert!(said.stdout.starts_with(concat!("loopbreaker ", env!("CARGO_PKG_VERSION"))), "{}", said.stdout);
}
