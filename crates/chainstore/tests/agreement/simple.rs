//! A second reader of LevelDB directories, as plain as can be and of no line of the product's code: whole files in memory,
//! front to back, the first thing that is wrong ends it. It has no mercy for what a crash leaves, but for a file's end.
//!
//! Source: LevelDB `doc/table_format.md`, `doc/log_format.md`, `db/version_edit.cc`.

use std::collections::BTreeMap;
use std::path::Path;

/// What is wrong first, or nothing.
pub(crate) fn check(dir: &Path) -> Result<(), String> {
    let current = read(dir, "CURRENT")?;
    let name = current.strip_suffix(b"\n").ok_or("CURRENT has no line")?;
    let name = std::str::from_utf8(name).map_err(|_| "CURRENT is no text")?;
    if !name.starts_with("MANIFEST-") {
        return Err("CURRENT names no MANIFEST".to_owned());
    }
    let mut live = Live::default();
    for record in records(&read(dir, name)?)? {
        live.apply(&record).ok_or("a version edit")?;
    }
    if live.comparator.is_none() || live.log.is_none() {
        return Err("the MANIFEST is not whole".to_owned());
    }
    for (number, bytes) in live.tables.values() {
        let table = read(dir, &format!("{number:06}.ldb")).or_else(|_| read(dir, &format!("{number:06}.sst")))?;
        let table = table.get(..*bytes).ok_or_else(|| format!("table {number} is short"))?;
        check_table(table).ok_or_else(|| format!("table {number}"))?;
    }
    let first = live.log.unwrap_or_default();
    let mut found = false;
    for entry in std::fs::read_dir(dir).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let Some(number) = name.strip_suffix(".log").and_then(|stem| stem.parse::<u64>().ok()) else { continue };
        if number >= first {
            records(&read(dir, &name)?).map_err(|error| format!("{name}: {error}"))?;
            found |= number == first;
        }
    }
    if found { Ok(()) } else { Err("the journal is gone".to_owned()) }
}

fn read(dir: &Path, name: &str) -> Result<Vec<u8>, String> {
    std::fs::read(dir.join(name)).map_err(|error| format!("{name}: {error}"))
}

/// Footer, metaindex, filter, index, and every data block against their checksums.
fn check_table(table: &[u8]) -> Option<()> {
    let footer = table.get(table.len().checked_sub(48)?..)?;
    if footer.get(40..)? != b"\x57\xfb\x80\x8b\x24\x75\x47\xdb" {
        return None;
    }
    let mut handles = footer;
    let (metaindex, index) = (handle(&mut handles)?, handle(&mut handles)?);
    for (key, value) in rows(&block(table, metaindex)?)? {
        if key.starts_with(b"filter.") {
            // A filter is no block of rows, and is never packed.
            block(table, handle(&mut value.as_slice())?)?;
        }
    }
    for (_, value) in rows(&block(table, index)?)? {
        block(table, handle(&mut value.as_slice())?)?;
    }
    Some(())
}

type Handle = (usize, usize);

fn handle(bytes: &mut &[u8]) -> Option<Handle> {
    Some((number(bytes)?, number(bytes)?))
}

fn number(bytes: &mut &[u8]) -> Option<usize> {
    let mut value = 0_u64;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return usize::try_from(value).ok();
        }
    }
    None
}

fn prefixed(bytes: &mut &[u8]) -> Option<Vec<u8>> {
    let length = number(bytes)?;
    let (front, rest) = bytes.split_at_checked(length)?;
    *bytes = rest;
    Some(front.to_vec())
}

/// A block whose checksum fits, unpacked.
fn block(table: &[u8], (offset, length): Handle) -> Option<Vec<u8>> {
    let end = offset.checked_add(length)?;
    let (payload, kind) = (table.get(offset..end)?, *table.get(end)?);
    let stored = u32::from_le_bytes(table.get(end + 1..end + 5)?.try_into().ok()?);
    if stored != masked(crc(table.get(offset..=end)?)) {
        return None;
    }
    match kind {
        0 => Some(payload.to_vec()),
        1 => snap::raw::Decoder::new().decompress_vec(payload).ok(),
        _ => None,
    }
}

/// Keys and values of a block.
fn rows(block: &[u8]) -> Option<Vec<(Vec<u8>, Vec<u8>)>> {
    let restarts = u32::from_le_bytes(*block.last_chunk::<4>()?);
    let mut rest = block.get(..block.len().checked_sub(4 + 4 * usize::try_from(restarts).ok()?)?)?;
    let (mut rows, mut key) = (Vec::new(), Vec::new());
    while !rest.is_empty() {
        let (shared, own, length) = (number(&mut rest)?, number(&mut rest)?, number(&mut rest)?);
        key.truncate(shared);
        let (suffix, after) = rest.split_at_checked(own)?;
        key.extend_from_slice(suffix);
        let (value, after) = after.split_at_checked(length)?;
        rest = after;
        rows.push((key.clone(), value.to_vec()));
    }
    Some(rows)
}

/// The whole records of a log; a record that the file's end cuts is none.
fn records(log: &[u8]) -> Result<Vec<Vec<u8>>, String> {
    let (mut records, mut record): (_, Option<Vec<u8>>) = (Vec::new(), None);
    let mut at = 0;
    while let Some(header) = log.get(at..at + 7) {
        let left = 32_768 - at % 32_768;
        if left < 7 {
            at += left;
            continue;
        }
        let length = usize::from(u16::from_le_bytes([header[4], header[5]]));
        if length + 7 > left {
            return Err(format!("a chunk at {at} is longer than its block"));
        }
        let Some(covered) = log.get(at + 6..at + 7 + length) else { break };
        if masked(crc(covered)) != u32::from_le_bytes(header[..4].try_into().unwrap()) {
            return Err(format!("a chunk at {at} does not fit its checksum"));
        }
        let (kind, payload) = (covered[0], &covered[1..]);
        match (kind, record.take()) {
            (1, None) => records.push(payload.to_vec()),
            (2, None) => record = Some(payload.to_vec()),
            (3, Some(front)) => record = Some([&front, payload].concat()),
            (4, Some(front)) => records.push([&front, payload].concat()),
            _ => return Err(format!("a chunk at {at} is out of place")),
        }
        at += 7 + length;
    }
    Ok(records)
}

#[derive(Default)]
struct Live {
    comparator: Option<Vec<u8>>,
    log: Option<u64>,
    tables: BTreeMap<(usize, usize), (usize, usize)>,
}

impl Live {
    fn apply(&mut self, mut edit: &[u8]) -> Option<()> {
        let edit = &mut edit;
        while !edit.is_empty() {
            match number(edit)? {
                1 => self.comparator = Some(prefixed(edit)?),
                2 => self.log = u64::try_from(number(edit)?).ok(),
                3 | 4 | 9 => _ = number(edit)?,
                5 => _ = (number(edit)?, prefixed(edit)?),
                6 => _ = self.tables.remove(&(number(edit)?, number(edit)?)),
                7 => {
                    let (level, table, bytes) = (number(edit)?, number(edit)?, number(edit)?);
                    _ = (prefixed(edit)?, prefixed(edit)?);
                    self.tables.insert((level, table), (table, bytes));
                }
                _ => return None,
            }
        }
        Some(())
    }
}

fn masked(crc: u32) -> u32 {
    crc.rotate_right(15).wrapping_add(0xa282_ead8)
}

/// CRC-32C, a bit at a time.
fn crc(bytes: &[u8]) -> u32 {
    let mut crc = u32::MAX;
    for byte in bytes {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = (crc >> 1) ^ if crc & 1 == 1 { 0x82f6_3b78 } else { 0 };
        }
    }
    !crc
}

#[test]
fn the_checksum_is_the_one_of_the_standard() {
    assert_eq!(crc(b"123456789"), 0xe306_9283);
}
