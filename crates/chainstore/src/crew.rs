//! The threads of an inspection: each takes the next table, whichever database it is of. *Files, read-only.*

use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::inspect::{Options, Order};
use crate::meter::Meter;
use crate::places::{self, FoundPlace};
use crate::store::{self, Prediction, Scratch, Store};
use crate::{Checks, Finding, FindingKind, Reason, twice};
use diagnosis::StartRole;

/// More threads than this only make the disk seek.
const THREADS_MAX: usize = 16;

/// Findings of one database that are listed; the rest is counted.
const FINDINGS_MAX: usize = 10_000;

/// One database under inspection.
pub(crate) struct Work {
    pub(crate) found: FoundPlace,
    store: Option<Box<dyn Store>>,
    tables: u64,
    progress: Mutex<Gathered>,
}

#[derive(Default)]
struct Gathered {
    checks: Checks,
    /// Findings beyond those that are listed.
    more: u64,
    prediction: Option<Prediction>,
}

impl Work {
    /// Opens a place by its engine's rules: entry point and MANIFEST are read here.
    pub(crate) fn open(found: FoundPlace) -> Self {
        let mut gathered = Gathered { checks: places::check(&found), more: 0, prediction: None };
        let opened = found.detection.sole().map(|engine| store::open(found.place.clone(), engine));
        let store = match opened {
            Some(Ok(store)) => {
                gathered.checks.extend(store.entry_checks().clone());
                Some(store)
            }
            Some(Err(reason)) => {
                gathered.checks.add(reason);
                None
            }
            None => None,
        };
        Self { found, store, tables: 0, progress: Mutex::new(gathered) }
    }

    /// The database, where its engine is read.
    pub(crate) fn store(&self) -> Option<&dyn Store> {
        self.store.as_deref()
    }

    /// Whether there is anything that a second look could settle.
    pub(crate) fn has_findings(&self) -> bool {
        self.gathered(|gathered| gathered.checks.severity().is_some())
    }

    /// Tables, prediction, checks.
    pub(crate) fn finish(self) -> (u64, Option<Prediction>, Checks) {
        let mut gathered = self.progress.into_inner().unwrap_or_else(PoisonError::into_inner);
        if gathered.more > 0 {
            let place = &self.found.place;
            let detail = format!("{} more findings are not listed", gathered.more);
            gathered.checks.add(Finding::new(FindingKind::Remark, &place.database, place.dir.path(), detail));
        }
        (self.tables, gathered.prediction, gathered.checks)
    }

    fn gathered<T>(&self, change: impl FnOnce(&mut Gathered) -> T) -> T {
        change(&mut self.progress.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// One thing to do.
struct Job {
    /// Earlier is sooner: the file that the log names, then databases that are read at the start.
    rank: u8,
    /// When the file changed last, where that decides: later is sooner.
    changed: (i64, u32),
    database: u32,
    /// A table, or everything that is not a table.
    table: Option<u32>,
}

/// Does all work of all databases.
pub(crate) fn run(works: &mut [Work], options: &Options, meter: &Meter) {
    let mut jobs = Vec::new();
    for (database, work) in (0_u32..).zip(works.iter_mut()) {
        let Some(store) = &work.store else { continue };
        let place = &work.found.place;
        let rank = if place.database.start_role() == StartRole::ReadAtStart { 1 } else { 2 };
        jobs.push(Job { rank, changed: (i64::MAX, 0), database, table: None });
        for table in store.tables() {
            work.tables = work.tables.saturating_add(1);
            meter.expect(table.bytes);
            let named = options.first.as_deref().is_some_and(|first| names(&place.dir.path().join(&table.file), first));
            let rank = if named { 0 } else { rank };
            let changed = match options.order {
                Order::Listed => (0, 0),
                Order::NewestFirst => place.entry(&table.file).map_or((0, 0), |entry| entry.changed),
            };
            jobs.push(Job { rank, changed, database, table: Some(table.index) });
        }
    }
    jobs.sort_by_key(|job| (job.rank, std::cmp::Reverse(job.changed)));
    let offered = || std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let threads = options.threads.map_or_else(offered, NonZeroUsize::get).min(THREADS_MAX).min(jobs.len().max(1));
    let (next, works) = (AtomicUsize::new(0), &*works);
    let work = || {
        let mut scratch = Scratch::default();
        while let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
            if let Some(work) = usize::try_from(job.database).ok().and_then(|database| works.get(database)) {
                do_job(work, job, meter, &mut scratch);
            }
        }
    };
    // The calling thread is one of them.
    std::thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(work);
        }
        work();
    });
}

fn do_job(work: &Work, job: &Job, meter: &Meter, scratch: &mut Scratch) {
    let Some(store) = &work.store else { return };
    if meter.interrupted() {
        work.gathered(|gathered| {
            if !gathered.checks.untold.contains(&Reason::Interrupted) {
                gathered.checks.add(Reason::Interrupted);
            }
        });
        return;
    }
    if let Some(table) = job.table {
        let checks = twice::check_table(store.as_ref(), &work.found.place, table, scratch);
        if checks.severity().is_some() {
            work.gathered(|gathered| {
                if gathered.checks.findings.len() < FINDINGS_MAX {
                    gathered.checks.extend(checks);
                } else {
                    gathered.more = gathered.more.saturating_add(checks.findings.len() as u64);
                }
            });
        }
        return;
    }
    let checks = store.check_rest(scratch);
    let prediction = store.prediction(scratch);
    work.gathered(|gathered| {
        gathered.checks.extend(checks);
        gathered.prediction = prediction;
    });
}

/// Whether a path is the one that a log named: its last parts are, or its number is (engines log both extensions).
fn names(path: &Path, named: &Path) -> bool {
    path.ends_with(named)
        || (named.file_stem().is_some() && path.with_extension("").ends_with(named.with_extension("")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_that_the_log_names() {
        let path = Path::new("data/application.db/000072.ldb");
        for named in ["000072.ldb", "000072.sst", "application.db/000072.ldb", "data/application.db/000072.ldb"] {
            assert!(names(path, Path::new(named)), "{named}");
        }
        for named in ["72.ldb", "state.db/000072.ldb", "000073.ldb"] {
            assert!(!names(path, Path::new(named)), "{named}");
        }
    }
}
