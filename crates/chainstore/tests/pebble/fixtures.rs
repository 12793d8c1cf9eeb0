//! Files of the real Pebble, v1 and v2, healthy and damaged: what is found in each, and what a view of them gives.
//!
//! The fixtures, and what the engine itself made of each, are described in their `manifest.json`.

use crate::{kit, record};
use chainstore::{Depth, Outcome, Severity};

use Outcome::{CouldNotTell, Damaged, Intact};

/// Case, outcome, heaviest kind, how the first such finding is attributed.
pub(crate) type Case = (&'static str, Outcome, &'static str, &'static str);

/// Pebble 1.1.2 at the format of a node (1), and at 13.
#[rustfmt::skip]
const V1: &[Case] = &[
    ("healthy", Intact, "", ""),
    ("healthy-plain", Intact, "", ""),
    ("healthy-zstd", Intact, "", ""),
    ("healthy-large", Intact, "", ""),
    ("healthy-rangedel", Intact, "", ""),
    ("healthy-reopened", Intact, "", ""),
    ("healthy-compacted", Intact, "", ""),
    ("valueblocks", Intact, "", ""),
    ("killed", Intact, "", ""),
    ("killed-blocks", Intact, "", ""),
    ("killed-unsynced", Intact, "", ""),
    ("fmv13-healthy", Intact, "", ""),
    ("fmv13-killed", Intact, "", ""),
    ("walk-001", Intact, "", ""), ("walk-002", Intact, "", ""), ("walk-004", Intact, "", ""),
    ("walk-006", Intact, "", ""),
    // Their logs end in the middle of what the files held as earlier logs; a torn write would look the same.
    ("walk-003", Intact, "self_healing", "unknown"), ("walk-005", Intact, "self_healing", "unknown"),
    ("walk-007", Intact, "self_healing", "unknown"),
    // Damage that harms nobody, or that the engine repairs.
    ("fmv13-current-deleted", Intact, "", ""),
    ("table-footer-padding", Intact, "", ""),
    ("table-not-live", Intact, "unreferenced", "unknown"),
    ("manifest-torn", Intact, "self_healing", "unknown"),
    ("wal-torn", Intact, "self_healing", "unknown"),
    ("wal-zero-tail", Intact, "", ""),
    // The engine has dropped what was damaged and deleted the files: the bytes that are left are right. The heights tell.
    ("table-data-flip-then-compacted", Intact, "", ""),
    ("wal-deleted-then-opened", Intact, "", ""),
    ("wal-flip-blocks-then-opened", Intact, "", ""),
    ("wal-flip-middle-then-opened", Intact, "", ""),
    // A new, empty database: what was there before is not told by its files.
    ("only-lock-then-opened", Intact, "", ""),
    ("fmv16-healthy", CouldNotTell, "", ""),
    ("table-data-flip", Damaged, "block_checksum", "single-bit flip (bit 4 of byte 976)"),
    ("table-index-flip", Damaged, "block_checksum", "single-bit flip (bit 1 of byte 5020)"),
    ("table-topindex-flip", Damaged, "block_checksum", "single-bit flip (bit 1 of byte 5236)"),
    ("table-footer-magic", Damaged, "table_footer", "single-bit flip (bit 0 of byte 6020)"),
    ("table-truncated", Damaged, "table_size", "truncation (1927 bytes missing)"),
    ("table-zeroed-page", Damaged, "block_checksum", "zeroed page (4096 bytes of zeros at 0)"),
    ("table-zeroed-page-then-compacted", Damaged, "block_checksum", "zeroed page (4096 bytes of zeros at 0)"),
    ("table-deleted", Damaged, "table_missing", "unknown"),
    ("table-swapped", Damaged, "table_size", "truncation (3758 bytes missing)"),
    ("table-block-misplaced", Damaged, "key_order", "unknown"),
    ("pointer-deleted", Damaged, "entry_point_missing", "unknown"),
    ("pointer-deleted-then-opened", Damaged, "engine_dropped_data", "unknown"),
    ("fmv13-marker-deleted", Damaged, "entry_point_missing", "unknown"),
    ("fmv13-marker-deleted-then-opened", Damaged, "engine_dropped_data", "unknown"),
    ("current-garbage", Damaged, "entry_point_corrupt", "unknown"),
    ("manifest-deleted", Damaged, "manifest_missing", "unknown"),
    ("manifest-flip-first", Damaged, "manifest_corrupt", "single-bit flip (bit 3 of byte 11)"),
    ("manifest-flip-early", Damaged, "manifest_corrupt", "single-bit flip (bit 2 of byte 64)"),
    ("manifest-flip-early-then-opened", Damaged, "engine_dropped_data", "single-bit flip (bit 2 of byte 64)"),
    ("manifest-flip-late", Damaged, "manifest_corrupt", "single-bit flip (bit 1 of byte 682)"),
    ("manifest-flip-late-then-opened", Damaged, "engine_dropped_data", "single-bit flip (bit 1 of byte 682)"),
    ("manifest-truncated", Damaged, "table_missing", "unknown"),
    ("wal-flip-middle", Damaged, "journal_corrupt", "single-bit flip (bit 3 of byte 526)"),
    ("wal-flip-blocks", Damaged, "journal_corrupt", "single-bit flip (bit 3 of byte 11154)"),
    ("wal-lognum-flip", Damaged, "journal_corrupt", "single-bit flip (bit 4 of byte 421)"),
    ("wal-zeroed-page", Damaged, "journal_corrupt", "zeroed page (4096 bytes of zeros at 8192)"),
    ("wal-deleted", Damaged, "journal_missing", "unknown"),
];

/// Pebble 1.1.5.
#[rustfmt::skip]
const V1_5: &[Case] = &[
    ("healthy", Intact, "", ""),
    ("killed", Intact, "", ""),
    ("fmv13-healthy", Intact, "", ""),
    ("table-data-flip", Damaged, "block_checksum", "single-bit flip (bit 4 of byte 976)"),
    ("table-data-flip-then-compacted", Intact, "", ""),
    ("wal-flip-middle", Damaged, "journal_corrupt", "single-bit flip (bit 3 of byte 526)"),
    ("wal-flip-middle-then-opened", Intact, "", ""),
];

/// Pebble 2.1 at the format of a node (13), and at newer ones.
#[rustfmt::skip]
const V2: &[Case] = &[
    ("healthy", Intact, "", ""),
    ("healthy-rangedel", Intact, "", ""),
    ("healthy-reopened", Intact, "", ""),
    ("healthy-compacted", Intact, "", ""),
    ("killed", Intact, "", ""),
    ("killed-unsynced", Intact, "", ""),
    // Killed in its first flush: the table is written, the MANIFEST does not name it yet.
    ("walk-001", Intact, "unreferenced", "unknown"),
    ("walk-002", Intact, "", ""), ("walk-003", Intact, "", ""),
    ("marker-stale", Intact, "", ""),
    ("manifest-torn", Intact, "self_healing", "unknown"),
    ("wal-torn", Intact, "self_healing", "unknown"),
    ("wal-zero-tail", Intact, "", ""),
    ("wal-flip-middle-then-opened", Intact, "", ""),
    ("only-lock-then-opened", Intact, "", ""),
    ("fmv19-healthy", CouldNotTell, "", ""),
    ("fmv20-healthy", CouldNotTell, "", ""),
    ("fmv20-killed", CouldNotTell, "", ""),
    ("fmv20-wal-flip-middle", CouldNotTell, "", ""),
    ("fmv24-healthy", CouldNotTell, "", ""),
    ("marker-newer-format", CouldNotTell, "", ""),
    ("table-data-flip", Damaged, "block_checksum", "single-bit flip (bit 4 of byte 978)"),
    ("table-data-flip-then-compacted", Damaged, "block_checksum", "single-bit flip (bit 4 of byte 978)"),
    ("table-topindex-flip", Damaged, "block_checksum", "single-bit flip (bit 1 of byte 6048)"),
    ("table-properties-flip", Damaged, "block_checksum", "single-bit flip (bit 2 of byte 6302)"),
    ("table-footer-magic", Damaged, "table_footer", "single-bit flip (bit 0 of byte 6624)"),
    ("table-truncated", Damaged, "table_size", "truncation (2531 bytes missing)"),
    ("table-zeroed-page", Damaged, "block_checksum", "zeroed page (4096 bytes of zeros at 0)"),
    ("table-deleted", Damaged, "table_missing", "unknown"),
    ("pointer-deleted", Damaged, "entry_point_missing", "unknown"),
    ("pointer-deleted-then-opened", Damaged, "engine_dropped_data", "unknown"),
    ("format-marker-deleted", Damaged, "marker_corrupt", "unknown"),
    ("manifest-deleted", Damaged, "manifest_missing", "unknown"),
    ("manifest-flip-early", Damaged, "manifest_corrupt", "single-bit flip (bit 2 of byte 110)"),
    ("manifest-flip-late", Damaged, "manifest_corrupt", "single-bit flip (bit 1 of byte 668)"),
    ("manifest-truncated", Damaged, "table_missing", "unknown"),
    ("wal-flip-middle", Damaged, "journal_corrupt", "single-bit flip (bit 3 of byte 526)"),
    ("wal-lognum-flip", Damaged, "journal_corrupt", "single-bit flip (bit 4 of byte 421)"),
    ("wal-deleted", Damaged, "journal_missing", "unknown"),
];

pub(crate) const ENGINES: [(&str, &[Case]); 3] = [("pebble", V1), ("pebble-1.1.5", V1_5), ("pebble-2", V2)];

#[test]
fn every_case_is_called_what_it_is() {
    for (engine, cases) in ENGINES {
        for (case, outcome, kind, attribution) in cases {
            for depth in [Depth::Default, Depth::Deep] {
                let report = kit::report(&kit::fixture(engine).join(case), depth);
                let case = format!("{engine}/{case} {depth:?}");
                assert_eq!(report.outcome, *outcome, "{case}: {:#?}", report.checks);
                let found = report.checks.findings.iter().find(|finding| finding.kind.name() == *kind);
                let told = found.map(|finding| finding.attribution.to_string()).unwrap_or_default();
                assert_eq!(told, *attribution, "{case}: {:#?}", report.checks.findings);
                // A sound database has nothing to note, and a damaged one nothing that is not damage or a note.
                assert_eq!(report.checks.findings.is_empty(), kind.is_empty(), "{case}: {:#?}", report.checks.findings);
                let damage = report.checks.findings.iter().any(|finding| finding.severity() == Severity::Damage);
                assert_eq!(damage, *outcome == Damaged, "{case}");
                assert_eq!(report.checks.untold.is_empty(), *outcome != CouldNotTell, "{case}");
            }
        }
    }
}

#[test]
fn no_case_is_forgotten() {
    for (engine, cases) in ENGINES {
        for entry in std::fs::read_dir(kit::fixture(engine)).unwrap() {
            let entry = entry.unwrap();
            let name = entry.file_name().into_string().unwrap();
            let listed = cases.iter().any(|(case, ..)| *case == name);
            assert!(listed || !entry.path().is_dir() || name == "only-lock", "{engine}/{name}");
        }
    }
}

#[test]
fn a_volume_that_lost_its_database_has_none() {
    for engine in ["pebble", "pebble-2"] {
        let (home, _) = kit::copy(&kit::fixture(engine).join("only-lock"));
        let report = kit::report(home.path(), Depth::Default);
        assert_eq!(report.outcome, CouldNotTell);
        assert!(report.checks.findings.iter().any(|finding| finding.kind.name() == "no_database"));
    }
}

/// What is left to be seen at the quick depth: entry points, manifests, sizes, footers, WALs.
#[test]
fn the_quick_depth_reads_no_blocks() {
    for (engine, cases) in ENGINES {
        for (case, outcome, kind, _) in cases {
            let report = kit::report(&kit::fixture(engine).join(case), Depth::Quick);
            let in_blocks = ["block_checksum", "key_order"].contains(kind);
            assert_eq!(report.outcome, if in_blocks { Intact } else { *outcome }, "{engine}/{case}");
        }
    }
}

#[test]
fn the_format_that_is_not_read_is_named() {
    let report = kit::report(&kit::fixture("pebble-2/fmv24-healthy"), Depth::Default);
    let words = "format major version 24 of Pebble (ValueSeparation) is not read by this version";
    assert_eq!(report.checks.untold[0].to_string(), words);
}

/// The view gives, byte for byte, what the engine gave when it opened a copy: of healthy databases, and of damaged ones
/// of which it drops a part.
#[test]
fn the_view_is_what_the_engine_would_see() {
    for (engine, at_least) in [("pebble", 30), ("pebble-1.1.5", 5), ("pebble-2", 15)] {
        let manifest = std::fs::read_to_string(kit::fixture(engine).join("manifest.json")).unwrap();
        let mut compared = 0;
        for (case, block) in record::recorded(&manifest) {
            // Where the engine's scan failed, there is nothing to compare; newer formats are not read. Where it found no
            // pointer, the view goes on with the MANIFEST that is there.
            let newer = case.starts_with("fmv1") && !case.starts_with("fmv13") || case.starts_with("fmv2");
            let readable = record::field(block, "opens") == Some("true")
                && record::field(block, "strict_scan_fails") == Some("false");
            if !readable || newer || case == "only-lock" || case == "pointer-deleted" {
                continue;
            }
            let name = format!("{engine}/{case}");
            assert_eq!(record::field(block, "content_sha256"), Some(record::content_of(&name).as_str()), "{name}");
            compared += 1;
        }
        assert!(compared >= at_least, "only {compared} cases of {engine} were compared");
    }
}

#[test]
fn the_last_key_of_a_prefix() {
    for case in ["pebble/healthy-reopened", "pebble/healthy-rangedel", "pebble/valueblocks"] {
        let store = kit::store(&kit::fixture(case));
        let view = store.view().unwrap();
        let all: Vec<_> = view.range(&[], None).map(Result::unwrap).collect();
        assert!(all.len() > 50);
        for (at, (key, _)) in all.iter().enumerate() {
            let before = at.checked_sub(1).and_then(|before| all.get(before));
            assert_eq!(view.last_in(b"", Some(key)).unwrap().as_ref(), before, "{case}");
        }
        assert_eq!(view.last_in(b"", None).unwrap().as_ref(), all.last());
        assert_eq!(view.last_with_prefix(b"zzz").unwrap(), None);
    }
}
