//! Where a value is that lies in a blob file. *No files.*
//!
//! Source: RocksDB `db/blob/blob_index.h`: a type byte (0 in place, 1 elsewhere, 2 elsewhere until a time), for 0 and 2 an
//! expiration, then the value, or file number, offset, size and the way of packing.

use crate::{Cut, CutError, CutProblem, Part};

const TYPE: Part = Part::new("blob index type");
const EXPIRATION: Part = Part::new("blob expiration");
const FILE: Part = Part::new("blob file number");
const OFFSET: Part = Part::new("blob offset");
const SIZE: Part = Part::new("blob size");
const COMPRESSION: Part = Part::new("blob compression");
const END: Part = Part::new("blob index");

/// A value in a blob file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BlobIndex {
    pub(crate) file: u64,
    /// Of the value, as packed; before it stand the key and the record's header.
    pub(crate) offset: u64,
    pub(crate) size: u64,
    pub(crate) compression: u8,
}

impl BlobIndex {
    /// Reads a row's value. In place and with an expiration are of an older design, which no node uses.
    pub(crate) fn parse(value: &[u8]) -> Result<Self, CutError> {
        let mut cut = Cut::new(value, 0);
        let start = cut;
        match cut.u8(TYPE)? {
            1 => {}
            2 => {
                cut.uvarint(EXPIRATION)?;
            }
            other => return Err(start.error(TYPE, CutProblem::NoSuchValue { value: u64::from(other) })),
        }
        let index = Self {
            file: cut.uvarint(FILE)?,
            offset: cut.uvarint(OFFSET)?,
            size: cut.uvarint(SIZE)?,
            compression: cut.u8(COMPRESSION)?,
        };
        cut.end(END)?;
        Ok(index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_value_elsewhere() {
        let index = BlobIndex { file: 9, offset: 128, size: 7, compression: 4 };
        assert_eq!(BlobIndex::parse(&[1, 9, 0x80, 1, 7, 4]), Ok(index));
        assert_eq!(BlobIndex::parse(&[2, 0, 9, 0x80, 1, 7, 4]), Ok(index));
        assert!(BlobIndex::parse(&[0, 0, 1]).is_err());
        assert!(BlobIndex::parse(&[1, 9, 0x80, 1, 7, 4, 0]).is_err());
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(value in proptest::collection::vec(any::<u8>(), 0..30)) {
            let _ = BlobIndex::parse(&value);
        }
    }
}
