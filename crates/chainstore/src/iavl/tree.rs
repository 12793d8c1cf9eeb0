//! One store's tree in application.db: its roots, and its nodes one by one. *No files of its own.*
//!
//! Source: iavl v1.2.4 `nodedb.go` (`GetRoot`, `GetNode`, `isReferenceRoot`), SDK `store/rootmulti/store.go` (prefix
//! `s/k:<name>/`); formats 8.4. Fast nodes (`f`) and orphans (`o`) are not read: the tree does not need them.

use crate::iavl::node::{Node, NodeRef};
use crate::records::{Records, Untold, note};
use crate::{Checks, CutError, FindingKind, Part};

/// One store's keys.
pub(crate) struct Tree<'v> {
    pub(crate) records: Records<'v>,
    pub(crate) store: String,
    prefix: Vec<u8>,
}

/// The root of a version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Root {
    /// The tree has this root.
    At(NodeRef),
    /// The tree is empty.
    Empty,
    /// This version does not exist.
    Missing,
}

impl<'v> Tree<'v> {
    pub(crate) fn new(records: Records<'v>, store: &str) -> Self {
        Self { records, store: store.to_owned(), prefix: format!("s/k:{store}/").into_bytes() }
    }

    fn key(&self, below: &[u8]) -> Vec<u8> {
        [&self.prefix, below].concat()
    }

    fn get(&self, below: &[u8], checks: &mut Checks) -> Result<Option<Box<[u8]>>, Untold> {
        self.records.get(&self.key(below), checks)
    }

    pub(crate) fn finding(&self, kind: FindingKind, detail: &str) -> crate::Finding {
        self.records.finding(kind, format!("store {}: {detail}", self.store))
    }

    /// Where the tree of a version begins.
    pub(crate) fn root(&self, version: u64, checks: &mut Checks) -> Result<Root, Untold> {
        let first = NodeRef::Versioned { version, nonce: 1 };
        let Some(value) = self.get(&first.key(), checks)? else {
            return self.legacy_root(version, checks);
        };
        match value.split_first() {
            None => Ok(Root::Empty),
            // `s` as a node's height would be −58: no node begins so.
            Some((b's', reference)) => self.referenced_root(version, reference, checks),
            Some(_) => Ok(Root::At(first)),
        }
    }

    fn legacy_root(&self, version: u64, checks: &mut Checks) -> Result<Root, Untold> {
        let Some(value) = self.get(&[&b"r"[..], &version.to_be_bytes()].concat(), checks)? else {
            return Ok(Root::Missing);
        };
        if value.is_empty() {
            return Ok(Root::Empty);
        }
        let Some(hash) = crate::digest::Hash32::from_slice(&value) else {
            let detail = format!("the root of version {version} is no hash");
            checks.add(self.finding(FindingKind::RecordMalformed, &detail));
            return Err(Untold);
        };
        Ok(Root::At(NodeRef::Hashed(hash)))
    }

    /// A version without changes names the root of an earlier one.
    fn referenced_root(&self, version: u64, reference: &[u8], checks: &mut Checks) -> Result<Root, Untold> {
        let Ok(at) = parse_reference(reference) else {
            let detail = format!("the root of version {version} refers to no node");
            checks.add(self.finding(FindingKind::RecordMalformed, &detail));
            return Err(Untold);
        };
        if self.find(at, checks)?.is_none() {
            let detail = format!(
                "the root of version {version} refers to node {at}, which is missing (key {})",
                self.key_words(at)
            );
            checks.add(self.finding(FindingKind::TreeHash, &detail));
            return Err(Untold);
        }
        Ok(Root::At(at))
    }

    /// A node's value; a root that pruning rewrote stands under nonce 0.
    fn find(&self, at: NodeRef, checks: &mut Checks) -> Result<Option<Box<[u8]>>, Untold> {
        let value = self.get(&at.key(), checks)?;
        match at {
            NodeRef::Versioned { version, nonce: 1 } if value.is_none() => {
                self.get(&NodeRef::Versioned { version, nonce: 0 }.key(), checks)
            }
            _ => Ok(value),
        }
    }

    /// A node. That it is missing, no node, or (IAVL 0) not what its key says, is a finding.
    pub(crate) fn node(&self, at: NodeRef, version: u64, checks: &mut Checks) -> Result<Node, Untold> {
        let finding = |kind, detail: String| self.finding(kind, &format!("version {version}: {detail}"));
        let Some(value) = self.find(at, checks)? else {
            let detail = format!("node {at} is missing (key {})", self.key_words(at));
            checks.add(finding(FindingKind::TreeHash, detail));
            return Err(Untold);
        };
        let node = match Node::parse(at, &value) {
            Ok(node) => node,
            Err(error) => {
                let detail = format!("node {at} is no node: {error} (key {})", self.key_words(at));
                checks.add(finding(FindingKind::RecordMalformed, detail));
                return Err(Untold);
            }
        };
        match at {
            NodeRef::Hashed(hash) if node.own_hash() != hash => {
                let detail = format!("a node does not hash to its key {}", self.key_words(at));
                let wrong = finding(FindingKind::TreeHash, detail);
                checks.add(wrong.values(hash.to_string(), node.own_hash().to_string()));
                Err(Untold)
            }
            _ => Ok(node),
        }
    }

    /// The key of a node in words that a human can look up.
    pub(crate) fn key_words(&self, at: NodeRef) -> String {
        format!("s/k:{}/ + {}", self.store, crate::digest::Hex(&at.key()))
    }

    /// The newest version that has any node; IAVL takes it for the latest one.
    pub(crate) fn newest(&self, checks: &mut Checks) -> Result<Option<u64>, Untold> {
        for letter in [b's', b'r'] {
            let from = self.key(&[&[letter][..], &1_u64.to_be_bytes()].concat());
            let until = self.key(&[&[letter][..], &(u64::MAX >> 1).to_be_bytes()].concat());
            let Some((key, _)) = note(self.records.view.last_in(&from, Some(&until)), checks)? else { continue };
            let mut cut = crate::Cut::new(key.get(self.prefix.len()..).unwrap_or_default(), 0);
            if let Ok(version) = cut.u8(Part::new("letter")).and_then(|_| cut.u64_be(Part::new("version"))) {
                return Ok(Some(version));
            }
        }
        Ok(None)
    }

    /// Whether the store has any key at all.
    pub(crate) fn has_keys(&self, checks: &mut Checks) -> Result<bool, Untold> {
        note(self.records.view.first_with_prefix(&self.prefix), checks).map(|first| first.is_some())
    }
}

/// A version and a nonce, or (before lazy pruning) a version alone, whose root has nonce 1.
fn parse_reference(bytes: &[u8]) -> Result<NodeRef, CutError> {
    let mut cut = crate::Cut::new(bytes, 0);
    let version = cut.u64_be(Part::new("reference version"))?;
    let nonce = if cut.is_empty() { 1 } else { cut.u32_be(Part::new("reference nonce"))? };
    cut.end(Part::new("reference"))?;
    Ok(NodeRef::Versioned { version, nonce })
}
