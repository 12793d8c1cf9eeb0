//! Any bytes as a consensus log, or as messages that are rightly framed and sealed: no panic.
#![no_main]

use chainstore::{crc32c, read_wal};
use libfuzzer_sys::fuzz_target;

fn record(data: &[u8]) -> Vec<u8> {
    let length = u32::try_from(data.len()).unwrap_or(u32::MAX);
    [&crc32c(data).to_be_bytes()[..], &length.to_be_bytes(), data].concat()
}

fuzz_target!(|input: &[u8]| {
    let Some((mode, rest)) = input.split_first() else { return };
    let log = match mode % 3 {
        0 => rest.to_vec(),
        1 => record(rest),
        // A right record, something torn, and a right one behind it.
        _ => {
            let (message, torn) = rest.split_at(rest.len() / 2);
            [record(message), torn.to_vec(), record(message)].concat()
        }
    };
    let found = read_wal(&log);
    assert!(found.bytes <= log.len() as u64);
});
