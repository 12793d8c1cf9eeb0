//! Blob files: header, records, footer. *No files.*
//!
//! Source: RocksDB `db/blob/blob_log_format.h`, `blob_log_format.cc`. The header carries no checksum; of its fields the engine
//! compares magic, version, column family and the way of packing, and takes no expirations.

use crate::{Cut, CutError, Part, masked_crc32c};

/// Bytes of the three parts; a record's key and value follow its header.
pub(crate) const HEADER_BYTES: u64 = 30;
pub(crate) const RECORD_HEADER_BYTES: u64 = 32;
pub(crate) const FOOTER_BYTES: u64 = 32;

/// `0x00248f37`.
const MAGIC: u32 = 2_395_959;

const HEADER: Part = Part::new("blob file header");
const RECORD: Part = Part::new("blob record header");
const FOOTER: Part = Part::new("blob file footer");

/// What the header says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) family: u32,
    pub(crate) compression: u8,
}

impl Header {
    /// Reads the first 30 bytes; in words what is wrong with them.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, String> {
        let mut cut = Cut::new(bytes, 0);
        let fields = |cut: &mut Cut<'_>| -> Result<_, CutError> {
            let [magic, version, family] = [cut.u32_le(HEADER)?, cut.u32_le(HEADER)?, cut.u32_le(HEADER)?];
            let (flags, compression) = (cut.u8(HEADER)?, cut.u8(HEADER)?);
            Ok((magic, version, family, flags, compression, [cut.u64_le(HEADER)?, cut.u64_le(HEADER)?]))
        };
        let (magic, version, family, flags, compression, expiration) =
            fields(&mut cut).map_err(|error| error.to_string())?;
        if magic != MAGIC {
            return Err(format!("magic number {magic:#010x}, not {MAGIC:#010x}"));
        }
        if version != 1 {
            return Err(format!("unknown header version {version}"));
        }
        if flags & 1 != 0 || expiration != [0, 0] {
            return Err("blobs that expire, which no engine writes here".to_owned());
        }
        Ok(Self { family, compression })
    }
}

/// A record's header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RecordHeader {
    pub(crate) key_bytes: u64,
    pub(crate) value_bytes: u64,
    /// Over both lengths and the expiration, masked; stored and computed.
    pub(crate) header_sum: (u32, u32),
    /// Over key and value, masked.
    pub(crate) blob_sum: u32,
}

impl RecordHeader {
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, CutError> {
        let mut cut = Cut::new(bytes, 0);
        let mut covered = cut.take(RECORD, 24)?;
        let computed = masked_crc32c(covered.rest());
        Ok(Self {
            key_bytes: covered.u64_le(RECORD)?,
            value_bytes: covered.u64_le(RECORD)?,
            header_sum: (cut.u32_le(RECORD)?, computed),
            blob_sum: cut.u32_le(RECORD)?,
        })
    }

    pub(crate) fn fits(&self) -> bool {
        self.header_sum.0 == self.header_sum.1
    }
}

/// The footer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Footer {
    pub(crate) magic_fits: bool,
    pub(crate) blobs: u64,
    /// Stored and computed, masked.
    pub(crate) sum: (u32, u32),
}

impl Footer {
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, CutError> {
        let mut cut = Cut::new(bytes, 0);
        let mut covered = cut.take(FOOTER, 28)?;
        let computed = masked_crc32c(covered.rest());
        let magic_fits = covered.u32_le(FOOTER)? == MAGIC;
        Ok(Self { magic_fits, blobs: covered.u64_le(FOOTER)?, sum: (cut.u32_le(FOOTER)?, computed) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn one_sound_header_and_one_change() {
        let mut header = [0; 30];
        header[..14].copy_from_slice(&[0x37, 0x8f, 0x24, 0, 1, 0, 0, 0, 5, 0, 0, 0, 0, 4]);
        assert_eq!(Header::parse(&header), Ok(Header { family: 5, compression: 4 }));
        let row = |at: usize| {
            let mut bytes = header;
            bytes[at] ^= 1;
            Header::parse(&bytes).map_err(|words| words.split(' ').next().unwrap_or_default().to_owned())
        };
        assert_eq!(row(0), Err("magic".to_owned()));
        assert_eq!(row(4), Err("unknown".to_owned()));
        assert_eq!(row(12), Err("blobs".to_owned()));
        assert_eq!(row(29), Err("blobs".to_owned()));
        assert_eq!(row(8), Ok(Header { family: 4, compression: 4 }));
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
            let _ = Header::parse(&bytes);
            let _ = RecordHeader::parse(&bytes);
            let _ = Footer::parse(&bytes);
        }
    }
}
