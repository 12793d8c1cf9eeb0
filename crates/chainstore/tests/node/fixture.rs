//! A fixture directory: its databases opened, and what its manifest says.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use chainstore::{
    DataDir, Depth, FoundPlace, IavlMode, Meter, NodeOptions, NodeReport, NodeSources, Records, Silent, Source, Store,
    find, open, read_node,
};
use diagnosis::DatabaseName;
use serde_json::Value;

pub(crate) struct Fixture {
    pub(crate) root: DataDir,
    opened: Vec<Opened>,
}

struct Opened {
    database: DatabaseName,
    path: PathBuf,
    /// None where this version does not read the engine.
    store: Option<Box<dyn Store>>,
}

pub(crate) fn directory(set: &str, case: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(set).join(case)
}

/// Each case of a manifest.
pub(crate) fn manifest(set: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(directory(set, "manifest.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

pub(crate) fn options(iavl: IavlMode) -> NodeOptions {
    NodeOptions { depth: Depth::Default, iavl, threads: NonZeroUsize::new(2).unwrap() }
}

impl Fixture {
    pub(crate) fn open(path: &Path) -> Self {
        let root = DataDir::open(path, Arc::new(Meter::new(None, Arc::new(Silent)))).unwrap();
        let (found, checks) = find(&root, path, Depth::Default);
        assert!(checks.untold.is_empty(), "{checks:?}");
        let opened = found.into_iter().map(|FoundPlace { place, detection }| {
            let (database, path) = (place.database.clone(), place.dir.path().to_path_buf());
            Opened { database, path, store: detection.sole().and_then(|engine| open(place, engine).ok()) }
        });
        Self { root, opened: opened.collect() }
    }

    /// Whether all databases can be read by this version.
    pub(crate) fn is_readable(&self) -> bool {
        self.opened.iter().all(|opened| opened.store.is_some())
    }

    /// Reads all its records.
    pub(crate) fn read(&self, iavl: IavlMode) -> NodeReport {
        self.with(|sources| read_node(sources, &self.root, &options(iavl)))
    }

    /// Does something with its views.
    pub(crate) fn with<T>(&self, then: impl FnOnce(&NodeSources<'_>) -> T) -> T {
        let views: Vec<_> = self
            .opened
            .iter()
            .map(|opened| (opened, opened.store.as_ref().map(|store| store.view().unwrap())))
            .collect();
        let source = |wanted: &str| match views.iter().find(|(opened, _)| opened.database.as_str() == wanted) {
            Some((Opened { database, path, .. }, Some(view))) => {
                Source::Here(Records { view: view.as_ref(), database, path })
            }
            Some((_, None)) => Source::Unread,
            None => Source::Absent,
        };
        then(&NodeSources {
            application: source("application"),
            state: source("state"),
            blockstore: source("blockstore"),
            snapshots: source("metadata"),
        })
    }
}
