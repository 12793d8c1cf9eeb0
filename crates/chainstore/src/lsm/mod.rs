//! What LevelDB, Pebble and RocksDB have in common: internal keys, row blocks, block trailers, chunked logs, merging.

pub(crate) mod internal_key;

pub(crate) mod row_block;

pub(crate) mod block;

pub(crate) mod bad_block;

pub(crate) mod framing;

pub(crate) mod merge;

pub(crate) mod memory;

pub(crate) mod cache;
