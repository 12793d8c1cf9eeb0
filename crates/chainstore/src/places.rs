//! Where a node's databases are: every database directory below a home or data directory. *Files, read-only.*
//!
//! Source: CometBFT `config/config.go` (`db_dir`, `<id>.db`), SDK `snapshots/metadata.db`; formats 8.2. Links are followed
//! only where they stay inside, and no deeper than a home has levels.

use std::path::Path;
use std::sync::Arc;

use diagnosis::DatabaseName;

use crate::engine::{Detection, detect, detect_file};
use crate::files::{DataDir, EntryKind, FileEntry};
use crate::read_error::ReadError;
use crate::store::{Depth, Place};
use crate::{Checks, Finding, FindingKind, Reason};

/// `home/data/snapshots/metadata.db` is four levels down; loops of links end here too.
const LEVELS_MAX: usize = 4;

/// A home has some dozen directories; a state-sync snapshot's chunks lie in numbered ones, which are not entered.
const DIRECTORIES_MAX: usize = 10_000;

/// One database directory, and who wrote it.
#[derive(Debug)]
pub struct FoundPlace {
    /// The directory.
    pub place: Place,
    /// Whose files are in it.
    pub detection: Detection,
}

/// Finds every database directory at or below `root`. What could not be looked into is in the checks.
#[must_use]
pub fn find(root: &DataDir, named: &Path, depth: Depth) -> (Vec<FoundPlace>, Checks) {
    let (mut found, mut checks) = (Vec::new(), Checks::default());
    let mut queue = vec![(root.clone(), 0_usize)];
    let mut entered = 0_usize;
    while let Some((dir, level)) = queue.pop() {
        entered = entered.saturating_add(1);
        if entered > DIRECTORIES_MAX {
            checks.add(Reason::AboveLimit(format!("more than {DIRECTORIES_MAX} directories")));
            break;
        }
        let entries: Arc<[FileEntry]> = match dir.list() {
            Ok(entries) => entries.into(),
            Err(error) => {
                checks.add(error_in(&dir, error));
                continue;
            }
        };
        let detection = detect(&dir, &entries);
        let name = dir.path().file_name().or(named.file_name()).unwrap_or_default().to_string_lossy().into_owned();
        if !detection.engines.is_empty() || is_database_name(&name) {
            let database = DatabaseName::new(&name);
            found.push(FoundPlace { place: Place { dir, database, entries, depth }, detection });
        } else if level < LEVELS_MAX {
            enter(&dir, &entries, level, &mut queue, &mut checks);
        }
    }
    found.sort_by(|a, b| a.place.dir.path().cmp(b.place.dir.path()));
    (found, checks)
}

fn error_in(dir: &DataDir, error: ReadError) -> Reason {
    let path = if error.path.as_os_str().is_empty() { dir.path().to_path_buf() } else { error.path };
    Reason::Unreadable(ReadError { path, problem: error.problem })
}

fn is_database_name(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|extension| extension == "db")
}

/// Queues the directories in which databases can be, and names single-file databases.
fn enter(dir: &DataDir, entries: &[FileEntry], level: usize, queue: &mut Vec<(DataDir, usize)>, checks: &mut Checks) {
    for entry in entries {
        let Some(name) = entry.name.to_str() else { continue };
        let likely = is_database_name(name) || name == "data" || name == "snapshots";
        let numbered = name.bytes().all(|byte| byte.is_ascii_digit());
        match entry.kind {
            // Copies that the guard keeps are no node's databases.
            EntryKind::Directory | EntryKind::Link if name.starts_with(".loopbreaker") => {}
            EntryKind::Directory if numbered || name == "cs.wal" => {}
            EntryKind::Link if !likely => {}
            EntryKind::Directory | EntryKind::Link => match dir.directory(name) {
                Ok(below) => queue.push((below, level.saturating_add(1))),
                Err(_) if !likely => {}
                Err(error) => checks.add(Reason::Unreadable(error)),
            },
            EntryKind::File if is_database_name(name) => {
                if let Some(engine) = detect_file(dir, name) {
                    let path = dir.path().join(name);
                    checks
                        .add(Reason::Unsupported(format!("{}: {engine} is not read by this version", path.display())));
                }
            }
            _ => {}
        }
    }
}

/// What a place says before any engine reads it: no database, two engines' files, or an engine that merely came by.
pub(crate) fn check(found: &FoundPlace) -> Checks {
    let mut checks = Checks::default();
    let FoundPlace { place, detection } = found;
    let finding = |kind, detail: String| Finding::new(kind, &place.database, place.dir.path(), detail);
    match detection.engines.as_slice() {
        [] => checks
            .add(finding(FindingKind::NoDatabase, "no database: an engine would begin an empty one here".to_owned())),
        [_] => {}
        several => {
            let names: Vec<String> = several.iter().map(|(engine, file)| format!("{engine} ({file})")).collect();
            checks.add(finding(FindingKind::TwoEngines, format!("files of several engines: {}", names.join(", "))));
        }
    }
    // Without data there is none that could be another's.
    for (engine, file) in detection.visitors.iter().filter(|_| !detection.engines.is_empty()) {
        let newest = place
            .entries
            .iter()
            .filter(|entry| entry.name.to_str().is_some_and(|name| name == "CURRENT" || name.starts_with("MANIFEST-")))
            .map(|entry| entry.changed)
            .max();
        // A log that is newer than the database is from a node that was started with another backend.
        let kind = match place.entry(file) {
            Some(log) if Some(log.changed) > newest => FindingKind::WrongSetup,
            _ => FindingKind::Remark,
        };
        checks.add(finding(
            kind,
            format!("{engine} was started on this directory ({file}), but the data is not its own"),
        ));
    }
    checks
}
