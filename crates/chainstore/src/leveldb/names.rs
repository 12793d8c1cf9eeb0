//! File names of LevelDB directories. *No files.*
//!
//! Source: goleveldb `storage/file_storage.go` (`fsGenName`, `fsParseName`), LevelDB `db/filename.cc`.

use crate::lsm::file_number::digits;

/// What a name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Name {
    /// `MANIFEST-NNNNNN`.
    Manifest(u64),
    /// `NNNNNN.log`.
    Journal(u64),
    /// `NNNNNN.ldb` or `NNNNNN.sst`.
    Table(u64),
}

impl Name {
    /// Takes a name apart; none for everything that is not numbered.
    pub(crate) fn parse(name: &str) -> Option<Self> {
        if let Some(number) = name.strip_prefix("MANIFEST-") {
            return Some(Self::Manifest(digits(number)?));
        }
        let (stem, extension) = name.split_once('.')?;
        let number = digits(stem)?;
        match extension {
            "log" => Some(Self::Journal(number)),
            "ldb" | "sst" => Some(Self::Table(number)),
            _ => None,
        }
    }
}

/// The names a table can have, the usual one first.
pub(crate) fn table(number: u64) -> [String; 2] {
    [format!("{number:06}.ldb"), format!("{number:06}.sst")]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_no_numbers_are_nothing() {
        assert_eq!(Name::parse("MANIFEST-000012"), Some(Name::Manifest(12)));
        assert_eq!(Name::parse("000007.sst"), Some(Name::Table(7)));
        assert_eq!(Name::parse("1234567.ldb"), Some(Name::Table(1_234_567)));
        assert_eq!(Name::parse("000007.log"), Some(Name::Journal(7)));
        for name in [
            "LOG",
            "CURRENT",
            "+1.log",
            "-1.ldb",
            "99999999999999999999.ldb",
            ".ldb",
            "7.tmp",
            "MANIFEST-",
            "7.ldb.bak",
        ] {
            assert_eq!(Name::parse(name), None, "{name}");
        }
    }
}
