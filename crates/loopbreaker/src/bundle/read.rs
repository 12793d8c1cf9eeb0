//! Bounded reading of small files. *No client.*

use std::{
    fs::File,
    io::{self, Read},
    path::{Path, PathBuf},
};

use super::BundleError;

/// Every object of a namespace with a hundred replicas fits; what is larger was not printed for an incident.
const LARGEST_MIB: u64 = 16;

/// `-` means standard input.
const STANDARD_INPUT: &str = "-";

/// All bytes of a bundle's file, or one clear error.
pub(super) fn read_bounded(path: &Path) -> Result<Vec<u8>, BundleError> {
    read_to_limit(path, open_regular(path)?)
}

/// All bytes of a file named by hand: standard input for `-`, or a pipe.
pub(super) fn read_named(path: &Path) -> Result<Vec<u8>, BundleError> {
    read_to_limit(path, open_named(path)?)
}

fn read_to_limit(path: &Path, source: impl Read) -> Result<Vec<u8>, BundleError> {
    let mut bytes = Vec::new();
    let limit = LARGEST_MIB * 1024 * 1024;
    let read = source.take(limit + 1).read_to_end(&mut bytes);
    read.map_err(|source| BundleError::Unreadable { path: path.to_owned(), source })?;
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > limit {
        return Err(BundleError::TooLarge { path: path.to_owned(), limit_mib: LARGEST_MIB });
    }
    Ok(bytes)
}

/// Opens a regular file; a pipe or device in a bundle would block for ever.
pub(super) fn open_regular(path: &Path) -> Result<File, BundleError> {
    let at = |source| BundleError::from_io(path.to_owned(), source);
    let kind = std::fs::metadata(path).map_err(at)?;
    if !kind.is_file() {
        return Err(BundleError::Unreadable { path: path.to_owned(), source: io::Error::other("not a regular file") });
    }
    File::open(path).map_err(at)
}

/// Opens what was named by hand: standard input for `-`, a file, or a pipe (`<(kubectl …)`).
pub(super) fn open_named(path: &Path) -> Result<Box<dyn Read + Send>, BundleError> {
    if path == Path::new(STANDARD_INPUT) {
        return Ok(Box::new(io::stdin()));
    }
    let at = |source| BundleError::from_io(path.to_owned(), source);
    if std::fs::metadata(path).map_err(at)?.is_dir() {
        return Err(BundleError::NotAFile { path: path.to_owned() });
    }
    Ok(Box::new(File::open(path).map_err(at)?))
}

/// A directory's visible entries in the order of their names; none where there is no such directory.
pub(super) fn entries(directory: &Path) -> Result<Vec<PathBuf>, BundleError> {
    let at = |source| BundleError::from_io(directory.to_owned(), source);
    if !directory.is_dir() {
        return Ok(Vec::new());
    }
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(directory).map_err(at)? {
        let path = entry.map_err(at)?.path();
        if !name_of(&path).starts_with('.') {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

/// The last part of a path as text.
pub(super) fn name_of(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}
