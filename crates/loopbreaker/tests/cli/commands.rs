//! Commands of a report can be pasted: with their line breaks they are the commands that the JSON holds in one line.

use std::{os::unix::fs::PermissionsExt, process::Command};

use serde_json::{Value, json};

use crate::{Folder, run, samples::*};

/// Notes its own name and arguments in a file: standard output may be a pipe's. One write a call, for the two ends of a
/// pipe run at once.
const FAKE: &str = "#!/bin/sh\nline=${0##*/}\nfor word; do line=\"$line <$word>\"; done\n\
                    printf '%s\\n' \"$line\" >> \"$SAID\"\necho an-answer\n";

/// What the programs that a command line calls are given, sorted: the two ends of a pipe run at once.
fn called(folder: &Folder, script: &str) -> Vec<String> {
    let said = folder.path().join("said");
    std::fs::write(&said, "").expect("a file");
    let checked = Command::new("sh").args(["-n", "-c", script]).output().expect("a shell");
    assert!(checked.status.success(), "sh -n: {}\n{script}", String::from_utf8_lossy(&checked.stderr));
    let run = Command::new("/bin/sh")
        .args(["-c", script])
        // Nothing else can be reached: a command of a report may move files.
        .env("PATH", folder.path().join("bin"))
        .env("SAID", &said)
        .current_dir(folder.path())
        .output()
        .expect("a shell");
    let mut calls: Vec<String> = std::fs::read_to_string(&said).expect("text").lines().map(str::to_owned).collect();
    calls.sort();
    assert!(!calls.is_empty(), "{script}: {}", String::from_utf8_lossy(&run.stderr));
    calls
}

/// The commands of a page, with their line breaks.
fn pasted(page: &str) -> Vec<String> {
    let mut commands: Vec<String> = Vec::new();
    let mut goes_on = false;
    for line in page.lines() {
        let begins = line.starts_with("       ") && !line.starts_with("        ");
        match commands.last_mut().filter(|_| goes_on) {
            Some(command) => {
                command.push('\n');
                command.push_str(line);
            }
            None if begins => commands.push(line.to_owned()),
            None => continue,
        }
        goes_on = line.ends_with('\\');
    }
    commands
}

#[test]
fn every_command_can_be_pasted_with_its_line_breaks() {
    let folder = Folder::new().with("nothing", "");
    for program in ["kubectl", "jq", "find", "grep", "mv", "gaiad", "loopbreaker"] {
        let name = folder.name(&format!("bin/{program}"));
        std::fs::create_dir_all(folder.path().join("bin")).expect("a directory");
        std::fs::write(&name, FAKE).expect("a file");
        std::fs::set_permissions(&name, std::fs::Permissions::from_mode(0o755)).expect("it runs");
    }
    let long_name = "agoric-mainnet-archive-and-state-sync-server-0";
    let mut pod = sick(long_name);
    pod["metadata"]["namespace"] = json!("a-namespace-of-a-rather-long-name");
    for (number, log) in ["", DAMAGED, DISK_FULL, APP_HASH, WASM].iter().enumerate() {
        let bundle = Folder::new()
            .with("objects/pod.json", pod.to_string())
            .with(&format!("logs/{long_name}/node.previous.log"), log);
        let path = bundle.path().display().to_string();
        let report = run(&["diagnose", &path, "--output", "json"]).report();
        let steps = [&report["verdict"]["missing"], &report["advice"]];
        let one_line: Vec<&str> = steps
            .iter()
            .flat_map(|steps| steps.as_array().expect("steps"))
            .filter_map(|step: &Value| step["command"].as_str())
            .collect();
        let page = run(&["diagnose", &path, "--explain"]).stdout;
        let pasted = pasted(&page);
        assert_eq!(pasted.len(), one_line.len(), "{number}:\n{page}");
        for (pasted, one_line) in pasted.iter().zip(one_line) {
            assert_eq!(called(&folder, pasted), called(&folder, one_line), "{number}:\n{pasted}");
        }
    }
}
