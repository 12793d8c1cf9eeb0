//! What a pod does at the moment, and where the cause comes from: no log is cited that nobody gave.

use serde_json::{Value, json};

use crate::{Folder, run, run_with, samples::*};

fn page(pod: &Value) -> String {
    run_with(&["diagnose", "--pod", "-"], pod.to_string()).stdout.replace("\n  ", " ")
}

fn waiting(reason: &str, message: &str) -> Value {
    let mut pod = well("gaia-0");
    pod["status"]["containerStatuses"][0]["state"] = json!({"waiting": {"reason": reason, "message": message}});
    pod["status"]["containerStatuses"][0]["ready"] = json!(false);
    pod
}

#[test]
fn what_kubernetes_says_is_not_put_into_a_log() {
    let mut killed = sick("gaia-0");
    killed["status"]["containerStatuses"][0]["lastState"]["terminated"]["reason"] = json!("OOMKilled");
    for (pod, said) in [
        (waiting("CreateContainerConfigError", "configmap \"x\" not found"), "configmap \"x\" not found"),
        (waiting("ImagePullBackOff", "Back-off pulling it"), "Its image is gaia:v1."),
        (killed, "container node, lastState.terminated: OOMKilled"),
    ] {
        let page = page(&pod);
        assert!(page.contains("Kubernetes itself says") && page.contains(said), "{page}");
        assert!(!page.contains("its log"), "{page}");
    }
}

#[test]
fn a_healthy_pod_needs_no_advice() {
    let page = page(&well("gaia-0"));
    assert!(page.contains(" gaia-0 does not crash-loop.\n"), "{page}");
    assert!(!page.contains("kubectl") && !page.contains("Decision"), "{page}");
}

#[test]
fn a_pod_that_runs_again_keeps_its_restarts() {
    let mut pod = well("gaia-0");
    pod["status"]["containerStatuses"][0]["restartCount"] = json!(40);
    pod["status"]["containerStatuses"][0]["lastState"] =
        sick("x")["status"]["containerStatuses"][0]["lastState"].clone();
    let page = page(&pod);
    for part in ["restarted 40 times", "exit 2", "runs at the moment"] {
        assert!(page.contains(part), "{part}: {page}");
    }
}

#[test]
fn a_side_car_is_named_with_its_count() {
    let mut pod = well("gaia-0");
    pod["spec"]["containers"].as_array_mut().expect("containers").push(json!({"name": "exporter", "image": "e"}));
    let mut status = sick("x")["status"]["containerStatuses"][0].clone();
    status["name"] = json!("exporter");
    pod["status"]["containerStatuses"].as_array_mut().expect("statuses").push(status);
    let page = page(&pod);
    assert!(page.contains("beside the node, this does: exporter (9 restarts)"), "{page}");
    assert!(page.contains("kubectl logs gaia-0 -n cosmos -c exporter --previous"), "{page}");
}

#[test]
fn a_stop_is_no_crash() {
    let mut pod = well("gaia-0");
    pod["status"]["containerStatuses"][0]["restartCount"] = json!(1);
    let log = "3:06PM INF caught signal module=server signal=terminated\npanic: leveldb: closed\n\ngoroutine 7 [running]:\n\
               github.com/cometbft/cometbft/store.(*BlockStore).Height(...)\n";
    let folder = Folder::new().with("pod.json", pod.to_string());
    let said = run_with(&["diagnose", "--pod", &folder.name("pod.json"), "--log", "-", "--exit-code"], log);
    assert_eq!(said.status, 0);
    assert!(said.stdout.contains("was stopped, which is no"), "{}", said.stdout);
}

#[test]
fn a_stop_hides_no_damage() {
    let folder = Folder::new().with("pod.json", well("gaia-0").to_string());
    let log = format!("3:06PM INF caught signal module=server signal=terminated\n{DAMAGED}");
    let said = run_with(&["diagnose", "--pod", &folder.name("pod.json"), "--log", "-", "--exit-code"], log);
    assert_eq!(said.status, 11);
    assert!(!said.stdout.contains("was stopped") && said.stdout.contains("damaged database files"), "{}", said.stdout);
}

#[test]
fn logs_that_nobody_reads_are_named() {
    let folder = Folder::new()
        .with("objects/pod.json", sick("gaia-0").to_string())
        .with("logs/gaia-0/other.log", DAMAGED)
        .with("logs/gaia-9/node.log", DAMAGED);
    let path = folder.path().display().to_string();
    let page = run(&["diagnose", &path]).stdout.replace("\n  ", " ");
    for part in [
        "logs/gaia-9: no object of this pod in the bundle; --subject gaia-9 reads it.",
        "logs/gaia-0/other.log: not read, pod cosmos/gaia-0 has no container of this name.",
    ] {
        assert!(page.contains(part), "{page}");
    }
    let report = run(&["diagnose", &path, "--subject", "gaia-9", "--output", "json"]).report();
    assert_eq!(report["verdict"]["cause"], "physical_corruption");
}

#[test]
fn bytes_that_are_no_text_are_not_called_empty() {
    let utf16: Vec<u8> = [0xff, 0xfe].into_iter().chain(DAMAGED.encode_utf16().flat_map(u16::to_le_bytes)).collect();
    for (log, why) in [
        (vec![0; 1000], "the log is not text"),
        (utf16, "the log is UTF-16, as a PowerShell redirect writes it; save it as UTF-8"),
    ] {
        let report = run_with(&["diagnose", "--log", "-", "--output", "json"], log).report();
        assert_eq!(report["log"]["abstained"], why);
    }
}

#[test]
fn two_witnesses_are_not_denied() {
    let peers = json!([
        {"pod": "gaia-1", "image_id": "gaia@sha256:11", "time": "2026-01-05T10:30:00Z", "height": "150", "catching_up": false},
        {"pod": "gaia-1", "image_id": "gaia@sha256:11", "time": "2026-01-05T10:31:00Z", "height": "160", "catching_up": false},
    ]);
    let folder = Folder::new()
        .with("objects/pod.json", sick("gaia-0").to_string())
        .with("logs/gaia-0/node.previous.log", DAMAGED)
        .with("peers.json", peers.to_string());
    let page = run(&["diagnose", &folder.path().display().to_string()]).stdout.replace("\n  ", " ");
    assert!(page.contains("the disk was not read, and without it nothing is restored"), "{page}");
    assert!(!page.contains("no two independent") && page.contains("One advances (1), up to block 160"), "{page}");
}
