//! Reads the databases of a node on disk without their engines, and says whether they are damaged. *Files, read-only.*
//!
//! **The promise on foreign bytes.** No input makes this crate panic, recurse, write, map a file, or allocate out of
//! proportion to the bytes that are really there; this holds after a checksum fits as well as before. Every field that is
//! read has a name and an offset, and they travel into the finding. Damage is a value ([`Finding`]); an error means that
//! nobody could look ([`Reason`]); a check gives good, bad or could-not-tell ([`Check`]). Damage is called proven only
//! when a second read, past the page cache, gives the same bytes.
//!
//! **The way in.** [`inspect`] takes a home, a data directory or one database and gives an [`Inspection`]. Readers of the
//! node's own records open one database with [`find`] and [`open`] and ask its view ([`KeyValues`]) for keys;
//! [`read_node`] is given these views and says what they mean together ([`NodeReport`]).
//!
//! **In reading order:** bytes ([`Cut`], checksums) → findings and outcomes → files (one place opens them) → which engine
//! → what engines have in common (`lsm/`) → one folder an engine, behind [`Store`] → all databases at once → a node's
//! records: heights and what a node does with them (`invariants`), trees (`iavl/`), `cometbft/`, `sdk/`, all together
//! (`node`).

mod cut;

mod checksum;

mod progress;

mod meter;

mod evidence;

mod finding;

mod outcome;

mod read_error;

mod disk;

mod file_name;

mod files;

mod data_file;

mod engine;
mod engine_log;

mod view;

mod device;

mod attribution;

mod lsm;

mod store;

mod leveldb;

mod pebble;

mod rocksdb;

mod density;

mod places;

mod live;

mod twice;

mod crew;

mod inspect;

mod digest;

mod proto;

mod json;

mod records;

mod home;

mod disk_space;

mod heights;

mod invariants;

mod iavl;

mod cometbft;

mod sdk;

mod agreement;

mod node;

mod node_of;
mod node_place;

mod lost_databases;

pub mod ring;

pub use agreement::AppHashes;
pub use checksum::{Crc32c, crc32c, mask, masked_crc32c, unmask};
pub use cometbft::{
    BlockMeta, BlockStore, ConsensusWal, KeyLayout, SigningState, State, StateStore, WalEnd, WalRecords,
    parse_signing_state, read_wal,
};
pub use cut::{Cut, CutError, CutProblem, Part};
pub use data_file::{DataFile, PAGE, SecondRead};
pub use density::{Density, density};
pub use digest::Hash32;
pub use disk::{Disk, SystemDisk};
pub use disk_space::DiskSpace;
pub use engine::{Detection, Engine, detect, detect_file};
pub use evidence::Evidence;
pub use file_name::FileName;
pub use files::{DataDir, EntryKind, FileEntry};
pub use finding::{Attribution, Finding, FindingKind, Severity};
pub use heights::{Heights, Level};
pub use home::Home;
pub use iavl::{Body, IavlMode, Node, NodeRef, StoreReport, Walked, check_stores};
pub use inspect::{DatabaseReport, Inspection, Options, Order, inspect};
pub use invariants::{Refusal, Situation, Start, refusals, start};
pub use meter::Meter;
pub use node::{NodeOptions, NodeReport, NodeSources, read_node};
pub use outcome::{Check, Checks, Outcome, Reason};
pub use places::{FoundPlace, find};
pub use progress::{Progress, Silent};
pub use read_error::{ReadError, ReadProblem};
pub use records::{Records, Source};
pub use sdk::{CommitInfo, Root, Snapshot, StoreInfo, UpgradeInfo, WasmReport};
pub use store::{Depth, Place, Prediction, Scratch, Store, TableRef, WINDOW_BYTES, open};
pub use view::{Entry, KeyValues, ViewError, prefix_end};
