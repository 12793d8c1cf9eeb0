//! Directories that nobody would make by accident: links, FIFOs, forged counts, empty files, things that vanish.

use crate::kit;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::Arc;

use chainstore::{DataDir, Depth, Meter, Options, Outcome, Progress, ReadProblem, Reason, Silent, inspect};

fn root(path: &Path) -> DataDir {
    DataDir::open(path, Arc::new(Meter::new(None, Arc::new(Silent)))).unwrap()
}

fn untold(path: &Path) -> Vec<String> {
    let inspection = inspect(path, &Options::default()).unwrap();
    let databases = inspection.databases.into_iter().flat_map(|database| database.checks.untold);
    inspection.checks.untold.into_iter().chain(databases).map(|reason| reason.to_string()).collect()
}

#[test]
fn links_and_fifos_are_refused() {
    let home = tempfile::tempdir().unwrap();
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("secret"), "x").unwrap();
    std::fs::write(home.path().join("inside"), "y").unwrap();
    symlink(outside.path().join("secret"), home.path().join("out")).unwrap();
    symlink("inside", home.path().join("in")).unwrap();
    symlink("loop", home.path().join("loop")).unwrap();
    symlink("/proc/self/environ", home.path().join("magic")).unwrap();
    let fifo = std::process::Command::new("mkfifo").arg(home.path().join("fifo")).status().unwrap();
    assert!(fifo.success());
    symlink("fifo", home.path().join("to-fifo")).unwrap();
    let dir = root(home.path());
    let problem = |name: &str| dir.file(name).unwrap_err().problem;
    assert_eq!(dir.file("in").unwrap().read_all(9).unwrap(), b"y");
    assert_eq!(problem("out"), ReadProblem::LinkOut);
    assert_eq!(problem("magic"), ReadProblem::LinkOut);
    assert_eq!(problem("loop"), ReadProblem::LinkLoop);
    assert_eq!(problem("fifo"), ReadProblem::NotAFile("FIFO"));
    assert_eq!(problem("to-fifo"), ReadProblem::NotAFile("FIFO"));
    assert_eq!(problem("nothing"), ReadProblem::Missing);
    assert_eq!(dir.directory("inside").unwrap_err().problem, ReadProblem::NotADirectory);
}

#[test]
fn loops_of_directories_end_and_links_out_are_named() {
    let home = tempfile::tempdir().unwrap();
    let outside = tempfile::tempdir().unwrap();
    symlink(".", home.path().join("data")).unwrap();
    symlink(outside.path(), home.path().join("state.db")).unwrap();
    let reasons = untold(home.path());
    assert!(!reasons.is_empty());
    assert!(reasons.iter().all(|reason| reason.contains("a link out of the inspected directory")), "{reasons:?}");
}

#[test]
fn not_a_directory_and_no_database() {
    let home = tempfile::tempdir().unwrap();
    let inspection = inspect(home.path(), &Options::default()).unwrap();
    assert_eq!(inspection.outcome, Outcome::CouldNotTell);
    assert_eq!(inspection.checks.findings[0].kind.name(), "no_database");
    let file = home.path().join("file");
    std::fs::write(&file, "").unwrap();
    assert_eq!(inspect(&file, &Options::default()).unwrap_err().problem, ReadProblem::NotADirectory);
    assert_eq!(inspect(&home.path().join("gone"), &Options::default()).unwrap_err().problem, ReadProblem::Missing);
}

#[test]
fn a_directory_that_vanishes() {
    let (home, dir) = kit::copy(&kit::fixture("goleveldb/healthy"));
    let opened = root(home.path()).directory("state.db").unwrap();
    std::fs::remove_dir_all(&dir).unwrap();
    assert_eq!(opened.list().unwrap(), []);
    assert_eq!(opened.file("CURRENT").unwrap_err().problem, ReadProblem::Missing);
}

/// Tables whose every count and length is a lie, behind a footer that is none.
#[test]
fn forged_tables() {
    for content in [vec![0; 47], vec![0xff; 6870], vec![0; 6870], b"SQLite format 3\0".repeat(500)] {
        let (_home, dir) = kit::copy(&kit::fixture("goleveldb/healthy"));
        std::fs::write(dir.join("000011.ldb"), &content).unwrap();
        for depth in [Depth::Quick, Depth::Default, Depth::Deep] {
            assert_eq!(kit::report(&dir, depth).outcome, Outcome::Damaged, "{} bytes", content.len());
        }
    }
    // A footer with the right magic and handles of 2^63 bytes.
    let (_home, dir) = kit::copy(&kit::fixture("goleveldb/healthy"));
    let mut table = std::fs::read(dir.join("000011.ldb")).unwrap();
    let footer = table.len() - 48;
    table[footer..footer + 40].fill(0xff);
    table[footer + 9] = 1;
    table[footer + 19] = 1;
    std::fs::write(dir.join("000011.ldb"), &table).unwrap();
    let report = kit::report(&dir, Depth::Quick);
    assert_eq!(report.outcome, Outcome::Damaged);
    assert_eq!(report.checks.findings[0].kind.name(), "table_footer");
}

#[test]
fn names_that_are_no_numbers_are_left_alone() {
    let (_home, dir) = kit::copy(&kit::fixture("goleveldb/healthy"));
    for name in ["99999999999999999999.ldb", "+1.ldb", "a.log", "MANIFEST-x", "CURRENT.x", "CURRENT.99", "..ldb"] {
        std::fs::write(dir.join(name), "x").unwrap();
    }
    std::fs::create_dir(dir.join("000099.ldb")).unwrap();
    assert_eq!(kit::report(&dir, Depth::Deep).outcome, Outcome::Intact);
}

#[test]
fn a_live_table_that_is_a_fifo_or_a_directory_cannot_be_told() {
    let (_home, dir) = kit::copy(&kit::fixture("goleveldb/healthy"));
    std::fs::remove_file(dir.join("000011.ldb")).unwrap();
    std::fs::create_dir(dir.join("000011.ldb")).unwrap();
    let report = kit::report(&dir, Depth::Default);
    assert_eq!(report.outcome, Outcome::CouldNotTell, "{:#?}", report.checks);
    assert_eq!(report.checks.untold[0].to_string(), "000011.ldb: a directory, not a file");
}

#[test]
fn a_broken_database_does_not_stop_the_others() {
    let home = tempfile::tempdir().unwrap();
    for (name, case) in
        [("application.db", "healthy"), ("state.db", "table-data-flip"), ("blockstore.db", "manifest-truncated")]
    {
        let target = home.path().join("data").join(name);
        std::fs::create_dir_all(&target).unwrap();
        for entry in std::fs::read_dir(kit::fixture("goleveldb").join(case)).unwrap() {
            let entry = entry.unwrap();
            std::fs::copy(entry.path(), target.join(entry.file_name())).unwrap();
        }
    }
    let inspection = inspect(home.path(), &Options::default()).unwrap();
    let short: Vec<_> =
        inspection.databases.iter().map(|database| (database.name.as_str().to_owned(), database.outcome)).collect();
    let damaged = Outcome::Damaged;
    assert_eq!(
        short,
        [
            ("application".to_owned(), Outcome::Intact),
            ("blockstore".to_owned(), damaged),
            ("state".to_owned(), damaged)
        ]
    );
    assert_eq!(inspection.outcome, damaged);
    assert!(inspection.bytes_read > 30_000);
}

/// LevelDB's MANIFEST names numbers that its newest journal still holds; without a LOG nobody can tell it from goleveldb's,
/// which would drop such a batch.
#[test]
fn a_low_batch_is_damage_only_where_goleveldb_surely_wrote_it() {
    let (_home, dir) = kit::copy(&kit::fixture("goleveldb/healthy"));
    let mut journal = std::fs::read(dir.join("000014.log")).unwrap();
    let length = usize::from(u16::from_le_bytes([journal[4], journal[5]]));
    journal.truncate(7 + length);
    journal[7..15].copy_from_slice(&1_u64.to_le_bytes());
    let checksum = chainstore::masked_crc32c(&journal[6..]);
    journal[..4].copy_from_slice(&checksum.to_le_bytes());
    std::fs::write(dir.join("000014.log"), journal).unwrap();
    assert_eq!(kit::report(&dir, Depth::Default).outcome, Outcome::Damaged);
    for name in ["LOG", "LOG.old"] {
        let _ = std::fs::remove_file(dir.join(name));
    }
    let report = kit::report(&dir, Depth::Default);
    assert_eq!(report.outcome, Outcome::CouldNotTell, "{:#?}", report.checks);
    assert!(report.checks.untold[0].to_string().contains("no LOG says which of them wrote it"), "{:#?}", report.checks);
}

#[test]
fn two_engines_in_one_directory() {
    let (_home, dir) = kit::copy(&kit::fixture("goleveldb/healthy"));
    std::fs::write(dir.join("OPTIONS-000003"), "[Version]\n  pebble_version=0.1\n").unwrap();
    let report = kit::report(&dir, Depth::Default);
    assert_eq!((report.outcome, report.engine), (Outcome::CouldNotTell, None));
    assert_eq!(report.checks.findings[0].kind.name(), "two_engines");
}

/// goleveldb goes back to an older MANIFEST without a word.
#[test]
fn an_older_manifest_behind_current() {
    let walk = kit::fixture("goleveldb/walk-008");
    for (file, content, kind) in [
        ("MANIFEST-000038", None, "manifest_missing"),
        ("CURRENT", None, "entry_point_missing"),
        ("CURRENT", Some("MANIFEST"), "entry_point_corrupt"),
    ] {
        let (_home, dir) = kit::copy(&walk);
        assert_eq!(std::fs::read_to_string(dir.join("CURRENT.bak")).unwrap(), "MANIFEST-000032\n");
        match content {
            Some(content) => std::fs::write(dir.join(file), content).unwrap(),
            None => std::fs::remove_file(dir.join(file)).unwrap(),
        }
        let report = kit::report(&dir, Depth::Default);
        assert_eq!(report.outcome, Outcome::Damaged, "{file}: {:#?}", report.checks);
        assert!(
            report.checks.findings.iter().any(|finding| finding.kind.name() == kind),
            "{kind}: {:#?}",
            report.checks
        );
    }
}

/// Nothing is written, and access times stay.
#[test]
fn nothing_is_touched() {
    let (home, dir) = kit::copy(&kit::fixture("goleveldb/table-data-flip"));
    let state = || {
        let mut all = Vec::new();
        for entry in std::fs::read_dir(&dir).unwrap() {
            let entry = entry.unwrap();
            let meta = entry.metadata().unwrap();
            all.push((entry.file_name(), meta.len(), meta.modified().unwrap(), meta.accessed().unwrap()));
        }
        all.sort();
        all
    };
    let before = state();
    std::thread::sleep(std::time::Duration::from_millis(20));
    let _ = inspect(home.path(), &Options { depth: Depth::Deep, ..Options::default() }).unwrap();
    assert_eq!(state(), before);
}

struct Stop;

impl Progress for Stop {
    fn interrupted(&self) -> bool {
        true
    }
}

/// A hole of a terabyte behind the last record is one break, and it is not read.
#[test]
fn logs_of_a_terabyte_that_is_not_there() {
    for (fixture, file) in [("goleveldb/healthy", "MANIFEST-000000"), ("goleveldb/killed", "000014.log")] {
        let (_home, dir) = kit::copy(&kit::fixture(fixture));
        let before = kit::report(&dir, Depth::Default);
        let longer = std::fs::File::options().write(true).open(dir.join(file)).unwrap();
        longer.set_len(1 << 40).unwrap();
        let report = kit::report(&dir, Depth::Default);
        assert_eq!(report.outcome, before.outcome, "{:#?}", report.checks);
        assert!(report.checks.findings.len() <= before.checks.findings.len() + 1, "{:#?}", report.checks);
    }
}

/// Zeros that are stored are read, and whoever wants an end is heard between two blocks of them.
#[test]
fn a_manifest_of_zeros_can_be_stopped() {
    let (home, dir) = kit::copy(&kit::fixture("goleveldb/healthy"));
    let path = dir.join("MANIFEST-000000");
    let mut bytes = std::fs::read(&path).unwrap();
    bytes.resize(1 << 20, 0);
    std::fs::write(&path, &bytes).unwrap();
    let report = kit::report(&dir, Depth::Default);
    assert_eq!(report.outcome, Outcome::Intact, "{:#?}", report.checks);
    let zeros = report.checks.findings.iter().filter(|finding| finding.detail.contains("zeros where a chunk"));
    assert_eq!(zeros.count(), 1, "a run of zeros is one break: {:#?}", report.checks);
    let stopped = Options { progress: Arc::new(Stop), ..Options::default() };
    let inspection = inspect(home.path(), &stopped).unwrap();
    assert_eq!(inspection.outcome, Outcome::CouldNotTell);
    assert!(inspection.bytes_read < 1 << 19, "{}", inspection.bytes_read);
}

/// Whoever stops an inspection gets what is known so far, and never "intact".
#[test]
fn an_inspection_that_is_stopped() {
    let (home, _) = kit::copy(&kit::fixture("goleveldb/table-deleted"));
    let stopped = || Options { progress: Arc::new(Stop), ..Options::default() };
    let inspection = inspect(home.path(), &stopped()).unwrap();
    assert_eq!(inspection.outcome, Outcome::Damaged, "what the MANIFEST says was known already");
    assert!(inspection.databases[0].checks.untold.contains(&Reason::Interrupted));
    let (home, _) = kit::copy(&kit::fixture("goleveldb/healthy"));
    assert_eq!(inspect(home.path(), &stopped()).unwrap().outcome, Outcome::CouldNotTell);
}

/// goleveldb writes its first MANIFEST before `CURRENT`, and its first journal after it.
#[test]
fn a_first_start_cut_short() {
    let first = kit::fixture("goleveldb/empty");
    let home = tempfile::tempdir().unwrap();
    let dir = home.path().join("state.db");
    std::fs::create_dir(&dir).unwrap();
    for name in ["LOCK", "LOG"] {
        std::fs::copy(first.join(name), dir.join(name)).unwrap();
    }
    let manifest = std::fs::read(first.join("MANIFEST-000000")).unwrap();
    for length in 0..=manifest.len() {
        std::fs::write(dir.join("MANIFEST-000000"), &manifest[..length]).unwrap();
        let report = kit::report(&dir, Depth::Default);
        assert_eq!(report.outcome, Outcome::CouldNotTell, "{length}: {:#?}", report.checks);
        assert_eq!(report.checks.findings[0].kind.name(), "no_database", "{length}");
    }
    // With a journal there was a CURRENT.
    std::fs::write(dir.join("000001.log"), b"").unwrap();
    assert_eq!(kit::report(&dir, Depth::Default).outcome, Outcome::Damaged);
}
