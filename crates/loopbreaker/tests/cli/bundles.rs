//! Bundles: several pods, several logs, parts that are not given.

use serde_json::{Value, json};

use crate::{Folder, Said, run, samples::*};

fn diagnose(folder: &Folder, more: &[&str]) -> Said {
    let path = folder.path().display().to_string();
    let mut arguments = vec!["diagnose", path.as_str(), "--output", "json", "--exit-code"];
    arguments.extend(more);
    run(&arguments)
}

fn with_pods(names: &[&str]) -> Folder {
    names
        .iter()
        .fold(Folder::new(), |folder, name| folder.with(&format!("objects/{name}.json"), sick(name).to_string()))
}

#[test]
fn two_sick_pods_are_two_reports_and_the_worst_status() {
    let folder = with_pods(&["gaia-0", "gaia-1"])
        .with("objects/well.json", well("gaia-2").to_string())
        .with("logs/gaia-0/node.previous.log", DISK_FULL)
        .with("logs/gaia-1/node.previous.log", DAMAGED);
    let said = diagnose(&folder, &[]);
    assert_eq!((said.status, said.stderr.as_str()), (11, ""));
    let reports = said.reports();
    let told: Vec<(&Value, &Value)> =
        reports.iter().map(|it| (&it["subject"]["name"], &it["verdict"]["cause"])).collect();
    assert_eq!(told, [(&json!("gaia-0"), &json!("disk_full")), (&json!("gaia-1"), &json!("physical_corruption"))]);
    for (report, other) in reports.iter().zip(["cosmos/gaia-1", "cosmos/gaia-0"]) {
        assert_eq!(report["verdict"]["decision"], "hold");
        assert!(
            !report["verdict"]["vetoes"].to_string().contains(other),
            "another failure is no second victim: {report}"
        );
    }
    let one = diagnose(&folder, &["--subject", "cosmos/gaia-0"]);
    assert_eq!((one.status, one.report()["subject"]["name"].as_str()), (0, Some("gaia-0")));
}

/// What is said of the other victims of `gaia-0`, whose log is the first, beside `gaia-1`, whose log is the second.
fn other_victims(logs: [&str; 2], more: &[&str]) -> String {
    let folder = with_pods(&["gaia-0", "gaia-1"])
        .with("logs/gaia-0/node.previous.log", logs[0])
        .with("logs/gaia-1/node.previous.log", logs[1]);
    let report = diagnose(&folder, more).reports().remove(0);
    let vetoes = report["verdict"]["vetoes"].as_array().expect("vetoes").clone();
    let of_victims = |veto: &Value| veto.as_str().is_some_and(|veto| veto.starts_with("other_victims"));
    vetoes.iter().find(|veto| of_victims(veto)).map(ToString::to_string).unwrap_or_default()
}

/// The logs of all that crash-loop are read, also of those that get no report.
#[test]
fn p7_two_logs_tell_whether_two_replicas_fail_the_same_way() {
    const PORT: &str = "\
8:59PM INF starting node with ABCI CometBFT in-process module=server
Error: listen tcp 0.0.0.0:26656: bind: address already in use
";
    let only = ["--subject", "gaia-0"];
    for more in [&[][..], &only] {
        let alike = other_victims([DAMAGED, DAMAGED], more);
        assert!(alike.contains("these fail the same way: cosmos/gaia-1"), "{alike}");
        assert_eq!(other_victims([DAMAGED, PORT], more), "", "{more:?}");
        for mute in ["", "nothing that a node prints\n"] {
            let unknown = other_victims([DAMAGED, mute], more);
            assert!(unknown.contains("also crash-loop with the same exit code: cosmos/gaia-1"), "{unknown}");
        }
    }
}

#[test]
fn a_log_by_hand_needs_one_subject() {
    let folder = with_pods(&["gaia-0", "gaia-1"]).with("x.log", DAMAGED);
    let log = folder.name("x.log");
    let said = diagnose(&folder, &["--log", &log]);
    assert_eq!(said.status, 1);
    assert_eq!(
        folder.shortened(&said.stderr),
        "error: DIR: the log given with --log can only be of one of cosmos/gaia-0, cosmos/gaia-1 (choose with `--subject NAME`)\n"
    );
    let said = diagnose(&folder, &["--log", &log, "--subject", "gaia-1"]);
    assert_eq!((said.status, said.report()["log"]["decisive"][0]["line"].as_u64()), (11, Some(2)));
    let said = diagnose(&folder, &["--subject", "gaia-7"]);
    assert_eq!(
        folder.shortened(&said.stderr),
        "error: DIR: no subject `gaia-7` in this bundle (choose one of: cosmos/gaia-0, cosmos/gaia-1)\n"
    );
}

#[test]
fn every_crash_is_read_and_the_strongest_testimony_counts() {
    let folder = with_pods(&["gaia-0"])
        .with("logs/gaia-0/node.crash-1.log", "8:59PM INF committed state height=7 module=state\n")
        .with("logs/gaia-0/node.crash-2.log", DAMAGED)
        .with("logs/gaia-0/node.previous.log", DAMAGED)
        .with("logs/gaia-0/node.log", DISK_FULL)
        .with("logs/gaia-0/healthcheck.log", DISK_FULL);
    let report = diagnose(&folder, &[]).report();
    let files: Vec<&Value> = report["log"]["files"].as_array().expect("files").iter().map(|it| &it["file"]).collect();
    // The present run has not ended, and a side-car's log is not the node's.
    assert_eq!(
        files,
        ["logs/gaia-0/node.crash-1.log", "logs/gaia-0/node.crash-2.log", "logs/gaia-0/node.previous.log"]
    );
    assert_eq!(report["log"]["witness"], true);
    assert_eq!(report["log"]["decisive"][0]["file"], "logs/gaia-0/node.crash-2.log");
}

#[test]
fn the_present_run_is_read_where_no_other_log_says_anything() {
    let folder = with_pods(&["gaia-0"]).with("logs/gaia-0/node.previous.log", "").with("logs/gaia-0/node.log", DAMAGED);
    let report = diagnose(&folder, &[]).report();
    assert_eq!(report["log"]["decisive"][0]["file"], "logs/gaia-0/node.log");
}

#[test]
fn a_log_that_points_elsewhere_takes_the_testimony_back() {
    let folder = with_pods(&["gaia-0"])
        .with("logs/gaia-0/node.crash-1.log", DISK_FULL)
        .with("logs/gaia-0/node.previous.log", DAMAGED);
    let report = diagnose(&folder, &[]).report();
    assert_eq!(report["log"]["files"][1]["witness"], true, "by itself it is one");
    assert_eq!(report["log"]["witness"], false);
    assert_eq!(report["verdict"]["witnesses"], json!([]));
    assert_eq!(report["log"]["no_testimony"], "another log points to another cause (logs/gaia-0/node.crash-1.log)");
}

#[test]
fn siblings_that_advance_are_told() {
    let peers = json!([
        {"pod": "gaia-1", "image_id": "gaia@sha256:11", "time": "2026-01-05T10:30:00Z", "height": "150", "catching_up": false},
        {"pod": "gaia-1", "image_id": "gaia@sha256:11", "time": "2026-01-05T10:31:00Z", "height": "160", "catching_up": false},
    ]);
    let folder =
        with_pods(&["gaia-0"]).with("logs/gaia-0/node.previous.log", DAMAGED).with("peers.json", peers.to_string());
    let report = diagnose(&folder, &[]).report();
    assert_eq!(report["peers"]["state"], "advancing");
    assert_eq!(report["peers"]["height"], 160);
    assert_eq!(report["verdict"]["witnesses"], json!(["log", "peers"]));
    // P2: a log alone never says more, whoever advances.
    assert_eq!(report["verdict"]["decision"], "hold");
}

#[test]
fn a_healthy_pod_is_clean() {
    let folder = Folder::new().with("objects/well.json", well("gaia-0").to_string());
    let said = diagnose(&folder, &[]);
    assert_eq!((said.status, said.report()["crashloop"]["detected"].as_bool()), (0, Some(false)));
    let text = run(&["diagnose", &folder.path().display().to_string()]).stdout;
    assert!(text.contains("gaia-0 does not crash-loop"), "{text}");
}
