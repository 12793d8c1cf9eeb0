//! Which parts of which files are copied: small ones that tell, whole or their ends. *No client.* Never a key.
//!
//! The list names what is taken, not what is left: a key file has no name that is on it. Links are not followed, for
//! behind a link could be one.

use std::path::{Path, PathBuf};

use chainstore::{DataDir, EntryKind, FileEntry, FoundPlace};
use diagnosis::{DatabaseName, StartRole};

use super::until::Until;

const KIB: u64 = 1024;

/// A part of a file that is to be copied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Wanted {
    /// The file, below the home.
    pub(super) file: PathBuf,
    /// The file's length.
    pub(super) length: u64,
    /// Where the part begins.
    pub(super) offset: u64,
    /// How long it is.
    pub(super) bytes: u64,
}

/// How much of a file is wanted.
#[derive(Debug, Clone, Copy)]
enum Part {
    /// All of a small one; head and tail of a large one.
    Whole,
    /// The end.
    Tail(u64),
}

/// A file that is larger is taken by head and tail.
const WHOLE_MAX: u64 = 512 * KIB;
const HEAD: u64 = 64 * KIB;
const TAIL: u64 = 256 * KIB;

/// What is wanted of all databases, the most telling first.
pub(super) fn wanted(places: &[FoundPlace]) -> Vec<Wanted> {
    let mut ranked: Vec<(u8, u8, Wanted)> = Vec::new();
    for found in places.iter().filter(|found| !found.detection.engines.is_empty()) {
        let place = &found.place;
        if !is_of_a_node(place.dir.path()) {
            continue;
        }
        let role = u8::from(place.database.start_role() != StartRole::ReadAtStart);
        let mut newest: Vec<&FileEntry> = place.entries.iter().filter(|entry| entry.kind == EntryKind::File).collect();
        newest.sort_unstable_by(|a, b| b.name.cmp(&a.name));
        let (mut manifests, mut journals, mut options) = (0, 0, 0);
        for entry in newest {
            let Some(name) = entry.name.to_str() else { continue };
            let Some((rank, part)) = part_of(name, &mut manifests, &mut journals, &mut options) else { continue };
            let file = place.dir.path().join(name);
            ranked.extend(cut(&file, entry.bytes, part).into_iter().map(|wanted| (rank, role, wanted)));
        }
    }
    ranked.sort_by_key(|(rank, role, _)| (*rank, *role));
    ranked.into_iter().map(|(_, _, wanted)| wanted).collect()
}

/// Whether a directory, below the home, is one of the databases that every node may have. Of others nobody knows what is in
/// them: a keyring is a LevelDB too.
pub(super) fn is_of_a_node(database: &Path) -> bool {
    let holds_keys = |part: std::path::Component<'_>| {
        let name = part.as_os_str().to_string_lossy().to_ascii_lowercase();
        name == "config" || name == "keys" || name.starts_with("keyring")
    };
    let name = database.file_name().unwrap_or_default().to_string_lossy();
    let is_known = name.starts_with("light") || DatabaseName::new(&name).start_role() != StartRole::Other;
    is_known && !database.components().any(holds_keys)
}

/// How soon a file is copied, and which part of it; none for all that does not tell.
fn part_of(name: &str, manifests: &mut u32, journals: &mut u32, options: &mut u32) -> Option<(u8, Part)> {
    let at_most = |count: &mut u32, most: u32| {
        *count = count.saturating_add(1);
        *count <= most
    };
    let is_numbered = |rest: &str| rest.bytes().next().is_some_and(|byte| byte.is_ascii_digit());
    match name {
        "CURRENT" | "CURRENT.bak" | "IDENTITY" => Some((0, Part::Whole)),
        _ if name.starts_with("marker.") || name.starts_with("CURRENT.") => Some((0, Part::Whole)),
        _ if name.starts_with("MANIFEST-") => at_most(manifests, 2).then_some((1, Part::Whole)),
        "LOG" => Some((2, Part::Tail(64 * KIB))),
        _ if name.starts_with("OPTIONS-") => at_most(options, 1).then_some((3, Part::Tail(64 * KIB))),
        _ if is_numbered(name) && Path::new(name).extension().is_some_and(|kind| kind == "log") => {
            at_most(journals, 3).then_some((4, Part::Tail(64 * KIB)))
        }
        "LOG.old" => Some((5, Part::Tail(16 * KIB))),
        _ => None,
    }
}

/// What is wanted besides the databases: the reached upgrade, and the end of the consensus log.
pub(super) fn companions(home: &DataDir) -> Vec<Wanted> {
    let mut wanted = Vec::new();
    let Ok(data) = home.directory("data") else { return wanted };
    let mut add = |dir: &DataDir, name: &str, bytes: u64| {
        if let Ok(entry) = dir.entry(name)
            && entry.kind == EntryKind::File
        {
            wanted.extend(cut(&dir.path().join(name), entry.bytes, Part::Tail(bytes)));
        }
    };
    add(&data, "upgrade-info.json", 16 * KIB);
    if let Ok(wal) = data.directory("cs.wal") {
        add(&wal, "wal", 64 * KIB);
    }
    wanted
}

fn cut(file: &Path, length: u64, part: Part) -> Vec<Wanted> {
    let of = |offset: u64, bytes: u64| Wanted { file: file.to_path_buf(), length, offset, bytes };
    match part {
        Part::Whole if length <= WHOLE_MAX => vec![of(0, length)],
        Part::Whole => vec![of(0, HEAD), of(length.saturating_sub(TAIL), TAIL)],
        Part::Tail(bytes) => vec![of(length.saturating_sub(bytes), bytes.min(length))],
    }
}

/// Reads a part, if it is still there and there is time.
pub(super) fn read(home: &DataDir, wanted: &Wanted, until: Until) -> Result<Vec<u8>, String> {
    if until.is_over() {
        return Err("no time left".to_owned());
    }
    let (Some(parent), Some(name)) = (wanted.file.parent(), wanted.file.file_name()) else {
        return Err("no file's name".to_owned());
    };
    let mut dir = home.clone();
    for part in parent.components() {
        dir = dir.directory(part.as_os_str()).map_err(|error| error.to_string())?;
    }
    match dir.entry(name) {
        Ok(entry) if entry.kind != EntryKind::File => return Err(format!("a {}, not a file", entry.kind.name())),
        Ok(_) => {}
        Err(error) => return Err(error.to_string()),
    }
    let file = dir.file(name).map_err(|error| error.to_string())?;
    file.read_range(wanted.offset, wanted.bytes, WHOLE_MAX).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// No key has a name that is on the list.
    #[test]
    fn secrets_have_no_part() {
        for name in
            ["priv_validator_key.json", "node_key.json", "priv_validator_state.json", "000012.ldb", "LOCK", "x.log"]
        {
            assert!(part_of(name, &mut 0, &mut 0, &mut 0).is_none(), "{name}");
        }
        for name in [
            "CURRENT",
            "MANIFEST-000004",
            "LOG",
            "000012.log",
            "OPTIONS-000003",
            "marker.manifest.000001.MANIFEST-000001",
        ] {
            assert!(part_of(name, &mut 0, &mut 0, &mut 0).is_some(), "{name}");
        }
    }

    #[test]
    fn only_databases_of_a_node_are_copied_from() {
        for database in
            ["data/application.db", "data/snapshots/metadata.db", "data/light-client-db.db", "elsewhere/state.db"]
        {
            assert!(is_of_a_node(Path::new(database)), "{database}");
        }
        for database in
            ["keys/keys.db", "data/keyring.db", "keyring-test/state.db", "Keys/state.db", "config/state.db", ""]
        {
            assert!(!is_of_a_node(Path::new(database)), "{database}");
        }
    }

    #[test]
    fn a_large_file_is_taken_by_its_ends() {
        let parts = |length, part| -> Vec<(u64, u64)> {
            cut(Path::new("f"), length, part).iter().map(|wanted| (wanted.offset, wanted.bytes)).collect()
        };
        assert_eq!(parts(0, Part::Whole), [(0, 0)]);
        assert_eq!(parts(WHOLE_MAX, Part::Whole), [(0, WHOLE_MAX)]);
        assert_eq!(parts(10 << 20, Part::Whole), [(0, HEAD), ((10 << 20) - TAIL, TAIL)]);
        assert_eq!(parts(10, Part::Tail(4)), [(6, 4)]);
        assert_eq!(parts(3, Part::Tail(4)), [(0, 3)]);
    }
}
