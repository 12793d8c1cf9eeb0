//! Any bytes as RocksDB's WAL, or as batches that are rightly framed and sealed, packed or not, with an earlier log's behind
//! them: no panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use loopbreaker_fuzz::{Sandbox, chunk, log, numbered_log};

thread_local!(static SANDBOX: Sandbox = Sandbox::rocksdb());

fuzz_target!(|input: &[u8]| {
    let Some((mode, rest)) = input.split_first() else { return };
    let content = match mode % 5 {
        0 => rest.to_vec(),
        1 => numbered_log(rest, 2),
        2 => log(rest),
        // Records that are Zstandard frames, as the first chunk says.
        3 => [chunk(9, &[], &[7, 0, 0, 0]), log(rest)].concat(),
        // A batch whose header is right, and an earlier log's bytes.
        _ => {
            let (writes, tail) = rest.split_at(rest.len() / 2);
            let header = [1, 0, 0, 0, 0, 0, 0, 0, mode / 5 % 8, 0, 0, 0];
            [numbered_log(&[&header, writes].concat(), 2), numbered_log(tail, 1), tail.to_vec()].concat()
        }
    };
    SANDBOX.with(|sandbox| {
        sandbox.put("000002.log", &content);
        sandbox.exercise();
    });
});
