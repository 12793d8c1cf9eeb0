//! A node's own records, read from data directories that real nodes made (`tests/fixtures/node`, `node-0.34`), and from
//! those directories with one thing changed.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "the helpers of tests are outside of test functions"
)]

mod fixture;

mod memory;

mod nested;

mod companions;

mod damaged;

mod flips;

mod healthy;

mod synthetic;
