//! Log, disk and peers together: what the judge's table says of a bundle that holds a node's data (P2, P10, P13).

use std::{
    fs,
    path::PathBuf,
    process::{Command, Stdio},
    time::Duration,
};

use serde_json::{Value, json};

use crate::{Folder, Said, inspects::copy, root, run, samples::*};

const HEALTHY: &str = "crates/chainstore/tests/fixtures/node/goleveldb-healthy/data";

/// A bundle of one sick pod that never signs, with a log of damage, a sibling that advances, and a healthy node's data.
pub(crate) fn bundle() -> Folder {
    let mut pod = sick("gaia-0");
    pod["spec"]["containers"][0]["args"] =
        json!(["start", "--home", "/home/gaia", "--priv_validator_laddr", "tcp://0.0.0.0:1234"]);
    let sample = |time: &str, height: &str| json!({"pod": "gaia-1", "image_id": "gaia@sha256:11", "time": time, "height": height, "catching_up": false});
    let peers = json!([sample("2026-01-05T10:30:00Z", "150"), sample("2026-01-05T10:31:00Z", "160")]);
    let folder = Folder::new()
        .with("objects/gaia-0.json", pod.to_string())
        .with("objects/gaia-1.json", well("gaia-1").to_string())
        .with("logs/gaia-0/node.previous.log", DAMAGED)
        .with("peers.json", peers.to_string());
    copy(&root().join(HEALTHY), &folder.path().join("data/gaia-0/data"));
    folder
}

/// Flips one bit in the first block of a table.
pub(crate) fn flip(folder: &Folder, database: &str) {
    let table = table(folder, database);
    let mut bytes = fs::read(&table).expect("a table");
    bytes[20] ^= 4;
    fs::write(table, bytes).expect("written");
}

fn table(folder: &Folder, database: &str) -> PathBuf {
    let files = fs::read_dir(folder.path().join("data/gaia-0/data").join(database)).expect("a database");
    let mut tables: Vec<PathBuf> = files.filter_map(|file| Some(file.ok()?.path())).collect();
    tables.retain(|path| path.extension().is_some_and(|extension| extension == "ldb"));
    tables.sort();
    tables.remove(0)
}

fn diagnose(folder: &Folder) -> Said {
    run(&["diagnose", &folder.path().display().to_string(), "--output", "json", "--exit-code"])
}

fn verdict(report: &Value) -> [&Value; 3] {
    ["row", "decision", "cause"].map(|field| &report["verdict"][field])
}

#[test]
fn log_disk_and_peers_agree() {
    let folder = bundle();
    flip(&folder, "application.db");
    let said = diagnose(&folder);
    assert_eq!(said.status, 10, "{}", said.stderr);
    let report = said.report();
    assert_eq!(report["verdict"]["witnesses"], json!(["log", "disk", "peers"]));
    // P13: the row says restore; but files cannot tell free space or whether the evidence is fresh.
    assert_eq!(verdict(&report), ["log_and_disk", "propose", "physical_corruption"]);
    assert_eq!(report["verdict"]["vetoes"], json!([]));
    assert_eq!((&report["disk"]["outcome"], &report["disk"]["directory"]), (&json!("damaged"), &json!("data/gaia-0")));
    assert_eq!(report["disk"]["schema"], "loopbreaker.dev/inspection/v1");
    assert_eq!(report["disk"]["databases"][0]["findings"][0]["attribution"], "single-bit flip (bit 2 of byte 20)");
    assert_eq!(report["subject"]["chain_id"], "loopbreaker-1");
    let text = run(&["diagnose", &folder.path().display().to_string()]).stdout;
    assert!(
        text.contains("\nDisk: data/gaia-0\n  Damaged: application, block checksum: data/application.db/"),
        "{text}"
    );
    assert!(text.contains("Witnesses of local damage: the log (damage), the disk (damage), the siblings"), "{text}");
}

#[test]
fn damage_that_is_vetoed_is_still_proven() {
    let folder = bundle().with("objects/gaia-0.json", sick("gaia-0").to_string());
    flip(&folder, "application.db");
    let said = diagnose(&folder);
    let report = said.report();
    assert_eq!((said.status, &report["verdict"]["decision"]), (10, &json!("hold")));
    assert!(report["verdict"]["vetoes"].to_string().contains("may_sign: "), "{report}");
}

#[test]
fn a_signature_on_disk_is_a_veto() {
    let folder = bundle()
        .with("objects/gaia-0.json", sick("gaia-0").to_string())
        .with("data/gaia-0/data/priv_validator_state.json", r#"{"height":"12","round":0,"step":3}"#);
    let report = diagnose(&folder).report();
    let vetoes = report["verdict"]["vetoes"].to_string();
    assert!(
        vetoes.contains("may_sign: the node may sign blocks: its signing state says that it signed at height 12"),
        "{vetoes}"
    );
}

#[test]
fn an_intact_disk_contradicts_the_log() {
    let said = diagnose(&bundle());
    let report = said.report();
    assert_eq!(verdict(&report), ["disk_intact", "hold", "physical_corruption"]);
    assert_eq!((said.status, &report["disk"]["outcome"]), (11, &json!("intact")));
    assert_eq!(report["verdict"]["witnesses"], json!(["log", "peers"]));
}

#[test]
fn damage_in_what_can_be_rebuilt_needs_no_restore() {
    let folder = bundle();
    flip(&folder, "tx_index.db");
    let said = diagnose(&folder);
    assert_eq!(
        (said.status, verdict(&said.report())[..2].to_vec()),
        (10, vec![&json!("only_rebuildable"), &json!("hold")])
    );
}

#[test]
fn another_cause_and_damage_are_both_named() {
    let folder = bundle().with("logs/gaia-0/node.previous.log", DISK_FULL);
    flip(&folder, "application.db");
    let report = diagnose(&folder).report();
    assert_eq!(verdict(&report), ["log_points_elsewhere", "propose", "physical_corruption"]);
    assert_eq!(report["verdict"]["other_cause"], "disk_full");
}

#[test]
fn an_engine_that_is_not_read_could_not_tell() {
    let folder = bundle();
    fs::remove_dir_all(folder.path().join("data/gaia-0")).expect("removed");
    let folder = folder.with("data/gaia-0/data/application.db/000001.vlog", "x");
    let report = diagnose(&folder).report();
    assert_eq!(verdict(&report)[..2], ["disk_could_not_tell", "propose"]);
    assert_eq!(report["disk"]["databases"][0]["engine"], "badger");
}

#[test]
fn data_alone_is_enough_for_a_report() {
    let folder = bundle();
    flip(&folder, "state.db");
    let data = folder.name("data/gaia-0");
    let said = run(&["diagnose", "--data", &data, "--output", "json", "--exit-code"]);
    let report = said.report();
    assert_eq!((said.status, said.stderr.as_str()), (10, ""));
    assert_eq!(verdict(&report)[1..], ["hold", "physical_corruption"]);
    assert_eq!(report["verdict"]["witnesses"], json!(["disk"]));
    let text = run(&["diagnose", "--data", &data]).stdout;
    assert!(text.starts_with("Data of a node: "), "{text}");
}

/// A rate of 5 kB a second takes longer than the test waits.
#[test]
fn ctrl_c_prints_the_report_as_far_as_it_is_known() {
    let folder = bundle();
    let child = Command::new(env!("CARGO_BIN_EXE_loopbreaker"))
        .args(["diagnose", "--max-read-rate", "5kB", "--output", "json", "--exit-code"])
        .arg(folder.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it runs");
    std::thread::sleep(Duration::from_millis(1500));
    assert!(Command::new("kill").args(["-TERM", &child.id().to_string()]).status().expect("it runs").success());
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(1));
    let report: Value = serde_json::from_slice(&output.stdout).expect("a whole report");
    assert_eq!((&report["disk"]["outcome"], &report["log"]["witness"]), (&json!("could_not_tell"), &json!(true)));
    assert_eq!(report["verdict"]["witnesses"], json!(["log", "peers"]));
    let words = String::from_utf8(output.stderr).expect("text");
    assert_eq!(words.lines().count(), 1, "{words}");
    assert!(words.starts_with("error: stopped by a signal before everything was read"), "{words}");
}

#[test]
fn a_quick_look_at_the_data_proves_no_soundness() {
    let quick =
        |folder: &Folder| run(&["diagnose", &folder.path().display().to_string(), "--quick", "--output", "json"]);
    let folder = bundle();
    let report = quick(&folder).report();
    assert_eq!(report["disk"]["outcome"], "intact");
    assert_ne!(verdict(&report)[0], "disk_intact", "{report}");
    fs::remove_file(table(&folder, "application.db")).expect("removed");
    assert_eq!(quick(&folder).report()["disk"]["outcome"], "damaged");
}

/// The judge's app-hash row takes every leaf of every tree; a log that asks for it gets it.
#[test]
fn an_app_hash_mismatch_has_the_trees_hashed() {
    let folder = bundle().with("logs/gaia-0/node.previous.log", APP_HASH);
    let report = diagnose(&folder).report();
    let trees = &report["disk"]["trees"];
    assert_eq!(trees["walk"], "latest");
    for store in trees["stores"].as_array().expect("stores") {
        assert_eq!(store["walked_leaves"], store["leaves"], "{store}");
    }
}

#[test]
fn data_by_hand_needs_a_directory_and_one_subject() {
    let folder = bundle().with("objects/gaia-2.json", sick("gaia-2").to_string());
    let said = run(&["diagnose", "--data", &folder.name("nowhere")]);
    assert_eq!((said.status, said.stdout.as_str()), (1, ""));
    assert!(
        said.stderr.ends_with("no such file or directory (check the path, and that the volume is mounted)\n"),
        "{}",
        said.stderr
    );
    let bundle = folder.path().display().to_string();
    let said = run(&["diagnose", &bundle, "--data", &folder.name("data/gaia-0")]);
    assert_eq!(
        folder.shortened(&said.stderr),
        "error: DIR: the directory given with --data can only be of one of cosmos/gaia-0, cosmos/gaia-2 (choose with `--subject NAME`)\n"
    );
}
