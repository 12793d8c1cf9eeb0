//! The walk through one tree: every node, or a sample, hashed again. *No files of its own.*
//!
//! From the root down, each inner node is computed from its two children and compared with the hash that its parent (for the
//! root: the commit) names. Heights must fall and sizes add up, so the walk ends whatever the bytes say, and keys must lie
//! where the inner nodes say, since those are what lookups follow. What waits is one sibling a level: a few dozen nodes.

use std::rc::Rc;

use crate::digest::Hash32;
use crate::iavl::node::{Body, Node, NodeRef};
use crate::iavl::tree::Tree;
use crate::meter::Meter;
use crate::records::key_words;
use crate::{Checks, Depth, FindingKind, Reason};

/// Leaves of a sample, spread evenly from the first to the last.
const SAMPLE_LEAVES: u64 = 64;

/// A tree with more than this many findings is not walked further: it is broken, and the list is no use to anyone.
const FINDINGS_MAX: usize = 20;

/// How much of the trees is walked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum IavlMode {
    /// Roots alone.
    #[default]
    Off,
    /// The paths to some leaves.
    Sample,
    /// Every node of the latest version.
    Latest,
}

impl IavlMode {
    /// How much is walked where nobody says it. A sample costs some hundred point reads a store, wherever they lie: next
    /// to nothing beside every checksum, and too much for a look that reads no tables.
    #[must_use]
    pub fn of(depth: Depth) -> Self {
        match depth {
            Depth::Quick => Self::Off,
            Depth::Default => Self::Sample,
            Depth::Deep => Self::Latest,
        }
    }

    /// Its name in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Sample => "sample",
            Self::Latest => "latest",
        }
    }
}

/// What a walk gave.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Walked {
    /// Nodes that were read and hashed.
    pub nodes: u64,
    /// Leaves among them.
    pub leaves: u64,
    /// Leaves that the tree has.
    pub size: u64,
}

impl Walked {
    /// The root alone, as every mode reads it.
    pub(crate) fn root(root: &Node) -> Self {
        Self { nodes: 1, leaves: u64::from(root.height == 0), size: root.size }
    }

    /// Whether every leaf was seen.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.leaves >= self.size
    }
}

/// Where the keys of a part of the tree lie.
#[derive(Clone, Default)]
struct Bounds {
    /// The smallest of them: an inner node's key is that of the first leaf on its right (`recursiveSet`, `recursiveRemove`
    /// of both formats). Only the leftmost part has none.
    first: Option<Rc<[u8]>>,
    /// All lie below this.
    until: Option<Rc<[u8]>>,
}

impl Bounds {
    fn hold(&self, node: &Node) -> bool {
        let from_here = self.first.as_deref().is_none_or(|first| match node.body {
            // Each leaf but the very first is the first one on the right of some inner node.
            Body::Leaf(_) => first == &*node.key,
            Body::Inner { .. } => first < &*node.key,
        });
        from_here && self.until.as_deref().is_none_or(|until| &*node.key < until)
    }
}

struct Waiting {
    node: Node,
    /// The index of its first leaf.
    first: u64,
    bounds: Bounds,
}

pub(crate) struct Walk<'t, 'v> {
    pub(crate) tree: &'t Tree<'v>,
    pub(crate) version: u64,
    pub(crate) mode: IavlMode,
    pub(crate) meter: &'t Meter,
}

impl Walk<'_, '_> {
    /// Walks from a root that was read and fits its commit.
    pub(crate) fn run(&self, root: Node, checks: &mut Checks) -> Walked {
        let mut walked = Walked::root(&root);
        let before = checks.findings.len();
        let mut waiting = vec![Waiting { node: root, first: 0, bounds: Bounds::default() }];
        while let Some(next) = waiting.pop() {
            if self.meter.interrupted() {
                checks.add(Reason::Interrupted);
                break;
            }
            if checks.findings.len().saturating_sub(before) >= FINDINGS_MAX {
                let detail =
                    format!("version {}: more than {FINDINGS_MAX} findings; the rest was not walked", self.version);
                checks.add(self.tree.finding(FindingKind::Remark, &detail));
                break;
            }
            self.visit(&next, &mut waiting, &mut walked, checks);
        }
        walked
    }

    fn visit(&self, parent: &Waiting, waiting: &mut Vec<Waiting>, walked: &mut Walked, checks: &mut Checks) {
        let node = &parent.node;
        let Body::Inner { left, right, .. } = &node.body else { return };
        let mut read = |at: &NodeRef| self.tree.node(*at, self.version, checks).ok();
        let (left, right) = (read(left), read(right));
        let read = [&left, &right].into_iter().flatten();
        walked.nodes = walked.nodes.saturating_add(read.clone().count() as u64);
        walked.leaves = walked.leaves.saturating_add(read.filter(|n| n.height == 0).count() as u64);
        if let (Some(left), Some(right)) = (&left, &right) {
            self.compare(node, left, right, checks);
        }
        let divider: Rc<[u8]> = node.key.as_ref().into();
        let split = left.as_ref().map(|left| left.size);
        let below = Bounds { first: parent.bounds.first.clone(), until: Some(Rc::clone(&divider)) };
        let above = Bounds { first: Some(divider), until: parent.bounds.until.clone() };
        // The right part waits longer, so that keys are visited in order.
        let second = split.map(|size| parent.first.saturating_add(size));
        for (child, first, bounds) in [(right, second, above), (left, Some(parent.first), below)] {
            let (Some(child), Some(first)) = (child, first) else { continue };
            self.check_place(node, &child, &bounds, checks);
            if child.height > 0 && child.height < node.height && self.wanted(first, child.size, walked.size) {
                waiting.push(Waiting { node: child, first, bounds });
            }
        }
    }

    /// The node's hash over its children, and the shape that they give it.
    fn compare(&self, node: &Node, left: &Node, right: &Node, checks: &mut Checks) {
        let words = || {
            let child = |child: &Node| format!("{} (key {})", child.at, key_words(&child.key));
            format!("node {} with children {} and {}", node.at, child(left), child(right))
        };
        let finding = |kind, detail: String| self.tree.finding(kind, &format!("version {}: {detail}", self.version));
        let computed = node.hash_over(left.own_hash(), right.own_hash());
        if computed != node.own_hash() {
            let detail = format!("{} does not have the hash that it should: one of the three was changed", words());
            let wrong = finding(FindingKind::TreeHash, detail);
            checks.add(wrong.values(node.own_hash().to_string(), computed.to_string()));
            return;
        }
        let height = u16::from(left.height.max(right.height)).saturating_add(1);
        if height != u16::from(node.height) || left.size.checked_add(right.size) != Some(node.size) {
            checks.add(finding(FindingKind::RecordMalformed, format!("{}: heights or sizes do not add up", words())));
        }
    }

    /// Whether the child's key is where lookups and insertions look for it.
    fn check_place(&self, parent: &Node, child: &Node, bounds: &Bounds, checks: &mut Checks) {
        let leaf_of_one = child.height > 0 || child.size == 1;
        if bounds.hold(child) && leaf_of_one {
            return;
        }
        let detail = format!(
            "version {}: node {} (key {}) does not lie where its parent {} (key {}) and those above it say",
            self.version,
            child.at,
            key_words(&child.key),
            parent.at,
            key_words(&parent.key)
        );
        checks.add(self.tree.finding(FindingKind::KeyOrder, &detail));
    }

    /// Whether a part of the tree has leaves that are to be seen.
    fn wanted(&self, first: u64, size: u64, total: u64) -> bool {
        match self.mode {
            IavlMode::Off => false,
            IavlMode::Latest => true,
            IavlMode::Sample => sampled(first, size, total),
        }
    }
}

/// Whether one of the sampled leaves, `i × (total − 1) ÷ (n − 1)`, is among these.
fn sampled(first: u64, size: u64, total: u64) -> bool {
    let spans = u128::from(SAMPLE_LEAVES.saturating_sub(1));
    let last_leaf = u128::from(total.saturating_sub(1)).max(1);
    // The first sample at or above `first`.
    let index = u128::from(first).saturating_mul(spans).div_ceil(last_leaf);
    let leaf = index.saturating_mul(last_leaf).checked_div(spans).unwrap_or_default();
    index <= spans && leaf < u128::from(first).saturating_add(u128::from(size))
}

/// The hash of a tree without nodes, as the SDK commits it; early versions committed nothing.
pub(crate) fn is_empty_hash(hash: &[u8]) -> bool {
    hash.is_empty() || hash == Hash32::of(&[]).0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_have_both_ends_and_are_spread() {
        assert!(sampled(0, 1, 1_000_000) && sampled(999_999, 1, 1_000_000));
        let hit = (0..1_000_000).filter(|leaf| sampled(*leaf, 1, 1_000_000)).count();
        assert_eq!(hit, 64);
        assert!((0..10).all(|leaf| sampled(leaf, 1, 10)), "of a small tree, every leaf");
        assert!(sampled(0, 1, 1));
        assert!(!sampled(1, 15_000, 1_000_000) && sampled(1, 16_000, 1_000_000));
    }
}
