//! The header of a stored block, as far as it ties the databases together. *No files.*
//!
//! Source: CometBFT `proto/tendermint/types/types.proto`, `BlockMeta`, `Header`, `BlockID`; unchanged since 0.34.

use crate::digest::Hash32;
use crate::proto::Message;
use crate::{CutError, Part};

/// What a block meta says.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BlockMeta {
    /// The block's hash.
    pub hash: Option<Hash32>,
    /// How many parts the block has.
    pub parts: u64,
    /// The chain it belongs to.
    pub chain_id: String,
    /// Its height.
    pub height: u64,
    /// The application's hash after the block before it.
    pub app_hash: Vec<u8>,
}

impl BlockMeta {
    /// Reads a record.
    pub fn parse(bytes: &[u8]) -> Result<Self, CutError> {
        let mut meta = Self::default();
        let mut message = Message::new(bytes);
        while let Some(field) = message.next_field()? {
            match field.number {
                1 => (meta.hash, meta.parts) = block_id(field.message(Part::new("block_id"))?)?,
                3 => meta.read_header(field.message(Part::new("header"))?)?,
                _ => {}
            }
        }
        Ok(meta)
    }

    fn read_header(&mut self, mut header: Message<'_>) -> Result<(), CutError> {
        while let Some(field) = header.next_field()? {
            match field.number {
                2 => field.text(Part::new("chain_id"))?.clone_into(&mut self.chain_id),
                3 => self.height = field.height(Part::new("height"))?,
                11 => self.app_hash = field.bytes(Part::new("app_hash"))?.to_vec(),
                _ => {}
            }
        }
        Ok(())
    }
}

/// Hash and number of parts of a `BlockID`.
pub(crate) fn block_id(mut message: Message<'_>) -> Result<(Option<Hash32>, u64), CutError> {
    let (mut hash, mut parts) = (None, 0);
    while let Some(field) = message.next_field()? {
        match field.number {
            1 => hash = Hash32::from_slice(field.bytes(Part::new("block_id.hash"))?),
            2 => {
                let mut set = field.message(Part::new("part_set_header"))?;
                while let Some(field) = set.next_field()? {
                    if field.number == 1 {
                        parts = field.uint(Part::new("part_set_header.total"))?;
                    }
                }
            }
            _ => {}
        }
    }
    Ok((hash, parts))
}
