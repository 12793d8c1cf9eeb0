//! The incidents in `examples/`. Probabilities are the model's and change with it; everything else is written out.

use serde_json::{Value, json};

use crate::run;

fn report(name: &str) -> Value {
    run(&["diagnose", &format!("examples/{name}"), "--output", "json"]).report()
}

fn text(name: &str) -> String {
    run(&["diagnose", &format!("examples/{name}")]).stdout
}

#[test]
fn the_pod_of_the_first_issue() {
    let report = report("agoric-mainnet-fullnode-0");
    let found = &report["crashloop"];
    assert_eq!(
        (&found["detected"], &found["container"], &found["crashes"], &found["exit_code"], &found["ran_seconds"]),
        (&json!(true), &json!("node"), &json!(100), &json!(2), &json!(227))
    );
    assert_eq!((&found["back_off_seconds"], &found["signal"]), (&json!(300), &json!(null)));
    let containers = found["containers"].as_array().expect("containers");
    let healthcheck = containers.iter().find(|it| it["name"] == "healthcheck").expect("it is there");
    assert_eq!((&healthcheck["state"], &healthcheck["ready"]), (&json!("running"), &json!(false)));
    let completed = containers.iter().filter(|it| it["role"] == "init" && it["exit_code"] == 0 && it["ready"] == true);
    assert_eq!(completed.count(), 4);
    assert_eq!(report["subject"]["claim"], "pvc-agoric-mainnet-fullnode-0");
    assert_eq!(report["subject"]["owner"]["kind"], "CosmosFullNode");
    assert_eq!(report["verdict"]["cause"], "unknown");
    assert_eq!(report["log"]["abstained"], "no log was given");
}

/// Nothing in it is the model's, so the page is held as a whole.
#[test]
fn the_page_of_the_first_issue() {
    insta::assert_snapshot!(text("agoric-mainnet-fullnode-0"));
}

#[test]
fn a_flipped_byte_in_state_db() {
    let report = report("cosmosfullnode-state-db");
    assert_eq!((&report["subject"]["name"], &report["crashloop"]["container"]), (&json!("lab-1"), &json!("node")));
    assert_eq!(report["verdict"]["cause"], "physical_corruption");
    assert_eq!(report["verdict"]["decision"], "hold");
    let line = &report["log"]["decisive"][0];
    assert_eq!((&line["line"], &line["file"]), (&json!(4), &json!("logs/lab-1/node.previous.log")));
    assert_eq!(report["log"]["databases"], json!(["state"]));
    assert_eq!(report["log"]["symptoms"], json!(["checksum_mismatch"]));
    let marked = line["text"].as_str().expect("text");
    let mark: Vec<usize> = serde_json::from_value(line["mark"].clone()).expect("two numbers");
    assert_eq!(marked.get(mark[0]..mark[1]).map(str::trim_end), Some("leveldb/table: corruption on"));
}

#[test]
fn damage_in_application_db_where_version_check_dies() {
    let report = report("cosmosfullnode-application-db");
    assert_eq!(
        (&report["subject"]["name"], &report["crashloop"]["container"], &report["crashloop"]["role"]),
        (&json!("lab-2"), &json!("version-check"), &json!("version_check"))
    );
    let files: Vec<&Value> = report["log"]["files"].as_array().expect("files").iter().map(|it| &it["file"]).collect();
    assert_eq!(files, ["logs/lab-2/node.previous.log", "logs/lab-2/version-check.previous.log"]);
    assert_eq!(report["verdict"]["cause"], "physical_corruption");
    assert_eq!(report["verdict"]["decision"], "hold");
    let page = text("cosmosfullnode-application-db");
    assert!(page.contains("Init container version-check died "), "{page}");
}

#[test]
fn the_verdict_comes_first_then_why_then_what_to_do() {
    let page = text("cosmosfullnode-state-db");
    let order = [
        "peer/lab-1 crash-loops\n",
        " dies of damaged database files (probability ",
        "Decision: hold",
        "\nCrash loop\n",
        "Container node died 7 times; last run 1 s, exit 2; back-off 5 s.",
        "\nLog\n",
        "logs/lab-1/node.previous.log:4\n",
        "^^^^^^^^^^^^^^^^^^^^^^^^^^^^\n",
        "\nReasons for it\n",
        "\nReasons against it\n",
        "\nWhat forbids a restore\n",
        "\nWhat is not known\n",
        "Not given: data/, peers.json, bundle.json.",
        "\nWhat to do next\n",
        "  1. Keep what is there before anything else",
    ];
    let mut from = 0;
    for part in order {
        let at = page.get(from..).and_then(|rest| rest.find(part));
        from += at.unwrap_or_else(|| panic!("{part:?} is missing or too early:\n{page}"));
    }
}

#[test]
fn no_line_is_wider_than_80_columns() {
    for name in ["agoric-mainnet-fullnode-0", "cosmosfullnode-state-db", "cosmosfullnode-application-db"] {
        let said = run(&["diagnose", &format!("examples/{name}"), "--explain"]);
        // Commands stand behind seven spaces and are broken between words only; a long word stays whole.
        for line in said.stdout.lines().filter(|line| !line.starts_with("       ")) {
            assert!(line.chars().count() <= 80, "{line}");
        }
    }
}
