//! Any bytes as Pebble's WAL, or as batches that are rightly framed and sealed, with an earlier log's behind them: no panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use loopbreaker_fuzz::{Sandbox, log, numbered_log};

thread_local!(static SANDBOX: Sandbox = Sandbox::pebble());

fuzz_target!(|input: &[u8]| {
    let Some((mode, rest)) = input.split_first() else { return };
    let content = match mode % 4 {
        0 => rest.to_vec(),
        1 => numbered_log(rest, 2),
        2 => log(rest),
        // A batch whose header is right, the mark of the log's end or none, and an earlier log's bytes.
        _ => {
            let (writes, tail) = rest.split_at(rest.len() / 2);
            let header = [1, 0, 0, 0, 0, 0, 0, 0, mode / 4 % 8, 0, 0, 0];
            let mark: &[u8] = if *mode < 128 { &[0, 0, 0, 0, 0, 0, 5, 3, 0, 0, 0] } else { &[] };
            [numbered_log(&[&header, writes].concat(), 2), mark.to_vec(), numbered_log(tail, 1), tail.to_vec()].concat()
        }
    };
    SANDBOX.with(|sandbox| {
        sandbox.put("000002.log", &content);
        sandbox.exercise();
    });
});
