//! Any bytes as Pebble's table, or as blocks that are rightly sealed and named by a right footer: no panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use loopbreaker_fuzz::{Sandbox, Table, log, manifest, rows, uvarint};

thread_local!(static SANDBOX: Sandbox = Sandbox::pebble());

fuzz_target!(|input: &[u8]| {
    let Some((mode, rest)) = input.split_first() else { return };
    let table = if mode % 2 == 0 { rest.to_vec() } else { sealed(rest, mode / 2) };
    let mut live = vec![103, 0, 5];
    uvarint(&mut live, table.len() as u64);
    // Bounds `a` to `z`, each with number 1 and kind 1; numbers 1 to 2; no more fields.
    for user in [b'a', b'z'] {
        live.extend_from_slice(&[9, user, 1, 1, 0, 0, 0, 0, 0, 0]);
    }
    live.extend_from_slice(&[1, 2, 1]);
    SANDBOX.with(|sandbox| {
        sandbox.put("000005.sst", &table);
        sandbox.put("MANIFEST-000001", &log(&manifest(&live)));
        sandbox.exercise();
    });
});

/// Data, range deletions, value index, properties, metaindex and index: one of them, or the data, is the input.
fn sealed(input: &[u8], mode: u8) -> Vec<u8> {
    let foreign = mode % 7;
    let compression = [0, 1, 7][usize::from(mode / 7 % 3)];
    let format = 1 + u32::from(mode / 21 % 3);
    let key = [b'z', 1, 1, 0, 0, 0, 0, 0, 0];
    let own = |which: u8, payload: Vec<u8>| if foreign == which { input.to_vec() } else { payload };
    let mut table = Table::default();
    let data = if foreign == 0 { input.to_vec() } else { rows(&[(&key, b"\0value")]) };
    let data = table.add(&data, if foreign == 0 { compression } else { 0 });
    let index = own(1, rows(&[(&key, &data)]));
    let lower = table.add(&index, 0);
    let two_levels = mode >= 64;
    let index = if two_levels { table.add(&own(2, rows(&[(&key, &lower)])), 0) } else { lower };
    let range_del = table.add(&own(3, rows(&[(&[b'a', 15, 1, 0, 0, 0, 0, 0, 0], b"b")])), 0);
    let values = table.add(&own(4, vec![0, 0, 0]), 0);
    let values = [values, vec![1, 1, 1]].concat();
    let kind: &[u8] = if two_levels { &[2, 0, 0, 0] } else { &[0; 4] };
    let properties = own(5, rows(&[(b"rocksdb.block.based.table.index.type", kind)]));
    let properties = table.add(&properties, 0);
    let metaindex = rows(&[
        (b"pebble.value_index", &values),
        (b"rocksdb.properties", &properties),
        (b"rocksdb.range_del2", &range_del),
    ]);
    let metaindex = table.add(&own(6, metaindex), 0);
    let mut footer = [&[1], &metaindex[..], &index[..]].concat();
    footer.resize(41, 0);
    footer.extend_from_slice(&format.to_le_bytes());
    footer.extend_from_slice(&[0xf0, 0x9f, 0xaa, 0xb3, 0xf0, 0x9f, 0xaa, 0xb3]);
    table.bytes.extend_from_slice(&footer);
    table.bytes
}
