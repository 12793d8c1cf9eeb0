//! Any bytes as a journal, or as a batch that is rightly framed and sealed: no panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use loopbreaker_fuzz::{Sandbox, log};

thread_local!(static SANDBOX: Sandbox = Sandbox::default());

fuzz_target!(|input: &[u8]| {
    let Some((mode, rest)) = input.split_first() else { return };
    let content = match mode % 3 {
        0 => rest.to_vec(),
        1 => log(rest),
        // A batch whose header is right, and something torn behind it.
        _ => {
            let (writes, tail) = rest.split_at(rest.len() / 2);
            let header = [1, 0, 0, 0, 0, 0, 0, 0, mode / 3, 0, 0, 0];
            [log(&[&header, writes].concat()), tail.to_vec()].concat()
        }
    };
    SANDBOX.with(|sandbox| {
        sandbox.put("000002.log", &content);
        sandbox.exercise();
    });
});
