//! What LevelDB, Pebble and RocksDB have in common: internal keys, row blocks, block trailers, chunked logs, merging.

pub(crate) mod file_number;

pub(crate) mod internal_key;

pub(crate) mod row_block;

pub(crate) mod flat_index;

pub(crate) mod trailer;

pub(crate) mod unpack;

pub(crate) mod block;

pub(crate) mod bad_block;

pub(crate) mod block_checker;

pub(crate) mod at_break;

pub(crate) mod framing;

pub(crate) mod log_end;

pub(crate) mod break_words;

pub(crate) mod broken_chunk;

pub(crate) mod records;

pub(crate) mod log_checks;

pub(crate) mod merge;

pub(crate) mod memory;

pub(crate) mod range_del;

pub(crate) mod salvage;

pub(crate) mod cache;

pub(crate) mod live_table;

pub(crate) mod live_set;

pub(crate) mod table_files;

pub(crate) mod tables;

pub(crate) mod level_run;
