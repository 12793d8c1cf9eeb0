//! Files of the real RocksDB, healthy and damaged: what is found in each, and what a view of them gives.
//!
//! The fixtures, and what the engine itself made of each, are described in their `manifest.json`.

use crate::{kit, record};
use chainstore::{Depth, Outcome, Severity};

use Outcome::{CouldNotTell, Damaged, Intact};

/// Case, outcome, heaviest kind, how the first such finding is attributed.
type Case = (&'static str, Outcome, &'static str, &'static str);

/// RocksDB 9.8.
#[rustfmt::skip]
const V9: &[Case] = &[
    ("fv2-crc32c-none", Intact, "", ""),
    ("fv2-xxhash-snappy", Intact, "", ""),
    ("fv3-crc32c-zlib", Intact, "", ""),
    ("fv4-xxhash64-lz4", Intact, "", ""),
    ("fv5-crc32c-snappy", Intact, "", ""),
    ("fv5-xxhash64-zstd", Intact, "", ""),
    ("fv5-xxh3-lz4hc", Intact, "", ""),
    ("fv5-partitioned", Intact, "", ""),
    ("fv5-killed", Intact, "", ""),
    ("fv6-xxh3-snappy", Intact, "", ""),
    ("fv6-crc32c-zstd", Intact, "", ""),
    ("fv6-xxhash64-none", Intact, "", ""),
    ("fv6-partitioned", Intact, "", ""),
    ("fv6-blobs", Intact, "", ""),
    ("fv6-columns", Intact, "", ""),
    ("fv6-hashindex", Intact, "", ""),
    ("fv6-killed-recycled", Intact, "", ""),
    ("fv6-ranges", Intact, "", ""),
    ("fv5-wal-torn", Intact, "self_healing", "unknown"),
    // Without checksums nobody can tell whether a block's bytes are those that were written; with the flipped bit the block
    // unpacks, and the engine reads it without a word.
    ("fv5-nochecksum", CouldNotTell, "", ""),
    ("fv5-nochecksum-flip", CouldNotTell, "", ""),
    ("fv5-data-flip", Damaged, "block_checksum", "single-bit flip (bit 3 of byte 60)"),
    ("fv6-data-flip", Damaged, "block_checksum", "single-bit flip (bit 3 of byte 60)"),
    ("fv5-index-flip", Damaged, "block_checksum", "single-bit flip (bit 2 of byte 2903)"),
    ("fv6-metaindex-flip", Damaged, "block_checksum", "single-bit flip (bit 2 of byte 4058)"),
    ("fv6-footer-flip", Damaged, "table_footer", "single-bit flip (bit 2 of byte 4173)"),
    ("fv6-foreign-table-block", Damaged, "block_checksum", "unknown"),
    ("fv6-table-truncated", Damaged, "table_size", "truncation (2168 bytes missing)"),
    ("fv6-table-deleted", Damaged, "table_missing", "unknown"),
    ("fv6-blob-flip", Damaged, "blob_corrupt", "single-bit flip (bit 3 of byte 100)"),
    ("fv6-manifest-flip", Damaged, "manifest_corrupt", "single-bit flip (bit 1 of byte 247)"),
    ("fv6-current-deleted", Damaged, "entry_point_missing", "unknown"),
    ("fv5-wal-flip", Damaged, "journal_corrupt", "single-bit flip (bit 1 of byte 635)"),
];

/// RocksDB 7.8.
#[rustfmt::skip]
const V7: &[Case] = &[
    ("first-keys", Intact, "", ""),
    ("hash-search", Intact, "", ""),
    ("two-levels-full-filter", Intact, "", ""),
    ("wal-packed", Intact, "", ""),
    ("merges-killed", Intact, "", ""),
    ("ingested-killed", Intact, "", ""),
    ("dictionary-zstd", Intact, "", ""),
    ("columns-killed", Intact, "", ""),
    ("current-deleted-then-opened", Damaged, "engine_dropped_data", "unknown"),
];

const ENGINES: [(&str, &[Case]); 2] = [("rocksdb", V9), ("rocksdb-7.8", V7)];

/// Every case with its directory.
fn cases() -> impl Iterator<Item = (String, &'static Case)> {
    ENGINES.into_iter().flat_map(|(engine, cases)| cases.iter().map(move |case| (format!("{engine}/{}", case.0), case)))
}

#[test]
fn every_case_is_called_what_it_is() {
    for (case, (_, outcome, kind, attribution)) in cases() {
        for depth in [Depth::Default, Depth::Deep] {
            let report = kit::report(&kit::fixture(&case), depth);
            let case = format!("{case} {depth:?}");
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

#[test]
fn no_case_is_forgotten() {
    for (engine, cases) in ENGINES {
        for entry in std::fs::read_dir(kit::fixture(engine)).unwrap() {
            let entry = entry.unwrap();
            let name = entry.file_name().into_string().unwrap();
            assert!(cases.iter().any(|(case, ..)| *case == name) || !entry.path().is_dir(), "{engine}/{name}");
        }
    }
}

/// What is left to be seen at the quick depth: entry point, MANIFEST, sizes, footers, WALs.
#[test]
fn the_quick_depth_reads_no_blocks() {
    for (case, (_, outcome, kind, attribution)) in cases() {
        let report = kit::report(&kit::fixture(&case), Depth::Quick);
        let in_blocks = *outcome == CouldNotTell || ["block_checksum", "key_order"].contains(kind);
        let in_a_blob = *kind == "blob_corrupt" && attribution.starts_with("single-bit");
        assert_eq!(report.outcome, if in_blocks || in_a_blob { Intact } else { *outcome }, "{case}");
    }
}

#[test]
fn what_no_checksum_protects_is_named() {
    let report = kit::report(&kit::fixture("rocksdb/fv5-nochecksum"), Depth::Default);
    let words: Vec<String> = report.checks.untold.iter().map(ToString::to_string).collect();
    let named = ["000012.sst", "000014.sst", "000016.sst"].map(|table| format!("{table} carries no checksum"));
    assert_eq!(words, named);
}

/// What the engine would do, in the words of a prediction. The fixtures' own record of what it did says the same.
#[test]
fn the_next_open_is_foretold() {
    let foretold = |case: &str| {
        let report = kit::report(&kit::fixture("rocksdb").join(case), Depth::Default);
        report.prediction.map(|prediction| prediction.summary).unwrap_or_default()
    };
    let refuses = "rocksdb will not open this database: Corruption:";
    // The record: 100 of 108 keys. Two of the eight stand in the record that is broken.
    assert_eq!(foretold("fv5-wal-flip"), "rocksdb opens this database and silently drops at least 6 of 106 keys");
    assert_eq!(foretold("fv6-manifest-flip"), format!("{refuses} checksum mismatch"));
    let size = "Sst file size mismatch: 000012.sst. Expected 4216, actual size 2048";
    assert_eq!(foretold("fv6-table-truncated"), format!("{refuses} {size}"));
    let missing = "IO error: No such file or directory: 000012.sst";
    assert_eq!(foretold("fv6-table-deleted"), format!("{refuses} {missing}"));
    assert_eq!(
        foretold("fv6-current-deleted"),
        "rocksdb finds no CURRENT, begins a new database, and deletes all 3 tables at the start after that, and 108 of 108 \
         keys are lost"
    );
    for clean in ["fv5-killed", "fv5-wal-torn", "fv6-killed-recycled", "fv6-columns", "fv6-data-flip"] {
        assert_eq!(foretold(clean), "", "{clean}");
    }
}

/// The view gives, byte for byte, what the engine gave when it opened a copy: of healthy databases, and of damaged ones
/// of which it drops a part.
#[test]
fn the_view_is_what_the_engine_would_see() {
    let mut compared = 0;
    for (engine, _) in ENGINES {
        let manifest = std::fs::read_to_string(kit::fixture(engine).join("manifest.json")).unwrap();
        for (case, block) in record::recorded(&manifest) {
            // Where the engine's scan failed, there is nothing to compare; merges need the program's own operator.
            let readable = record::field(block, "opens") == Some("true")
                && record::field(block, "strict_scan_fails") == Some("false");
            if !readable || case.starts_with("merges") {
                continue;
            }
            let name = format!("{engine}/{case}");
            assert_eq!(record::field(block, "content_sha256"), Some(record::content_of(&name).as_str()), "{name}");
            compared += 1;
        }
    }
    assert!(compared >= 30, "only {compared} cases were compared");
}

/// A sum of merges is what the program's own operator makes of them; every other key is read.
#[test]
fn a_merge_could_not_be_told() {
    let store = kit::store(&kit::fixture("rocksdb-7.8/merges-killed"));
    let view = store.view().unwrap();
    assert_eq!(view.get(b"count").unwrap_err().to_string(), "writes of kind 2 are not read by this version");
    assert!(view.get(b"H:40").unwrap().is_some());
    assert_eq!(view.iter_prefix(b"H:").map(Result::unwrap).count(), 40);
}

#[test]
fn the_last_key_of_a_prefix() {
    for case in [
        "rocksdb/fv6-killed-recycled",
        "rocksdb/fv6-ranges",
        "rocksdb/fv6-blobs",
        "rocksdb/fv5-partitioned",
        "rocksdb/fv6-hashindex",
        "rocksdb-7.8/first-keys",
        "rocksdb-7.8/ingested-killed",
    ] {
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
