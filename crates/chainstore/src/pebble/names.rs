//! File names of Pebble directories. *No files.*
//!
//! Source: pebble `internal/base/filenames.go` (`ParseFilename`), v2 `wal/wal.go` (`ParseLogFilename`),
//! `vfs/atomicfs/marker.go` (`parseMarkerFilename`).

use crate::lsm::file_number::digits;

/// What a name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Name {
    /// `MANIFEST-NNNNNN`.
    Manifest(u64),
    /// `OPTIONS-NNNNNN`.
    Options(u64),
    /// `NNNNNN.log`.
    Wal(u64),
    /// `NNNNNN-NNN.log`: a part of a WAL that was continued on another disk.
    FailoverWal(u64),
    /// `NNNNNN.sst`.
    Table(u64),
}

impl Name {
    /// Takes a name apart; none for everything that is not numbered.
    pub(crate) fn parse(name: &str) -> Option<Self> {
        if let Some(number) = name.strip_prefix("MANIFEST-") {
            return Some(Self::Manifest(digits(number)?));
        }
        if let Some(number) = name.strip_prefix("OPTIONS-") {
            return Some(Self::Options(digits(number)?));
        }
        let (stem, extension) = name.split_once('.')?;
        match (extension, stem.split_once('-')) {
            ("sst", _) => Some(Self::Table(digits(stem)?)),
            ("log", None) => Some(Self::Wal(digits(stem)?)),
            ("log", Some((number, part))) => digits(part).and(digits(number)).map(Self::FailoverWal),
            _ => None,
        }
    }
}

/// `OPTIONS-NNNNNN`.
pub(crate) fn options(number: u64) -> String {
    format!("OPTIONS-{number:06}")
}

/// `NNNNNN.sst`.
pub(crate) fn table(number: u64) -> String {
    format!("{number:06}.sst")
}

/// A marker: an empty file whose name is a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Marker<'a> {
    /// What it marks.
    pub(crate) name: &'a str,
    /// The highest one counts.
    pub(crate) iteration: u64,
    /// What it says.
    pub(crate) value: &'a str,
}

impl<'a> Marker<'a> {
    /// `marker.<name>.<iteration>.<value>`; none if the name is broken.
    pub(crate) fn parse(file: &'a str) -> Option<Self> {
        let (name, rest) = file.strip_prefix("marker.")?.split_once('.')?;
        let (iteration, value) = rest.split_once('.')?;
        Some(Self { name, iteration: digits(iteration)?, value })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_no_numbers_are_nothing() {
        assert_eq!(Name::parse("MANIFEST-000012"), Some(Name::Manifest(12)));
        assert_eq!(Name::parse("OPTIONS-000003"), Some(Name::Options(3)));
        assert_eq!(Name::parse("000007.sst"), Some(Name::Table(7)));
        assert_eq!(Name::parse("1234567.log"), Some(Name::Wal(1_234_567)));
        assert_eq!(Name::parse("000007-002.log"), Some(Name::FailoverWal(7)));
        for name in ["CURRENT", "+1.log", "7-.log", "-7.log", "99999999999999999999.sst", "7.sst.bak", "OPTIONS-x"] {
            assert_eq!(Name::parse(name), None, "{name}");
        }
    }

    #[test]
    fn markers_as_the_engine_parses_them() {
        let marker = Marker { name: "manifest", iteration: 12, value: "MANIFEST-000001" };
        assert_eq!(Marker::parse("marker.manifest.000012.MANIFEST-000001"), Some(marker));
        for name in ["marker.", "marker.manifest", "marker.manifest.x.MANIFEST-000001", "marker.manifest.000001"] {
            assert_eq!(Marker::parse(name), None, "{name}");
        }
    }
}
