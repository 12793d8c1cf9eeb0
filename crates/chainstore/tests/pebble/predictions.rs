//! What the engine would do at its next open, held against what it did with copies: `oracle` in each `manifest.json`, and
//! the fixtures that the engine has been at (`…-then-opened`, `…-then-compacted`).

use crate::fixtures::ENGINES;
use crate::kit;
use chainstore::{Depth, Outcome, Prediction};
use serde_json::Value;

fn cases(engine: &str) -> Vec<Value> {
    serde_json::from_str(&std::fs::read_to_string(kit::fixture(engine).join("manifest.json")).unwrap()).unwrap()
}

fn prediction(case: &str) -> Option<Prediction> {
    kit::report(&kit::fixture(case), Depth::Default).prediction
}

fn keys(oracle: &Value) -> Option<u64> {
    oracle["keys_visible"].as_u64()
}

/// The tables that a start deleted.
fn deleted(oracle: &Value) -> Vec<String> {
    let removed = oracle["files_removed"].as_array().into_iter().flatten().filter_map(Value::as_str);
    removed.filter(|name| name.rsplit_once('.').is_some_and(|(_, kind)| kind == "sst")).map(str::to_owned).collect()
}

/// Where the engine opens and something is gone, though nobody foretells it.
fn is_beyond_foretelling(case: &str) -> bool {
    // Blocks are read later, and a compaction drops them later.
    case.starts_with("table-")
        // A torn end: only the writer knows what it was about to write.
        || case == "wal-torn"
}

#[test]
fn what_the_engine_did_was_foretold() {
    let mut compared = 0;
    for (engine, listed) in ENGINES {
        let cases = cases(engine);
        for case in &cases {
            let name = case["case"].as_str().unwrap();
            let readable =
                listed.iter().any(|(known, outcome, ..)| *known == name && *outcome != Outcome::CouldNotTell);
            let oracle = &case["oracle"];
            if !readable {
                continue;
            }
            let foretold = prediction(&format!("{engine}/{name}"));
            let opens = foretold.as_ref().is_none_or(|foretold| foretold.open.is_ok());
            assert_eq!(Some(opens), oracle["opens"].as_bool(), "{engine}/{name}: {foretold:?}");
            let base = cases.iter().find(|other| other["case"] == case["base"]).map(|base| &base["oracle"]);
            if let Some(foretold) = &foretold {
                compare(foretold, oracle, base, &format!("{engine}/{name}"));
            } else {
                let lost = base.is_some_and(|base| keys(base) > keys(oracle));
                assert!(!lost || is_beyond_foretelling(name), "{engine}/{name}: nothing was foretold");
            }
            compared += 1;
        }
    }
    assert!(compared >= 85, "only {compared}");
}

fn compare(foretold: &Prediction, oracle: &Value, base: Option<&Value>, case: &str) {
    if let Err(words) = &foretold.open {
        // The engine names the directory besides.
        let said = oracle["open_error"].as_str().unwrap().replace("DB/", "").replace(" \"DB\"", "");
        assert!(said.contains(words), "{case}: {words} is not in {said}");
        return;
    }
    // A compaction right after the start deletes others, whose keys it has taken over.
    let deleted = deleted(oracle);
    assert!(foretold.deleted_tables.iter().all(|table| deleted.contains(table)), "{case}: {deleted:?}");
    let (Some(kept), Some(lost)) = (foretold.kept_keys, foretold.lost_keys) else { return };
    // Keys that come back since their deletion is lost are kept, and are none of those that should be there.
    assert!(Some(kept) >= keys(oracle), "{case}: {foretold:?}");
    let gone = base.and_then(keys).unwrap() - keys(oracle).unwrap();
    assert!(lost <= gone && (lost > 0 || gone == 0), "{case}: {lost} of {gone}");
}

/// Pebble v1 dies when it finds no pointer, and deletes the tables at the start after that.
#[test]
fn the_start_after_a_panic() {
    for (case, after) in [
        ("pointer-deleted", "pointer-deleted-then-opened"),
        ("fmv13-marker-deleted", "fmv13-marker-deleted-then-opened"),
    ] {
        let foretold = prediction(&format!("pebble/{case}")).unwrap();
        let cases = cases("pebble");
        let oracle = &cases.iter().find(|other| other["case"] == after).unwrap()["oracle"];
        assert_eq!(foretold.deleted_tables, deleted(oracle), "{case}");
        assert_eq!(foretold.kept_keys, keys(oracle), "{case}");
    }
}

/// A block that cannot be read: the finding says what the engine makes of it, and that is what it did.
#[test]
fn what_becomes_of_a_table_with_a_bad_block() {
    for (engine, words, is_kept) in [
        ("pebble", "Pebble 1.1 can leave out the rest of the table at its next compaction and then delete it", false),
        (
            "pebble-1.1.5",
            "Pebble 1.1 can leave out the rest of the table at its next compaction and then delete it",
            false,
        ),
        ("pebble-2", "Pebble v2 ends the node's process when it reads it", true),
    ] {
        let report = kit::report(&kit::fixture(engine).join("table-data-flip"), Depth::Default);
        let [finding] = &report.checks.findings[..] else { panic!("{engine}: {:#?}", report.checks) };
        assert!(finding.detail.contains(words), "{engine}: {}", finding.detail);
        let compacted = kit::fixture(engine).join("table-data-flip-then-compacted").join(&finding.file);
        assert_eq!(compacted.is_file(), is_kept, "{engine}");
    }
}

#[test]
fn in_words() {
    let foretold = |case: &str| prediction(case).map(|prediction| prediction.summary).unwrap_or_default();
    let anew = "pebble finds no pointer to the MANIFEST, begins a new database, and deletes all 2 tables";
    let at_the_second_start = " at the start after that, and 128 of 175 keys are lost";
    assert_eq!(foretold("pebble/pointer-deleted"), format!("{anew}{at_the_second_start}"));
    assert_eq!(foretold("pebble-2/pointer-deleted"), format!("{anew}, and 128 of 175 keys are lost"));
    let opens = "pebble opens this database and silently drops at least";
    assert_eq!(foretold("pebble/manifest-flip-early"), format!("{opens} 128 of 175 keys, and deletes 2 tables"));
    assert_eq!(foretold("pebble/wal-flip-middle"), format!("{opens} 6 of 173 keys"));
    assert_eq!(foretold("pebble/wal-flip-blocks"), format!("{opens} 283 of 426 keys"));
    let without = "pebble opens this database without an error and without the newest writes";
    assert_eq!(foretold("pebble/wal-deleted"), without);
    let refuses = "pebble will not open this database:";
    let unknown = "file 000015 (type 2) unknown to the objstorage provider: file does not exist";
    assert_eq!(foretold("pebble/table-deleted"), format!("{refuses} L6: 000015: {unknown}"));
    let mismatch = "object size mismatch (000015.sst): 4096 (disk) != 6023 (MANIFEST)";
    assert_eq!(foretold("pebble/table-truncated"), format!("{refuses} L6: 000015: {mismatch}"));
    assert_eq!(foretold("pebble/manifest-flip-first"), format!("{refuses} pebble: malformed manifest file"));
    assert_eq!(
        foretold("pebble-2/format-marker-deleted"),
        "pebble v2 will not open this database: the marker of its format is gone"
    );
    for clean in ["healthy", "wal-torn", "manifest-torn", "table-data-flip", "walk-002", "table-not-live"] {
        assert_eq!(foretold(&format!("pebble/{clean}")), "", "{clean}");
    }
}
