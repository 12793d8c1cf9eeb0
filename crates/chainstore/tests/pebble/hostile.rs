//! Pebble directories that nobody would make by accident: forged counts, lying footers, foreign formats.

use crate::kit;
use std::path::Path;

use chainstore::{Depth, Outcome, masked_crc32c};

use Outcome::{CouldNotTell, Damaged, Intact};

fn edit(path: &Path, change: impl FnOnce(&mut Vec<u8>)) {
    let mut content = std::fs::read(path).unwrap();
    change(&mut content);
    std::fs::write(path, content).unwrap();
}

fn seal(block: &mut [u8]) {
    let (covered, stored) = block.split_last_chunk_mut::<4>().unwrap();
    *stored = masked_crc32c(covered).to_le_bytes();
}

/// The footer has no checksum, so a flipped bit there must show elsewhere: with another format version every value is
/// longer or shorter by a byte than the properties promise.
#[test]
fn the_format_version_in_the_footer() {
    for (case, table, from) in [("valueblocks", "000008.sst", 3), ("fmv13-healthy", "000019.sst", 2)] {
        for to in [1, 2, 3] {
            let (_home, dir) = kit::copy(&kit::fixture("pebble").join(case));
            edit(&dir.join(table), |content| {
                let version = content.len() - 12;
                assert_eq!(content[version], from);
                content[version] = to;
            });
            let outcome = kit::report(&dir, Depth::Default).outcome;
            // Formats 1 and 2 have their rows alike; only what tables may hold besides differs.
            let alike = from == to || (from == 2 && to == 1);
            assert_eq!(outcome, if alike { Intact } else { Damaged }, "{case}: {from} as {to}");
        }
    }
}

/// Tables whose every count and length is a lie, of the very size that the MANIFEST names.
#[test]
fn forged_tables() {
    for byte in [0, 0xff, 0x7f] {
        let (_home, dir) = kit::copy(&kit::fixture("pebble/healthy"));
        std::fs::write(dir.join("000017.sst"), vec![byte; 2265]).unwrap();
        for depth in [Depth::Quick, Depth::Default, Depth::Deep] {
            assert_eq!(kit::report(&dir, depth).outcome, Damaged, "{byte:#x}");
        }
    }
}

/// Blocks that are rightly sealed and claim what cannot be.
#[test]
fn forged_counts_in_sealed_blocks() {
    // Metaindex of `killed`'s second table: 33 bytes and a trailer before the footer of 53.
    let metaindex = 2265 - 53 - 38..2265 - 53;
    for (what, at, value) in [
        ("restart count", 33 - 4, [0xff, 0xff, 0xff, 0x7f]),
        ("value length", 1, [0xff, 0xff, 0xff, 0xff]),
        ("restart offset", 33 - 8, [0xff, 0xff, 0xff, 0x7f]),
    ] {
        let (_home, dir) = kit::copy(&kit::fixture("pebble/killed"));
        edit(&dir.join("000017.sst"), |content| {
            let block = &mut content[metaindex.clone()];
            block[at..at + 4].copy_from_slice(&value);
            seal(block);
        });
        let report = kit::report(&dir, Depth::Default);
        // A restart offset is only looked at when a key is sought.
        let harmless = what == "restart offset";
        assert_eq!(report.outcome, if harmless { Intact } else { Damaged }, "{what}: {:#?}", report.checks);
        if !harmless {
            assert_eq!(report.checks.findings[0].kind.name(), "block_structure", "{what}");
        }
    }
}

#[test]
fn a_sealed_edit_that_cannot_be_applied() {
    let (_home, dir) = kit::copy(&kit::fixture("pebble/killed"));
    let append = |record: &[u8]| {
        edit(&dir.join("MANIFEST-000001"), |content| {
            content.truncate(799);
            let covered = [&[1], record].concat();
            content.extend_from_slice(&masked_crc32c(&covered).to_le_bytes());
            content.extend_from_slice(&u16::try_from(record.len()).unwrap().to_le_bytes());
            content.extend_from_slice(&covered);
        });
        let report = kit::report(&dir, Depth::Default);
        let words = report.checks.untold.first().map(ToString::to_string);
        (report.outcome, words.or(report.checks.findings.first().map(|found| found.detail.clone())).unwrap_or_default())
    };
    let damaged =
        |words: &str| (Damaged, format!("the record fits its checksum but is no edit that can be applied: {words}"));
    assert_eq!(append(&[6, 3, 99]), damaged("file deleted L3.000099 before it was inserted"));
    assert_eq!(append(&[6, 7, 15]), damaged("level at offset 1: 7 is above the limit of 6"));
    let huge = [103, 0, 40, 1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f];
    assert_eq!(append(&huge), damaged("smallest key at offset 13: 9223372036854775807 bytes wanted, 0 left"));
    let newer = (CouldNotTell, "MANIFEST-000001: version edit tag 105 belongs to a newer format".to_owned());
    let (outcome, words) = append(&[105, 40, 9]);
    assert_eq!((outcome, words.rsplit('/').next().unwrap().to_owned()), newer);
    assert_eq!(append(&[]), (Intact, String::new()));
}

/// A WAL that others follow was closed, so a torn end there is none.
#[test]
fn a_torn_wal_that_another_follows() {
    let (_home, dir) = kit::copy(&kit::fixture("pebble/killed"));
    std::fs::write(dir.join("000020.log"), b"").unwrap();
    assert_eq!(kit::report(&dir, Depth::Default).outcome, Intact);
    edit(&dir.join("000016.log"), |content| content.truncate(943));
    let report = kit::report(&dir, Depth::Default);
    assert_eq!(report.outcome, Damaged, "{:#?}", report.checks);
    let refused = report.prediction.unwrap().open.unwrap_err();
    assert_eq!(refused, "pebble: error when replaying WAL: pebble/record: invalid chunk");
}

/// Between two WALs no number may be missing.
#[test]
fn a_wal_cut_between_records_that_another_follows() {
    let (_home, dir) = kit::copy(&kit::fixture("pebble/killed"));
    let batch = |sequence: u8| {
        let record = [&[sequence, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1], &b"\x01a\x01b"[..]].concat();
        let covered = [&[5, 20, 0, 0, 0], &record[..]].concat();
        let length = u16::try_from(record.len()).unwrap();
        [&masked_crc32c(&covered).to_le_bytes()[..], &length.to_le_bytes(), &covered].concat()
    };
    // The log's last write has number 290: 0x122.
    std::fs::write(dir.join("000020.log"), batch(0x23)).unwrap();
    assert_eq!(kit::report(&dir, Depth::Default).outcome, Intact);
    edit(&dir.join("000016.log"), |content| content.truncate(834));
    let report = kit::report(&dir, Depth::Default);
    assert_eq!(report.outcome, Damaged);
    assert_eq!(report.checks.findings[0].detail, "4 writes that stood before this record are missing");
}

#[test]
fn names_that_are_none() {
    let (_home, dir) = kit::copy(&kit::fixture("pebble-2/healthy"));
    for name in ["99999999999999999999.sst", "+1.sst", "a.log", "MANIFEST-x", "temporary.000007.dbtmp", "..sst"] {
        std::fs::write(dir.join(name), "x").unwrap();
    }
    assert_eq!(kit::report(&dir, Depth::Deep).outcome, Intact);
    std::fs::write(dir.join("marker.manifest.x.MANIFEST-000001"), "").unwrap();
    let report = kit::report(&dir, Depth::Default);
    assert_eq!(report.outcome, Damaged);
    assert_eq!(report.checks.findings[0].kind.name(), "marker_corrupt");
    assert_eq!(report.prediction.unwrap().open.unwrap_err(), "invalid marker filename");
}

#[test]
fn a_wal_on_another_disk_cannot_be_told() {
    let (_home, dir) = kit::copy(&kit::fixture("pebble-2/healthy"));
    std::fs::write(dir.join("000015-002.log"), "").unwrap();
    assert_eq!(kit::report(&dir, Depth::Default).outcome, CouldNotTell);
    assert!(kit::store(&dir).view().is_err());
}

#[test]
fn wals_in_another_directory_cannot_be_told() {
    let (_home, dir) = kit::copy(&kit::fixture("pebble/healthy"));
    let options = dir.join("OPTIONS-000003");
    let text = std::fs::read_to_string(&options).unwrap();
    let elsewhere = text.replace("  wal_dir=\n", "  wal_dir=/other/disk\n");
    assert_ne!(text, elsewhere);
    std::fs::write(&options, elsewhere).unwrap();
    // The engine that found WALs here is one that was told to write them here.
    assert_eq!(kit::report(&dir, Depth::Default).outcome, Intact);
    for wal in ["000012.log", "000016.log"] {
        std::fs::remove_file(dir.join(wal)).unwrap();
    }
    let report = kit::report(&dir, Depth::Default);
    assert_eq!(report.outcome, CouldNotTell, "{:#?}", report.checks);
    let words = "the WALs are in another directory (/other/disk), which is not read";
    assert_eq!(report.checks.untold[0].to_string(), words);
    assert_eq!(report.prediction, None);
    assert!(kit::store(&dir).view().is_err());
}

/// A new database that was killed in its first flush looks much like one that was begun anew: its MANIFEST names no table.
#[test]
fn a_new_database_is_not_one_begun_anew() {
    let (_home, dir) = kit::copy(&kit::fixture("pebble-2/walk-001"));
    assert_eq!(kit::report(&dir, Depth::Default).outcome, Intact);
    // Without its first WAL, somebody has made that table and been done with the WAL.
    std::fs::rename(dir.join("000002.log"), dir.join("000012.log")).unwrap();
    let report = kit::report(&dir, Depth::Default);
    assert_eq!(report.outcome, Damaged);
    assert_eq!(report.checks.findings[1].kind.name(), "engine_dropped_data");
    // A first flush that came late: the next WAL has a number that is not small any more.
    let (_home, dir) = kit::copy(&kit::fixture("pebble-2/walk-001"));
    std::fs::rename(dir.join("000004.log"), dir.join("000012.log")).unwrap();
    edit(&dir.join("MANIFEST-000001"), |content| {
        let covered = [1, 2, 12, 3, 14, 4, 9];
        content.extend_from_slice(&masked_crc32c(&covered).to_le_bytes());
        content.extend_from_slice(&[6, 0]);
        content.extend_from_slice(&covered);
    });
    assert_eq!(kit::report(&dir, Depth::Default).outcome, Intact);
    // The same number, but from a start that came to an end after it.
    std::fs::rename(dir.join("OPTIONS-000003"), dir.join("OPTIONS-000013")).unwrap();
    assert_eq!(kit::report(&dir, Depth::Default).outcome, Damaged);
}
