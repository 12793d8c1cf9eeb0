//! `evaluate`: a line a case, then the figures; labels never reach a verdict.

use serde_json::{Value, json};

use crate::{Folder, run, run_with, samples::*};

fn case(id: &str, cause: &str, fixes: &str, log: &str) -> Value {
    json!({"id": id, "group": "g", "cause": cause, "restore_fixes": fixes, "log": log, "decisive": [2]})
}

fn cases() -> String {
    [case("a", "physical_corruption", "yes", DAMAGED), case("b", "disk_full", "unknown", DISK_FULL)]
        .map(|case| format!("{case}\n"))
        .concat()
}

#[test]
fn a_line_a_case_then_the_summary() {
    let said = run_with(&["evaluate", "-", "--output", "json"], cases());
    assert_eq!((said.status, said.stderr.as_str()), (0, ""));
    let lines = said.reports();
    assert_eq!(lines.len(), 3);
    let keys: Vec<&String> = lines[0].as_object().expect("an object").keys().collect();
    assert_eq!(keys, ["abstained", "cause", "decision", "id", "log_score", "log_witness", "probability"]);
    assert_eq!(
        (&lines[0]["id"], &lines[0]["log_witness"], &lines[1]["cause"]),
        (&json!("a"), &json!(true), &json!("disk_full"))
    );
    let summary = &lines[2]["summary"];
    assert_eq!((&summary["cases"], &summary["broken"]), (&json!(2), &json!(0)));
    assert_eq!((&summary["false_witnesses"]["k"], &summary["false_witnesses"]["n"]), (&json!(0), &json!(1)));
    assert_eq!((&summary["recall"]["k"], &summary["recall"]["n"]), (&json!(1), &json!(1)));
    assert_eq!(summary["recall"]["lower_95"].as_f64().map(|bound| (bound * 1000.0).round()), Some(50.0));
    assert_eq!((&summary["auc"], &summary["recall_at_false"]), (&json!(1.0), &json!({"0": 1.0, "1": 1.0, "3": 1.0})));
    assert_eq!(summary["cause_right"]["k"], 2);
    assert_eq!(summary["decisive_line_hits"]["first"]["k"], 2);
    assert_eq!(summary["by_group"][0]["group"], "g");
    assert_eq!(summary["baselines"]["keywords"]["recall"]["k"], 1);
}

#[test]
fn labels_do_not_change_a_verdict() {
    let truth = case("a", "physical_corruption", "yes", DAMAGED);
    let lie = case("a", "oom", "no", DAMAGED);
    let first_line = |case: &Value| {
        let said = run_with(&["evaluate", "-", "--output", "json"], format!("{case}\n"));
        said.stdout.lines().next().map(str::to_owned)
    };
    assert_eq!(first_line(&truth), first_line(&lie));
}

#[test]
fn a_broken_line_is_named_and_the_rest_goes_on() {
    let text = format!(
        "{{\n\n{}{}\n{}\n",
        cases(),
        json!({"id": "c"}),
        json!({"id": "d", "log": "", "cause": "gremlins", "restore_fixes": "no"})
    );
    let said = run_with(&["evaluate", "-", "--output", "json"], text);
    assert_eq!(said.status, 1);
    assert_eq!(
        said.stderr,
        "error: -, line 1: EOF while parsing an object at line 2 column 0 (skipped; mend the line)\n\
         error: -, line 5: case c: expected either `log` or `bundle` (skipped; mend the line)\n\
         error: -, line 6: `gremlins` is no known cause (known: physical_corruption, wal_corruption, … other_bug, unknown) at line 1 column 19 (skipped; mend the line)\n"
    );
    let lines = said.reports();
    assert_eq!(
        lines.last().map(|it| (&it["summary"]["cases"], &it["summary"]["broken"])),
        Some((&json!(2), &json!(3)))
    );
}

#[test]
fn a_file_without_a_case_is_an_error() {
    for text in ["", "\n \n"] {
        let said = run_with(&["evaluate", "-"], text);
        assert_eq!((said.status, said.stdout.as_str()), (1, ""));
        assert_eq!(
            said.stderr,
            "error: -: holds no case (a case is a JSON object on one line: `loopbreaker evaluate --help`)\n"
        );
    }
}

#[test]
fn a_case_that_stands_twice_counts_once() {
    let text = format!("{}{}\n", cases(), case("a", "oom", "no", DISK_FULL));
    let said = run_with(&["evaluate", "-", "--output", "json"], text);
    assert_eq!(said.status, 1);
    assert_eq!(said.stderr, "error: -, line 3: case a: line 1 has the same id (skipped; mend the line)\n");
    let lines = said.reports();
    assert_eq!(lines.len(), 3);
    assert_eq!((&lines[2]["summary"]["cases"], &lines[2]["summary"]["broken"]), (&json!(2), &json!(1)));
}

#[test]
fn a_bundle_is_looked_for_beside_the_cases() {
    let line = json!({"id": "a", "cause": "physical_corruption", "restore_fixes": "yes", "bundle": "incidents/a"});
    let folder = Folder::new()
        .with("cases.jsonl", format!("{line}\n"))
        .with("incidents/a/objects/pod.json", sick("gaia-0").to_string())
        .with("incidents/a/logs/gaia-0/node.previous.log", DAMAGED);
    let said = run(&["evaluate", &folder.name("cases.jsonl"), "--output", "json"]);
    assert_eq!((said.status, said.stderr.as_str()), (0, ""));
    assert_eq!(said.reports()[0]["cause"], "physical_corruption");
    let folder = Folder::new().with("cases.jsonl", format!("{line}\n"));
    let said = run(&["evaluate", &folder.name("cases.jsonl")]);
    assert_eq!(
        folder.shortened(&said.stderr),
        "error: cases.jsonl, line 1: incidents/a: no such file or directory (check the path) (skipped; mend the line)\n"
    );
}

#[test]
fn the_development_incidents_beside_the_known_baselines() {
    let said = run(&["evaluate", "model/data/development.jsonl", "--output", "json"]);
    let note = "note: model/data/development.jsonl: 130 of 130 ids are those of known cases: these cases were used to \
                train, their figures flatter\n";
    assert_eq!((said.status, said.stderr.as_str()), (0, note));
    let lines = said.reports();
    let summary = &lines.last().expect("a summary")["summary"];
    assert_eq!(lines.len(), 131);
    let counts = |baseline: &str| {
        let figures = &summary["baselines"][baseline];
        [&figures["false_witnesses"]["k"], &figures["recall"]["k"], &figures["recall"]["n"]].map(Value::as_u64)
    };
    // The published figures of the two rules on these cases: 4 false at recall 0.33, 75 false at recall 0.70.
    assert_eq!(counts("keywords"), [Some(4), Some(11), Some(33)]);
    assert_eq!(counts("k8sgpt"), [Some(75), Some(23), Some(33)]);
    assert_eq!(summary["decisions"], json!({"hold": 130, "propose": 0, "restore": 0}));
}

#[test]
fn the_figures_for_people_fit_80_columns() {
    let said = run_with(&["evaluate", "-"], cases());
    assert_eq!(said.status, 0);
    assert!(said.stdout.starts_with("2 cases of 1 group\n"), "{}", said.stdout);
    for line in said.stdout.lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
}
