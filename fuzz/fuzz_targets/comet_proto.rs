//! Any bytes as each of a node's own records: no panic.
#![no_main]

use chainstore::{BlockMeta, CommitInfo, Snapshot, State, parse_signing_state};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let _ = State::parse(input);
    let _ = BlockMeta::parse(input);
    let _ = Snapshot::parse(input);
    let _ = parse_signing_state(input);
    if let Ok(commit) = CommitInfo::parse(input) {
        let _ = commit.app_hash();
    }
});
