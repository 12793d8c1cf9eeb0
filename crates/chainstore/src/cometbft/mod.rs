//! What CometBFT (and Tendermint from 0.34 on) keeps in a data directory. *Files, read-only.*
//!
//! In reading order: keys, the block store, the state store, the consensus log, small files.

mod keys;

mod block_meta;

pub(crate) mod block_store;

mod state;

pub(crate) mod state_store;

mod wal;

mod wal_group;

mod files;

pub use block_meta::BlockMeta;
pub use block_store::BlockStore;
pub use files::{SigningState, parse_signing_state};
pub(crate) use files::{address_book, genesis_chain_id, signing_state};
pub use keys::KeyLayout;
pub use state::State;
pub use state_store::StateStore;
pub use wal::{WalEnd, WalRecords, read_wal};
pub use wal_group::ConsensusWal;
