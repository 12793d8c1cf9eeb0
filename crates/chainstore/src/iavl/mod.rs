//! The trees of an SDK application: every node names its children's hashes, and the commit names the roots. What no
//! block checksum can see, a valid write of a wrong value, shows here. *No files of its own.*
//!
//! In reading order: a node, one store's nodes, the walk through one tree, all stores.

mod node;

mod tree;

mod walk;

mod stores;

pub(crate) use node::put_uvarint;
pub use node::{Body, Node, NodeRef};
pub use stores::{StoreReport, check_stores};
pub use walk::{IavlMode, Walked};
