//! Reports as they come out of a log: whole, cut, with words around them, of another version.

use super::*;

const INTACT: &str =
    r#"{"schema":"loopbreaker.dev/inspection/v1","outcome":"intact","depth":"default","databases":[],"findings":[]}"#;

fn reading(log: &str) -> Result<DiskReading, NotAReport> {
    read_inspection(log).map(|report| report.reading())
}

fn intact(scope: InspectionScope) -> DiskReading {
    DiskReading::Intact { scope }
}

fn with_findings(outcome: &str, findings: &[(&str, &str)]) -> String {
    let findings: Vec<serde_json::Value> = findings
        .iter()
        .map(|(severity, database)| serde_json::json!({"severity": severity, "database": database, "detail": "d"}))
        .collect();
    serde_json::json!({"schema": SCHEMA, "outcome": outcome, "depth": "deep", "findings": findings}).to_string()
}

#[test]
fn words_may_stand_around_it() {
    for log in [
        INTACT.to_owned(),
        format!("warning: the ring cannot be read\n{INTACT}\n"),
        format!("{INTACT}\nbye {{}}\n"),
        format!("{{\"level\":\"info\"}}\n{INTACT}\n"),
        format!("{{ broken\n{INTACT}\n"),
        serde_json::to_string_pretty(&serde_json::from_str::<serde_json::Value>(INTACT).expect("JSON")).expect("JSON"),
    ] {
        assert_eq!(reading(&log), Ok(intact(InspectionScope::AllChecks)), "{log}");
    }
}

#[test]
fn what_is_no_report_is_never_read_as_one() {
    assert_eq!(reading(""), Err(NotAReport::None("its log is empty".to_owned())));
    let cannot = "error: /volume: Permission denied (run it as user id 1025 or as root)\n";
    let words = "error: /volume: Permission denied (run it as user id 1025 or as root)".to_owned();
    assert_eq!(reading(cannot), Err(NotAReport::None(words)));
    assert!(matches!(reading("{\"outcome\":\"intact\"}"), Err(NotAReport::None(_))));
    let half = INTACT.get(..60).expect("half of it");
    assert!(matches!(reading(half), Err(NotAReport::Broken(_))));
    assert!(matches!(reading(&"{\n".repeat(50_000)), Err(NotAReport::Broken(_))));
    assert!(matches!(reading(&"[".repeat(500_000)), Err(NotAReport::None(_))));
}

#[test]
fn another_version_is_said() {
    let newer = INTACT.replace("inspection/v1", "inspection/v2");
    let why = reading(&newer).expect_err("not ours");
    assert_eq!(
        why.to_string(),
        "the inspector's report is of schema loopbreaker.dev/inspection/v2, which this version does not read (use the \
         operator's own image)"
    );
}

#[test]
fn the_gravest_counts() {
    let name = |name: &str| vec![DatabaseName::new(name)];
    for (outcome, findings, expected) in [
        (
            "damaged",
            vec![("damage", "state"), ("host_sick", "application")],
            DiskReading::ReadsDiffer(name("application")),
        ),
        ("damaged", vec![("damage", "state"), ("inconsistency", "application")], DiskReading::Damaged(name("state"))),
        (
            "damaged",
            vec![("damage", "tx_index"), ("inconsistency", "application")],
            DiskReading::Inconsistent(name("application")),
        ),
        ("damaged", vec![("damage", "tx_index")], DiskReading::Damaged(name("tx_index"))),
        ("inconsistent", vec![("inconsistency", "state")], DiskReading::Inconsistent(name("state"))),
    ] {
        assert_eq!(reading(&with_findings(outcome, &findings)), Ok(expected), "{outcome} {findings:?}");
    }
    let unknown = reading(&with_findings("splendid", &[]));
    assert_eq!(unknown, Ok(DiskReading::CouldNotTell("the inspector's outcome \"splendid\" is not known".to_owned())));
}

#[test]
fn how_much_was_read_is_taken_at_its_least() {
    let tree = |fits: &str, walked: u64| {
        INTACT.replace(
            "\"databases\"",
            &format!(
                r#""trees":{{"stores":[{{"root_fits":{fits},"leaves":9,"walked_leaves":{walked}}}]}},"databases""#
            ),
        )
    };
    assert_eq!(reading(&tree("true", 9)), Ok(intact(InspectionScope::AllChecksAndIavlHashes)));
    assert_eq!(reading(&tree("true", 8)), Ok(intact(InspectionScope::AllChecks)));
    assert_eq!(reading(&tree("null", 9)), Ok(intact(InspectionScope::AllChecks)));
    assert_eq!(reading(&INTACT.replace("default", "quick")), Ok(intact(InspectionScope::Quick)));
    assert_eq!(reading(&INTACT.replace(r#""depth":"default","#, "")), Ok(intact(InspectionScope::Quick)));
}

#[test]
fn what_only_the_disk_can_tell_takes_no_veto_away() {
    let log = INTACT.replace(
        "\"databases\"",
        r#""signing":{"state":"signed","height":7},"upgrade":{"name":"v2","height":90,"is_due":true},"databases""#,
    );
    let report = read_inspection(&log).expect("a report");
    let mut circumstances = Circumstances::default();
    report.complete(&mut circumstances);
    assert_eq!(
        circumstances.signing,
        SigningRisk::MaySign("its signing state says that it signed at height 7".to_owned())
    );
    assert_eq!(circumstances.upgrade, UpgradePlan::Due("upgrade-info.json names \"v2\" at block 90".to_owned()));
    let mut remote = Circumstances { signing: SigningRisk::NeverSigns, ..Circumstances::default() };
    report.complete(&mut remote);
    assert_eq!(remote.signing, SigningRisk::NeverSigns);
    let mut known = Circumstances { upgrade: UpgradePlan::Due("by its owner".to_owned()), ..Circumstances::default() };
    read_inspection(INTACT).expect("a report").complete(&mut known);
    assert_eq!(known.upgrade, UpgradePlan::Due("by its owner".to_owned()));
}

#[test]
fn room_is_free_exhausted_or_not_known() {
    let space = |fields: &str| {
        let log = INTACT.replace("\"databases\"", &format!("\"space\":{{{fields}}},\"databases\""));
        read_inspection(&log).expect("a report").space()
    };
    assert_eq!(space(r#""free_bytes":5000000000,"total_bytes":9000000000,"free_inodes":900"#), Space::Free);
    assert_eq!(space(r#""free_bytes":5000000000"#), Space::Free);
    let full = Space::Exhausted("3 MiB of 1024 MiB are free".to_owned());
    assert_eq!(space(r#""free_bytes":4000000,"total_bytes":1073741824"#), full);
    assert_eq!(space(r#""free_bytes":5000000000,"free_inodes":2"#), Space::Exhausted("2 inodes are free".to_owned()));
    assert_eq!(read_inspection(INTACT).expect("a report").space(), Space::Unknown);
}

#[test]
fn the_worst_findings_come_first_and_no_more_than_asked() {
    let log = with_findings("damaged", &[("could_not_tell", "a"), ("inconsistency", "b"), ("damage", "c")]);
    assert_eq!(read_inspection(&log).expect("a report").findings(2), ["c : d", "b : d"]);
}
