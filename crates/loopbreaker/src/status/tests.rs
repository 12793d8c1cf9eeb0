use serde_json::json;

use super::*;

fn recovery(pod: &str, onset: &str, ended: Option<&str>) -> Recovery {
    let recovery = json!({
        "apiVersion": "loopbreaker.dev/v1alpha1", "kind": "Recovery",
        "metadata": {"name": format!("{pod}-r"), "namespace": "cosmos"},
        "spec": {
            "target": {"kind": "StatefulSet", "workload": "hub", "workloadUid": "w", "pod": pod, "podUid": "u"},
            "policy": {"name": "nodes", "uid": "p"},
            "incident": {"kind": "CrashLoop", "onset": onset, "container": "node"},
        },
        "status": {"ended": ended},
    });
    serde_json::from_value(recovery).expect("a recovery")
}

#[test]
fn open_incidents_come_first_and_the_newest_before_the_others() {
    let mut standing = Standing {
        recoveries: vec![
            recovery("ended-late", "2026-01-03T00:00:00Z", Some("2026-01-04T00:00:00Z")),
            recovery("old", "2026-01-01T00:00:00Z", None),
            recovery("new", "2026-01-02T00:00:00Z", None),
            recovery("ended-early", "2026-01-01T00:00:00Z", Some("2026-01-04T00:00:00Z")),
        ],
        ..Standing::default()
    };
    standing.sort();
    let pods: Vec<&str> = standing.recoveries.iter().map(|recovery| recovery.spec.target.pod.as_str()).collect();
    assert_eq!(pods, ["new", "old", "ended-late", "ended-early"]);
}

#[test]
fn an_incident_lasts_from_its_onset_and_never_less_than_nothing() {
    let now: Timestamp = "2026-01-01T00:10:00Z".parse().expect("a time");
    assert_eq!(lasted(&recovery("a", "2026-01-01T00:00:00Z", None), now), 600);
    assert_eq!(lasted(&recovery("a", "2026-01-01T00:00:00Z", Some("2026-01-01T00:01:00Z")), now), 60);
    assert_eq!(lasted(&recovery("a", "2026-01-01T01:00:00Z", None), now), 0);
}
