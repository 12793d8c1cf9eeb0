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
    fault: Fault,
    errno: i32,
    done: Mutex<Vec<Done>>,
}

impl SickDisk {
    fn new(file: &str, page: u64, fault: Fault) -> Arc<Self> {
        Arc::new(Self { file: file.into(), page, fault, errno: 5, done: Mutex::default() })
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
        let at = usize::try_from((self.page * PAGE + 9).saturating_sub(offset)).unwrap();
        if let (Some(bit), Some(byte)) = (wrong, buffer[..count].get_mut(at)) {
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

/// All pages of all files that the engine reads.
fn pages(dir: &Path) -> Vec<(String, u64)> {
    let entries = std::fs::read_dir(dir).unwrap().map(Result::unwrap);
    let files = entries.map(|entry| (entry.file_name().into_string().unwrap(), entry.metadata().unwrap().len()));
    let data = files.filter(|(name, _)| !name.starts_with("LO") && name != "CURRENT.bak");
    data.flat_map(|(name, bytes)| (0..bytes.div_ceil(PAGE)).map(move |page| (name.clone(), page))).collect()
}

fn of_weight(report: &DatabaseReport, severity: Severity) -> Vec<&Finding> {
    report.checks.findings.iter().filter(|finding| finding.severity() == severity).collect()
}

/// Whatever page the device does not give, that is the only finding; the other files are read on.
#[test]
fn one_page_that_cannot_be_read() {
    let dir = kit::fixture("goleveldb/healthy-reopened");
    let all = pages(&dir);
    assert!(all.len() >= 6, "{all:?}");
    for (file, page) in all {
        let report = database(&dir, &SickDisk::new(&file, page, Fault::Fails));
        assert_eq!(report.outcome, Outcome::Damaged, "{file} {page}: {:#?}", report.checks);
        let wrong = of_weight(&report, Severity::Damage);
        assert!(!wrong.is_empty());
        for finding in wrong {
            assert_eq!(
                (finding.kind, finding.file.as_path()),
                (FindingKind::ReadError, Path::new(&file)),
                "{finding:?}"
            );
            assert_eq!(finding.attribution, Attribution::IoError { errno: 5 }, "{finding:?}");
            assert!(finding.detail.contains("Input/output error"), "{finding:?}");
        }
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
    let dir = kit::fixture("goleveldb/healthy-reopened");
    for errno in [116, 12, 9] {
        for (file, page) in pages(&dir) {
            let disk = SickDisk { errno, ..Arc::into_inner(SickDisk::new(&file, page, Fault::Fails)).unwrap() };
            let report = database(&dir, &Arc::new(disk));
            assert_eq!(report.outcome, Outcome::CouldNotTell, "{errno} {file} {page}: {:#?}", report.checks);
            let names_it =
                |reason: &Reason| matches!(reason, Reason::Unreadable(error) if error.path == Path::new(&file));
            assert!(report.checks.untold.iter().any(names_it), "{:#?}", report.checks);
        }
    }
}

/// Proven means twice, and the second read is past the cache: what then differs is the machine's fault, never damage.
#[test]
fn reads_that_differ_are_a_sick_machine() {
    let dir = kit::fixture("goleveldb/healthy-reopened");
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for (file, page) in pages(&dir) {
        for fault in [Fault::FailsOnce, Fault::WrongInTheCache, Fault::WrongEachTime] {
            let disk = SickDisk::new(&file, page, fault);
            let report = database(&dir, &disk);
            assert_ne!(report.outcome, Outcome::Damaged, "{file} {page} {fault:?}: {:#?}", report.checks);
            let sick = of_weight(&report, Severity::HostSick);
            let is_table = file.rsplit_once('.').is_some_and(|(_, kind)| kind == "ldb");
            if fault == Fault::FailsOnce || is_table {
                assert!(!sick.is_empty(), "{file} {page} {fault:?}: {:#?}", report.checks);
                // Two reads that differ need no third one.
                let dropped = disk.count(Done::Dropped) > 0;
                assert!(dropped || fault == Fault::WrongEachTime, "{file} {page} {fault:?}");
            }
            if let Some(finding) = sick.first() {
                assert_eq!(finding.file, Path::new(&file));
                assert!(finding.detail.contains("the machine is sick"), "{finding:?}");
                *seen.entry(file.clone()).or_default() += 1;
            }
        }
    }
    assert!(seen.len() >= 4, "{seen:?}");
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
