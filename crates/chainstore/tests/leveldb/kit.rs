//! What the tests share: fixtures by name, copies of them, one inspection's result in short.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use chainstore::{DataDir, DatabaseReport, Depth, Meter, Options, Silent, Store, find, inspect, open};

/// A fixture's directory.
pub(crate) fn fixture(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(path)
}

/// A copy of a database directory, named `state.db`, in a directory of its own: in memory where that is offered, since some
/// tests change and read files a million times.
pub(crate) fn copy(source: &Path) -> (tempfile::TempDir, PathBuf) {
    let memory = Path::new("/dev/shm");
    let home = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() }.unwrap();
    let target = home.path().join("state.db");
    std::fs::create_dir(&target).unwrap();
    for entry in std::fs::read_dir(source).unwrap() {
        let entry = entry.unwrap();
        std::fs::copy(entry.path(), target.join(entry.file_name())).unwrap();
    }
    (home, target)
}

/// Inspects a directory that holds one database.
pub(crate) fn report(dir: &Path, depth: Depth) -> DatabaseReport {
    let options = Options { depth, threads: std::num::NonZeroUsize::new(1), ..Options::default() };
    let mut databases = inspect(dir, &options).unwrap().databases;
    assert_eq!(databases.len(), 1, "{}", dir.display());
    databases.remove(0)
}

/// Opens the one database of a directory.
pub(crate) fn store(dir: &Path) -> Box<dyn Store> {
    let root = DataDir::open(dir, Arc::new(Meter::new(None, Arc::new(Silent)))).unwrap();
    let (mut found, checks) = find(&root, dir, Depth::Default);
    assert_eq!((found.len(), checks.untold.len()), (1, 0), "{}", dir.display());
    let found = found.remove(0);
    let engine = found.detection.sole().unwrap();
    open(found.place, engine).unwrap()
}
