//! From `CURRENT` to the MANIFEST, as RocksDB goes. *Files, read-only.*
//!
//! Source: RocksDB `db/version_set.cc` (`GetCurrentManifestPath`), `db/db_impl/db_impl_open.cc` (`Recover`, `NewDB`): a missing
//! `CURRENT` is no error where the engine may create databases, as a node's may.

use crate::lsm::file_number::manifest;
use crate::rocksdb::names::Name;
use crate::store::Place;
use crate::{Attribution, Check, Checks, Finding, FindingKind, Reason};

/// Pointer files are some twenty bytes long; a longer one names nothing.
const CURRENT_BYTES_MAX: u64 = 4096;

/// Where the engine would go.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct EntryPoint {
    /// The MANIFEST that the engine would read.
    pub(crate) manifest: Option<u64>,
    /// The newest MANIFEST that is there, for going on where the engine would not.
    pub(crate) fallback: Option<u64>,
    /// Whether the engine finds no pointer, and so would begin a new database among these files.
    pub(crate) begins_anew: bool,
    /// The engine's error, if it would not open.
    pub(crate) refused: Option<String>,
}

impl EntryPoint {
    /// The MANIFEST from which everything else is checked.
    pub(crate) fn usable(&self) -> Option<u64> {
        self.manifest.or(self.fallback)
    }
}

enum Pointer {
    Names(u64),
    NamesMissing(u64),
    Corrupt(String),
    Absent,
    Unreadable(Reason),
}

/// Follows `CURRENT`.
pub(crate) fn follow(place: &Place, checks: &mut Checks) -> EntryPoint {
    let fallback = place.entries.iter().filter_map(|entry| match Name::parse(entry.name.to_str()?) {
        Some(Name::Manifest(number)) => Some(number),
        _ => None,
    });
    let mut entry = EntryPoint { fallback: fallback.max(), ..EntryPoint::default() };
    match current(place) {
        Pointer::Names(number) => entry.manifest = Some(number),
        Pointer::Absent if holds_data(place) => {
            entry.begins_anew = true;
            let detail = "CURRENT is not there, but the database's other files are: where it may create databases, the \
                          engine begins a new, empty one among them";
            let path = place.dir.path().join("CURRENT");
            checks.add(Finding::new(FindingKind::EntryPointMissing, &place.database, &path, detail));
        }
        other => {
            entry.refused = refusal(&other);
            checks.add(broken(place, &other));
        }
    }
    entry
}

fn holds_data(place: &Place) -> bool {
    place.entries.iter().any(|entry| entry.name.to_str().and_then(Name::parse).is_some())
}

fn named(bytes: &[u8]) -> Option<u64> {
    match Name::parse(std::str::from_utf8(bytes.strip_suffix(b"\n")?).ok()?) {
        Some(Name::Manifest(number)) => Some(number),
        _ => None,
    }
}

fn current(place: &Place) -> Pointer {
    if place.entry("CURRENT").is_none() {
        return Pointer::Absent;
    }
    let read = place.dir.file("CURRENT").and_then(|file| {
        let first = file.bytes().min(CURRENT_BYTES_MAX);
        Ok((file.read_range(0, first, CURRENT_BYTES_MAX)?, file))
    });
    let (bytes, file) = match read {
        Ok(read) => read,
        Err(error) => return Pointer::Unreadable(Reason::Unreadable(error)),
    };
    let pointer = match named(&bytes).filter(|_| file.bytes() <= CURRENT_BYTES_MAX) {
        Some(number) if place.entry(&manifest(number)).is_some() => return Pointer::Names(number),
        Some(number) => Pointer::NamesMissing(number),
        None => Pointer::Corrupt(bytes.escape_ascii().take(64).map(char::from).collect()),
    };
    file.prove(&bytes, 0).map_or_else(|error| Pointer::Unreadable(Reason::Unreadable(error)), |()| pointer)
}

/// The one bit of `CURRENT` whose flip makes it name a MANIFEST that is there.
fn flip(place: &Place) -> Attribution {
    let bytes = place.dir.file("CURRENT").and_then(|file| file.read_all(CURRENT_BYTES_MAX)).unwrap_or_default();
    for (at, byte) in bytes.iter().enumerate().take(64) {
        for bit in 0..8_u8 {
            let mut repaired = bytes.clone();
            if let Some(broken) = repaired.get_mut(at) {
                *broken = byte ^ (1 << bit);
            }
            if named(&repaired).is_some_and(|number| place.entry(&manifest(number)).is_some()) {
                return Attribution::SingleBitFlip { offset: at as u64, bit };
            }
        }
    }
    Attribution::Unknown
}

/// The engine's own words, shortened.
fn refusal(pointer: &Pointer) -> Option<String> {
    match pointer {
        Pointer::NamesMissing(number) => {
            Some(format!("IO error: No such file or directory: While opening {}", manifest(*number)))
        }
        Pointer::Corrupt(_) => Some("Corruption: CURRENT file corrupted".to_owned()),
        Pointer::Names(_) | Pointer::Absent | Pointer::Unreadable(_) => None,
    }
}

fn broken(place: &Place, pointer: &Pointer) -> Check {
    let path = place.dir.path().join("CURRENT");
    let finding = |kind, detail: String| Finding::new(kind, &place.database, &path, detail);
    match pointer {
        Pointer::Names(_) => Check::Good,
        Pointer::NamesMissing(number) => {
            let detail = format!("CURRENT names {}, which is not there", manifest(*number));
            finding(FindingKind::ManifestMissing, detail).by(flip(place)).into()
        }
        Pointer::Corrupt(content) => finding(FindingKind::EntryPointCorrupt, "CURRENT names no MANIFEST".to_owned())
            .values("MANIFEST-NNNNNN and a newline", content)
            .by(flip(place))
            .into(),
        Pointer::Absent => {
            let detail = "no database: the engine would begin an empty one here";
            Finding::new(FindingKind::NoDatabase, &place.database, place.dir.path(), detail).into()
        }
        Pointer::Unreadable(reason) => reason.clone().into(),
    }
}
