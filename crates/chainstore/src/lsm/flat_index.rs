//! An index of any form as one row block, whose every entry is a restart point. *No files.*

use crate::lsm::block::Handle;
use crate::lsm::unpack::BLOCK_BYTES_MAX;
use crate::{Cut, CutError, CutProblem, Part};

const INDEX: Part = Part::new("index");

/// Grows entry by entry.
#[derive(Debug, Default)]
pub(crate) struct FlatIndex {
    entries: Vec<u8>,
    restarts: Vec<u8>,
}

impl FlatIndex {
    /// Adds the internal key that no key of a block is above, and the block's handle.
    pub(crate) fn add(&mut self, key: &[u8], handle: Handle) -> Result<(), CutError> {
        let bytes = self.entries.len().saturating_add(self.restarts.len()).saturating_add(key.len()) as u64;
        let start = u32::try_from(self.entries.len()).ok().filter(|_| bytes <= BLOCK_BYTES_MAX);
        let Some(start) = start else {
            let problem = CutProblem::AboveLimit { value: bytes, limit: BLOCK_BYTES_MAX };
            return Err(Cut::new(&[], 0).error(INDEX, problem));
        };
        self.restarts.extend_from_slice(&start.to_le_bytes());
        let mut value = Vec::with_capacity(20);
        put_uvarint(&mut value, handle.offset);
        put_uvarint(&mut value, handle.size);
        for number in [0, key.len() as u64, value.len() as u64] {
            put_uvarint(&mut self.entries, number);
        }
        self.entries.extend_from_slice(key);
        self.entries.extend_from_slice(&value);
        Ok(())
    }

    /// The block.
    pub(crate) fn finish(mut self) -> Vec<u8> {
        let count = u32::try_from(self.restarts.len() / 4).unwrap_or_default();
        self.entries.append(&mut self.restarts);
        self.entries.extend_from_slice(&count.to_le_bytes());
        self.entries
    }
}

fn put_uvarint(into: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        into.push(u8::try_from(number & 0x7f).unwrap_or_default() | 0x80);
        number >>= 7;
    }
    into.push(u8::try_from(number).unwrap_or_default());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lsm::row_block::{RowBlock, TopBits};

    #[test]
    fn entries_are_found() {
        let mut flat = FlatIndex::default();
        for (n, key) in [&b"b"[..], b"bb", b"d"].into_iter().enumerate() {
            flat.add(key, Handle { offset: 1000 * n as u64, size: 300 }).unwrap();
        }
        let block = flat.finish();
        let block = RowBlock::parse(&block, TopBits::Number).unwrap();
        let (found, there) = block.seek(b"c", Ord::cmp).unwrap();
        assert!(there);
        assert_eq!(found.key(), b"d");
        assert_eq!(Handle::cut(&mut Cut::new(found.value(), 0)).unwrap(), Handle { offset: 2000, size: 300 });
        assert_eq!(block.last_below(b"c", Ord::cmp).unwrap().unwrap().0, b"bb");
        assert_eq!(RowBlock::parse(&FlatIndex::default().finish(), TopBits::Number).unwrap().restart_count(), 0);
    }
}
