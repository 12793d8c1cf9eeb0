//! File names of RocksDB directories. *No files.*
//!
//! Source: RocksDB `file/filename.cc` (`ParseFileName`).

use crate::lsm::file_number::digits;

/// What a name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Name {
    /// `MANIFEST-NNNNNN`.
    Manifest(u64),
    /// `NNNNNN.log`.
    Wal(u64),
    /// `NNNNNN.sst`.
    Table(u64),
    /// `NNNNNN.blob`.
    Blob(u64),
}

impl Name {
    /// Takes a name apart; none for everything that is not numbered, and for OPTIONS, which say nothing that is needed.
    pub(crate) fn parse(name: &str) -> Option<Self> {
        if let Some(number) = name.strip_prefix("MANIFEST-") {
            return Some(Self::Manifest(digits(number)?));
        }
        let (number, extension) = name.split_once('.')?;
        let number = digits(number)?;
        match extension {
            "log" => Some(Self::Wal(number)),
            "sst" => Some(Self::Table(number)),
            "blob" => Some(Self::Blob(number)),
            _ => None,
        }
    }
}

/// `NNNNNN.sst`.
pub(crate) fn table(number: u64) -> String {
    format!("{number:06}.sst")
}

/// `NNNNNN.blob`.
pub(crate) fn blob(number: u64) -> String {
    format!("{number:06}.blob")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_no_numbers_are_nothing() {
        assert_eq!(Name::parse("MANIFEST-000012"), Some(Name::Manifest(12)));
        assert_eq!(Name::parse("000007.sst"), Some(Name::Table(7)));
        assert_eq!(Name::parse("000007.blob"), Some(Name::Blob(7)));
        assert_eq!(Name::parse("1234567.log"), Some(Name::Wal(1_234_567)));
        for name in ["CURRENT", "OPTIONS-000007", "+1.log", "7-2.log", "99999999999999999999.sst", "7.sst.trash"] {
            assert_eq!(Name::parse(name), None, "{name}");
        }
    }
}
