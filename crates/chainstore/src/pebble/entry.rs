//! From the format marker to the MANIFEST, as Pebble goes. *Files, read-only.*
//!
//! Source: pebble v1.1 `format_major_version.go` (`lookupFormatMajorVersion`), `version_set.go` (`findCurrentManifest`,
//! `readCurrentFile`), `vfs/atomicfs/marker.go`. A missing pointer is no error for the engine: it takes the directory for an
//! empty one, begins a new database, and deletes every table that is not part of it.

use crate::lsm::file_number::{digits, manifest};
use crate::pebble::format::{self, MANIFEST_MARKER, NEWEST_READ};
use crate::pebble::names::{Marker, Name};
use crate::store::Place;
use crate::{Attribution, Check, Checks, Finding, FindingKind, Reason};

/// The engine's own limit for `CURRENT`.
const CURRENT_BYTES_MAX: u64 = 4096;

/// Where the engine would go.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct EntryPoint {
    /// The format major version; 1 without a marker.
    pub(crate) format: u64,
    /// The MANIFEST that the engine would read.
    pub(crate) manifest: Option<u64>,
    /// The newest MANIFEST that is there, for going on where the engine would not.
    pub(crate) fallback: Option<u64>,
    /// Whether the marker of the format is gone, though that of the MANIFEST is there.
    pub(crate) format_lost: bool,
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

/// Follows the markers, or `CURRENT`. An error is a format that is not read.
pub(crate) fn follow(place: &Place, checks: &mut Checks) -> Result<EntryPoint, Reason> {
    let (format_marker, manifest_marker) = markers(place, checks);
    let mut refused = checks.findings.first().map(|_| "invalid marker filename".to_owned());
    let format = match format_marker.as_deref().map(|value| (value, digits(value))) {
        None => 1,
        Some((_, Some(number @ 1..=NEWEST_READ))) => number,
        Some((_, Some(number @ 14..))) => {
            let name = format::name(number);
            return Err(Reason::Unsupported(format!(
                "format major version {number} of Pebble ({name}) is not read by this version"
            )));
        }
        Some((value, _)) => {
            let detail = format!("the format marker says {}, which is no format", value.escape_debug());
            checks.add(Finding::new(FindingKind::MarkerCorrupt, &place.database, place.dir.path(), detail));
            refused = refused.or_else(|| Some("parsing format major version: invalid syntax".to_owned()));
            1
        }
    };
    let fallback = place.entries.iter().filter_map(|entry| match Name::parse(entry.name.to_str()?) {
        Some(Name::Manifest(number)) => Some(number),
        _ => None,
    });
    let mut entry = EntryPoint { format, fallback: fallback.max(), refused, ..EntryPoint::default() };
    let by_marker = format >= MANIFEST_MARKER;
    let (file, pointer) = if by_marker {
        ("marker.manifest", manifest_marker.map_or(Pointer::Absent, |value| named(place, &value)))
    } else {
        ("CURRENT", current(place))
    };
    match pointer {
        Pointer::Names(number) => entry.manifest = Some(number),
        Pointer::Absent if holds_data(place) => {
            entry.begins_anew = true;
            entry.format_lost = format_marker.is_none() && has_marker(place);
            checks.add(absent(place, file, entry.format_lost));
            // What the directory holds is then read as the newest that it can be.
            entry.format = if entry.format_lost { NEWEST_READ } else { format };
        }
        other => {
            entry.refused = entry.refused.or_else(|| error(&other));
            checks.add(broken(place, file, &other));
        }
    }
    Ok(entry)
}

/// The values of the newest format and manifest markers. A name that is broken keeps the engine from opening.
fn markers(place: &Place, checks: &mut Checks) -> (Option<String>, Option<String>) {
    let mut newest: [Option<(u64, String)>; 2] = [None, None];
    for entry in place.entries.iter() {
        let name = entry.name.to_string_lossy();
        if !name.starts_with("marker.") {
            continue;
        }
        let Some(marker) = Marker::parse(&name) else {
            let detail = "a marker whose name is broken: the engine does not open";
            let path = place.dir.path().join(&entry.name);
            checks.add(Finding::new(FindingKind::MarkerCorrupt, &place.database, &path, detail));
            continue;
        };
        let [format, manifest] = &mut newest;
        let slot = match marker.name {
            "format-version" => format,
            "manifest" => manifest,
            _ => continue,
        };
        if slot.as_ref().is_none_or(|(iteration, _)| *iteration < marker.iteration) {
            *slot = Some((marker.iteration, marker.value.to_owned()));
        }
    }
    let [format, manifest] = newest.map(|slot| slot.map(|(_, value)| value));
    (format, manifest)
}

fn has_marker(place: &Place) -> bool {
    place.entries.iter().any(|entry| entry.name.to_str().is_some_and(|name| name.starts_with("marker.manifest.")))
}

fn holds_data(place: &Place) -> bool {
    place.entries.iter().any(|entry| entry.name.to_str().and_then(Name::parse).is_some())
}

fn named(place: &Place, name: &str) -> Pointer {
    match Name::parse(name) {
        Some(Name::Manifest(number)) if place.entry(&manifest(number)).is_some() => Pointer::Names(number),
        Some(Name::Manifest(number)) => Pointer::NamesMissing(number),
        _ => Pointer::Corrupt(name.escape_debug().take(64).collect()),
    }
}

fn current(place: &Place) -> Pointer {
    if place.entry("CURRENT").is_none() {
        return Pointer::Absent;
    }
    match place.dir.file("CURRENT").and_then(|file| file.read_all(CURRENT_BYTES_MAX)) {
        Ok(bytes) => match line(&bytes) {
            Some(name) => named(place, name),
            None => Pointer::Corrupt(bytes.escape_ascii().take(64).map(char::from).collect()),
        },
        Err(error) => Pointer::Unreadable(Reason::Unreadable(error)),
    }
}

/// One line that ends with a newline.
fn line(bytes: &[u8]) -> Option<&str> {
    std::str::from_utf8(bytes.strip_suffix(b"\n")?).ok().map(str::trim)
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
            if matches!(line(&repaired).map(|name| named(place, name)), Some(Pointer::Names(_))) {
                return Attribution::SingleBitFlip { offset: at as u64, bit };
            }
        }
    }
    Attribution::Unknown
}

/// The engine's own words, shortened.
fn error(pointer: &Pointer) -> Option<String> {
    match pointer {
        Pointer::NamesMissing(number) => {
            Some(format!("pebble: could not open manifest file \"{}\"", manifest(*number)))
        }
        Pointer::Corrupt(_) => Some("pebble: CURRENT file or MANIFEST name is malformed".to_owned()),
        Pointer::Names(_) | Pointer::Absent | Pointer::Unreadable(_) => None,
    }
}

fn absent(place: &Place, file: &str, format_lost: bool) -> Finding {
    let path = place.dir.path().join(file);
    if format_lost {
        let detail = "the marker of the format major version is not there, though that of the MANIFEST is: \
                      Pebble v2 does not open, and Pebble v1 begins a new database and deletes every table";
        return Finding::new(FindingKind::MarkerCorrupt, &place.database, place.dir.path(), detail);
    }
    let detail = format!(
        "{file} is not there, but the database's other files are: at its next start the engine begins a new, empty \
         database and deletes every table"
    );
    Finding::new(FindingKind::EntryPointMissing, &place.database, &path, detail)
}

fn broken(place: &Place, file: &str, pointer: &Pointer) -> Check {
    let path = place.dir.path().join(file);
    let finding = |kind, detail: String| Finding::new(kind, &place.database, &path, detail);
    let flip = || if file == "CURRENT" { flip(place) } else { Attribution::Unknown };
    match pointer {
        Pointer::Names(_) => Check::Good,
        Pointer::NamesMissing(number) => {
            let name = manifest(*number);
            finding(FindingKind::ManifestMissing, format!("{file} names {name}, which is not there")).by(flip()).into()
        }
        Pointer::Corrupt(content) => finding(FindingKind::EntryPointCorrupt, format!("{file} names no MANIFEST"))
            .values("MANIFEST-NNNNNN", content)
            .by(flip())
            .into(),
        Pointer::Absent => {
            let detail = "no database: the engine would begin an empty one here";
            Finding::new(FindingKind::NoDatabase, &place.database, place.dir.path(), detail).into()
        }
        Pointer::Unreadable(reason) => reason.clone().into(),
    }
}
