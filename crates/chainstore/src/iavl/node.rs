//! One node of an IAVL tree: both formats, and the hash over it. *No files.*
//!
//! Source: iavl v0.19.6 and v1.2.4 `node.go` (`MakeNode`, `MakeLegacyNode`, `writeHashBytes`), `nodedb.go`; formats 8.4. The
//! hash is over height, size and version, then a leaf's key and the hash of its value, or the hashes of both children. An
//! inner node's key is *not* hashed: whether it divides its children's keys is checked by walking.

use std::fmt;

use crate::digest::Hash32;
use crate::{Cut, CutError, CutProblem, Part};

/// Trees balance themselves: a height of 127, the most that the format holds, would need more leaves than there are.
const HEIGHT_MAX: i64 = 127;

/// How a node is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum NodeRef {
    /// By version and nonce (IAVL 1).
    Versioned {
        /// The version that made it.
        version: u64,
        /// Its number in that version, from 1; 0 for a root that pruning rewrote.
        nonce: u32,
    },
    /// By its hash (IAVL 0).
    Hashed(Hash32),
}

impl NodeRef {
    /// The key below a store's prefix.
    #[must_use]
    pub fn key(&self) -> Vec<u8> {
        match self {
            Self::Versioned { version, nonce } => [&b"s"[..], &version.to_be_bytes(), &nonce.to_be_bytes()].concat(),
            Self::Hashed(hash) => [&b"n"[..], &hash.0].concat(),
        }
    }
}

impl fmt::Display for NodeRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Versioned { version, nonce } => write!(f, "{version}/{nonce}"),
            Self::Hashed(hash) => hash.fmt(f),
        }
    }
}

/// A node that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// How it was found.
    pub at: NodeRef,
    /// 0 for a leaf.
    pub height: u8,
    /// Leaves below it, itself included.
    pub size: u64,
    /// The version that made it.
    pub version: u64,
    /// A leaf's key; for an inner node the smallest key of its right part.
    pub key: Box<[u8]>,
    /// What is below it.
    pub body: Body,
}

/// What is below a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Body {
    /// A leaf, and the hash of its value.
    Leaf(Hash32),
    /// An inner node.
    Inner {
        /// The hash that it stores for itself (IAVL 1 only).
        stored: Option<Hash32>,
        /// Its left child.
        left: NodeRef,
        /// Its right child.
        right: NodeRef,
    },
}

impl Node {
    /// Reads a node's value.
    pub fn parse(at: NodeRef, bytes: &[u8]) -> Result<Self, CutError> {
        let mut cut = Cut::new(bytes, 0);
        let height = height(&mut cut)?;
        let size = positive(&mut cut, Part::new("node size"))?;
        let version = match at {
            NodeRef::Versioned { version, .. } => version,
            NodeRef::Hashed(_) => positive(&mut cut, Part::new("node version"))?,
        };
        let key = cut.length_prefixed(Part::new("node key"))?.rest().into();
        let body = if height == 0 {
            Body::Leaf(Hash32::of(cut.length_prefixed(Part::new("node value"))?.rest()))
        } else {
            inner(at, &mut cut)?
        };
        cut.end(Part::new("node"))?;
        Ok(Self { at, height, size, version, key, body })
    }

    /// The hash of the node, given the hashes of its children where it has any.
    #[must_use]
    pub fn hash_over(&self, left: Hash32, right: Hash32) -> Hash32 {
        let mut bytes = Vec::with_capacity(128);
        put_varint(&mut bytes, u64::from(self.height));
        put_varint(&mut bytes, self.size);
        put_varint(&mut bytes, self.version);
        match &self.body {
            Body::Leaf(value) => {
                put_bytes(&mut bytes, &self.key);
                put_bytes(&mut bytes, &value.0);
            }
            Body::Inner { .. } => {
                put_bytes(&mut bytes, &left.0);
                put_bytes(&mut bytes, &right.0);
            }
        }
        Hash32::of(&bytes)
    }

    /// The hash that the node has by its own bytes: computed for a leaf and for IAVL 0, stored in an inner node of IAVL 1.
    #[must_use]
    pub fn own_hash(&self) -> Hash32 {
        match &self.body {
            Body::Leaf(value) => self.hash_over(*value, *value),
            Body::Inner { stored: Some(stored), .. } => *stored,
            Body::Inner { stored: None, left, right } => match (left, right) {
                (NodeRef::Hashed(left), NodeRef::Hashed(right)) => self.hash_over(*left, *right),
                // IAVL 0 names children by hashes alone; the parser makes nothing else.
                _ => Hash32([0; 32]),
            },
        }
    }
}

fn height(cut: &mut Cut<'_>) -> Result<u8, CutError> {
    let start = *cut;
    let value = cut.varint(Part::new("node height"))?;
    let wrong = || start.error(Part::new("node height"), CutProblem::NoSuchValue { value: value.cast_unsigned() });
    if value > HEIGHT_MAX { Err(wrong()) } else { u8::try_from(value).map_err(|_| wrong()) }
}

fn positive(cut: &mut Cut<'_>, part: Part) -> Result<u64, CutError> {
    let start = *cut;
    let value = cut.varint(part)?;
    u64::try_from(value).map_err(|_| start.error(part, CutProblem::NoSuchValue { value: value.cast_unsigned() }))
}

fn inner(at: NodeRef, cut: &mut Cut<'_>) -> Result<Body, CutError> {
    if let NodeRef::Hashed(_) = at {
        let left = NodeRef::Hashed(hash(cut, Part::new("left hash"))?);
        let right = NodeRef::Hashed(hash(cut, Part::new("right hash"))?);
        return Ok(Body::Inner { stored: None, left, right });
    }
    let stored = Some(hash(cut, Part::new("node hash"))?);
    let start = *cut;
    let mode = cut.varint(Part::new("mode"))?;
    if !(0..=3).contains(&mode) {
        return Err(start.error(Part::new("mode"), CutProblem::NoSuchValue { value: mode.cast_unsigned() }));
    }
    let left = child(cut, mode & 1 != 0, Part::new("left child"))?;
    let right = child(cut, mode & 2 != 0, Part::new("right child"))?;
    Ok(Body::Inner { stored, left, right })
}

fn hash(cut: &mut Cut<'_>, part: Part) -> Result<Hash32, CutError> {
    let start = *cut;
    let bytes = cut.length_prefixed(part)?;
    let value = bytes.left();
    Hash32::from_slice(bytes.rest()).ok_or_else(|| start.error(part, CutProblem::NoSuchValue { value }))
}

fn child(cut: &mut Cut<'_>, legacy: bool, part: Part) -> Result<NodeRef, CutError> {
    if legacy {
        return hash(cut, part).map(NodeRef::Hashed);
    }
    let version = positive(cut, part)?;
    let start = *cut;
    let nonce = positive(cut, part)?;
    let nonce = u32::try_from(nonce).map_err(|_| start.error(part, CutProblem::NoSuchValue { value: nonce }))?;
    Ok(NodeRef::Versioned { version, nonce })
}

/// A number that is not negative, as `binary.PutVarint` writes it.
fn put_varint(bytes: &mut Vec<u8>, value: u64) {
    put_uvarint(bytes, value << 1);
}

fn put_bytes(bytes: &mut Vec<u8>, data: &[u8]) {
    put_uvarint(bytes, data.len() as u64);
    bytes.extend_from_slice(data);
}

pub(crate) fn put_uvarint(bytes: &mut Vec<u8>, mut value: u64) {
    loop {
        let [low, ..] = value.to_le_bytes();
        if value < 0x80 {
            bytes.push(low);
            return;
        }
        bytes.push(low | 0x80);
        value >>= 7;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn bytes(hex: &str) -> Vec<u8> {
        hex.as_bytes()
            .chunks(2)
            .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap())
            .collect()
    }

    /// Nodes that IAVL 1.2.4 wrote (fixture `node/goleveldb-healthy`, store bank, version 12).
    #[test]
    fn an_inner_node_and_a_leaf_of_version_one() {
        let root = bytes("0818046330303220514f834761c4ac62e3e223469ae36bfa8dbb49d4e2244a5747a363ec57ab8891001804180c");
        let at = NodeRef::Versioned { version: 12, nonce: 1 };
        let node = Node::parse(at, &root).unwrap();
        assert_eq!((node.height, node.size, &*node.key), (4, 12, &b"c002"[..]));
        assert_eq!(node.own_hash().to_string(), "514f834761c4ac62e3e223469ae36bfa8dbb49d4e2244a5747a363ec57ab8891");
        let Body::Inner { left, right, .. } = node.body else { panic!("a leaf") };
        assert_eq!((left.to_string(), right.to_string()), ("12/2".into(), "12/6".into()));

        let leaf = bytes("00020462303036186c6f6f70627265616b65722d4ef93ac36d17bccc708b6678");
        let leaf = Node::parse(NodeRef::Versioned { version: 12, nonce: 5 }, &leaf).unwrap();
        assert_eq!((leaf.height, leaf.size, &*leaf.key), (0, 1, &b"b006"[..]));
    }

    /// A leaf that IAVL 0.19.6 wrote (fixture `node-0.34/goleveldb-healthy`): its key is its hash.
    #[test]
    fn a_leaf_of_version_zero_hashes_to_its_key() {
        let key = Hash32::from_hex("728e90ce08ca4fbb32788b415b1bbb5a26995f3081293a8fe6dfa5afb2b370f9").unwrap();
        let leaf = bytes("0002180463303132186c6f6f70627265616b65722db6741c7c781861095055b0c9");
        let node = Node::parse(NodeRef::Hashed(key), &leaf).unwrap();
        assert_eq!((node.version, node.own_hash()), (12, key));
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200), legacy: bool) {
            let versioned = NodeRef::Versioned { version: 1, nonce: 1 };
            let at = if legacy { NodeRef::Hashed(Hash32([7; 32])) } else { versioned };
            if let Ok(node) = Node::parse(at, &bytes) {
                let _ = node.own_hash();
            }
        }
    }
}
