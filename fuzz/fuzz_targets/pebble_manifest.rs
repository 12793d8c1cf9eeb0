//! Any bytes as Pebble's MANIFEST, or as a version edit that is rightly framed and sealed: no panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use loopbreaker_fuzz::{Sandbox, log, manifest};

thread_local!(static SANDBOX: Sandbox = Sandbox::pebble());

fuzz_target!(|input: &[u8]| {
    let Some((mode, rest)) = input.split_first() else { return };
    let content = match mode % 3 {
        0 => rest.to_vec(),
        1 => log(rest),
        _ => [log(&manifest(&[])), log(rest)].concat(),
    };
    SANDBOX.with(|sandbox| {
        sandbox.put("MANIFEST-000001", &content);
        sandbox.exercise();
    });
});
