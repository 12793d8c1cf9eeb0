//! Every single-bit flip and every truncation point of small RocksDB files: found, or listed here with a reason.
//!
//! Whole: MANIFEST, CURRENT, the newest WAL, one table without and one with checksums by place. Sampled, since blocks are all
//! alike: of every fifth byte all eight bits in further tables and in a blob file.

use crate::kit;
use std::os::unix::fs::FileExt;
use std::path::Path;

use chainstore::{Attribution, Depth, Outcome};

use Outcome::{CouldNotTell, Damaged, Intact};

const SAMPLE: usize = 5;

/// A copy of a sound database, damaged and repaired again and again.
struct Bench {
    _home: tempfile::TempDir,
    dir: std::path::PathBuf,
}

impl Bench {
    fn new(case: &str) -> Self {
        let (home, dir) = kit::copy(&kit::fixture(case));
        assert_eq!(kit::report(&dir, Depth::Default).outcome, Intact);
        Self { _home: home, dir }
    }

    /// Blocks and blobs are read where one of those was damaged; the quick depth reads everything else to its last byte.
    fn report(&self, name: &str) -> chainstore::DatabaseReport {
        let in_blocks = Path::new(name).extension().is_some_and(|extension| extension == "sst" || extension == "blob");
        kit::report(&self.dir, if in_blocks { Depth::Default } else { Depth::Quick })
    }

    /// Flips each bit of every `step`th byte. What must come of it is said by `wanted`; a flip that is found must be named.
    fn flips(&self, name: &str, step: usize, wanted: impl Fn(&[u8], usize, u8) -> Outcome) {
        let path = self.dir.join(name);
        let content = std::fs::read(&path).unwrap();
        let file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
        for (at, byte) in content.iter().enumerate().step_by(step) {
            for bit in 0..8 {
                file.write_all_at(&[byte ^ (1 << bit)], at as u64).unwrap();
                let report = self.report(name);
                let place = format!("{name}: bit {bit} of byte {at}");
                assert_eq!(report.outcome, wanted(&content, at, bit), "{place}: {:#?}", report.checks);
                let flip = Attribution::SingleBitFlip { offset: at as u64, bit };
                let named = report.checks.findings.iter().any(|finding| finding.attribution == flip);
                assert_eq!(named, report.outcome == Damaged, "{place}: {:#?}", report.checks);
            }
            file.write_all_at(&[*byte], at as u64).unwrap();
        }
    }

    /// Cuts the file at every `step`th length.
    fn cuts(&self, name: &str, step: usize, wanted: impl Fn(usize) -> Outcome) {
        let path = self.dir.join(name);
        let content = std::fs::read(&path).unwrap();
        for length in (0..content.len()).step_by(step) {
            std::fs::write(&path, &content[..length]).unwrap();
            let report = self.report(name);
            let place = format!("{name} cut to {length} of {} bytes", content.len());
            assert_eq!(report.outcome, wanted(length), "{place}: {:#?}", report.checks);
        }
        std::fs::write(&path, &content).unwrap();
    }
}

/// Bits of a table's footer that make no difference to the engine.
///
/// Up to format version 5 the footer has no checksum. 40 bytes are kept for two handles of some seven bytes; the rest is padding
/// that is never looked at. The highest bit of the last handle's last byte makes the number one byte longer, and that byte is a
/// zero of the padding: the number is the same. And versions 2 to 5 differ in what the properties say, not in how a reader goes
/// about it: the engine reads one as the other.
fn old_footer_bit(content: &[u8], at: usize, bit: u8) -> Outcome {
    let start = content.len() - 53;
    let mut end = start + 1;
    let mut handles = 0;
    while handles < 4 {
        handles += usize::from(content[end] < 0x80);
        end += 1;
    }
    let padding = (end..start + 41).contains(&at) || (at == end - 1 && bit == 7);
    let version = at == start + 41 && (2..=5).contains(&(content[at] ^ (1 << bit)));
    if padding || version { Intact } else { Damaged }
}

#[test]
fn a_manifest() {
    let bench = Bench::new("rocksdb/fv5-killed");
    bench.flips("MANIFEST-000005", 1, |_, _, _| Damaged);
    // Cut between two records, or in the last one, the MANIFEST tells an earlier state, and the engine takes it for the newest.
    // From 570 on that is the same but for numbers. Before, tables are named that are long deleted; where none is (from 116 on
    // the database is empty, from 463 on the table of the last flush is missing), the WAL does not begin where the tables end:
    // either lost its end.
    bench.cuts("MANIFEST-000005", 1, |length| match length {
        116..220 | 463..570 => CouldNotTell,
        570.. => Intact,
        _ => Damaged,
    });
}

#[test]
fn a_table() {
    let bench = Bench::new("rocksdb/fv5-killed");
    bench.flips("000014.sst", 1, old_footer_bit);
    bench.cuts("000014.sst", SAMPLE, |_| Damaged);
}

/// From format version 6 on the footer has a checksum over all of it, and each block is sealed with its place.
#[test]
fn a_table_of_format_version_6() {
    let bench = Bench::new("rocksdb/fv6-blobs");
    bench.flips("000019.sst", 1, |_, _, _| Damaged);
    bench.cuts("000019.sst", SAMPLE, |_| Damaged);
}

#[test]
fn tables_of_other_kinds() {
    for (case, table) in [
        ("rocksdb/fv2-crc32c-none", "000016.sst"),
        ("rocksdb/fv2-xxhash-snappy", "000016.sst"),
        ("rocksdb/fv3-crc32c-zlib", "000016.sst"),
        ("rocksdb/fv4-xxhash64-lz4", "000016.sst"),
        ("rocksdb/fv5-partitioned", "000012.sst"),
        ("rocksdb-7.8/first-keys", "000014.sst"),
        ("rocksdb-7.8/dictionary-zstd", "000012.sst"),
    ] {
        Bench::new(case).flips(table, 3 * SAMPLE + 2, old_footer_bit);
    }
    for (case, table) in [("rocksdb/fv6-partitioned", "000012.sst"), ("rocksdb/fv6-crc32c-zstd", "000016.sst")] {
        Bench::new(case).flips(table, 3 * SAMPLE + 2, |_, _, _| Damaged);
    }
}

#[test]
fn a_blob_file() {
    let bench = Bench::new("rocksdb/fv6-blobs");
    // Of the header's flags the engine looks at one, in bit 0; the header has no checksum.
    bench.flips("000020.blob", 1, |_, at, bit| if at == 12 && bit > 0 { Intact } else { Damaged });
    bench.cuts("000020.blob", SAMPLE, |_| Damaged);
}

#[test]
fn the_newest_wal() {
    let bench = Bench::new("rocksdb/fv5-killed");
    bench.flips("000013.log", 1, |_, _, _| Damaged);
    // A log grows at its end, so that each of its beginnings has once been the whole of it.
    bench.cuts("000013.log", 1, |_| Intact);
}

#[test]
fn a_wal_in_a_file_that_was_used_before() {
    let bench = Bench::new("rocksdb/fv6-killed-recycled");
    // The log ends at 1254; behind it stands what the file held as an earlier log.
    bench.flips("000013.log", 1, |_, at, _| if at < 1254 { Damaged } else { Intact });
    bench.cuts("000013.log", SAMPLE, |_| Intact);
    // Everything in this one is in tables; it is kept to be used again.
    bench.flips("000010.log", 10 * SAMPLE, |_, _, _| Intact);
}

#[test]
fn the_pointer() {
    let bench = Bench::new("rocksdb/fv5-killed");
    bench.flips("CURRENT", 1, |_, _, _| Damaged);
    bench.cuts("CURRENT", 1, |_| Damaged);
}

/// A database of which no byte of a table is protected: nothing is called sound, and damage only what cannot be read.
#[test]
fn tables_without_checksums() {
    let (_home, dir) = kit::copy(&kit::fixture("rocksdb/fv5-nochecksum"));
    let path = dir.join("000014.sst");
    let content = std::fs::read(&path).unwrap();
    for at in (0..content.len()).step_by(7 * SAMPLE) {
        let mut broken = content.clone();
        broken[at] ^= 4;
        std::fs::write(&path, &broken).unwrap();
        let report = kit::report(&dir, Depth::Default);
        assert!([CouldNotTell, Damaged].contains(&report.outcome), "byte {at}");
    }
}
