//! Any bytes as RocksDB's table or blob file, or as blocks that are rightly sealed and named by a right footer: no panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use loopbreaker_fuzz::{Sandbox, Table, log, manifest, rows, uvarint};

thread_local!(static SANDBOX: Sandbox = Sandbox::rocksdb());

fuzz_target!(|input: &[u8]| {
    let Some(([mode, form], rest)) = input.split_first_chunk::<2>() else { return };
    let table = match mode % 8 {
        0 => rest.to_vec(),
        _ => sealed(rest, *mode, *form),
    };
    let blob = if mode % 8 == 1 { rest.to_vec() } else { blob_file(rest) };
    let mut edit = vec![103, 0, 5];
    uvarint(&mut edit, table.len() as u64);
    // Bounds `a` to `z`, each with number 1 and kind 1; numbers 1 to 2; values in blob file 6; no more fields.
    for user in [b'a', b'z'] {
        edit.extend_from_slice(&[9, user, 1, 1, 0, 0, 0, 0, 0, 0]);
    }
    edit.extend_from_slice(&[1, 2, 4, 1, 6, 1, 144, 3, 6, 1]);
    uvarint(&mut edit, (blob.len() as u64).saturating_sub(62));
    edit.extend_from_slice(&[0, 0, 0]);
    SANDBOX.with(|sandbox| {
        sandbox.put("000005.sst", &table);
        sandbox.put("000006.blob", &blob);
        sandbox.put("MANIFEST-000001", &log(&manifest(&edit)));
        sandbox.exercise();
    });
});

/// An index entry of whole handles or, where the form says so, without a value length and without sequence in its key.
fn index(handle: &[u8], form: u8) -> Vec<u8> {
    if form & 1 == 0 {
        return rows(&[(&[b'z', 1, 1, 0, 0, 0, 0, 0, 0], handle)]);
    }
    [&[0, 1, b'z'], handle, &[0, 0, 0, 0, 1, 0, 0, 0]].concat()
}

/// Data, range deletions, dictionary, filter, properties, metaindex and index: one of them, or the data, is the input.
fn sealed(input: &[u8], mode: u8, form: u8) -> Vec<u8> {
    let foreign = mode / 8 % 8;
    let compression = [0, 1, 2, 4, 5, 7][usize::from(form / 8 % 6)];
    let key = [b'z', 1, 1, 0, 0, 0, 0, 0, 0];
    let own = |which: u8, payload: Vec<u8>| if foreign == which { input.to_vec() } else { payload };
    let mut table = Table::default();
    let data = own(0, rows(&[(&key, b"value")]));
    let data = table.add(&data, if foreign == 0 { compression } else { 0 });
    let lower = own(1, index(&data, form));
    let lower = table.add(&lower, 0);
    let two_levels = form & 2 != 0;
    let top = if two_levels { table.add(&own(2, index(&lower, form)), 0) } else { lower };
    let range_del = table.add(&own(3, rows(&[(&[b'a', 15, 1, 0, 0, 0, 0, 0, 0], b"b")])), 0);
    let dictionary = table.add(&own(4, b"dictionary".to_vec()), 0);
    let filter = table.add(&own(5, index(&range_del, form)), 0);
    let kind: &[u8] = if two_levels { &[2, 0, 0, 0] } else { &[0; 4] };
    let flag = [form & 1];
    let properties = own(
        6,
        rows(&[
            (b"rocksdb.block.based.table.index.type", kind),
            (b"rocksdb.index.key.is.user.key", &flag),
            (b"rocksdb.index.value.is.delta.encoded", &flag),
        ]),
    );
    let properties = table.add(&properties, 0);
    let mut names: Vec<(&[u8], &[u8])> = vec![(b"partitionedfilter.x", &filter)];
    if form & 4 != 0 {
        names.push((b"rocksdb.compression_dict", &dictionary));
    }
    names.extend([(&b"rocksdb.properties"[..], &properties[..]), (b"rocksdb.range_del", &range_del)]);
    let metaindex = table.add(&own(7, rows(&names)), 0);
    let mut footer = [&[1], &metaindex[..], &top[..]].concat();
    footer.resize(41, 0);
    footer.extend_from_slice(&5_u32.to_le_bytes());
    footer.extend_from_slice(&[0xf7, 0xcf, 0xf4, 0x85, 0xb7, 0x41, 0xe2, 0x88]);
    table.bytes.extend_from_slice(&footer);
    table.bytes
}

/// Header and footer as they should be, records from the input.
fn blob_file(records: &[u8]) -> Vec<u8> {
    let mut out = vec![0x37, 0x8f, 0x24, 0, 1, 0, 0, 0];
    out.resize(30, 0);
    out.extend_from_slice(records);
    out.extend_from_slice(&[0x37, 0x8f, 0x24, 0]);
    out.extend_from_slice(&[0; 28]);
    out
}
