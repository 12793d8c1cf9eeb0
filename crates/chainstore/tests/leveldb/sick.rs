//! Disks that fail, and machines that read other bytes each time: a disk of the test's own stands between (P13).

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use chainstore::{
    Attribution, DataDir, DatabaseReport, Depth, Disk, Finding, FindingKind, Inspection, Meter, Options, Outcome, PAGE,
    ReadProblem, Reason, Severity, Silent, inspect,
};

use crate::kit;

/// What happens to reads that touch one page of one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    /// Each fails.
    Fails,
    /// The first one fails.
    FailsOnce,
    /// One bit is wrong until the cached page is dropped.
    WrongInTheCache,
    /// One bit is wrong, another one each time.
    WrongEachTime,
}

/// What was done to the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Done {
    Read,
    Dropped,
}

#[derive(Debug)]
struct SickDisk {
    file: PathBuf,
    page: u64,
    /// Of the page, the one that is wrong.
    byte: u64,
    fault: Fault,
    errno: i32,
    done: Mutex<Vec<Done>>,
}

impl SickDisk {
    fn new(file: &str, page: u64, fault: Fault) -> Arc<Self> {
        Arc::new(Self { file: file.into(), page, byte: 9, fault, errno: 5, done: Mutex::default() })
    }

    fn touches(&self, start: u64, end: u64) -> bool {
        start < (self.page + 1) * PAGE && end > self.page * PAGE
    }

    fn note(&self, what: Done) {
        self.done.lock().unwrap().push(what);
    }

    fn count(&self, what: Done) -> usize {
        self.done.lock().unwrap().iter().filter(|done| **done == what).count()
    }
}

impl Disk for SickDisk {
    fn read_at(&self, file: &File, path: &Path, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let count = file.read_at(buffer, offset)?;
        if count == 0 || !path.ends_with(&self.file) || !self.touches(offset, offset + count as u64) {
            return Ok(count);
        }
        // As the kernel does it: what lies before the bad page is given first.
        let before = (self.page * PAGE).saturating_sub(offset);
        if before > 0 && matches!(self.fault, Fault::Fails | Fault::FailsOnce) {
            return Ok(usize::try_from(before).unwrap());
        }
        self.note(Done::Read);
        let wrong = match self.fault {
            Fault::Fails => return Err(io::Error::from_raw_os_error(self.errno)),
            Fault::FailsOnce if self.count(Done::Read) == 1 => return Err(io::Error::from_raw_os_error(self.errno)),
            Fault::FailsOnce => None,
            Fault::WrongInTheCache => (self.count(Done::Dropped) == 0).then_some(0),
            Fault::WrongEachTime => Some(self.count(Done::Read) % 8),
        };
        let at = (self.page * PAGE + self.byte).checked_sub(offset).and_then(|at| usize::try_from(at).ok());
        let byte = at.and_then(|at| buffer[..count].get_mut(at));
        if let (Some(bit), Some(byte)) = (wrong, byte) {
            *byte ^= 1 << bit;
        }
        Ok(count)
    }

    fn drop_cached(&self, _file: &File, start: u64, end: u64) {
        if self.touches(start, end) {
            self.note(Done::Dropped);
        }
    }
}

fn inspected(dir: &Path, depth: Depth, disk: &Arc<SickDisk>) -> Inspection {
    let disk = Arc::clone(disk) as Arc<dyn Disk>;
    let threads = std::num::NonZeroUsize::new(1);
    inspect(dir, &Options { depth, threads, disk, ..Options::default() }).unwrap()
}

fn database(dir: &Path, disk: &Arc<SickDisk>) -> DatabaseReport {
    inspected(dir, Depth::Deep, disk).databases.remove(0)
}

/// Of each engine, and with journals that hold records as well as with none.
const HEALTHY: [&str; 10] = [
    "goleveldb/healthy",
    "goleveldb/healthy-reopened",
    "leveldb/healthy",
    "pebble/healthy",
    "pebble/fmv13-healthy",
    "pebble-2/healthy",
    "rocksdb/fv5-crc32c-snappy",
    "rocksdb/fv5-killed",
    "rocksdb/fv6-blobs",
    "rocksdb/fv6-columns",
];

/// All pages of all files but the engine's own text log, and RocksDB's OPTIONS, of which it needs none.
fn pages(dir: &Path) -> Vec<(String, u64)> {
    let entries = std::fs::read_dir(dir).unwrap().map(Result::unwrap);
    let files = entries.map(|entry| (entry.file_name().into_string().unwrap(), entry.metadata().unwrap().len()));
    let needs_options = !dir.join("IDENTITY").exists();
    let data = files.filter(|(name, _)| !name.starts_with("LO") && (needs_options || !name.starts_with("OPTIONS-")));
    data.flat_map(|(name, bytes)| (0..bytes.div_ceil(PAGE)).map(move |page| (name.clone(), page))).collect()
}

fn of_weight(report: &DatabaseReport, severity: Severity) -> Vec<&Finding> {
    report.checks.findings.iter().filter(|finding| finding.severity() == severity).collect()
}

/// Whatever page the device does not give, that is the only finding; the other files are read on.
#[test]
fn one_page_that_cannot_be_read() {
    for fixture in HEALTHY {
        let dir = kit::fixture(fixture);
        let mut read = 0;
        for (file, page) in pages(&dir) {
            let disk = SickDisk::new(&file, page, Fault::Fails);
            let report = database(&dir, &disk);
            let wrong = of_weight(&report, Severity::Damage);
            if disk.count(Done::Read) == 0 {
                assert_eq!(report.outcome, Outcome::Intact, "{fixture}/{file} {page}: {:#?}", report.checks);
                continue;
            }
            read += 1;
            assert_eq!(report.outcome, Outcome::Damaged, "{fixture}/{file} {page}: {:#?}", report.checks);
            for finding in wrong {
                let place = (finding.kind, finding.file.as_path());
                assert_eq!(place, (FindingKind::ReadError, Path::new(&file)), "{fixture}: {finding:?}");
                assert_eq!(finding.attribution, Attribution::IoError { errno: 5 }, "{finding:?}");
                assert!(finding.detail.contains("Input/output error"), "{finding:?}");
            }
        }
        assert!(read >= 4, "{fixture}: {read}");
    }
}

/// The page lies in the middle of the larger table: all other blocks are still checked, and another bad one is found.
#[test]
fn the_rest_of_the_table_is_read_on() {
    let (_home, dir) = kit::copy(&kit::fixture("goleveldb/healthy"));
    let mut table = std::fs::read(dir.join("000011.ldb")).unwrap();
    table[20] ^= 1;
    std::fs::write(dir.join("000011.ldb"), table).unwrap();
    let report = database(&dir, &SickDisk::new("000011.ldb", 1, Fault::Fails));
    let kinds: Vec<FindingKind> = of_weight(&report, Severity::Damage).iter().map(|finding| finding.kind).collect();
    assert!(kinds.contains(&FindingKind::ReadError), "{:#?}", report.checks);
    let (_home, clean) = kit::copy(&kit::fixture("goleveldb/healthy"));
    let mut table = std::fs::read(clean.join("000016.ldb")).unwrap();
    table[20] ^= 1;
    std::fs::write(clean.join("000016.ldb"), table).unwrap();
    let report = database(&clean, &SickDisk::new("000011.ldb", 0, Fault::Fails));
    let files: Vec<&Path> = of_weight(&report, Severity::Damage).iter().map(|finding| finding.file.as_path()).collect();
    assert!(files.contains(&Path::new("000011.ldb")) && files.contains(&Path::new("000016.ldb")), "{files:?}");
}

/// Errors of the system that say nothing of the device are gaps, never damage: a stale handle of a network disk, no memory.
#[test]
fn other_errors_are_no_damage() {
    for (fixture, errno) in HEALTHY.into_iter().flat_map(|fixture| [(fixture, 116), (fixture, 12)]) {
        let dir = kit::fixture(fixture);
        for (file, page) in pages(&dir) {
            let disk = SickDisk { errno, ..Arc::into_inner(SickDisk::new(&file, page, Fault::Fails)).unwrap() };
            let disk = Arc::new(disk);
            let report = database(&dir, &disk);
            let read = disk.count(Done::Read) > 0;
            let expected = if read { Outcome::CouldNotTell } else { Outcome::Intact };
            assert_eq!(report.outcome, expected, "{errno} {fixture}/{file} {page}: {:#?}", report.checks);
            let names_it =
                |reason: &Reason| matches!(reason, Reason::Unreadable(error) if error.path == Path::new(&file));
            assert!(!read || report.checks.untold.iter().any(names_it), "{file}: {:#?}", report.checks);
        }
    }
}

/// Proven means twice, and the second read is past the cache: what then differs is the machine's fault, never damage.
#[test]
fn reads_that_differ_are_a_sick_machine() {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for fixture in HEALTHY {
        let dir = kit::fixture(fixture);
        for (file, page) in pages(&dir) {
            for fault in [Fault::FailsOnce, Fault::WrongInTheCache, Fault::WrongEachTime] {
                let disk = SickDisk::new(&file, page, fault);
                let report = database(&dir, &disk);
                assert_ne!(report.outcome, Outcome::Damaged, "{fixture}/{file} {page} {fault:?}: {:#?}", report.checks);
                let sick = of_weight(&report, Severity::HostSick);
                if fault == Fault::FailsOnce && disk.count(Done::Read) > 0 {
                    assert!(!sick.is_empty() && disk.count(Done::Dropped) > 0, "{fixture}/{file} {page} {fault:?}");
                }
                for finding in sick {
                    assert_eq!(finding.file, Path::new(&file));
                    assert!(finding.detail.contains("the machine is sick"), "{finding:?}");
                    *seen.entry(format!("{fault:?}")).or_default() += 1;
                }
            }
        }
    }
    assert!(seen.len() == 3 && seen.values().all(|count| *count > 20), "{seen:?}");
}

/// Footers, which no checksum covers in most formats, lead a whole check astray: every byte of each.
#[test]
fn a_footer_that_reads_differently_is_no_damage() {
    let mut sick = 0;
    for fixture in HEALTHY {
        let dir = kit::fixture(fixture);
        let tables = std::fs::read_dir(&dir).unwrap().map(|entry| entry.unwrap().path());
        for table in tables.filter(|path| path.extension().is_some_and(|kind| kind == "ldb" || kind == "sst")) {
            let bytes = std::fs::metadata(&table).unwrap().len();
            for at in bytes - 60..bytes {
                let name = table.file_name().unwrap().to_str().unwrap();
                let disk = Arc::into_inner(SickDisk::new(name, at / PAGE, Fault::WrongInTheCache)).unwrap();
                let report = database(&dir, &Arc::new(SickDisk { byte: at % PAGE, ..disk }));
                assert_ne!(report.outcome, Outcome::Damaged, "{fixture}/{name} {at}: {:#?}", report.checks);
                sick += of_weight(&report, Severity::HostSick).len();
            }
        }
    }
    assert!(sick > 500, "{sick}");
}

/// The same wrong bytes, twice: that is damage.
#[test]
fn the_second_read_drops_the_cached_page_first() {
    let (_home, dir) = kit::copy(&kit::fixture("goleveldb/table-data-flip"));
    let disk = SickDisk::new("000011.ldb", 0, Fault::FailsOnce);
    let report = database(&dir, &disk);
    let kinds: Vec<FindingKind> = report.checks.findings.iter().map(|finding| finding.kind).collect();
    assert!(kinds.contains(&FindingKind::BlockChecksum) && kinds.contains(&FindingKind::ReadsDiffer), "{kinds:?}");
    let done = disk.done.lock().unwrap();
    assert_eq!(done[..3], [Done::Read, Done::Dropped, Done::Read], "{done:?}");
}

/// The kernel's own EIO: a process's memory, read where nothing is mapped.
#[test]
#[cfg(target_os = "linux")]
fn an_error_as_the_kernel_gives_it() {
    let dir = DataDir::open(Path::new("/proc/self"), Arc::new(Meter::new(None, Arc::new(Silent)))).unwrap();
    let error = dir.file("mem").unwrap().read_exact_at(&mut [0; 16], 0).unwrap_err();
    assert_eq!(error.problem, ReadProblem::Io { errno: 5, offset: Some(0) });
    assert!(error.problem.is_device_error());
    assert_eq!(error.to_string(), "mem: Input/output error (os error 5)");
}
