//! From `CURRENT` to the MANIFEST, as each LevelDB would go. *Files, read-only.*
//!
//! Source: goleveldb `storage/file_storage.go` `GetMeta`: pending renames `CURRENT.N` from the highest down, then
//! `CURRENT`, then `CURRENT.bak`; a file counts if it ends with a newline and names a MANIFEST that exists; a pending one
//! wins only with a higher number. LevelDB `db/version_set.cc` reads `CURRENT` alone.

use crate::leveldb::names::Name;
use crate::lsm::file_number::{self, digits};
use crate::store::Place;
use crate::{Attribution, Check, Checks, Engine, Finding, FindingKind, Reason};

/// Pointer files are some twenty bytes long; a longer one names nothing.
const CURRENT_BYTES_MAX: u64 = 4096;

/// Where the engine would go.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct EntryPoint {
    /// The MANIFEST that the engine would read; none if it would not open.
    pub(crate) manifest: Option<u64>,
    /// The newest MANIFEST that is there, for going on where the engine would not.
    pub(crate) fallback: Option<u64>,
}

impl EntryPoint {
    /// The MANIFEST from which everything else is checked.
    pub(crate) fn usable(&self) -> Option<u64> {
        self.manifest.or(self.fallback)
    }
}

/// A new database's MANIFEST is shorter: two records that name no table.
const NEW_MANIFEST_BYTES_MAX: u64 = 64;

enum Pointer {
    Names(u64),
    NamesMissing(u64),
    Corrupt(String),
    Absent,
    Unreadable(Reason),
}

/// Follows the pointer files.
pub(crate) fn follow(place: &Place, engine: Engine, checks: &mut Checks) -> EntryPoint {
    let fallback = place.entries.iter().filter_map(|entry| match Name::parse(entry.name.to_str()?) {
        Some(Name::Manifest(number)) => Some(number),
        _ => None,
    });
    let fallback = fallback.max().filter(|_| holds_data(place));
    let current = read(place, "CURRENT");
    if let Pointer::Unreadable(reason) = current {
        checks.add(reason);
        return EntryPoint { manifest: None, fallback };
    }
    let healed = (engine == Engine::GoLevelDb).then(|| heal(place, &current)).flatten();
    let direct = match current {
        Pointer::Names(number) => Some(number),
        _ => None,
    };
    if let Some((file, number)) = healed {
        checks.add(after_healing(place, &current, &file, number, fallback));
        return EntryPoint { manifest: Some(number), fallback };
    }
    if direct.is_none() {
        checks.add(broken(place, &current));
    }
    EntryPoint { manifest: direct, fallback }
}

fn read(place: &Place, name: &str) -> Pointer {
    if place.entry(name).is_none() {
        return Pointer::Absent;
    }
    let read = place.dir.file(name).and_then(|file| {
        let first = file.bytes().min(CURRENT_BYTES_MAX);
        Ok((file.read_range(0, first, CURRENT_BYTES_MAX)?, file))
    });
    let (bytes, file) = match read {
        Ok(read) => read,
        Err(error) => return Pointer::Unreadable(Reason::Unreadable(error)),
    };
    let pointer = match named(&bytes).filter(|_| file.bytes() <= CURRENT_BYTES_MAX) {
        Some(number) if place.entry(&file_number::manifest(number)).is_some() => return Pointer::Names(number),
        Some(number) => Pointer::NamesMissing(number),
        None => Pointer::Corrupt(bytes.escape_ascii().take(64).map(char::from).collect()),
    };
    match file.prove(&bytes, 0) {
        Ok(()) => pointer,
        Err(error) => Pointer::Unreadable(Reason::Unreadable(error)),
    }
}

/// The other pointer files that goleveldb would follow instead of `CURRENT`.
fn heal(place: &Place, current: &Pointer) -> Option<(String, u64)> {
    let mut pending: Vec<u64> =
        place.entries.iter().filter_map(|entry| digits(entry.name.to_str()?.strip_prefix("CURRENT.")?)).collect();
    pending.sort_unstable_by(|a, b| b.cmp(a));
    let names = |file: String| match read(place, &file) {
        Pointer::Names(number) => Some((file, number)),
        _ => None,
    };
    let pending = pending.into_iter().find_map(|number| names(format!("CURRENT.{number}")));
    if let Pointer::Names(number) = current {
        return pending.filter(|(_, newer)| newer > number);
    }
    match (pending, names("CURRENT.bak".to_owned())) {
        (Some(pending), Some(backup)) if backup.1 >= pending.1 => Some(backup),
        (pending, backup) => pending.or(backup),
    }
}

/// goleveldb repairs the pointer by itself. That is harmless unless it goes back to an older MANIFEST although there was a
/// newer one: then it drops what was written since. No crash leaves that: the newer one is whole before `CURRENT` names it,
/// and `CURRENT` is replaced in one step.
fn after_healing(place: &Place, current: &Pointer, file: &str, number: u64, newest: Option<u64>) -> Check {
    let path = place.dir.path();
    let older = file_number::manifest(number);
    let damage = |kind, newer: u64, problem: &str| {
        let newer = file_number::manifest(newer);
        let detail = format!("{problem}, and {file} names {older}, older than {newer}: the engine would go back to it");
        Finding::new(kind, &place.database, &path.join("CURRENT"), detail)
    };
    let newer = newest.filter(|newest| *newest > number);
    match (current, newer) {
        (Pointer::Corrupt(content), Some(newer)) => damage(FindingKind::EntryPointCorrupt, newer, "CURRENT is corrupt")
            .values(file_number::manifest(newer), content)
            .into(),
        (Pointer::Absent, Some(newer)) => damage(FindingKind::EntryPointMissing, newer, "CURRENT is not there").into(),
        (Pointer::NamesMissing(missing), _) if *missing > number => {
            damage(FindingKind::ManifestMissing, *missing, "the MANIFEST that CURRENT names is not there").into()
        }
        _ => {
            let detail = format!("the engine will take {older} from {file} and repair CURRENT");
            Finding::new(FindingKind::SelfHealing, &place.database, &path.join(file), detail).into()
        }
    }
}

/// The one bit of CURRENT whose flip makes it name a MANIFEST that is there.
fn flip(place: &Place) -> Attribution {
    let bytes = place.dir.file("CURRENT").and_then(|file| file.read_all(CURRENT_BYTES_MAX)).unwrap_or_default();
    for (at, byte) in bytes.iter().enumerate().take(64) {
        for bit in 0..8_u8 {
            let mut repaired = bytes.clone();
            if let Some(broken) = repaired.get_mut(at) {
                *broken = byte ^ (1 << bit);
            }
            if named(&repaired).is_some_and(|number| place.entry(&file_number::manifest(number)).is_some()) {
                return Attribution::SingleBitFlip { offset: at as u64, bit };
            }
        }
    }
    Attribution::Unknown
}

fn named(bytes: &[u8]) -> Option<u64> {
    match Name::parse(std::str::from_utf8(bytes.strip_suffix(b"\n")?).ok()?) {
        Some(Name::Manifest(number)) => Some(number),
        _ => None,
    }
}

/// A database begins with its MANIFEST: where that is all there is, and too short for tables, the making of the database was
/// cut short before there was a `CURRENT`.
fn holds_data(place: &Place) -> bool {
    place.entries.iter().any(|entry| match entry.name.to_str().and_then(Name::parse) {
        Some(Name::Manifest(_)) => entry.bytes > NEW_MANIFEST_BYTES_MAX,
        name => name.is_some(),
    })
}

fn broken(place: &Place, current: &Pointer) -> Check {
    let file = place.dir.path().join("CURRENT");
    let finding = |kind, detail: String| Finding::new(kind, &place.database, &file, detail).by(flip(place));
    match current {
        Pointer::Names(_) => Check::Good,
        Pointer::NamesMissing(number) => {
            let name = file_number::manifest(*number);
            finding(FindingKind::ManifestMissing, format!("CURRENT names {name}, which is not there")).into()
        }
        Pointer::Corrupt(content) => finding(FindingKind::EntryPointCorrupt, "CURRENT names no MANIFEST".to_owned())
            .values("MANIFEST-NNNNNN and a newline", content)
            .into(),
        Pointer::Absent if holds_data(place) => finding(
            FindingKind::EntryPointMissing,
            "CURRENT is not there, but the database's other files are".to_owned(),
        )
        .into(),
        Pointer::Absent => {
            let begun = place.entries.iter().any(|entry| entry.name.to_str().and_then(Name::parse).is_some());
            let detail = if begun {
                "no database: its making was cut short before it held anything"
            } else {
                "no database: the engine would begin an empty one here"
            };
            Finding::new(FindingKind::NoDatabase, &place.database, place.dir.path(), detail).into()
        }
        Pointer::Unreadable(reason) => reason.clone().into(),
    }
}
