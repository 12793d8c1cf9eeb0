//! goleveldb and C++ LevelDB. *Files, read-only.*
//!
//! In the order of the engine's own way in: [`current`] names the MANIFEST, [`manifest`] the live tables and journals,
//! [`table`] and [`journal`] read those, [`trace`] reads what the engine wrote about itself, [`predict`] says what it
//! would do at its next open, [`view`] reads keys. Fuzz targets: `leveldb_manifest`, `leveldb_journal`, `leveldb_table`.

pub(crate) mod names;

pub(crate) mod current;

pub(crate) mod manifest;

pub(crate) mod footer;

mod key_order;

pub(crate) mod table;

pub(crate) mod batch;

pub(crate) mod journal;

pub(crate) mod trace;

pub(crate) mod view;

pub(crate) mod predict;

mod leveldb_store;

pub(crate) use leveldb_store::LevelDbStore;
