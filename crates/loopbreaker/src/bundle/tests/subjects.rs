//! Whom a bundle reports on, and what it is missing.

use diagnosis::{CrashLoopReading, Height};

use super::*;

fn names(folder: &Folder, only: Option<&str>) -> Vec<String> {
    folder.bundle().subjects(only).expect("subjects").iter().map(|subject| subject.instance.to_string()).collect()
}

fn absent(folder: &Folder) -> Vec<&'static str> {
    folder.bundle().absent.into_iter().map(BundlePart::as_str).collect()
}

#[test]
fn every_sick_replica() {
    let folder = Folder::new()
        .with_object("0", &sick("gaia-0"))
        .with_object("1", &well("gaia-1"))
        .with_object("2", &sick("gaia-2"))
        .with("logs/gaia-1/node.log", "");
    assert_eq!(names(&folder, None), ["cosmos/gaia-0", "cosmos/gaia-2"]);
    assert_eq!(names(&folder, Some("gaia-1")), ["cosmos/gaia-1"], "a healthy one on request");
    assert_eq!(names(&folder, Some("cosmos/gaia-2")), ["cosmos/gaia-2"]);
    let bundle = folder.bundle();
    let error = bundle.subjects(Some("gaia-9")).expect_err("nobody");
    assert_eq!(error.category(), "no_such_subject");
    assert!(
        error.to_string().ends_with(
            "no subject `gaia-9` in this bundle (choose one of: cosmos/gaia-0, cosmos/gaia-1, cosmos/gaia-2)"
        ),
        "{error}"
    );
}

#[test]
fn one_name_in_two_namespaces() {
    let elsewhere = with(sick("gaia-0"), "/metadata/namespace", json!("other"));
    let folder = Folder::new().with_object("0", &sick("gaia-0")).with_object("1", &elsewhere);
    let bundle = folder.bundle();
    let error = bundle.subjects(Some("gaia-0")).expect_err("two");
    assert_eq!(error.category(), "ambiguous_subject");
    assert!(error.to_string().ends_with("(choose one of: cosmos/gaia-0, other/gaia-0)"), "{error}");
    assert_eq!(names(&folder, Some("other/gaia-0")), ["other/gaia-0"]);
}

#[test]
fn sick_without_a_loop() {
    let state = "/status/containerStatuses/0/state";
    for (what, pod) in [
        ("cannot pull", with(well("gaia-0"), state, json!({"waiting": {"reason": "ErrImagePull"}}))),
        ("one crash", with(sick("gaia-0"), "/status/containerStatuses/0/restartCount", json!(1))),
        ("ended with 0", with(well("gaia-0"), state, json!({"terminated": {"exitCode": 0}}))),
        ("evicted", with(well("gaia-0"), "/status", json!({"phase": "Failed", "reason": "Evicted"}))),
    ] {
        let folder = Folder::new().with_object("0", &pod).with_object("1", &well("gaia-1"));
        assert_eq!(names(&folder, None), ["cosmos/gaia-0"], "{what}");
        assert_eq!(
            folder.bundle().subjects(None).expect("subjects")[0].crash_loop(),
            CrashLoopReading::NotLooping,
            "{what}"
        );
    }
}

#[test]
fn nobody_sick() {
    let folder = Folder::new()
        .with_object("0", &well("gaia-0"))
        .with_object("1", &well("gaia-1"))
        .with("logs/gaia-1/node.previous.log.gz", "")
        .with("data/gaia-5/config/config.toml", "");
    assert_eq!(names(&folder, None), ["cosmos/gaia-1", "gaia-5"], "those with logs or data");
    let folder = Folder::new().with_object("0", &well("gaia-0")).with_object("1", &well("gaia-1"));
    assert_eq!(names(&folder, None), ["cosmos/gaia-0", "cosmos/gaia-1"], "then everybody");
}

#[test]
fn logs_alone() {
    let folder = Folder::new()
        .with("logs/gaia-0/node.log", "")
        .with("logs/gaia-0/node.previous.log", "")
        .with("logs/gaia-0/node.crash-2.log", "")
        .with("logs/gaia-0/node.crash-10.log.gz", "")
        .with("logs/gaia-0/notes.txt", "")
        .with("logs/stray.log", "");
    let bundle = folder.bundle();
    let subjects = bundle.subjects(None).expect("subjects");
    let runs: Vec<LogRun> = subjects[0].logs.iter().map(|log| log.run).collect();
    assert_eq!(runs, [LogRun::Crash(2), LogRun::Crash(10), LogRun::Previous, LogRun::Current], "oldest first");
    assert_eq!(subjects[0].logs[0].container.as_str(), "node");
    assert_eq!(subjects[0].crash_loop(), CrashLoopReading::NotRead);
    assert_eq!(absent(&folder), ["objects/", "data/", "peers.json", "bundle.json"]);
    assert_eq!(
        folder.notes(),
        [
            "logs/gaia-0/notes.txt: ignored: expected CONTAINER.log, CONTAINER.previous.log or CONTAINER.crash-N.log, with or without .gz",
            "logs/stray.log: ignored: expected logs/POD/CONTAINER.log",
        ]
    );
}

#[test]
fn one_replica_over_files_and_pods() {
    let folder = Folder::new()
        .with_object("a", &sick("gaia-0"))
        .with_object("b", &with(sick("gaia-0"), "/status/containerStatuses/0/restartCount", json!(3)))
        .with("bundle.json", r#"{"collected_at": "2026-01-05T11:00:00Z", "versions": {"loopbreaker": "0.1.0"}, "notes": "by hand", "more": 1}"#);
    let bundle = folder.bundle();
    assert_eq!(bundle.scene.instances.len(), 1);
    assert_eq!(bundle.scene.instances[0].observations().count(), 2);
    assert_eq!(
        bundle.scene.instances[0].latest().seen.map(|seen| seen.to_string()).as_deref(),
        Some("2026-01-05T11:00:00Z")
    );
    assert_eq!((&bundle.about.versions, &bundle.about.notes), (&json!({"loopbreaker": "0.1.0"}), &json!("by hand")));
    assert_eq!(absent(&folder), ["logs/", "data/", "peers.json"]);
}

#[test]
fn what_the_owner_knows() {
    let folder = Folder::new().with_object("pod", &sick("gaia-0")).with_object("owner", &owner());
    let bundle = folder.bundle();
    let subject = &bundle.subjects(None).expect("subjects")[0];
    assert_eq!(subject.owner_height("gaia-0"), Some(Height(101)));
    assert_eq!(subject.owner_height("gaia-7"), None);
    assert_eq!(subject.chain_id(), Some("cosmoshub-4"));
}

#[test]
fn no_bundle() {
    assert_eq!(
        Folder::new().with("readme.txt", "").error(),
        "not_a_bundle: BUNDLE: not an incident bundle: expected at least one of objects/*.yaml, logs/POD/CONTAINER.log, data/POD/ or \
         peers.json in it (start with `mkdir -p objects; kubectl get pod POD -n NAMESPACE -o yaml > objects/pod.yaml`)"
    );
    let folder = Folder::new().with("a", "").with("peers.json", "[]");
    let at = |name: &str| Bundle::open(&folder.path().join(name)).expect_err("no bundle").category();
    assert_eq!((at("a"), at("b")), ("not_a_directory", "not_found"));
    assert_eq!(folder.bundle().subjects(None).expect_err("nobody").category(), "no_subject");
}

#[test]
fn a_broken_bundle_json_is_named() {
    let notes = Folder::new().with("bundle.json", "{").with("peers.json", "[]").notes();
    assert_eq!(
        notes,
        ["bundle.json, document 1: skipped, cannot be read: EOF while parsing an object at line 1 column 1"]
    );
}

#[test]
fn a_single_pod_file() {
    let folder = Folder::new()
        .with("pod.json", sick("gaia-0").to_string())
        .with("svc.yaml", "kind: Service\n")
        .with("x.yaml", "[\n")
        .with("empty", "");
    let open = |name: &str| Bundle::open_pod_file(&folder.path().join(name));
    let bundle = open("pod.json").expect("a pod");
    assert_eq!(bundle.subjects(None).expect("subjects").len(), 1);
    assert!(!bundle.absent.contains(&BundlePart::Objects));
    for (name, says) in [
        ("svc.yaml", "holds no pod: it holds a Service"),
        ("x.yaml", "holds no pod: document 1 cannot be read: "),
        ("empty", "holds no pod: it is empty"),
    ] {
        let error = open(name).expect_err("no pod");
        assert_eq!(error.category(), "no_pod");
        assert!(error.to_string().contains(says), "{error}");
    }
    assert_eq!(open("nowhere").expect_err("no file").category(), "not_found");
}
