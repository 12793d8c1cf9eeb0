//! What tells one state of a database from another, small enough to be kept of every start. *Files, read-only.*
//!
//! Names, numbers and identities only, no engine's rules: an engine goes forward in file numbers, names its MANIFEST in
//! `CURRENT` or a marker, and keeps the files that it still needs (formats 5).

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::digest::Hash32;
use crate::files::{DataDir, EntryKind, FileEntry};
use crate::places;
use crate::ring::identity::{self, FileIdentity};
use crate::ring::open_log::LogMark;
use crate::store::Depth;

/// Newest tables whose identities are kept.
const TABLES_KEPT: usize = 32;
/// Newest journals whose identities are kept.
const JOURNALS_KEPT: usize = 8;
/// Newest manifests whose heads are kept.
const MANIFESTS_KEPT: usize = 4;
/// Bytes of a manifest's head.
const HEAD_BYTES: u64 = 4096;
/// `CURRENT` and markers name one file.
const POINTER_BYTES_MAX: u64 = 256;

/// What is known of a database besides its records.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DatabaseFacts {
    /// Its directory, below the home.
    pub path: String,
    /// Its engine's name, where it is of one engine.
    #[serde(default)]
    pub engine: Option<String>,
    /// The MANIFEST that its entry point names.
    #[serde(default)]
    pub pointer: Option<String>,
    /// The largest number that a file's name has.
    #[serde(default)]
    pub largest: u64,
    /// Tables in the directory, live or not.
    #[serde(default)]
    pub tables: u64,
    /// When a data file last changed, in seconds since 1970.
    #[serde(default)]
    pub changed_at: i64,
    /// Files that an engine keeps while it goes on, with their identities.
    #[serde(default)]
    pub anchors: Vec<Anchor>,
    /// The newest manifests.
    #[serde(default)]
    pub manifests: Vec<Head>,
    /// How far the engine's own log had come.
    #[serde(default)]
    pub log: Option<LogMark>,
}

/// A file that persists.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Anchor {
    /// Its name.
    pub file: String,
    /// Which file that is.
    pub identity: FileIdentity,
}

/// The beginning of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    /// Its name.
    pub file: String,
    /// How many bytes of it were read: 4096, or all.
    pub bytes: u64,
    /// Their SHA-256, in hexadecimal digits.
    pub sha256: String,
}

/// The facts of every database at or below `root`; `below_home` is where `root` stands in the home. What cannot be read
/// is left out of them.
#[must_use]
pub fn collect_facts(root: &DataDir, named: &Path, below_home: &Path) -> Vec<DatabaseFacts> {
    let (found, _) = places::find(root, named, Depth::Quick);
    let mut all = Vec::new();
    for place in found {
        let path = below(below_home, place.place.dir.path());
        let engine = place.detection.sole().map(|engine| engine.name().to_owned());
        all.push(of(&place.place.dir, &place.place.entries, path, engine));
    }
    all
}

/// A path below the home, of one below the inspected directory: never with a slash at its end.
pub(crate) fn below(below_home: &Path, path: &Path) -> String {
    let joined: std::path::PathBuf = below_home.join(path).components().collect();
    joined.to_string_lossy().into_owned()
}

fn of(dir: &DataDir, entries: &[FileEntry], path: String, engine: Option<String>) -> DatabaseFacts {
    let mut numbered: Vec<(u64, &str)> = Vec::new();
    let mut changed_at = 0;
    for entry in entries.iter().filter(|entry| entry.kind == EntryKind::File) {
        let Some(name) = entry.name.to_str() else { continue };
        if let Some(number) = number_of(name) {
            numbered.push((number, name));
            changed_at = changed_at.max(entry.changed.0);
        }
    }
    numbered.sort_unstable_by(|a, b| b.cmp(a));
    let newest = |wanted: fn(&str) -> bool, count: usize| {
        numbered.iter().map(|(_, name)| *name).filter(move |name| wanted(name)).take(count)
    };
    let fixed = ["LOCK", "LOG", "IDENTITY"].into_iter();
    let names = fixed.chain(newest(is_journal, JOURNALS_KEPT)).chain(newest(is_table, TABLES_KEPT));
    let anchors = names.filter_map(|name| {
        let identity = identity::look(dir, name.as_ref())?.identity;
        Some(Anchor { file: name.to_owned(), identity })
    });
    DatabaseFacts {
        path,
        engine,
        pointer: pointer(dir, entries),
        largest: numbered.first().map_or(0, |(number, _)| *number),
        tables: numbered.iter().filter(|(_, name)| is_table(name)).count() as u64,
        changed_at,
        anchors: anchors.collect(),
        manifests: newest(is_manifest, MANIFESTS_KEPT).filter_map(|name| head(dir, name, HEAD_BYTES)).collect(),
        log: LogMark::of(dir),
    }
}

/// The MANIFEST that the entry point names: the marker's of the highest turn, or else `CURRENT`'s.
fn pointer(dir: &DataDir, entries: &[FileEntry]) -> Option<String> {
    let marker = entries.iter().filter_map(|entry| {
        let (turn, manifest) = entry.name.to_str()?.strip_prefix("marker.manifest.")?.split_once('.')?;
        is_manifest(manifest).then_some((turn.parse::<u64>().ok()?, manifest))
    });
    if let Some((_, manifest)) = marker.max() {
        return Some(manifest.to_owned());
    }
    let bytes = dir.file("CURRENT").and_then(|file| file.read_all(POINTER_BYTES_MAX)).ok()?;
    let name = std::str::from_utf8(&bytes).ok()?.strip_suffix('\n')?;
    is_manifest(name).then(|| name.to_owned())
}

/// The first bytes of a file, as a hash.
pub(crate) fn head(dir: &DataDir, name: &str, limit: u64) -> Option<Head> {
    let file = dir.file(name).ok()?;
    let bytes = file.read_range(0, file.bytes().min(limit), limit).ok()?;
    Some(Head { file: name.to_owned(), bytes: bytes.len() as u64, sha256: Hash32::of(&bytes).to_string() })
}

pub(crate) fn is_manifest(name: &str) -> bool {
    name.strip_prefix("MANIFEST-").is_some_and(|number| number.parse::<u64>().is_ok())
}

pub(crate) fn is_journal(name: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(_, extension)| extension == "log")
}

pub(crate) fn is_table(name: &str) -> bool {
    [".ldb", ".sst", ".blob"].iter().any(|extension| name.ends_with(extension))
}

/// The number in an engine's file name: `000012.ldb`, `000012-003.log`, `MANIFEST-000012`, `OPTIONS-000012`.
pub(crate) fn number_of(name: &str) -> Option<u64> {
    let number = name.strip_prefix("MANIFEST-").or_else(|| name.strip_prefix("OPTIONS-"));
    let digits = number.or_else(|| Some(name.split_once('.')?.0.split('-').next().unwrap_or_default()))?;
    (!digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())).then(|| digits.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_names() {
        for (name, number) in [
            ("000012.ldb", Some(12)),
            ("000012-003.log", Some(12)),
            ("MANIFEST-000007", Some(7)),
            ("OPTIONS-000003", Some(3)),
            ("LOG.old", None),
            ("CURRENT", None),
            ("CURRENT.bak", None),
            (".ldb", None),
            ("marker.manifest.000001.MANIFEST-000001", None),
        ] {
            assert_eq!(number_of(name), number, "{name}");
        }
    }
}
