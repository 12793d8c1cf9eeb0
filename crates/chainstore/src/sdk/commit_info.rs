//! What the SDK commits at each height: its stores' versions and hashes, and the application's hash over them. *No files.*
//!
//! Source: SDK `store/types/commit_info.go`, `store/internal/maps/maps.go` (`NewSimpleMap`, `KVPair.Bytes`), CometBFT
//! `crypto/merkle`; formats 8.4.

use crate::digest::{Hash32, merkle_root};
use crate::iavl::put_uvarint;
use crate::proto::Message;
use crate::{CutError, Part};

/// More stores than any chain has; the rest of a forged list is not kept.
const STORES_MAX: usize = 10_000;

/// One `s/<version>`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CommitInfo {
    /// The version, which is the height.
    pub version: u64,
    /// The stores.
    pub stores: Vec<StoreInfo>,
}

/// One store of a commit.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StoreInfo {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: u64,
    /// Its hash: for a tree, the root's.
    pub hash: Vec<u8>,
}

impl CommitInfo {
    /// Reads a record.
    pub fn parse(bytes: &[u8]) -> Result<Self, CutError> {
        let mut info = Self::default();
        let mut message = Message::new(bytes);
        while let Some(field) = message.next_field()? {
            match field.number {
                1 => info.version = field.height(Part::new("version"))?,
                2 => {
                    let store = StoreInfo::parse(field.message(Part::new("store_infos"))?)?;
                    if info.stores.len() < STORES_MAX {
                        info.stores.push(store);
                    }
                }
                3 => _ = field.bytes(Part::new("timestamp"))?,
                _ => {}
            }
        }
        Ok(info)
    }

    /// The application's hash: the Merkle root over names and hashes, in the order of the names.
    #[must_use]
    pub fn app_hash(&self) -> Hash32 {
        let mut stores: Vec<&StoreInfo> = self.stores.iter().collect();
        stores.sort_by(|a, b| a.name.cmp(&b.name));
        let leaves: Vec<Vec<u8>> = stores
            .iter()
            .map(|store| {
                let mut leaf = Vec::new();
                put_uvarint(&mut leaf, store.name.len() as u64);
                leaf.extend_from_slice(store.name.as_bytes());
                put_uvarint(&mut leaf, 32);
                leaf.extend_from_slice(&Hash32::of(&store.hash).0);
                leaf
            })
            .collect();
        merkle_root(leaves.iter().map(Vec::as_slice))
    }
}

impl StoreInfo {
    fn parse(mut message: Message<'_>) -> Result<Self, CutError> {
        let mut info = Self::default();
        while let Some(field) = message.next_field()? {
            match field.number {
                1 => field.text(Part::new("name"))?.clone_into(&mut info.name),
                2 => {
                    let mut commit = field.message(Part::new("commit_id"))?;
                    while let Some(field) = commit.next_field()? {
                        match field.number {
                            1 => info.version = field.height(Part::new("commit_id.version"))?,
                            2 => info.hash = field.bytes(Part::new("commit_id.hash"))?.to_vec(),
                            _ => {}
                        }
                    }
                }
                _ => {}
            }
        }
        Ok(info)
    }
}

/// An `Int64Value`: nothing at all means 0.
pub(crate) fn int64_value(bytes: &[u8]) -> Result<u64, CutError> {
    let mut value = 0;
    let mut message = Message::new(bytes);
    while let Some(field) = message.next_field()? {
        if field.number == 1 {
            value = field.height(Part::new("value"))?;
        }
    }
    Ok(value)
}

/// Amino wrote the length of a record before it: so did SDKs before 0.40.
pub(crate) fn is_length_prefixed(bytes: &[u8]) -> bool {
    let mut cut = crate::Cut::new(bytes, 0);
    cut.uvarint(Part::new("length")).is_ok_and(|length| length > 0 && length == cut.left())
}
