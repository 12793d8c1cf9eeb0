//! Where the ring of a data directory is, and what it adds to an inspection. *No client.*
//!
//! The ring stands beside the data directory, so it is looked for there, also where only the data directory or one
//! database was named. Nothing else outside of what was named is opened.

use std::path::{Path, PathBuf};

use chainstore::{
    Depth, Inspection,
    ring::{Ring, Whose, weigh},
};

use crate::guard::ring_of;

/// A ring and where the inspected directory stands in the home that it is of.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Located {
    ring: PathBuf,
    below_home: PathBuf,
}

/// Weighs what the guard kept, where there is something. A ring that cannot be read is named and changes nothing.
pub(crate) fn add(
    inspection: &mut Inspection,
    dir: &Path,
    depth: Depth,
    ring: Option<&Path>,
    whose: &Whose,
) -> Option<String> {
    let located = locate(dir, ring)?;
    match Ring::open(&located.ring) {
        Ok(kept) => {
            weigh(inspection, dir, &located.below_home, depth, &kept, whose);
            None
        }
        Err(error) => Some(format!("{}: what the guard kept cannot be read: {error}", located.ring.display())),
    }
}

/// The ring that was named, or the one beside what is inspected.
fn locate(dir: &Path, named: Option<&Path>) -> Option<Located> {
    let real = dir.canonicalize().ok()?;
    let own = |path: &Path| path.file_name().map(PathBuf::from).unwrap_or_default();
    let parent = real.parent();
    let candidates = [
        Some((real.as_path(), PathBuf::new())),
        parent.map(|parent| (parent, own(&real))),
        parent.and_then(|parent| Some((parent.parent()?, own(parent).join(own(&real))))),
    ];
    if let Some(ring) = named {
        return Some(Located { ring: ring.to_path_buf(), below_home: guessed(&real) });
    }
    candidates.into_iter().flatten().find_map(|(home, below_home)| {
        let ring = ring_of(home);
        ring.is_dir().then_some(Located { ring, below_home })
    })
}

/// Where a directory stands in its home, by its own look and name.
fn guessed(dir: &Path) -> PathBuf {
    let name = dir.file_name().map_or(Path::new(""), Path::new);
    if dir.join("data").is_dir() {
        return PathBuf::new();
    }
    if name.extension().is_some_and(|extension| extension == "db") {
        return Path::new("data").join(name);
    }
    PathBuf::from("data")
}

/// Whose starts count for a pod: its own, where the guard knew pods at all.
pub(crate) fn of_pod(dir: &Path, pod_uid: Option<&str>) -> Whose {
    let knows_pods = || {
        let ring = Ring::open(&locate(dir, None)?.ring).ok()?;
        ring.slots.iter().any(|slot| slot.entry().is_some_and(|entry| entry.mark.pod_uid.is_some())).then_some(())
    };
    match pod_uid {
        Some(uid) if knows_pods().is_some() => Whose::Pods(vec![uid.to_owned()]),
        _ => Whose::LastStarted,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ring_is_found_beside_the_home_the_data_and_one_database() {
        let home = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(home.path().join("data/state.db")).unwrap();
        assert_eq!(locate(home.path(), None), None);
        std::fs::create_dir_all(ring_of(home.path())).unwrap();
        for below in ["", "data", "data/state.db"] {
            let found = locate(&home.path().join(below), None).unwrap();
            assert_eq!(found.below_home, Path::new(below));
            assert_eq!(found.ring, ring_of(&home.path().canonicalize().unwrap()));
        }
    }

    #[test]
    fn beside_a_named_ring_the_place_is_told_by_the_name() {
        let home = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(home.path().join("data/state.db")).unwrap();
        let below = |path: &str| locate(&home.path().join(path), Some(Path::new("elsewhere"))).unwrap().below_home;
        assert_eq!(["", "data", "data/state.db"].map(below), ["", "data", "data/state.db"].map(PathBuf::from));
    }
}
