//! Pointer files that no engine would write, and logs without a database.

use crate::kit;

use chainstore::{Depth, Outcome};

#[test]
fn a_pointer_that_is_too_long_names_nothing() {
    let engines = ["goleveldb/healthy", "leveldb/healthy", "pebble-1.1.5/healthy", "rocksdb/fv5-killed"];
    for case in engines {
        for length in [4096, 4097, 100_000] {
            let (_home, dir) = kit::copy(&kit::fixture(case));
            std::fs::write(dir.join("CURRENT"), vec![b'x'; length]).unwrap();
            let report = kit::report(&dir, Depth::Default);
            assert_eq!(report.outcome, Outcome::Damaged, "{case}, {length}: {:#?}", report.checks);
            let named = report.checks.findings.iter().any(|finding| finding.kind.name() == "entry_point_corrupt");
            assert!(named, "{case}, {length}: {:#?}", report.checks);
        }
    }
}

#[test]
fn a_log_alone_is_no_data_of_another() {
    let (_home, dir) = kit::copy(&kit::fixture("goleveldb/healthy"));
    for entry in std::fs::read_dir(&dir).unwrap() {
        let entry = entry.unwrap();
        if entry.file_name() != "LOG" && entry.file_name() != "LOCK" {
            std::fs::remove_file(entry.path()).unwrap();
        }
    }
    let report = kit::report(&dir, Depth::Default);
    let kinds: Vec<_> = report.checks.findings.iter().map(|finding| finding.kind.name()).collect();
    assert_eq!(kinds, ["no_database"], "{:#?}", report.checks);
}
