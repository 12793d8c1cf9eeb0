//! What the metaindex and the properties of a table say. *No files.*
//!
//! Source: RocksDB `table/meta_blocks.cc`, `table/table_properties.cc`, `table/block_based/block_based_table_factory.cc`; formats 2.4.

use crate::lsm::block::Handle;
use crate::lsm::row_block::{RowBlock, TopBits};
use crate::lsm::trailer::{Seal, Trailer};
use crate::rocksdb::index::IndexFormat;
use crate::{Cut, CutError, Part};

const PROPERTY: Part = Part::new("property");
const INDEX_TYPE: Part = Part::new("index type");
const EXTERNAL: Part = Part::new("version of a table made elsewhere");

/// A table has some ten metablocks.
const METABLOCKS_MAX: usize = 256;

/// The property that an engine may have overwritten when it took in a table that was made elsewhere.
const GLOBAL_SEQUENCE: &[u8] = b"rocksdb.external_sst_file.global_seqno";

/// The blocks that the metaindex names.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Metaindex {
    pub(crate) blocks: Vec<(String, Handle)>,
}

impl Metaindex {
    /// Reads the metaindex block.
    pub(crate) fn parse(block: &[u8]) -> Result<Self, CutError> {
        let mut found = Self::default();
        let mut cursor = RowBlock::parse(block, TopBits::HashIndex)?.cursor();
        while cursor.advance()? && found.blocks.len() < METABLOCKS_MAX {
            let handle = Handle::cut(&mut Cut::new(cursor.value(), 0))?;
            found.blocks.push((String::from_utf8_lossy(cursor.key()).into_owned(), handle));
        }
        Ok(found)
    }

    /// The block of a name.
    pub(crate) fn get(&self, name: &str) -> Option<Handle> {
        self.blocks.iter().find(|(known, _)| known == name).map(|(_, handle)| *handle)
    }
}

/// How the index is built.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum IndexType {
    /// One block; what the hash index and the first keys of another type add is of no concern to a reader.
    #[default]
    OneBlock,
    /// A block of blocks.
    TwoLevels,
    /// One that this version does not know, by its number.
    Unknown(u32),
}

/// What the properties say that a reader needs, and numbers that can be compared with what is there.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Properties {
    pub(crate) index_type: IndexType,
    pub(crate) index: IndexFormat,
    pub(crate) data_blocks: Option<u64>,
    pub(crate) entries: Option<u64>,
    /// The footer's; 0 where the engine did not care.
    pub(crate) format_version: Option<u64>,
    /// Whether the table was made elsewhere and taken in, so that the MANIFEST has its sequence.
    pub(crate) external: bool,
    /// What keeps this version from reading keys, if anything.
    pub(crate) unreadable: Option<&'static str>,
}

impl Properties {
    /// Reads the properties block.
    pub(crate) fn parse(block: &[u8]) -> Result<Self, CutError> {
        let mut found = Self::default();
        let mut cursor = RowBlock::parse(block, TopBits::HashIndex)?.cursor();
        while cursor.advance()? {
            let mut cut = Cut::new(cursor.value(), 0);
            match cursor.key() {
                b"rocksdb.block.based.table.index.type" => match cut.u32_le(INDEX_TYPE)? {
                    0 | 1 => {}
                    2 => found.index_type = IndexType::TwoLevels,
                    3 => found.index.first_keys = true,
                    other => found.index_type = IndexType::Unknown(other),
                },
                b"rocksdb.index.key.is.user.key" => found.index.user_keys = cut.uvarint(PROPERTY)? > 0,
                b"rocksdb.index.value.is.delta.encoded" => found.index.deltas = cut.uvarint(PROPERTY)? > 0,
                b"rocksdb.num.data.blocks" => found.data_blocks = Some(cut.uvarint(PROPERTY)?),
                b"rocksdb.num.entries" => found.entries = Some(cut.uvarint(PROPERTY)?),
                b"rocksdb.format.version" => found.format_version = Some(cut.uvarint(PROPERTY)?),
                b"rocksdb.external_sst_file.version" => found.external = cut.u32_le(EXTERNAL)? > 0,
                b"rocksdb.separate.key.value.in.data.block" if cut.uvarint(PROPERTY)? > 0 => {
                    found.unreadable = Some("keys and values in separate parts of a block");
                }
                b"rocksdb.udi.is.primary.index" if cut.uvarint(PROPERTY)? > 0 => {
                    found.unreadable = Some("an index of the user's own");
                }
                _ => {}
            }
        }
        if let IndexType::Unknown(_) = found.index_type {
            found.unreadable = Some("an index of a newer type");
        }
        Ok(found)
    }
}

/// Whether a stored properties block fits its checksum, or would if it had a zero where the engine wrote a sequence into it when
/// it took in a table that was made elsewhere (`table/meta_blocks.cc`, `ReadTablePropertiesHelper`).
pub(crate) fn properties_fit(stored: &[u8], handle: Handle, seal: Seal) -> bool {
    let fits = |stored: &[u8]| Trailer::of(stored, handle.offset, seal).is_some_and(|trailer| trailer.fits());
    if fits(stored) {
        return true;
    }
    let mut probe = stored.to_vec();
    let block = usize::try_from(handle.size).ok().and_then(|size| stored.get(..size)).unwrap_or_default();
    let Some(sequence) = global_sequence_at(block).and_then(|at| probe.get_mut(at)) else { return false };
    sequence.fill(0);
    fits(&probe)
}

/// Where in a properties block that sequence stands.
fn global_sequence_at(block: &[u8]) -> Option<std::ops::Range<usize>> {
    let mut cursor = RowBlock::parse(block, TopBits::HashIndex).ok()?.cursor();
    while cursor.advance().ok()? {
        if cursor.key() == GLOBAL_SEQUENCE && cursor.value().len() == 8 {
            return Some(cursor.position().checked_sub(8)?..cursor.position());
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lsm::trailer::Checksum;
    use proptest::prelude::*;

    fn rows(entries: &[(&[u8], &[u8])]) -> Vec<u8> {
        let mut out = Vec::new();
        for (key, value) in entries {
            out.extend_from_slice(&[0, u8::try_from(key.len()).unwrap(), u8::try_from(value.len()).unwrap()]);
            out.extend_from_slice(key);
            out.extend_from_slice(value);
        }
        [out, vec![0, 0, 0, 0, 1, 0, 0, 0]].concat()
    }

    #[test]
    fn what_a_reader_needs() {
        let block = rows(&[
            (b"rocksdb.block.based.table.index.type", &[2, 0, 0, 0]),
            (b"rocksdb.external_sst_file.global_seqno", &[7, 0, 0, 0, 0, 0, 0, 0]),
            (b"rocksdb.external_sst_file.version", &[2, 0, 0, 0]),
            (b"rocksdb.index.key.is.user.key", &[1]),
            (b"rocksdb.num.entries", &[0x80, 1]),
        ]);
        let found = Properties::parse(&block).unwrap();
        assert_eq!((found.index_type, found.entries, found.external), (IndexType::TwoLevels, Some(128), true));
        assert!(found.index.user_keys && !found.index.deltas && !found.index.first_keys);
        let at = global_sequence_at(&block).unwrap();
        assert_eq!(block[at.clone()], [7, 0, 0, 0, 0, 0, 0, 0]);
        let handle = Handle { offset: 0, size: block.len() as u64 };
        let seal = Seal::from(Checksum::Xxh3);
        let mut stored = [&block[..], &[0]].concat();
        stored[at.clone()].fill(0);
        let sum = seal.of(&stored, 0);
        stored.extend_from_slice(&sum.to_le_bytes());
        assert!(properties_fit(&stored, handle, seal));
        stored[at.start] = 7;
        assert!(properties_fit(&stored, handle, seal));
        stored[at.start - 1] ^= 1;
        assert!(!properties_fit(&stored, handle, seal));
        let newer = Properties::parse(&rows(&[(b"rocksdb.block.based.table.index.type", &[4, 0, 0, 0])])).unwrap();
        assert_eq!(newer.unreadable, Some("an index of a newer type"));
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(block in proptest::collection::vec(any::<u8>(), 0..120)) {
            let _ = Metaindex::parse(&block);
            let _ = Properties::parse(&block);
            let _ = global_sequence_at(&block);
            let handle = Handle { offset: 0, size: block.len().saturating_sub(5) as u64 };
            let _ = properties_fit(&block, handle, Seal::from(Checksum::Crc32c));
        }
    }
}
