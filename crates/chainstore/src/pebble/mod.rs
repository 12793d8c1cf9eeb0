//! Pebble v1 and v2, up to the format major version that Cosmos nodes open. *Files, read-only.*
//!
//! In the order of the engine's own way in: [`entry`] names the MANIFEST, [`manifest`] the live tables and WALs, [`options`]
//! what the engine compares before it opens, [`table`] and [`wal`] read tables and WALs, [`trace`] what earlier starts left
//! behind, [`predict`] says what the engine would do at its next open, [`view`] reads keys. Fuzz targets: `pebble_manifest`,
//! `pebble_wal`, `pebble_table`.

pub(crate) mod format;

pub(crate) mod names;

pub(crate) mod entry;

pub(crate) mod edit;

pub(crate) mod manifest;

pub(crate) mod options;

pub(crate) mod footer;

pub(crate) mod layout;

pub(crate) mod value;

pub(crate) mod range_del;

pub(crate) mod key_order;

pub(crate) mod data_blocks;

pub(crate) mod table;

pub(crate) mod batch;

pub(crate) mod wal;

pub(crate) mod trace;

pub(crate) mod view;

pub(crate) mod predict;

mod pebble_store;

pub(crate) use options::is_pebble;
pub(crate) use pebble_store::PebbleStore;
