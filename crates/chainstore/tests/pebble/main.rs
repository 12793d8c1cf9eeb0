//! Pebble directories, read as a user has them: real engines' files, every damage of small ones, and foul play.

#[path = "../leveldb/kit.rs"]
mod kit;

mod fixtures;

mod exhaustive;

mod hostile;
