//! The commands that ask a cluster: what they say where there is none, and what of a canned one.

use serde_json::{Value, json};

use crate::{
    Folder,
    canned_server::{CannedServer, kubeconfig, run_in},
};

const POLICIES: &str = "/apis/loopbreaker.dev/v1alpha1/namespaces/cosmos/recoverypolicies";
const POLICY: &str = "/apis/loopbreaker.dev/v1alpha1/namespaces/cosmos/recoverypolicies/nodes";
const RECOVERIES: &str = "/apis/loopbreaker.dev/v1alpha1/namespaces/cosmos/recoveries";

const OPERATOR: [&str; 3] = ["operator", "--inspector-image=lb:1", "--identity=test"];

fn policy(suspend: bool) -> Value {
    json!({
        "apiVersion": "loopbreaker.dev/v1alpha1", "kind": "RecoveryPolicy",
        "metadata": {"name": "nodes", "namespace": "cosmos", "generation": 1, "uid": "p"},
        "spec": {"targets": [{"kind": "StatefulSet", "selector": {}}], "mode": "Approve", "suspend": suspend},
        "status": {
            "observedGeneration": 1, "workloads": 1, "openIncidents": 1, "summary": "1 of 3 replicas is sick",
            "conditions": [{
                "type": "Watching", "status": "False", "reason": "Forbidden",
                "message": "may not list and watch pods", "lastTransitionTime": "2026-01-01T00:00:00Z",
            }],
        },
    })
}

fn recovery(pod: &str, onset: &str, status: &Value) -> Value {
    json!({
        "apiVersion": "loopbreaker.dev/v1alpha1", "kind": "Recovery",
        "metadata": {"name": format!("{pod}-r"), "namespace": "cosmos"},
        "spec": {
            "target": {"kind": "StatefulSet", "workload": "hub", "workloadUid": "w", "pod": pod, "podUid": "u"},
            "policy": {"name": "nodes", "uid": "p"},
            "incident": {"kind": "CrashLoop", "onset": onset, "container": "node"},
        },
        "status": status,
    })
}

fn judged() -> Value {
    json!({
        "phase": "Held", "summary": "held, block_store_damage (97 %), propose: log and disk agree",
        "crashLoop": {"crashes": 5},
        "verdict": {
            "cause": "block_store_damage", "probabilityPercent": 97, "decision": "propose",
            "reason": "log and disk agree", "witnesses": ["log", "disk"], "judged": "2026-01-01T00:00:00Z",
            "vetoes": [{"name": "signing_node", "text": "it signs"}],
            "advice": [
                {"text": "Restore it from a snapshot.", "command": "kubectl get volumesnapshots -n cosmos"},
                {"text": "Second."},
            ],
        },
    })
}

fn list(kind: &str, items: &[Value]) -> Value {
    json!({"apiVersion": "loopbreaker.dev/v1alpha1", "kind": kind, "metadata": {"resourceVersion": "7"}, "items": items})
}

fn lab() -> CannedServer {
    let ended = json!({"phase": "Held", "summary": "over: it is well again", "ended": "2025-12-01T01:00:00Z"});
    let broken = json!({"apiVersion": "loopbreaker.dev/v1alpha1", "kind": "Recovery",
        "metadata": {"name": "odd", "namespace": "cosmos"}, "spec": {"target": 7}});
    let recoveries = [
        recovery("hub-0", "2025-12-01T00:00:00Z", &ended),
        recovery("hub-1", "2025-12-02T00:00:00Z", &json!({"phase": "Collecting"})),
        recovery("hub-2", "2025-12-03T00:00:00Z", &judged()),
        broken,
    ];
    CannedServer::answering(&[
        (POLICIES, 200, list("RecoveryPolicyList", &[policy(true)])),
        (RECOVERIES, 200, list("RecoveryList", &recoveries)),
        (POLICY, 200, policy(false)),
    ])
}

#[test]
fn without_a_cluster_one_line_says_what_to_do() {
    for arguments in [
        &OPERATOR[..],
        &["status"],
        &["status", "-A", "--output=json"],
        &["suspend", "nodes"],
        &["resume", "nodes", "-n", "cosmos", "--context=elsewhere"],
    ] {
        let said = run_in("/nowhere/kubeconfig", arguments);
        assert_eq!((said.status, said.stdout.as_str()), (1, ""), "{arguments:?}");
        assert_eq!(said.stderr.lines().count(), 1, "{}", said.stderr);
        assert!(said.stderr.starts_with("error: no cluster is known here: "), "{}", said.stderr);
        assert!(said.stderr.contains("set KUBECONFIG"), "{}", said.stderr);
    }
}

#[test]
fn a_cluster_that_does_not_answer_is_said() {
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("bound");
    let folder = Folder::new().with("kubeconfig", kubeconfig(&format!("http://{nobody}")));
    let said = run_in(&folder.name("kubeconfig"), &["status"]);
    assert_eq!((said.status, said.stdout.as_str()), (1, ""));
    assert_eq!(said.stderr.lines().count(), 1, "{}", said.stderr);
    assert!(said.stderr.contains("does not answer: Connection refused"), "{}", said.stderr);
}

#[test]
fn a_context_that_is_not_there_is_named() {
    let said = lab().run(&["status", "--context", "elsewhere"]);
    assert_eq!(said.status, 1);
    assert!(said.stderr.contains("elsewhere"), "{}", said.stderr);
}

#[test]
fn a_cluster_without_our_kinds_is_told_how_to_get_them() {
    let server = CannedServer::answering(&[]);
    for arguments in [&["status"][..], &["suspend", "nodes"]] {
        let said = server.run(arguments);
        assert_eq!(said.status, 1);
        assert!(said.stderr.contains("`loopbreaker crds | kubectl apply --server-side -f -`"), "{}", said.stderr);
    }
}

#[test]
fn a_right_that_is_missing_is_named() {
    let no = json!({"kind": "Status", "status": "Failure", "code": 403, "reason": "Forbidden", "message": "no"});
    let said = CannedServer::answering(&[(POLICIES, 403, no)]).run(&["status"]);
    assert_eq!(said.status, 1);
    assert!(said.stderr.contains("you may not list recoverypolicies of namespace cosmos"), "{}", said.stderr);
}

#[test]
fn status_shows_open_incidents_first_and_what_to_do_next() {
    let said = lab().run(&["status"]);
    assert_eq!((said.status, said.stderr.as_str()), (0, ""));
    let page = &said.stdout;
    let mut rest = page.as_str();
    for part in [
        "RecoveryPolicy cosmos/nodes: Approve, suspended",
        "1 of 3 replicas is sick (1 workload, 1 open incident)",
        "Forbidden: may not list and watch pods",
        "Replica cosmos/hub-2, for ",
        "held, block_store_damage (97 %), propose: log and disk agree",
        "5 crashes, held; recovery hub-2-r",
        "Next: Restore it from a snapshot.",
        "       kubectl get volumesnapshots -n cosmos",
        "Replica cosmos/hub-1, for ",
        "opened; the operator has not looked at it yet",
        "Ended",
        "cosmos/hub-0, after 1 h: over: it is well again",
        "Could not be read",
        "Recovery cosmos/odd cannot be read: ",
    ] {
        let (_, after) = rest.split_once(part).unwrap_or_else(|| panic!("no {part:?} in\n{rest}\nof\n{page}"));
        rest = after;
    }
    assert!(!page.contains("Storm") && page.lines().all(|line| line.chars().count() <= 80), "{page}");
}

#[test]
fn status_tells_scripts_the_same() {
    let said = lab().run(&["status", "--output", "json"]);
    assert_eq!((said.status, said.stderr.as_str()), (0, ""));
    let report = said.report();
    assert_eq!(report["schema"], "loopbreaker.dev/status/v1");
    assert_eq!(report["namespace"], "cosmos");
    let policy = &report["policies"][0];
    assert_eq!((&policy["mode"], &policy["suspended"]), (&json!("Approve"), &json!(true)));
    assert_eq!((&policy["workloads"], &policy["conditions"][0]["reason"]), (&json!(1), &json!("Forbidden")));
    let pods: Vec<&Value> = report["recoveries"].as_array().expect("a list").iter().map(|one| &one["pod"]).collect();
    assert_eq!(pods, ["hub-2", "hub-1", "hub-0"]);
    let first = &report["recoveries"][0];
    assert_eq!((&first["open"], &first["phase"], &first["ended"]), (&json!(true), &json!("Held"), &Value::Null));
    assert_eq!((&first["verdict"]["probability"], &first["crashes"]), (&json!(0.97), &json!(5)));
    assert_eq!(first["verdict"]["vetoes"], json!(["signing_node"]));
    assert_eq!(first["verdict"]["advice"][1], json!({"text": "Second.", "command": null}));
    let last = &report["recoveries"][2];
    assert_eq!((&last["open"], &last["seconds"], &last["verdict"]), (&json!(false), &json!(3600), &Value::Null));
    assert_eq!(report["unread"].as_array().expect("a list").len(), 1);
}

#[test]
fn where_nothing_is_watched_that_is_what_status_says() {
    let all = "/apis/loopbreaker.dev/v1alpha1/recoverypolicies";
    let server = CannedServer::answering(&[
        (all, 200, list("RecoveryPolicyList", &[])),
        ("/apis/loopbreaker.dev/v1alpha1/recoveries", 200, list("RecoveryList", &[])),
    ]);
    let said = server.run(&["status", "-A"]);
    assert_eq!(said.status, 0, "{}", said.stderr);
    assert!(said.stdout.starts_with("No RecoveryPolicy in any namespace\n"), "{}", said.stdout);
    assert_eq!(server.asked()[0].path, all);
}

#[test]
fn suspend_throws_the_switch_and_says_what_was_and_is() {
    let patched = format!("PATCH {POLICY}");
    let server = CannedServer::answering(&[(POLICY, 200, policy(false)), (&patched, 200, policy(true))]);
    let said = server.run(&["suspend", "nodes"]);
    assert_eq!((said.status, said.stderr.as_str()), (0, ""));
    assert_eq!(
        said.stdout,
        "RecoveryPolicy cosmos/nodes was in force and is suspended now. Nothing new is begun, and what is under way is \
         brought to a safe end. `loopbreaker resume nodes -n cosmos` ends that.\n"
    );
    let asked = server.asked();
    assert_eq!((asked[1].method.as_str(), asked[1].path.as_str()), ("PATCH", POLICY));
    assert_eq!(asked[1].body, json!({"spec": {"suspend": true}}));
    assert_eq!(asked.len(), 2);
}

#[test]
fn what_is_so_already_is_not_written_again() {
    let server = lab();
    let said = server.run(&["resume", "nodes", "-n", "cosmos"]);
    assert_eq!(
        (said.status, said.stdout.as_str()),
        (0, "RecoveryPolicy cosmos/nodes is in force already; nothing was changed.\n")
    );
    assert_eq!(server.asked().len(), 1);
    let suspended = CannedServer::answering(&[(POLICY, 200, policy(true))]);
    let said = suspended.run(&["suspend", "nodes"]);
    assert_eq!(
        (said.status, said.stdout.as_str()),
        (0, "RecoveryPolicy cosmos/nodes is suspended already; nothing was changed.\n")
    );
}

#[test]
fn a_policy_that_is_not_there_is_named() {
    let no = json!({"kind": "Status", "status": "Failure", "code": 404, "reason": "NotFound",
        "message": "not found", "details": {"name": "nodes", "kind": "recoverypolicies"}});
    let said = CannedServer::answering(&[(POLICY, 404, no)]).run(&["suspend", "nodes"]);
    assert_eq!((said.status, said.stdout.as_str()), (1, ""));
    assert!(said.stderr.starts_with("error: RecoveryPolicy cosmos/nodes is not there"), "{}", said.stderr);
}

#[test]
fn an_operator_that_cannot_listen_says_so_and_ends() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = taken.local_addr().expect("bound").to_string();
    let server = lab();
    let said = server.run(&[&OPERATOR[..], &["--listen", &address]].concat());
    assert_eq!((said.status, said.stdout.as_str()), (1, ""));
    let last = said.stderr.lines().last().expect("a line");
    assert!(last.starts_with(&format!("error: {address}: cannot be listened on")), "{}", said.stderr);
}

#[test]
fn an_operator_needs_an_image_and_a_name() {
    for (arguments, words) in [
        (&["operator", "--identity=x"][..], "--inspector-image"),
        (&["operator", "--inspector-image=lb:1"], "--identity"),
        (&["operator", "--inspector-image=lb:1", "--identity=x", "--lease-duration=1s"], "--lease-duration"),
    ] {
        let said = run_in("/nowhere/kubeconfig", arguments);
        assert_eq!(said.status, 2, "{}", said.stderr);
        assert!(said.stderr.contains(words), "{}", said.stderr);
    }
}

#[test]
fn an_operator_ends_in_peace_when_it_is_asked_to() {
    use std::io::{BufRead, BufReader};
    let server = lab();
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_loopbreaker"))
        .args([&OPERATOR[..], &["--listen=127.0.0.1:0", "--log-format=json"]].concat())
        .env_clear()
        .env("KUBECONFIG", server.kubeconfig())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("it runs");
    let mut log = BufReader::new(child.stderr.take().expect("piped")).lines();
    let first = log.next().expect("it says something").expect("text");
    let first: Value = serde_json::from_str(&first).expect("a JSON object a line");
    assert!(first["level"].is_string() && first["message"].is_string(), "{first}");
    let asked = std::process::Command::new("kill").args(["-TERM", &child.id().to_string()]).status();
    assert!(asked.expect("kill runs").success());
    let rest: Vec<String> = log.map(|line| line.expect("text")).collect();
    assert_eq!(child.wait().expect("it ends").code(), Some(0), "{rest:?}");
    assert!(rest.iter().any(|line| line.contains("asked to end by SIGTERM")), "{rest:?}");
}

/// A pod that crashes, its sibling, and what a small cluster has around them.
fn sick_pod() -> CannedServer {
    let pod = |name: &str, state: Value, restarts: u32| {
        json!({
            "metadata": {"name": name, "namespace": "cosmos", "uid": name, "creationTimestamp": "2026-01-01T00:00:00Z",
                "managedFields": [{"manager": "x"}],
                "ownerReferences": [{"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "hub", "uid": "w", "controller": true}]},
            "spec": {"nodeName": "n1", "containers": [{"name": "node", "image": "hub:1", "env": [{"name": "API_TOKEN", "value": "hunter2"}]}]},
            "status": {"phase": "Running", "podIP": "192.0.2.1", "containerStatuses": [{
                "name": "node", "image": "hub:1", "imageID": "sha256:1", "ready": restarts == 0, "restartCount": restarts,
                "state": state,
                "lastState": if restarts == 0 { json!({}) } else { json!({"terminated": {"exitCode": 2, "reason": "Error",
                    "startedAt": "2026-01-01T00:10:00Z", "finishedAt": "2026-01-01T00:10:05Z"}}) },
            }]},
        })
    };
    let waits = json!({"waiting": {"reason": "CrashLoopBackOff", "message": "back-off"}});
    let sick = pod("hub-0", waits, 7);
    let well = pod("hub-1", json!({"running": {"startedAt": "2026-01-01T00:00:00Z"}}), 0);
    let status = |height: u64| json!({"result": {"sync_info": {"latest_block_height": height.to_string(), "catching_up": false}}});
    let listed =
        |kind: &str, items: Vec<Value>| json!({"kind": kind, "apiVersion": "v1", "metadata": {}, "items": items});
    let core = "/api/v1/namespaces/cosmos";
    let no = json!({"kind": "Status", "status": "Failure", "code": 403, "message": "no"});
    let log = json!(
        "INF start password=hunter2\npanic: leveldb/table: corruption on data-block (pos=1): checksum mismatch\n"
    );
    CannedServer::answering(&[
        (&format!("{core}/pods/hub-0"), 200, sick.clone()),
        (&format!("{core}/pods"), 200, listed("PodList", vec![sick, well])),
        (&format!("{core}/pods/hub-0/log"), 200, log),
        (&format!("{core}/pods/hub-1:26657/proxy/status"), 200, status(7)),
        (&format!("{core}/events"), 200, listed("EventList", vec![])),
        (&format!("{core}/persistentvolumeclaims"), 200, listed("PersistentVolumeClaimList", vec![])),
        ("/api/v1/namespaces/default/events", 200, listed("EventList", vec![])),
        ("/api/v1/nodes/n1", 403, no),
    ])
}

#[test]
fn a_bundle_out_of_a_cluster_is_one_that_diagnose_reads() {
    let (server, folder) = (sick_pod(), Folder::new());
    let directory = folder.name("bundle");
    let said = server.run(&["collect", "hub-0", "-o", &directory, "--interval=1s"]);
    assert_eq!(said.status, 0, "{}", said.stderr);
    assert!(said.stdout.contains(": 2 objects, 1 log, 2 samples of heights."), "{}", said.stdout);
    for note in [
        "note: may not get nodes n1",
        "note: hub-0 did not tell its height: pods/proxy of hub-0:26657",
        "note: statefulsets hub is not there",
        "note: the cluster has no recoverypolicies",
    ] {
        assert!(said.stderr.lines().any(|line| line.starts_with(note)), "{note}\n{}", said.stderr);
    }
    let about = std::fs::read_to_string(folder.path().join("bundle/bundle.json")).expect("bundle.json");
    assert!(about.contains("may not get nodes n1"), "{about}");
    let whole: String = ["objects/pods.yaml", "logs/hub-0/node.previous.log", "peers.json"]
        .map(|file| std::fs::read_to_string(folder.path().join("bundle").join(file)).expect("a file"))
        .concat();
    assert!(!whole.contains("hunter2") && !whole.contains("managedFields"), "{whole}");
    let diagnosed = run_in("/nowhere/kubeconfig", &["diagnose", &directory, "--output", "json"]).report();
    assert_eq!(diagnosed["crashloop"]["detected"], true, "{diagnosed}");
    assert_eq!(diagnosed["subject"]["name"], "hub-0", "{diagnosed}");
    assert_eq!(diagnosed["log"]["cause"], "physical_corruption", "{diagnosed}");
    let paths: Vec<String> = server.asked().into_iter().map(|asked| asked.path).collect();
    assert!(!paths.iter().any(|path| path.contains("secrets") || path.contains("configmaps")), "{paths:?}");
    assert!(server.asked().iter().all(|asked| asked.method == "GET"));
}

#[test]
fn a_bundle_is_never_written_over_another_one() {
    let folder = Folder::new().with("bundle/mine", "mine");
    let said = run_in("/nowhere/kubeconfig", &["collect", "hub-0", "-o", &folder.name("bundle")]);
    assert_eq!(said.status, 1);
    assert!(said.stderr.contains("exists already"), "{}", said.stderr);
}

#[test]
fn without_the_pod_nothing_is_written() {
    let folder = Folder::new();
    let no = json!({"kind": "Status", "code": 404, "message": "no", "details": {"name": "hub-9"}});
    let server = CannedServer::answering(&[("/api/v1/namespaces/cosmos/pods/hub-9", 404, no)]);
    let said = server.run(&["collect", "hub-9", "-o", &folder.name("bundle")]);
    assert_eq!((said.status, said.stdout.as_str()), (1, ""));
    assert!(said.stderr.contains("pod cosmos/hub-9 is not there"), "{}", said.stderr);
    assert_eq!(std::fs::read_dir(folder.path()).expect("a directory").count(), 0);
}
