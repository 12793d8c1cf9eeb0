//! `rehearse`: the operator's own code on a bundle, and what a newcomer may get wrong.

use std::fs;

use serde_json::{Value, json};

use crate::{Folder, disks, root, run};

const STATE_DB: &str = "examples/cosmosfullnode-state-db";

const POLICY: &str = "\
apiVersion: loopbreaker.dev/v1alpha1
kind: RecoveryPolicy
metadata: {name: nodes, namespace: peer}
spec:
  targets: [{kind: CosmosFullNode, name: lab}]
  mode: Observe
";

/// The last line: what came of it.
fn summary(bundle: &str) -> Value {
    let said = run(&["rehearse", bundle, "--output", "json"]);
    assert_eq!(said.status, 0, "{}", said.stderr);
    said.reports().pop().expect("a summary")
}

#[test]
fn what_the_bundle_does_not_tell_is_said_and_no_failure_of_the_inspector() {
    let summary = summary(STATE_DB);
    let incident = &summary["incidents"][0];
    assert_eq!((&incident["replica"], &incident["phase"]), (&json!("lab-1"), &json!("Held")), "{summary}");
    assert!(incident["not_got"].to_string().contains("no two samples"), "{summary}");
    let text = run(&["rehearse", STATE_DB]).stdout;
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("Disk: could not tell: the bundle holds no data directory"), "{text}");
}

#[test]
fn siblings_that_advance_in_two_samples_are_a_witness() {
    let folder = disks::bundle();
    disks::flip(&folder, "application.db");
    let summary = summary(&folder.name(""));
    let incident = &summary["incidents"][0];
    assert_eq!(incident["decision"], "propose", "{summary}");
    assert_eq!(incident["would_restore"], true, "{summary}");
}

#[test]
fn a_policy_with_a_mistake_is_refused_with_its_place() {
    for (from, to, words) in [
        ("mode: Observe", "mdoe: Auto", "there is no field `spec.mdoe`"),
        ("mode: Observe", "limits: {attemps: 2}", "there is no field `spec.limits.attemps`"),
        ("name: lab}", "name: lab, nmae: x}", "there is no field `spec.targets[0].nmae`"),
        ("name: lab}", "name: gaia}", "selects nothing of this bundle, which holds CosmosFullNode peer/lab"),
        ("mode: Observe", "mode: auto", "unknown variant `auto`"),
    ] {
        let folder = Folder::new().with("policy.yaml", POLICY.replacen(from, to, 1));
        let said = run(&["rehearse", STATE_DB, "--policy", &folder.name("policy.yaml")]);
        assert_eq!((said.status, said.stdout.as_str()), (1, ""), "{to}");
        assert!(said.stderr.contains(words), "{to}: {}", said.stderr);
    }
    let folder = Folder::new().with("policy.yaml", POLICY);
    assert_eq!(run(&["rehearse", STATE_DB, "--policy", &folder.name("policy.yaml")]).status, 0);
}

#[test]
fn the_same_bundle_gives_the_same_bytes() {
    let first = run(&["rehearse", STATE_DB, "--output", "json"]).stdout;
    for _ in 0..4 {
        assert!(run(&["rehearse", STATE_DB, "--output", "json"]).stdout == first);
    }
}

#[test]
fn a_healthy_bundle_has_no_incident() {
    let pod = fs::read(root().join(STATE_DB).join("objects/pod-lab-0-healthy.yaml")).expect("the example");
    let summary = summary(&Folder::new().with("objects/pod.yaml", pod).name(""));
    assert_eq!(summary["incidents"], json!([]));
}
