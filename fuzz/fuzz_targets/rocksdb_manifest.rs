//! Any bytes as RocksDB's MANIFEST, or as a version edit that is rightly framed and sealed: no panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use loopbreaker_fuzz::{Sandbox, log, manifest};

thread_local!(static SANDBOX: Sandbox = Sandbox::rocksdb());

fuzz_target!(|input: &[u8]| {
    let Some((mode, rest)) = input.split_first() else { return };
    let content = match mode % 3 {
        0 => rest.to_vec(),
        1 => log(rest),
        _ => {
            let (first, second) = rest.split_at(rest.len() / 2);
            [log(&manifest(&[])), log(first), log(second)].concat()
        }
    };
    SANDBOX.with(|sandbox| {
        sandbox.put("MANIFEST-000001", &content);
        sandbox.exercise();
    });
});
