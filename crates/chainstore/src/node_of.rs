//! A node's own records, read through the databases that an inspection has open. *Files, read-only.*
//!
//! A database counts as absent only where nothing stands in its place and at least two of the three are there: a copy of a
//! single database is no node that lost the others.

use std::num::NonZeroUsize;
use std::path::Path;

use diagnosis::DatabaseName;

use crate::crew::Work;
use crate::files::DataDir;
use crate::home::Home;
use crate::iavl::IavlMode;
use crate::inspect::Options;
use crate::node::{NodeOptions, NodeReport, NodeSources, read_node};
use crate::read_error::ReadProblem;
use crate::records::{Records, Source};
use crate::{Checks, KeyValues, Reason, Severity, live};

/// The databases of a node below its data directory. The first three hold its heights.
const DATABASES: [&str; 4] = ["application.db", "state.db", "blockstore.db", "snapshots/metadata.db"];

/// Reads them; none where no more than one database of another place was named.
pub(crate) fn read(works: &[Work], root: &DataDir, options: &Options) -> Option<NodeReport> {
    let home = Home::of(root, &mut Checks::default());
    let of_node = DATABASES.map(|name| {
        let path = home.data.path().join(name);
        works.iter().find(|work| work.found.place.dir.path() == path)
    });
    let [application, state, blockstore, _] = of_node;
    let there = [application, state, blockstore].into_iter().flatten().count();
    if there == 0 {
        return None;
    }
    let views = of_node.map(|work| work.and_then(|work| work.store()?.view().ok()));
    let mut sources = DATABASES.iter().zip(of_node).zip(&views).map(|((name, work), view)| match (work, view) {
        (Some(work), Some(view)) => here(work, view.as_ref()),
        (Some(work), None) if work.found.detection.engines.is_empty() => Source::Absent,
        (None, _) if there >= 2 && is_missing(&home.data, name) => Source::Absent,
        (Some(_), None) | (None, _) => Source::Unread,
    });
    let mut next = || sources.next().unwrap_or(Source::Unread);
    let sources = NodeSources { application: next(), state: next(), blockstore: next(), snapshots: next() };
    let threads = options.threads.or_else(|| std::thread::available_parallelism().ok()).unwrap_or(NonZeroUsize::MIN);
    let iavl = options.iavl.unwrap_or_else(|| IavlMode::of(options.depth));
    let mut report = read_node(&sources, root, &NodeOptions { depth: options.depth, iavl, threads });
    let moved: Vec<&Work> = of_node.into_iter().flatten().filter(|work| changed(work)).collect();
    if let Some(first) = moved.first() {
        report.checks = unsettled(report.checks, first.found.place.dir.path());
    }
    Some(report)
}

fn here<'v>(work: &'v Work, view: &'v dyn KeyValues) -> Source<'v> {
    let database: &DatabaseName = &work.found.place.database;
    Source::Here(Records { view, database, path: work.found.place.dir.path() })
}

fn is_missing(data: &DataDir, name: &str) -> bool {
    let Some((directory, name)) = name.split_once('/') else {
        return matches!(data.entry(name), Err(error) if error.problem == ReadProblem::Missing);
    };
    match data.directory(directory) {
        Ok(below) => is_missing(&below, name),
        Err(error) => error.problem == ReadProblem::Missing,
    }
}

fn changed(work: &Work) -> bool {
    let place = &work.found.place;
    place.dir.list().map_or(true, |now| live::changed(&place.entries, &now))
}

/// Databases that were read one after the other while a node wrote to them need not agree: nothing of it is proven.
fn unsettled(checks: Checks, dir: &Path) -> Checks {
    let before = checks.findings.len();
    let mut settled = Checks { untold: checks.untold, ..Checks::default() };
    settled.findings = checks.findings.into_iter().filter(|found| found.severity() <= Severity::CouldNotTell).collect();
    if settled.findings.len() < before {
        settled.add(Reason::Changed(dir.to_path_buf()));
    }
    settled
}
