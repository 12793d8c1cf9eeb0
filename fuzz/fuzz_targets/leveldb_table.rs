//! Any bytes as a table, or as blocks that are rightly sealed and named by a right footer: no panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use loopbreaker_fuzz::{Sandbox, block, log, manifest, uvarint};

thread_local!(static SANDBOX: Sandbox = Sandbox::default());

fuzz_target!(|input: &[u8]| {
    let Some((mode, rest)) = input.split_first() else { return };
    let table = if mode % 2 == 0 { rest.to_vec() } else { sealed(rest, mode / 2) };
    let mut live = vec![7, 0, 5];
    uvarint(&mut live, table.len() as u64);
    // Bounds `a` to `z`, each with number 1 and kind 1.
    for user in [b'a', b'z'] {
        live.extend_from_slice(&[9, user, 1, 1, 0, 0, 0, 0, 0, 0]);
    }
    SANDBOX.with(|sandbox| {
        sandbox.put("000005.ldb", &table);
        sandbox.put("MANIFEST-000001", &log(&manifest(&live)));
        sandbox.exercise();
    });
});

/// Data, metaindex and index from the input, everything around them right.
fn sealed(input: &[u8], mode: u8) -> Vec<u8> {
    let third = input.len() / 3;
    let (data, rest) = input.split_at(third);
    let (metaindex, index) = rest.split_at(third);
    let compression = mode & 1;
    let mut table = block(data, compression);
    let metaindex_at = table.len() as u64;
    table.extend_from_slice(&block(metaindex, 0));
    let index_at = table.len() as u64;
    // One index entry that names the data block, if the input does not bring its own.
    let mut own = Vec::new();
    if mode & 2 == 0 {
        let mut handle = vec![0];
        uvarint(&mut handle, data.len() as u64);
        own.extend_from_slice(&[0, 9, handle.len() as u8]);
        own.extend_from_slice(&[b'z', 1, 1, 0, 0, 0, 0, 0, 0]);
        own.extend_from_slice(&handle);
        own.extend_from_slice(&[0, 0, 0, 0, 1, 0, 0, 0]);
    }
    let index = if own.is_empty() { index } else { &own };
    table.extend_from_slice(&block(index, 0));
    let mut footer = Vec::new();
    for (offset, size) in [(metaindex_at, metaindex.len()), (index_at, index.len())] {
        uvarint(&mut footer, offset);
        uvarint(&mut footer, size as u64);
    }
    footer.resize(40, 0);
    footer.extend_from_slice(&[0x57, 0xfb, 0x80, 0x8b, 0x24, 0x75, 0x47, 0xdb]);
    table.extend_from_slice(&footer);
    table
}
