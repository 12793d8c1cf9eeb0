//! Every single-bit flip and every truncation point of small Pebble databases, of each version: found and named, or of a
//! kind that is listed here with its reason.
//!
//! A file that was taken already is not taken again with the next database. Tables and WALs are read by themselves, the
//! others without the tables' blocks, as an inspection reads them; a test of its own holds that against a whole one. Files of more than 10,000 bytes, which
//! are WALs, are sampled: all bits of every seventh byte.

use std::ops::Range;

use crate::bench::{Bench, Damage, Seen, Way};
use crate::kit;
use chainstore::{Depth, Outcome, Scratch};

use Outcome::{Damaged, Intact};

/// A fixture, and the lengths to which its MANIFEST can be cut so that it tells an earlier state that is still there in
/// full: the newest tables are not named yet, and the WALs of which they were made have not been deleted. The engine loses
/// no key by it.
type Case = (&'static str, Range<usize>);

/// A file above this is sampled.
const WHOLE_BYTES_MAX: usize = 10_000;

fn exhaust(cases: &[Case]) {
    let mut seen = Seen::default();
    for (case, earlier_states) in cases {
        let bench = Bench::new(case);
        for name in bench.files() {
            let content = std::fs::read(bench.dir.join(&name)).unwrap();
            if seen.is_new(&name, &content) {
                file(&bench, &name, &content, earlier_states);
            }
        }
    }
}

fn file(bench: &Bench, name: &str, content: &[u8], earlier_states: &Range<usize>) {
    let step = if content.len() > WHOLE_BYTES_MAX { 7 } else { 1 };
    let extension = name.rsplit_once('.').map(|(_, extension)| extension);
    if let Some(index) = bench.table(name) {
        bench.exhaust(name, Way::Table(index), step, |_| true, |damage| Some(table(content, damage)));
    } else if extension == Some("sst") {
        // The MANIFEST does not name it.
        bench.exhaust(name, Way::Whole, step, |_| false, |_| Some(Intact));
    } else if extension == Some("log") {
        bench.exhaust(name, Way::Rest, step, |_| true, |damage| Some(wal(bench, name, content, damage)));
    } else if *name == bench.manifest {
        bench.exhaust(
            name,
            Way::Whole,
            step,
            |_| true,
            |damage| match damage {
                Damage::Cut(length) if earlier_states.contains(&length) => Some(Intact),
                _ => Some(Damaged),
            },
        );
    } else if name.starts_with("MANIFEST-") {
        // The one before the current lies there until the second start after it. If it breaks now, nobody reads it; if it
        // was broken when the engine started, that is told (`manifest-flip-early-then-opened`).
        bench.exhaust(name, Way::Whole, step, |_| false, |_| Some(Intact));
    } else if name == "CURRENT" {
        // Version 1 leaves it there when it goes over to markers, and reads it no more.
        let is_read = !bench.files_named("marker.manifest.");
        let is_named = |damage| !names_another(bench, content, damage);
        bench.exhaust(name, Way::Whole, step, is_named, |_| Some(if is_read { Damaged } else { Intact }));
    } else {
        assert!(name.starts_with("OPTIONS-"), "no rule for {name}");
    }
}

/// Whether `CURRENT` then names an older MANIFEST that is there: what that one names is missed, and nobody suspects
/// `CURRENT`.
fn names_another(bench: &Bench, content: &[u8], damage: Damage) -> bool {
    let Damage::Flip(at, bit) = damage else { return false };
    let mut content = content.to_vec();
    content[at] ^= 1 << bit;
    let line = content.strip_suffix(b"\n").and_then(|line| std::str::from_utf8(line).ok());
    line.is_some_and(|name| bench.dir.join(name).is_file())
}

/// Bits of a table that no reader looks at.
///
/// A footer has 40 bytes for two handles of some seven bytes; the rest is padding that no engine checks. The highest bit
/// of the last handle's last byte makes the number one byte longer, and that byte is a zero of the padding: the number is
/// the same.
fn table(content: &[u8], damage: Damage) -> Outcome {
    let Damage::Flip(at, bit) = damage else { return Damaged };
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

/// A log ends with a mark that carries no checksum, or without one; behind it stands what the file held as an earlier log.
fn wal(bench: &Bench, name: &str, content: &[u8], damage: Damage) -> Outcome {
    let Some(order) = bench.replayed.iter().position(|(replayed, _)| replayed == name) else {
        // Everything in it is in tables; it is kept to be used again.
        return Intact;
    };
    let end = bench.replayed[order].1;
    let is_newest = order + 1 == bench.replayed.len();
    let nothing_follows = bench.replayed[order + 1..].iter().all(|(_, end)| *end == 0);
    let intact = match damage {
        Damage::Flip(at, _) if is_padding(content, at) => true,
        Damage::Flip(at, _) if at < end => false,
        Damage::Flip(..) if is_newest => true,
        Damage::Flip(at, bit) => ends_all_the_same(at - end, bit),
        // The newest log grows at its end, so that each of its beginnings has once been the whole of it; and so has each
        // beginning of whole records of an older one, if nothing follows that says what is missing.
        Damage::Cut(length) => is_newest || (nothing_follows && is_between_records(content, length)),
    };
    if intact { Intact } else { Damaged }
}

/// The mark at a log's end is an empty chunk of the next log's number: `00000000 0000 05` and that number. Of the mark of
/// a log that others follow the engine needs the number and a type that has one, or it does not open.
fn ends_all_the_same(at: usize, bit: u8) -> bool {
    match at {
        0..6 => true,
        6 => (5..=8).contains(&(5 ^ (1_u8 << bit))),
        _ => false,
    }
}

/// Where each chunk of a log's first block ends; in small logs a chunk is a record.
fn chunk_ends(content: &[u8]) -> Vec<usize> {
    let block = &content[..content.len().min(BLOCK_BYTES)];
    let mut ends = vec![0];
    while let Some(header) = block.get(ends[ends.len() - 1]..).and_then(|rest| rest.first_chunk::<11>()) {
        ends.push(ends[ends.len() - 1] + 11 + usize::from(u16::from_le_bytes([header[4], header[5]])));
    }
    ends
}

const BLOCK_BYTES: usize = 32 * 1024;

fn is_between_records(content: &[u8], length: usize) -> bool {
    chunk_ends(content).contains(&length)
}

/// Bytes at a block's end that are too few for any header; no engine looks at them.
fn is_padding(content: &[u8], at: usize) -> bool {
    let Some(end) = chunk_ends(content).last().copied().filter(|_| content.len() > BLOCK_BYTES) else { return false };
    (BLOCK_BYTES - 6..BLOCK_BYTES).contains(&end) && (end..BLOCK_BYTES).contains(&at)
}

/// OPTIONS carries no checksum, and of its values the engine compares three. What is wrong elsewhere is read over by the
/// engine too, and cannot be told; what keeps the engine from opening is damage.
fn options(content: &[u8], damage: Damage) -> Option<Outcome> {
    let Damage::Flip(at, _) = damage else { return None };
    let line = content[..at].rsplit(|byte| *byte == b'\n').next().unwrap_or_default();
    let compared = [&b"  comparer="[..], b"  merger="].iter().any(|start| line.starts_with(start));
    (compared && content[at] != b'\n').then_some(Damaged)
}

#[test]
fn pebble_1_at_the_format_of_a_node() {
    exhaust(&[
        ("pebble/killed", 672..799),
        ("pebble/healthy-rangedel", 354..477),
        ("pebble/healthy-reopened", 0..0),
        ("pebble/healthy-compacted", 0..0),
        ("pebble-1.1.5/killed", 672..799),
    ]);
}

#[test]
fn pebble_1_with_other_compressions_and_value_blocks() {
    exhaust(&[("pebble/healthy-plain", 0..0), ("pebble/healthy-zstd", 0..0), ("pebble/valueblocks", 39..159)]);
}

#[test]
fn pebble_1_killed_at_random_moments() {
    exhaust(&[
        ("pebble/walk-001", 39..109),
        ("pebble/walk-002", 262..381),
        ("pebble/walk-003", 0..0),
        ("pebble/walk-004", 0..0),
        ("pebble/killed-blocks", 39..52),
    ]);
}

#[test]
fn pebble_1_with_markers() {
    exhaust(&[("pebble/fmv13-killed", 0..0), ("pebble-1.1.5/fmv13-healthy", 0..0)]);
}

#[test]
fn pebble_2_at_the_format_of_a_node() {
    exhaust(&[
        ("pebble-2/killed", 0..0),
        ("pebble-2/healthy-rangedel", 341..464),
        ("pebble-2/healthy-reopened", 0..0),
        ("pebble-2/healthy-compacted", 0..0),
    ]);
}

#[test]
fn pebble_2_killed_at_random_moments() {
    exhaust(&[("pebble-2/walk-001", 0..0), ("pebble-2/walk-002", 0..0), ("pebble-2/walk-003", 0..0)]);
}

/// Most lines are alike in all of them.
#[test]
fn the_options() {
    for (case, name) in [("pebble/killed", "OPTIONS-000003"), ("pebble-2/killed", "OPTIONS-000003")] {
        let bench = Bench::new(case);
        let content = std::fs::read(bench.dir.join(name)).unwrap();
        bench.exhaust(name, Way::Whole, 1, |_| false, |damage| options(&content, damage));
    }
}

/// A file read by itself gives what a whole inspection gives of it.
#[test]
fn the_short_way_is_the_long_way() {
    let mut scratch = Scratch::default();
    for case in ["pebble/killed", "pebble-2/walk-003"] {
        let bench = Bench::new(case);
        for name in bench.files() {
            let way = match bench.table(&name) {
                Some(index) => Way::Table(index),
                None if bench.replayed.iter().any(|(replayed, _)| *replayed == name) => Way::Rest,
                None => Way::Whole,
            };
            let path = bench.dir.join(&name);
            let content = std::fs::read(&path).unwrap();
            for at in (0..content.len()).step_by(97) {
                let mut flipped = content.clone();
                flipped[at] ^= 1;
                for damaged in [&flipped[..], &content[..at]] {
                    std::fs::write(&path, damaged).unwrap();
                    let (short, long) = (bench.look(way, &mut scratch), kit::report(&bench.dir, Depth::Default).checks);
                    assert_eq!(short.outcome(), long.outcome(), "{case}/{name} at {at}");
                    let left_out = short.findings.iter().find(|finding| !long.findings.contains(finding));
                    assert_eq!(left_out, None, "{case}/{name} at {at}");
                }
            }
            std::fs::write(&path, &content).unwrap();
        }
    }
}
