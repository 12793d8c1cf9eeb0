//! The surroundings of damaged places: what is copied once the checks have found something. *No client.*

use std::path::Path;

use chainstore::{
    DataDir, Finding,
    ring::{KeptRange, RingEntry},
};

use super::copies::{self, Wanted};

/// Damaged places of which the surroundings are kept, and how far these reach.
const SPOTS_MAX: usize = 16;
const SPOT: u64 = 8 * 1024;

/// What is to be copied of them and is not in the entry yet.
pub(super) fn wanted(root: &DataDir, findings: &[Finding], entry: &RingEntry) -> Vec<Wanted> {
    let places = findings.iter().filter_map(|finding| {
        let database = finding.file.parent().filter(|database| copies::is_of_a_node(database));
        database?;
        let length = length_of(root, &finding.file)?;
        Some((finding.file.as_path(), length, finding.offset?))
    });
    let is_kept = |spot: &Wanted| {
        let name = spot.file.to_string_lossy();
        let file = entry.files.iter().find(|file| file.file == name);
        file.is_some_and(|file| file.kept.iter().any(|range| covers(range, spot)))
    };
    spots(places).into_iter().filter(|spot| !is_kept(spot)).collect()
}

fn spots<'f>(places: impl Iterator<Item = (&'f Path, u64, u64)>) -> Vec<Wanted> {
    let around = |(file, length, offset): (&Path, u64, u64)| {
        let begin = offset.saturating_sub(SPOT / 2).min(length);
        let bytes = SPOT.min(length.saturating_sub(begin));
        (bytes > 0).then(|| Wanted { file: file.to_path_buf(), length, offset: begin, bytes })
    };
    places.filter_map(around).take(SPOTS_MAX).collect()
}

fn length_of(root: &DataDir, file: &Path) -> Option<u64> {
    let mut dir = root.clone();
    for part in file.parent()?.components() {
        dir = dir.directory(part.as_os_str()).ok()?;
    }
    Some(dir.entry(file.file_name()?).ok()?.bytes)
}

fn covers(range: &KeptRange, spot: &Wanted) -> bool {
    let end = |offset: u64, bytes: u64| offset.saturating_add(bytes);
    range.offset <= spot.offset && end(range.offset, range.bytes) >= end(spot.offset, spot.bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spot_stays_within_its_file() {
        let file = Path::new("f");
        let spots = spots([(file, 100_000, 50_000), (file, 10, 9), (file, 10, 500), (file, 0, 0)].into_iter());
        let cut: Vec<(u64, u64)> = spots.iter().map(|spot| (spot.offset, spot.bytes)).collect();
        assert_eq!(cut, [(45_904, 8192), (0, 10), (0, 10)], "an offset behind the end is near the end");
    }
}
