//! Every database of a node, checked: the whole of an inspection. *Files, read-only.*
//!
//! Find the databases, open each by its engine's rules, check all tables on several threads, then journals and traces; read
//! the node's own records through them; at last look whether the directory changed meanwhile. What one database hides
//! never stops the others.

use std::num::{NonZeroU64, NonZeroUsize};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use diagnosis::DatabaseName;

use crate::crew::{self, Work};
use crate::disk::{Disk, SystemDisk};
use crate::files::DataDir;
use crate::iavl::IavlMode;
use crate::meter::Meter;
use crate::node::NodeReport;
use crate::places::{self, FoundPlace};
use crate::read_error::ReadError;
use crate::ring::RingReport;
use crate::store::{Depth, Prediction};
use crate::{Checks, Engine, Finding, FindingKind, Outcome, Progress, Reason, Silent, device, live, lost_databases};
use crate::{node_of, node_place};

/// What an inspection looks at, and how fast.
#[derive(Clone)]
pub struct Options {
    /// How much is looked at.
    pub depth: Depth,
    /// How much of the application's trees is walked; by the depth, if not given.
    pub iavl: Option<IavlMode>,
    /// The file that the log names: it comes first.
    pub first: Option<PathBuf>,
    /// In which order the tables of a database are read.
    pub order: Order,
    /// Bytes read per second at most, over all threads.
    pub max_read_rate: Option<NonZeroU64>,
    /// Threads; as many as the machine offers, if not given.
    pub threads: Option<NonZeroUsize>,
    /// Who watches.
    pub progress: Arc<dyn Progress>,
    /// Who gives the bytes.
    pub disk: Arc<dyn Disk>,
}

/// In which order the tables of a database are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Order {
    /// As the MANIFEST lists them.
    #[default]
    Listed,
    /// The file that changed last first: for those who have no time for all.
    NewestFirst,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            depth: Depth::Default,
            iavl: None,
            first: None,
            order: Order::Listed,
            max_read_rate: None,
            threads: None,
            progress: Arc::new(Silent),
            disk: Arc::new(SystemDisk),
        }
    }
}

/// What an inspection gives.
#[derive(Debug, Clone)]
pub struct Inspection {
    /// What everything adds up to.
    pub outcome: Outcome,
    /// Each database.
    pub databases: Vec<DatabaseReport>,
    /// What is not about one of these databases: companion files, and directories that could not be looked into.
    pub checks: Checks,
    /// What the node's own records say, where its databases were found; its findings are in the checks above.
    pub node: Option<NodeReport>,
    /// Bytes read.
    pub bytes_read: u64,
    /// How long it took.
    pub took: Duration,
    /// What the ring of `guard` said, where one was weighed ([`crate::ring::weigh`]).
    pub ring: Option<RingReport>,
}

impl Inspection {
    /// Every finding.
    pub fn findings(&self) -> impl Iterator<Item = &Finding> {
        let of_databases = self.databases.iter().flat_map(|database| &database.checks.findings);
        of_databases.chain(&self.checks.findings)
    }

    /// Whether it was stopped before its end.
    #[must_use]
    pub fn is_interrupted(&self) -> bool {
        self.checks.untold.contains(&Reason::Interrupted)
    }

    /// Adds everything up anew.
    pub(crate) fn settle(&mut self) {
        let mut all = self.checks.clone();
        for database in &mut self.databases {
            database.outcome = database.checks.outcome();
            all.extend(database.checks.clone());
        }
        self.outcome = all.outcome();
    }
}

/// What was seen of one database.
#[derive(Debug, Clone)]
pub struct DatabaseReport {
    /// Its name, without `.db`.
    pub name: DatabaseName,
    /// Its directory, relative to the inspected one.
    pub path: PathBuf,
    /// Who wrote it, if that is one.
    pub engine: Option<Engine>,
    /// What its checks add up to.
    pub outcome: Outcome,
    /// Live tables.
    pub tables: u64,
    /// Bytes of its files.
    pub bytes: u64,
    /// Findings, notes, and what nobody could tell.
    pub checks: Checks,
    /// What the engine would do at its next open, where it would not simply open.
    pub prediction: Option<Prediction>,
}

/// Inspects a home or data directory, or a single database directory.
pub fn inspect(dir: &Path, options: &Options) -> Result<Inspection, ReadError> {
    let started = Instant::now();
    let meter = Arc::new(Meter::new(options.max_read_rate, Arc::clone(&options.progress)));
    let root = DataDir::open_on(dir, Arc::clone(&meter), Arc::clone(&options.disk))?;
    let named = dir.canonicalize().unwrap_or_else(|_| dir.to_path_buf());
    let (found, mut checks) = places::find(&root, &named, options.depth);
    device::judge(&mut checks, |path| owner(path, &[]));
    if found.is_empty() && checks.untold.is_empty() {
        let detail = "no database in this directory";
        checks.add(Finding::new(FindingKind::NoDatabase, &DatabaseName::new(""), Path::new(""), detail));
    }
    let works = examine(found, options, &meter);
    let home = if meter.interrupted() { None } else { node_place::find(&works, &root, &mut checks) };
    let mut node = home.and_then(|home| node_of::read(&works, &home, options));
    let mut databases: Vec<DatabaseReport> = works.into_iter().map(report).collect();
    let node_checks = node.as_mut().map(|node| std::mem::take(&mut node.checks)).unwrap_or_default();
    sort_in(node_checks, &mut databases, &mut checks);
    if !meter.interrupted()
        && let Some(lost) = lost_databases::judge(&root, &databases)
    {
        checks.add(lost);
    }
    let sick = device::that_went(&meter.failures_that_went(), |path| owner(path, &databases));
    sort_in(sick, &mut databases, &mut checks);
    if meter.interrupted() {
        checks.add(Reason::Interrupted);
    }
    let mut inspection = Inspection {
        outcome: Outcome::Intact,
        databases,
        checks,
        node,
        bytes_read: meter.bytes(),
        took: started.elapsed(),
        ring: None,
    };
    inspection.settle();
    Ok(inspection)
}

/// Whose file it is: a database's, or one of the companions' (`wasm`, `cs.wal`, `priv_validator_state`).
fn owner(path: &Path, databases: &[DatabaseReport]) -> DatabaseName {
    if let Some(database) = databases.iter().find(|database| path.starts_with(&database.path)) {
        return database.name.clone();
    }
    let first = path.components().map(|part| part.as_os_str().to_string_lossy()).find(|part| part != "data");
    let name = first.unwrap_or_default();
    DatabaseName::new(name.strip_suffix(".json").unwrap_or(&name))
}

/// Findings about a database stand with it.
fn sort_in(mut node: Checks, databases: &mut [DatabaseReport], rest: &mut Checks) {
    device::judge(&mut node, |path| owner(path, databases));
    for finding in node.findings {
        match databases.iter_mut().find(|database| finding.file.starts_with(&database.path)) {
            Some(database) => {
                database.checks.add(finding);
                database.outcome = database.checks.outcome();
            }
            None => rest.add(finding),
        }
    }
    for reason in node.untold {
        if !rest.untold.contains(&reason) {
            rest.add(reason);
        }
    }
}

/// Checks all databases; those that changed meanwhile are read once more, and judged by what held still.
fn examine(found: Vec<FoundPlace>, options: &Options, meter: &Meter) -> Vec<Work> {
    let mut works: Vec<Work> = found.into_iter().map(Work::open).collect();
    crew::run(&mut works, options, meter);
    let (mut settled, mut restless) = (Vec::new(), Vec::new());
    for work in works {
        let again = if work.has_findings() && !meter.interrupted() { reread(&work.found) } else { None };
        match again {
            Some(again) => restless.push(again),
            None => settled.push(work),
        }
    }
    let mut again: Vec<Work> = restless.into_iter().map(Work::open).collect();
    crew::run(&mut again, options, meter);
    settled.extend(again);
    settled.sort_by(|a, b| a.found.place.dir.path().cmp(b.found.place.dir.path()));
    settled
}

/// The same directory with today's files, if they are others than when the inspection began.
fn reread(found: &FoundPlace) -> Option<FoundPlace> {
    let mut place = found.place.clone();
    if !live::changed(&place).ok()? {
        return None;
    }
    place.entries = place.dir.list().ok()?.into();
    let detection = crate::detect(&place.dir, &place.entries);
    Some(FoundPlace { place, detection })
}

fn report(work: Work) -> DatabaseReport {
    let (place, engine) = (work.found.place.clone(), work.found.detection.sole());
    let (tables, mut prediction, mut checks) = work.finish();
    let now = live::changed(&place).and_then(|changed| if changed { place.dir.list().map(Some) } else { Ok(None) });
    match now {
        Ok(Some(now)) => {
            checks = live::settle(checks, &place.database, place.dir.path(), &place.entries, &now);
            // It was made of files of two moments.
            prediction = None;
        }
        Ok(None) => {}
        Err(error) => checks.add(Reason::Unreadable(error)),
    }
    if device::has_hole(&checks) {
        prediction = None;
    }
    device::judge(&mut checks, |_| place.database.clone());
    let order = |a: &Finding, b: &Finding| (&a.file, a.offset, a.kind).cmp(&(&b.file, b.offset, b.kind));
    checks.findings.sort_by(order);
    checks.findings.dedup();
    DatabaseReport {
        name: place.database.clone(),
        path: place.dir.path().to_path_buf(),
        engine,
        outcome: checks.outcome(),
        tables,
        bytes: place.entries.iter().map(|entry| entry.bytes).sum(),
        checks,
        prediction,
    }
}
