//! Files of the real goleveldb, healthy and damaged: what is found in each, and what a view of them gives.
//!
//! The fixtures, and what the engine itself made of each, are described in their `manifest.json`.

use crate::{kit, record};
use chainstore::{Depth, Outcome, Severity};

use Outcome::{CouldNotTell, Damaged, Intact};

/// Case, outcome, heaviest kind, how the first such finding is attributed.
#[rustfmt::skip]
const CASES: &[(&str, Outcome, &str, &str)] = &[
    ("healthy", Intact, "", ""),
    ("healthy-plain", Intact, "", ""),
    ("healthy-nofilter", Intact, "", ""),
    ("healthy-reopened", Intact, "", ""),
    ("killed", Intact, "", ""),
    ("killed-blocks", Intact, "", ""),
    ("empty", Intact, "", ""),
    ("walk-001", Intact, "", ""), ("walk-002", Intact, "", ""), ("walk-003", Intact, "", ""),
    ("walk-004", Intact, "", ""), ("walk-005", Intact, "", ""), ("walk-006", Intact, "", ""),
    ("walk-007", Intact, "", ""), ("walk-008", Intact, "", ""),
    // Damage that harms nobody, or that the engine repairs.
    ("table-footer-padding", Intact, "", ""),
    ("table-not-live", Intact, "", ""),
    ("current-empty-bak", Intact, "", ""),
    ("manifest-torn", Intact, "", ""),
    ("journal-torn", Intact, "", ""),
    ("journal-torn-then-opened", Intact, "", ""),
    ("journal-zero-tail", Intact, "", ""),
    // Cut far from its end, but nothing follows: it cannot be told from a torn end. The heights tell.
    ("journal-truncated", Intact, "", ""),
    // The journal is gone and the engine has begun a new one: nothing in this database tells. The heights do.
    ("journal-deleted-then-opened", Intact, "", ""),
    // The engine dropped a broken chunk, and nothing shows that more stood behind it.
    ("journal-flip-only-block-then-opened", CouldNotTell, "", ""),
    ("table-data-flip", Damaged, "block_checksum", "single-bit flip (bit 4 of byte 1162)"),
    ("table-data-flip-then-opened", Damaged, "block_checksum", "single-bit flip (bit 4 of byte 1162)"),
    ("table-index-flip", Damaged, "block_checksum", "single-bit flip (bit 1 of byte 6646)"),
    ("table-metaindex-flip", Damaged, "block_checksum", "single-bit flip (bit 3 of byte 6426)"),
    ("table-filter-flip", Damaged, "block_checksum", "single-bit flip (bit 5 of byte 6312)"),
    ("table-footer-magic", Damaged, "table_footer", "single-bit flip (bit 0 of byte 6866)"),
    ("table-truncated", Damaged, "table_size", "truncation (2774 bytes missing)"),
    ("table-zeroed-page", Damaged, "block_checksum", "zeroed page (4096 bytes of zeros at 0)"),
    ("table-deleted", Damaged, "table_missing", "unknown"),
    ("table-swapped", Damaged, "table_size", "truncation (3175 bytes missing)"),
    ("table-block-misplaced", Damaged, "key_order", "unknown"),
    ("table-foreign-page", Damaged, "block_checksum", "another file's content (table-foreign-page/000016.ldb at 0)"),
    ("current-deleted", Damaged, "entry_point_missing", "unknown"),
    ("current-garbage", Damaged, "entry_point_corrupt", "unknown"),
    ("current-empty", Damaged, "entry_point_corrupt", "unknown"),
    ("manifest-flip-early", Damaged, "manifest_corrupt", "single-bit flip (bit 2 of byte 58)"),
    ("manifest-flip-early-then-opened", Damaged, "engine_dropped_data", "unknown"),
    ("manifest-flip-first", Damaged, "manifest_corrupt", "single-bit flip (bit 3 of byte 11)"),
    ("manifest-flip-late", Damaged, "manifest_corrupt", "single-bit flip (bit 1 of byte 481)"),
    ("manifest-flip-late-then-opened", Damaged, "engine_dropped_data", "unknown"),
    ("manifest-truncated", Damaged, "table_missing", "unknown"),
    ("manifest-truncated-then-opened", Damaged, "table_missing", "unknown"),
    ("manifest-cut-at-record", Damaged, "table_missing", "unknown"),
    ("manifest-deleted", Damaged, "manifest_missing", "unknown"),
    ("journal-flip-middle", Damaged, "journal_corrupt", "single-bit flip (bit 3 of byte 11144)"),
    ("journal-flip-middle-then-opened", Damaged, "engine_dropped_data", "unknown"),
    ("journal-flip-only-block", Damaged, "journal_corrupt", "single-bit flip (bit 0 of byte 1033)"),
    ("journal-zeroed-page", Damaged, "journal_corrupt", "zeroed page (4096 bytes of zeros at 8192)"),
    ("journal-deleted", Damaged, "journal_missing", "unknown"),
    ("journal-batch-forged", Damaged, "batch_malformed", "unknown"),
];

#[test]
fn every_case_is_called_what_it_is() {
    for depth in [Depth::Default, Depth::Deep] {
        for (case, outcome, kind, attribution) in CASES {
            let report = kit::report(&kit::fixture("goleveldb").join(case), depth);
            assert_eq!(report.outcome, *outcome, "{case}: {:#?}", report.checks);
            let found = report.checks.findings.iter().find(|finding| finding.kind.name() == *kind);
            let told = found.map(|finding| finding.attribution.to_string()).unwrap_or_default();
            let attribution = attribution.replace(&format!("{case}/"), "");
            assert_eq!(told, attribution, "{case}: {:#?}", report.checks.findings);
            let damage = report.checks.findings.iter().any(|finding| finding.severity() == Severity::Damage);
            assert_eq!(damage, *outcome == Damaged, "{case}");
        }
    }
}

#[test]
fn no_case_is_forgotten() {
    for entry in std::fs::read_dir(kit::fixture("goleveldb")).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        let listed = CASES.iter().any(|(case, ..)| *case == name);
        assert!(listed || !entry.path().is_dir() || name == "only-lock", "{name}");
    }
}

#[test]
fn a_volume_that_lost_its_database_has_none() {
    let (home, _) = kit::copy(&kit::fixture("goleveldb/only-lock"));
    let report = kit::report(home.path(), Depth::Default);
    assert_eq!(report.outcome, CouldNotTell);
    assert!(report.checks.findings.iter().any(|finding| finding.kind.name() == "no_database"));
}

/// What the engine would do, in the words of a prediction.
#[test]
fn the_next_open_is_foretold() {
    let foretold = |case: &str| {
        let report = kit::report(&kit::fixture("goleveldb").join(case), Depth::Default);
        report.prediction.map(|prediction| prediction.summary).unwrap_or_default()
    };
    let go = |words: &str| format!("goleveldb {words}");
    // The fixtures' own record: 31 of 255 keys are left by the first, 153 of 433 by the second.
    assert_eq!(
        foretold("manifest-flip-early"),
        go("opens this database and silently drops at least 224 of 255 keys, and deletes 2 tables")
    );
    assert_eq!(foretold("journal-flip-middle"), go("opens this database and silently drops at least 277 of 430 keys"));
    assert_eq!(foretold("table-deleted"), go("will not open this database: file missing"));
    assert_eq!(
        foretold("manifest-flip-first"),
        go("will not open this database: manifest corrupted (field 'comparer'): missing [file=MANIFEST-000000]")
    );
    assert_eq!(
        foretold("current-deleted"),
        go("will not open this database: database entry point either missing or corrupted")
    );
    for clean in ["healthy", "journal-torn", "table-data-flip", "walk-002"] {
        assert_eq!(foretold(clean), "", "{clean}");
    }
}

/// The view gives, byte for byte, what the engine gave when it opened a copy: of healthy databases, and of damaged ones
/// of which it drops a part.
#[test]
fn the_view_is_what_the_engine_would_see() {
    let manifest = std::fs::read_to_string(kit::fixture("goleveldb/manifest.json")).unwrap();
    let mut compared = 0;
    for (case, block) in record::recorded(&manifest) {
        // Where the engine failed half-way through its scan, there is nothing to compare.
        // A block in another's place leaves keys out of order, and what a merge makes of that depends on its steps.
        let ordered = case != "only-lock" && case != "table-block-misplaced";
        if record::field(block, "opens") != Some("true") || record::field(block, "scan_error").is_some() || !ordered {
            continue;
        }
        let name = format!("goleveldb/{case}");
        assert_eq!(record::field(block, "content_sha256"), Some(record::content_of(&name).as_str()), "{name}");
        compared += 1;
    }
    assert!(compared >= 30, "only {compared} cases were compared");
}

#[test]
fn the_last_key_of_a_prefix() {
    let store = kit::store(&kit::fixture("goleveldb/healthy-reopened"));
    let view = store.view().unwrap();
    for prefix in [&b"H:"[..], b"P:", b"C:", b"b"] {
        let all: Vec<_> = view.iter_prefix(prefix).map(Result::unwrap).collect();
        assert!(!all.is_empty());
        assert_eq!(view.last_with_prefix(prefix).unwrap().as_ref(), all.last());
        assert_eq!(view.first_with_prefix(prefix).unwrap().as_ref(), all.first());
    }
    assert_eq!(view.last_with_prefix(b"zz").unwrap(), None);
    assert_eq!(view.get(b"H").unwrap(), None);
}
