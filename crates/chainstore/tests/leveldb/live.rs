//! Directories that are written to while they are read: never "damaged", whatever the moment (P13).

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use chainstore::{Depth, Disk, Options, Outcome, Reason, SystemDisk, inspect};
use rusty_leveldb::DB;

use crate::kit;

/// A writer that flushes, compacts as it goes, rotates its journal and reopens, until it is told to stop.
fn write(path: &Path, seed: u64, stop: &AtomicBool, writes: &AtomicU64) {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state >> 33
    };
    while !stop.load(Ordering::Relaxed) {
        let options = rusty_leveldb::Options {
            write_buffer_size: 4 << 10,
            max_file_size: 8 << 10,
            ..rusty_leveldb::Options::default()
        };
        let mut db = DB::open(path, options).unwrap();
        for _ in 0..50 + next() % 400 {
            if stop.load(Ordering::Relaxed) {
                break;
            }
            let key = format!("key{:04}", next() % 700);
            match next() % 100 {
                0..70 => db.put(key.as_bytes(), &[b'v'; 100]).unwrap(),
                70..95 => db.delete(key.as_bytes()).unwrap(),
                _ => db.flush().unwrap(),
            }
            writes.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// A disk that gives a writer time between two reads.
#[derive(Debug)]
struct SlowDisk(Duration);

impl Disk for SlowDisk {
    fn read_at(&self, file: &std::fs::File, path: &Path, buffer: &mut [u8], offset: u64) -> std::io::Result<usize> {
        std::thread::sleep(self.0);
        SystemDisk.read_at(file, path, buffer, offset)
    }

    fn drop_cached(&self, file: &std::fs::File, start: u64, end: u64) {
        SystemDisk.drop_cached(file, start, end);
    }
}

/// Stops the writer, also where the test ends early.
struct StopsIt<'a>(&'a AtomicBool);

impl Drop for StopsIt<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn a_node_that_runs_is_never_called_damaged() {
    let (mut changed, mut untold, mut inspections) = (0_u32, 0_u32, 0_u32);
    for seed in 1..=12 {
        let home = tempfile::tempdir().unwrap();
        let path: PathBuf = home.path().join("state.db");
        let (stop, writes) = (AtomicBool::new(false), AtomicU64::new(0));
        std::thread::scope(|scope| {
            scope.spawn(|| write(&path, seed, &stop, &writes));
            let _stops = StopsIt(&stop);
            while writes.load(Ordering::Relaxed) < 400 {
                std::thread::yield_now();
            }
            for round in 0_u64..20 {
                let depth = if round % 2 == 0 { Depth::Default } else { Depth::Deep };
                let disk: Arc<dyn Disk> = Arc::new(SlowDisk(Duration::from_micros(round * 40)));
                let found = inspect(home.path(), &Options { depth, disk, ..Options::default() }).unwrap();
                let wrong = [Outcome::Damaged, Outcome::Inconsistent].contains(&found.outcome);
                assert!(!wrong, "seed {seed}, round {round}: {found:#?}");
                inspections += 1;
                untold += u32::from(found.outcome == Outcome::CouldNotTell);
                for database in &found.databases {
                    let told = |reason: &Reason| matches!(reason, Reason::Changed(_));
                    changed += u32::from(database.checks.untold.iter().any(told));
                    assert!(database.prediction.is_none() || database.outcome == Outcome::Intact, "{database:#?}");
                }
            }
        });
        // Once it has stopped, the same directory is intact, or what a writer leaves that was not closed.
        let report = kit::report(&path, Depth::Deep);
        let ambiguous = report.checks.untold.iter().all(|reason| matches!(reason, Reason::Ambiguous(_)));
        assert!(report.outcome != Outcome::Damaged && ambiguous, "seed {seed}: {:#?}", report.checks);
    }
    println!("{inspections} inspections, {untold} could not tell, {changed} because of a change");
    assert!(inspections >= 240 && changed > 0, "{changed} of {inspections} met a change");
}
