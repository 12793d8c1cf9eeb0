//! The `loopbreaker` binary.

#[cfg_attr(
    not(test),
    expect(dead_code, unused_imports, reason = "`diagnose`, which reads bundles, is written beside it")
)]
mod bundle;

fn main() {}
