//! The `loopbreaker` binary.

fn main() {}
