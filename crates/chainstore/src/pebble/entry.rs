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
    /// Whether the marker of the format is not there, though that of the MANIFEST is.
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

/// A new database's MANIFEST is shorter: two records that name no table.
const NEW_MANIFEST_BYTES_MAX: u64 = 64;

impl EntryPoint {
    /// What the missing marker of a format means, now that the MANIFEST has been read.
    ///
    /// Pebble v2 makes that marker at the end of a database's first start. Without it, it goes on where that start ended
    /// if the MANIFEST names no table, and refuses if it names one (v2.1 `open.go`, `ErrorIfNotPristine`).
    pub(crate) fn judge_format(&mut self, place: &Place, names_tables: bool) -> Option<Finding> {
        if !self.format_lost {
            return None;
        }
        let finding = |kind, detail| Some(Finding::new(kind, &place.database, place.dir.path(), detail));
        if names_tables {
            return finding(
                FindingKind::MarkerCorrupt,
                "the marker of the format major version is not there, though that of the MANIFEST is: \
                 Pebble v2 does not open, and Pebble v1 begins a new database and deletes every table",
            );
        }
        (self.format_lost, self.begins_anew, self.manifest) = (false, false, self.fallback);
        finding(
            FindingKind::SelfHealing,
            "there is no marker of the format major version yet: the engine's first start was cut short, and its next one \
             makes it",
        )
    }
}

enum Pointer {
    Names(u64),
    NamesMissing(u64),
    Corrupt {
        /// What stands there, shortened.
        content: String,
        /// What the engine says of it.
        error: String,
    },
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
    let fallback = fallback.max().filter(|_| holds_data(place));
    let mut entry = EntryPoint { format, fallback, refused, ..EntryPoint::default() };
    let by_marker = format >= MANIFEST_MARKER;
    let (file, pointer) = if by_marker {
        ("marker.manifest", manifest_marker.as_ref().map_or(Pointer::Absent, |value| named(place, value)))
    } else {
        ("CURRENT", current(place))
    };
    match pointer {
        Pointer::Names(number) => entry.manifest = Some(number),
        Pointer::Absent if holds_data(place) => {
            entry.begins_anew = true;
            entry.format_lost = format_marker.is_none() && manifest_marker.is_some();
            if entry.format_lost {
                // What the directory holds is then read as the newest that it can be.
                entry.format = NEWEST_READ;
                if let Some(Pointer::Names(number)) = manifest_marker.map(|value| named(place, &value)) {
                    entry.fallback = Some(number);
                }
            } else {
                checks.add(absent(place, file));
            }
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

/// A database begins with its MANIFEST: where that is all there is, and too short for tables, the making of the database was
/// cut short before there was a pointer.
fn holds_data(place: &Place) -> bool {
    place.entries.iter().any(|entry| match entry.name.to_str().and_then(Name::parse) {
        Some(Name::Manifest(_)) => entry.bytes > NEW_MANIFEST_BYTES_MAX,
        name => name.is_some(),
    })
}

fn named(place: &Place, name: &str) -> Pointer {
    match Name::parse(name) {
        Some(Name::Manifest(number)) if place.entry(&manifest(number)).is_some() => Pointer::Names(number),
        Some(Name::Manifest(number)) => Pointer::NamesMissing(number),
        _ => malformed(name.as_bytes()),
    }
}

fn malformed(name: &[u8]) -> Pointer {
    let content: String = name.escape_ascii().take(64).map(char::from).collect();
    let error = format!("pebble: MANIFEST name \"{content}\" is malformed");
    Pointer::Corrupt { content, error }
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
    let followed = if file.bytes() > CURRENT_BYTES_MAX {
        let content = bytes.escape_ascii().take(64).map(char::from).collect();
        Pointer::Corrupt { content, error: "pebble: CURRENT file for DB is too large".to_owned() }
    } else {
        pointer(place, &bytes)
    };
    match followed {
        right @ Pointer::Names(_) => right,
        wrong => file.prove(&bytes, 0).map_or_else(|error| Pointer::Unreadable(Reason::Unreadable(error)), |()| wrong),
    }
}

/// One line that ends with a newline.
fn pointer(place: &Place, bytes: &[u8]) -> Pointer {
    let Some(line) = bytes.strip_suffix(b"\n").map(<[u8]>::trim_ascii) else {
        let what = if bytes.is_empty() { "empty" } else { "malformed" };
        let content = bytes.escape_ascii().take(64).map(char::from).collect();
        return Pointer::Corrupt { content, error: format!("pebble: CURRENT file for DB is {what}") };
    };
    std::str::from_utf8(line).map_or_else(|_| malformed(line), |name| named(place, name))
}

/// The one bit of `CURRENT` whose flip makes it name a MANIFEST that is there, of several the newest.
fn flip(place: &Place) -> Attribution {
    let bytes = place.dir.file("CURRENT").and_then(|file| file.read_all(CURRENT_BYTES_MAX)).unwrap_or_default();
    let mut newest = None;
    for (at, byte) in bytes.iter().enumerate().take(64) {
        for bit in 0..8_u8 {
            let mut repaired = bytes.clone();
            if let Some(broken) = repaired.get_mut(at) {
                *broken = byte ^ (1 << bit);
            }
            if let Pointer::Names(number) = pointer(place, &repaired)
                && newest.as_ref().is_none_or(|(known, _)| *known < number)
            {
                newest = Some((number, Attribution::SingleBitFlip { offset: at as u64, bit }));
            }
        }
    }
    newest.map(|(_, flip)| flip).unwrap_or_default()
}

/// The engine's own words, shortened.
fn error(pointer: &Pointer) -> Option<String> {
    match pointer {
        Pointer::NamesMissing(number) => {
            Some(format!("pebble: could not open manifest file \"{}\"", manifest(*number)))
        }
        Pointer::Corrupt { error, .. } => Some(error.clone()),
        Pointer::Names(_) | Pointer::Absent | Pointer::Unreadable(_) => None,
    }
}

fn absent(place: &Place, file: &str) -> Finding {
    let path = place.dir.path().join(file);
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
        Pointer::Corrupt { content, .. } => {
            finding(FindingKind::EntryPointCorrupt, format!("{file} names no MANIFEST"))
                .values("MANIFEST-NNNNNN", content)
                .by(flip())
                .into()
        }
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
