//! RocksDB: tables of format versions 2 to 7, blob files, WALs. *Files, read-only.*
//!
//! In the order of the engine's own way in: [`entry`] names the MANIFEST, [`manifest`] the column families with their live
//! tables, blob files and WALs; [`table`], [`blob`] and [`wal`] read those, [`trace`] looks for a database that was begun anew,
//! [`predict`] says what the engine would do at its next open, [`view`] reads keys. Fuzz targets: `rocksdb_manifest`,
//! `rocksdb_wal`, `rocksdb_table`.

pub(crate) mod names;

pub(crate) mod entry;

pub(crate) mod new_file;

pub(crate) mod edit;

pub(crate) mod version;

pub(crate) mod manifest;

pub(crate) mod footer;

pub(crate) mod footer_checks;

pub(crate) mod index;

pub(crate) mod layout;

pub(crate) mod unpack;

pub(crate) mod kind;

pub(crate) mod key_order;

pub(crate) mod data_blocks;

pub(crate) mod table;

pub(crate) mod blob_log;

pub(crate) mod blob_index;

pub(crate) mod blob;

pub(crate) mod blob_value;

pub(crate) mod batch;

pub(crate) mod wal_format;

pub(crate) mod wal;

pub(crate) mod memory;

pub(crate) mod live;

pub(crate) mod trace;

pub(crate) mod view;

pub(crate) mod predict;

mod rocksdb_store;

pub(crate) use rocksdb_store::RocksDbStore;
