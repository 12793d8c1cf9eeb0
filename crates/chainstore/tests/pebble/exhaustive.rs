//! Every single-bit flip and every truncation point of small Pebble files: found, or listed here with a reason.
//!
//! Whole: MANIFEST, CURRENT, OPTIONS, the newest WAL, one table. Sampled, since a table's data blocks are all alike: of
//! every third byte all eight bits in the larger table, and every third truncation point.

use crate::kit;
use std::os::unix::fs::FileExt;
use std::path::Path;

use chainstore::{Attribution, Depth, Outcome};

use Outcome::{Damaged, Intact};

const SAMPLE: usize = 3;

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

    /// Flips each bit of every `step`th byte. `wanted` says what must come of it, `None` what is only ever the one or
    /// the other; a flip that is found must be named.
    fn flips(&self, name: &str, step: usize, wanted: impl Fn(&[u8], usize, u8) -> Option<Outcome>) {
        let path = self.dir.join(name);
        let content = std::fs::read(&path).unwrap();
        let file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
        for (at, byte) in content.iter().enumerate().step_by(step) {
            for bit in 0..8 {
                file.write_all_at(&[byte ^ (1 << bit)], at as u64).unwrap();
                let report = kit::report(&self.dir, Depth::Default);
                let place = format!("{name}: bit {bit} of byte {at}");
                match wanted(&content, at, bit) {
                    Some(wanted) => assert_eq!(report.outcome, wanted, "{place}: {:#?}", report.checks),
                    None => assert_ne!(report.outcome, Outcome::CouldNotTell, "{place}: {:#?}", report.checks),
                }
                let flip = Attribution::SingleBitFlip { offset: at as u64, bit };
                let named = report.checks.findings.iter().any(|finding| finding.attribution == flip);
                let no_checksum = Path::new(name).starts_with("OPTIONS-000003");
                assert_eq!(named, report.outcome == Damaged && !no_checksum, "{place}: {:#?}", report.checks);
            }
            file.write_all_at(&[*byte], at as u64).unwrap();
        }
    }

    /// Cuts the file at every `step`th length.
    fn cuts(&self, name: &str, step: usize, wanted: impl Fn(usize) -> Option<Outcome>) {
        let path = self.dir.join(name);
        let content = std::fs::read(&path).unwrap();
        for length in (0..content.len()).step_by(step) {
            std::fs::write(&path, &content[..length]).unwrap();
            let report = kit::report(&self.dir, Depth::Default);
            let place = format!("{name} cut to {length} of {} bytes", content.len());
            match wanted(length) {
                Some(wanted) => assert_eq!(report.outcome, wanted, "{place}: {:#?}", report.checks),
                None => assert_ne!(report.outcome, Outcome::CouldNotTell, "{place}: {:#?}", report.checks),
            }
        }
        std::fs::write(&path, &content).unwrap();
    }
}

/// Bits of a table that no reader looks at.
///
/// A footer has 40 bytes for two handles of some seven bytes; the rest is padding that no engine checks. The highest bit
/// of the last handle's last byte makes the number one byte longer, and that byte is a zero of the padding: the number is
/// the same.
fn table_bit(content: &[u8], at: usize, bit: u8) -> Outcome {
    let start = content.len() - 53;
    let mut end = start + 1;
    let mut handles = 0;
    while handles < 4 {
        handles += usize::from(content[end] < 0x80);
        end += 1;
    }
    let padding = (end..start + 41).contains(&at) || (at == end - 1 && bit == 7);
    if padding { Intact } else { Damaged }
}

#[test]
fn a_manifest() {
    let bench = Bench::new("pebble/killed");
    bench.flips("MANIFEST-000001", 1, |_, _, _| Some(Damaged));
    // Without its last two records the MANIFEST tells an earlier state that is still there in full: the table of the last
    // flush is not named yet, and the WAL that it was made of has not been deleted. The engine lost no key by it
    // (`manifest-flip-late`).
    bench.cuts("MANIFEST-000001", 1, |length| Some(if length < 672 { Damaged } else { Intact }));
}

/// The MANIFEST before the current one lies there until the second start after it. If it breaks now, nobody reads it;
/// if it was broken when the engine started, that is told (`manifest-flip-early-then-opened`).
#[test]
fn a_manifest_that_is_not_read_any_more() {
    let bench = Bench::new("pebble/healthy-reopened");
    bench.flips("MANIFEST-000001", 1, |_, _, _| Some(Intact));
    bench.cuts("MANIFEST-000001", 1, |_| Some(Intact));
}

#[test]
fn a_table() {
    let bench = Bench::new("pebble/killed");
    bench.flips("000017.sst", 1, |content, at, bit| Some(table_bit(content, at, bit)));
    bench.cuts("000017.sst", 1, |_| Some(Damaged));
}

#[test]
fn a_table_with_two_levels_of_index() {
    let bench = Bench::new("pebble/killed");
    bench.flips("000015.sst", SAMPLE, |content, at, bit| Some(table_bit(content, at, bit)));
    bench.cuts("000015.sst", SAMPLE, |_| Some(Damaged));
}

#[test]
fn the_newest_wal() {
    let bench = Bench::new("pebble/killed");
    // The log ends at 1041 with a mark that carries no checksum; behind it stands what the file held as an earlier log.
    bench.flips("000016.log", 1, |_, at, _| Some(if at < 1041 { Damaged } else { Intact }));
    // A log grows at its end, so that each of its beginnings has once been the whole of it.
    bench.cuts("000016.log", 1, |_| Some(Intact));
}

#[test]
fn a_wal_that_is_not_replayed() {
    let bench = Bench::new("pebble/killed");
    // Everything in it is in tables; it is kept to be used again.
    bench.flips("000012.log", SAMPLE, |_, _, _| Some(Intact));
    bench.cuts("000012.log", SAMPLE, |_| Some(Intact));
}

#[test]
fn the_pointer() {
    let bench = Bench::new("pebble/killed");
    bench.flips("CURRENT", 1, |_, _, _| Some(Damaged));
    bench.cuts("CURRENT", 1, |_| Some(Damaged));
}

/// OPTIONS carries no checksum, and of its values the engine compares three. What is wrong elsewhere is read over by the
/// engine too, and cannot be told; what keeps the engine from opening is damage.
#[test]
fn the_options() {
    let bench = Bench::new("pebble/killed");
    bench.flips("OPTIONS-000003", 1, |content, at, _| {
        let line = content[..at].rsplit(|byte| *byte == b'\n').next().unwrap_or_default();
        let compared = [&b"  comparer="[..], b"  merger="].iter().any(|start| line.starts_with(start));
        (compared && content[at] != b'\n').then_some(Damaged)
    });
    bench.cuts("OPTIONS-000003", 1, |_| None);
}

/// The same engine's other format: markers instead of CURRENT, tables of Pebble's own format.
#[test]
fn a_database_of_pebble_v2() {
    let bench = Bench::new("pebble-2/killed");
    bench.flips("MANIFEST-000001", SAMPLE, |_, _, _| Some(Damaged));
    bench.flips("000019.sst", SAMPLE, |content, at, bit| Some(table_bit(content, at, bit)));
    bench.cuts("000019.sst", SAMPLE, |_| Some(Damaged));
    bench.flips("000015.log", SAMPLE, |_, at, _| Some(if at < 1041 { Damaged } else { Intact }));
    bench.cuts("000015.log", SAMPLE, |_| Some(Intact));
}

/// Values in value blocks, and the byte before each value.
#[test]
fn a_table_with_value_blocks() {
    let bench = Bench::new("pebble/valueblocks");
    bench.flips("000008.sst", SAMPLE, |content, at, bit| Some(table_bit(content, at, bit)));
    bench.cuts("000008.sst", SAMPLE, |_| Some(Damaged));
}
