//! Pebble directories, read as a user has them: real engines' files, every damage of small ones, and foul play.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "the helpers of tests are outside of test functions")]

#[path = "../leveldb/kit.rs"]
mod kit;

#[path = "../leveldb/record.rs"]
mod record;

mod bench;

mod fixtures;

mod exhaustive;

mod hostile;

mod nodes;

mod predictions;
