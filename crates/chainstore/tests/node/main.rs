//! A node's own records, read from data directories that real nodes made (`tests/fixtures/node`, `node-0.34`), and from
//! those directories with one thing changed.

mod fixture;

mod memory;

mod companions;

mod damaged;

mod flips;

mod healthy;

mod synthetic;
