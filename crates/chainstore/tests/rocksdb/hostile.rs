//! RocksDB directories that nobody would make by accident: forged counts, lying footers, newer formats.

use crate::kit;
use std::path::Path;

use chainstore::{Depth, Outcome, Severity, masked_crc32c};

use Outcome::{CouldNotTell, Damaged, Intact};

fn edit(path: &Path, change: impl FnOnce(&mut Vec<u8>)) {
    let mut content = std::fs::read(path).unwrap();
    change(&mut content);
    std::fs::write(path, content).unwrap();
}

/// A record in one chunk, as a MANIFEST or a WAL without numbers has it.
fn chunk(kind: u8, record: &[u8]) -> Vec<u8> {
    let covered = [&[kind], record].concat();
    let length = u16::try_from(record.len()).unwrap();
    [&masked_crc32c(&covered).to_le_bytes()[..], &length.to_le_bytes(), &covered].concat()
}

/// What is said of a directory after a record was put behind the others of a log: outcome and the first words.
fn appended(case: &str, file: &str, record: &[u8]) -> (Outcome, String) {
    let (_home, dir) = kit::copy(&kit::fixture(case));
    edit(&dir.join(file), |content| content.extend_from_slice(&chunk(1, record)));
    let report = kit::report(&dir, Depth::Default);
    let untold = report.checks.untold.first().map(ToString::to_string);
    let words = untold.or(report.checks.findings.first().map(|found| found.detail.clone())).unwrap_or_default();
    (report.outcome, words)
}

#[test]
fn edits_that_cannot_be_applied() {
    let append = |record: &[u8]| appended("rocksdb/fv5-killed", "MANIFEST-000005", record);
    let damaged =
        |words: &str| (Damaged, format!("the record fits its checksum but is no edit that can be applied: {words}"));
    let missing = "Cannot delete table file #99 from level 3 since it is not in the LSM tree";
    assert_eq!(append(&[6, 3, 99]), damaged(missing));
    assert_eq!(append(&[200, 1, 5]), damaged("MANIFEST record referencing unknown column family"));
    let huge = [103, 0, 40, 1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f];
    assert_eq!(append(&huge), damaged("smallest key at offset 13: 9223372036854775807 bytes wanted, 0 left"));
    let group = [172, 2, 0xff, 0xff, 0xff, 0xff, 0x0f];
    assert_eq!(append(&group), damaged("corrupted atomic group"));
    assert_eq!(append(&[]), (Intact, String::new()));
    // A tag of the future that may be passed over, and a group that is not whole yet.
    assert_eq!(append(&[255, 64, 2, 1, 1]), (Intact, String::new()));
    assert_eq!(append(&[172, 2, 1]), (Intact, String::new()));
}

#[test]
fn newer_edits_are_named() {
    let append = |record: &[u8]| appended("rocksdb/fv5-killed", "MANIFEST-000005", record);
    let newer = |what: &str| (CouldNotTell, format!("MANIFEST-000005: {what} belongs to a newer format"));
    assert_eq!(append(&[112, 1]), newer("version edit tag 112"));
    let table = [103, 6, 40, 5, 1, b'a', 1, b'b', 3, 7, 70, 1, 1, 1];
    assert_eq!(append(&table), newer("custom tag 70 of a table"));
    // A table on another disk.
    let elsewhere = [&[103, 5, 40, 5, 9][..], b"z1234567\0", &[9], b"z1234567\0", &[3, 7, 65, 1, 1, 1]].concat();
    let words = "000040.sst lies in another directory (path 1), which is not read";
    assert_eq!(append(&elsewhere), (CouldNotTell, words.to_owned()));
}

/// Another order of keys than that of their bytes is another program's business.
#[test]
fn another_comparator_is_named() {
    let (_home, dir) = kit::copy(&kit::fixture("rocksdb/fv5-killed"));
    let name = b"leveldb.BytewiseComparator.u64ts";
    let record = [&[1, u8::try_from(name.len()).unwrap()], &name[..]].concat();
    edit(&dir.join("MANIFEST-000005"), |content| content.extend_from_slice(&chunk(1, &record)));
    assert_eq!(kit::report(&dir, Depth::Deep).outcome, Intact);
    let error = kit::store(&dir).view().err().unwrap().to_string();
    let words = "keys in the order of leveldb.BytewiseComparator.u64ts are not read by this version";
    assert_eq!(error, words);
}

#[test]
fn wal_records_that_are_no_batches() {
    let append = |record: &[u8]| appended("rocksdb/fv5-killed", "000013.log", record);
    let malformed = |words: &str| (Damaged, format!("the record fits its checksum but is no batch of writes: {words}"));
    assert_eq!(append(&[1]), malformed("batch sequence at offset 0: 8 bytes wanted, 1 left"));
    // The log's last write has number 173: 0xad.
    let batch = |sequence: u8, body: &[u8]| [&[sequence, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0], body].concat();
    assert_eq!(append(&batch(0xae, &[1, 1, b'a', 1, b'b'])), (Intact, String::new()));
    let unknown = "writes of kind 127 are not read by this version".to_owned();
    assert_eq!(append(&batch(0xae, &[0x7f])), (CouldNotTell, unknown));
    assert_eq!(append(&batch(0xae, &[])), malformed("batch count at offset 12: 1 bytes wanted, 0 left"));
    let gap = (
        CouldNotTell,
        "000013.log at 1230: 3 writes before it are in no WAL: lost, or never written to one".to_owned(),
    );
    assert_eq!(append(&batch(0xb1, &[1, 1, b'a', 1, b'b'])), gap);
    let again = "000013.log at 1230: the batch has number 10, though 174 would come next".to_owned();
    assert_eq!(append(&batch(10, &[1, 1, b'a', 1, b'b'])), (CouldNotTell, again));
    let transaction = "a WAL with transactions is not read by this version".to_owned();
    assert_eq!(append(&batch(0xae, &[9])), (CouldNotTell, transaction));
}

/// Chunks that stand for themselves: the length of timestamps, the WAL before, and what older engines pass over.
#[test]
fn chunks_that_are_no_records() {
    for kind in [10, 130, 200] {
        let (_home, dir) = kit::copy(&kit::fixture("rocksdb/fv5-killed"));
        edit(&dir.join("000013.log"), |content| {
            let records = std::mem::take(content);
            *content = [chunk(kind, b"note"), records].concat();
        });
        assert_eq!(kit::report(&dir, Depth::Default).outcome, Intact, "kind {kind}");
        assert_eq!(kit::store(&dir).view().unwrap().range(b"", None).count(), 108);
    }
    let (_home, dir) = kit::copy(&kit::fixture("rocksdb/fv5-killed"));
    edit(&dir.join("000013.log"), |content| {
        let records = std::mem::take(content);
        *content = [chunk(9, &[4, 0, 0, 0]), records].concat();
    });
    let report = kit::report(&dir, Depth::Default);
    assert_eq!(report.outcome, CouldNotTell);
    assert_eq!(report.checks.untold[0].to_string(), "records packed by type 4 are not read by this version");
}

/// Where a WAL ends in a torn write, the engine goes on with the next one only if that begins with the next number.
#[test]
fn a_wal_behind_a_torn_one() {
    let batch = |sequence: u8| {
        let record = [&[sequence, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1], &b"\x01a\x01b"[..]].concat();
        chunk(1, &record)
    };
    // The cut record begins with number 170: 0xaa.
    for (sequence, outcome, there) in [(0xaa, Intact, true), (0xae, CouldNotTell, false)] {
        let (_home, dir) = kit::copy(&kit::fixture("rocksdb/fv5-killed"));
        edit(&dir.join("000013.log"), |content| content.truncate(1100));
        std::fs::write(dir.join("000020.log"), batch(sequence)).unwrap();
        let report = kit::report(&dir, Depth::Default);
        assert_eq!(report.outcome, outcome, "{:#?}", report.checks);
        assert_eq!(report.prediction.is_some(), !there);
        let store = kit::store(&dir);
        assert_eq!(store.view().unwrap().get(b"a").unwrap().is_some(), there);
    }
}

/// Tables whose every count and length is a lie, of the very size that the MANIFEST names, and others.
#[test]
fn forged_tables() {
    for content in [vec![0; 47], vec![0xff; 2594], vec![0; 2594], vec![0x7f; 2594], Vec::new()] {
        let (_home, dir) = kit::copy(&kit::fixture("rocksdb/fv5-killed"));
        std::fs::write(dir.join("000014.sst"), &content).unwrap();
        for depth in [Depth::Quick, Depth::Default, Depth::Deep] {
            assert_eq!(kit::report(&dir, depth).outcome, Damaged, "{} bytes", content.len());
        }
    }
    // A footer with the right magic and handles of 2^63 bytes.
    let (_home, dir) = kit::copy(&kit::fixture("rocksdb/fv5-killed"));
    edit(&dir.join("000014.sst"), |content| {
        let start = content.len() - 52;
        content[start..start + 40].fill(0xff);
        content[start + 9] = 1;
        content[start + 19] = 1;
    });
    let report = kit::report(&dir, Depth::Quick);
    assert_eq!((report.outcome, report.checks.findings[0].kind.name()), (Damaged, "table_footer"));
}

/// Two changes at once are no flipped bit: a version or a kind of table that is not read is named.
#[test]
fn tables_of_newer_formats_are_named() {
    let footer = |change: fn(&mut [u8])| {
        let (_home, dir) = kit::copy(&kit::fixture("rocksdb/fv5-killed"));
        edit(&dir.join("000014.sst"), |content| {
            let start = content.len() - 53;
            change(&mut content[start..]);
        });
        let report = kit::report(&dir, Depth::Default);
        assert!(report.checks.findings.iter().all(|found| found.severity() == Severity::Note));
        (report.outcome, report.checks.untold[0].to_string())
    };
    let named = |what: &str| (CouldNotTell, format!("000014.sst: {what} is not read by this version"));
    assert_eq!(footer(|footer| footer[41] = 11), named("format version 11 of RocksDB's tables"));
    let plain = |footer: &mut [u8]| footer[45..].copy_from_slice(&0x8242_2296_63bf_9564_u64.to_le_bytes());
    assert_eq!(footer(plain), named("a plain table"));
}

#[test]
fn empty_files_and_names_that_are_none() {
    let (_home, dir) = kit::copy(&kit::fixture("rocksdb/fv6-blobs"));
    for name in ["99999999999999999999.sst", "+1.sst", "a.log", "MANIFEST-x", "000007.dbtmp", "..sst", "x.blob"] {
        std::fs::write(dir.join(name), "x").unwrap();
    }
    std::fs::create_dir(dir.join("archive")).unwrap();
    assert_eq!(kit::report(&dir, Depth::Deep).outcome, Intact);
    std::fs::write(dir.join("000020.blob"), "").unwrap();
    assert_eq!(kit::report(&dir, Depth::Quick).outcome, Damaged);
    let (_home, dir) = kit::copy(&kit::fixture("rocksdb/fv6-blobs"));
    std::fs::remove_file(dir.join("000020.blob")).unwrap();
    let report = kit::report(&dir, Depth::Quick);
    assert_eq!(report.checks.findings[0].detail, "blob file 20 is not there; 6 values lie in it");
    let (_home, dir) = kit::copy(&kit::fixture("rocksdb/fv6-blobs"));
    std::fs::write(dir.join("MANIFEST-000005"), "").unwrap();
    let report = kit::report(&dir, Depth::Default);
    assert_eq!(report.outcome, Damaged);
    let words = "Corruption: no log_file_number, next_file_number, last_sequence entry in MANIFEST";
    assert_eq!(report.prediction.unwrap().open.unwrap_err(), words);
}

/// A chunk without length and type is passed over by the engine, with all that follows in its block. Where that leaves fields out
/// which every MANIFEST has from its beginning, no torn end explains it.
#[test]
fn a_manifest_whose_beginning_is_passed_over() {
    let passed_over = |at: usize| {
        let (_home, dir) = kit::copy(&kit::fixture("rocksdb/fv5-killed"));
        edit(&dir.join("MANIFEST-000005"), |content| content[at + 4..at + 7].fill(0));
        kit::report(&dir, Depth::Default).outcome
    };
    assert_eq!(passed_over(53), Damaged);
    assert_eq!(passed_over(463), CouldNotTell);
}

/// WALs that the MANIFEST keeps an eye on, if the engine was told to.
#[test]
fn tracked_wals() {
    // WAL 13 was synced up to byte 1230, or beyond; WAL 14 was begun.
    let track = |record: &[u8]| appended("rocksdb/fv5-killed", "MANIFEST-000005", record);
    assert_eq!(track(&[135, 64, 5, 13, 2, 0xce, 9, 1]), (Intact, String::new()));
    let shorter = (Damaged, "the WAL is shorter than the MANIFEST says that was synced".to_owned());
    assert_eq!(track(&[135, 64, 5, 13, 2, 0xcf, 9, 1]), shorter);
    let missing = (Damaged, "a WAL that the MANIFEST names is not there: its writes are lost".to_owned());
    assert_eq!(track(&[135, 64, 2, 14, 1]), missing);
    // Deleted since.
    assert_eq!(track(&[135, 64, 2, 14, 1, 136, 64, 1, 15]), (Intact, String::new()));
}

/// Blobs of another file, every checksum right: only the keys that point to them tell.
#[test]
fn blobs_that_are_of_other_keys() {
    let (_home, dir) = kit::copy(&kit::fixture("rocksdb/fv6-blobs"));
    let other = std::fs::read(dir.join("000020.blob")).unwrap();
    edit(&dir.join("000013.blob"), |content| content[..512].copy_from_slice(&other[..512]));
    let report = kit::report(&dir, Depth::Deep);
    assert_eq!(report.outcome, Damaged, "{:#?}", report.checks);
    assert_eq!(report.checks.findings[0].kind.name(), "blob_corrupt");
    for depth in [Depth::Default, Depth::Deep] {
        assert_eq!(kit::report(&kit::fixture("rocksdb/fv6-blobs"), depth).outcome, Intact);
    }
}
