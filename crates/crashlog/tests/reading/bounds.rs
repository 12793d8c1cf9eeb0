//! Whatever the bytes are and however they are cut into chunks: no panic, the same records, bounded.

use crashlog::{LogReader, Record};
use proptest::prelude::*;

use crate::{APPLICATION_DB, STATE_DB, VERSION_CHECK, one, read_all, read_chunks};

/// Lines of each kind, for mutation.
const SEEDS: &[u8] = b"2026-11-30T20:59:28.1Z stdout P {\"level\":\"error\",\"err\":\"a\\u00e9\\n\n\
2026-11-30T20:59:28.1Z stdout F \",\"message\":\"CONSENSUS FAILURE!!!\",\"stack\":\"goroutine 1 [running]:\\nmain.main()\"}\n\
{\"log\":\"\\u001b[31mERR\\u001b[0m x err=\\\"y\",\"stream\":\"stderr\"}\n{\"log\":\" z\\\"\\n\",\"stream\":\"stderr\"}\n\
node-0  | E[2026-11-30|20:59:28.989] x  module=p2p err=\"a\nb\" peer=c stack=\"goroutine 1 [running]:\n\
Nov 30 20:59:28 host-1 gaiad[1]: time=\"x\" level=error msg=\"a b\" k=v\n\
fatal error: x\n[signal SIGSEGV: x]\n\nruntime stack:\ngoroutine 1 [running]:\na/b/v2.(*T).F.func1.2(0x1)\n\t/x.go:1 +0x1\n\
Error: x\n  y\nUsage:\n  x [flags]\nthread 'a' panicked at x:\nm\nTraceback (most recent call last):\n  f\nE: x\n\
2026-11-30T20:59:28Z\tERROR\tcore\tn.go:1\tm\t{\"error\": \"EOF\"}\n[11-30|20:59:28.1] INFO <C> x.go:1 m\nE1130 20:59:28.9 1 f.go:1] x\n";

fn bounded(record: &Record) {
    assert!(record.message.len() + record.errors.len() <= 16 * 1024 + 1);
    assert!(record.module.len() <= 256 && record.fields.len() <= 2 * 1024);
    assert!(record.frames.len() <= 64 && record.frames.iter().all(|frame| frame.len() <= 256));
    assert!(record.line > 0 && record.lines > 0);
}

fn same_in_chunks(log: &[u8], sizes: &[usize]) {
    let (whole, summary) = read_all(log);
    let mut chunks = Vec::new();
    let mut rest = log;
    for size in sizes.iter().cycle() {
        if rest.is_empty() {
            break;
        }
        let (chunk, after) = rest.split_at((*size).clamp(1, rest.len()));
        chunks.push(chunk);
        rest = after;
    }
    let (records, in_chunks) = read_chunks(chunks);
    assert_eq!(in_chunks, summary);
    assert_eq!(records, whole);
    assert_eq!(summary.bytes, log.len() as u64);
    assert_eq!(summary.records, records.len() as u64);
    records.iter().for_each(bounded);
}

#[test]
fn cut_at_every_byte() {
    for log in [STATE_DB, APPLICATION_DB, VERSION_CHECK, SEEDS] {
        let (whole, summary) = read_all(log);
        for place in 0..log.len() {
            let (before, after) = log.split_at(place);
            assert_eq!(read_chunks([before, after]), (whole.clone(), summary), "cut at {place}");
        }
        same_in_chunks(log, &[1]);
    }
}

#[test]
fn a_prefix_of_a_real_log_never_makes_a_headless_stack() {
    for log in [STATE_DB, APPLICATION_DB, VERSION_CHECK] {
        for place in 0..log.len() {
            assert!(!read_all(&log[..place]).1.frames_without_head, "cut at {place}");
        }
    }
}

#[test]
fn one_line_of_100_megabytes() {
    let part = vec![b'x'; 1024 * 1024];
    let mut records = Vec::new();
    let mut sink = |record: &Record| records.push(record.clone());
    let mut reader = LogReader::new();
    reader.feed(b"Error: ", &mut sink);
    for _ in 0..100 {
        reader.feed(&part, &mut sink);
    }
    let summary = reader.finish(&mut sink);
    assert_eq!((records.len(), summary.lines, summary.cut_lines), (1, 1, 1));
    assert!(records[0].cut && records[0].message.len() == 16 * 1024);
}

#[test]
fn hostile_lines() {
    let many = 64 * 1024;
    let lines = [
        "a=".repeat(many),
        format!("ERR {}", " a=\"b\"".repeat(many)),
        format!("ERR x err=\"{}", "\\\"".repeat(many)),
        format!("{{\"level\":\"error\",\"x\":{}", "[{\"a\":".repeat(many)),
        format!("{{\"message\":\"{}\"}}", "\\ud83d".repeat(many)),
        "[".repeat(many),
        "> ".repeat(many),
        "\x1b[".repeat(many),
        "goroutine 1 [running]:\n".repeat(many),
        "ERR x err=\"\n".repeat(many),
        format!("ERR x err=\"\n{}", "panic: x\n".repeat(many)),
        "panic: x\n".repeat(many),
        "Usage:\n".repeat(many),
        "\n".repeat(many),
        "2026-11-30T20:59:28.1Z stdout P x\n".repeat(many),
    ];
    for line in lines {
        let (records, summary) = read_all(&line);
        records.iter().for_each(bounded);
        assert!(summary.lines > 0);
    }
    assert!(one(b"ERR x err=\"\0\xff\"").errors.contains('\0'));
}

fn mutated() -> impl Strategy<Value = Vec<u8>> {
    let seed = prop::sample::select(vec![STATE_DB, APPLICATION_DB, VERSION_CHECK, SEEDS]);
    let edits = prop::collection::vec((any::<prop::sample::Index>(), 0..4_u8, any::<u8>(), 0..40_usize), 0..12);
    (seed, edits).prop_map(|(seed, edits)| {
        let mut log = seed.to_vec();
        for (place, edit, byte, length) in edits {
            let at = place.index(log.len().max(1)).min(log.len());
            let end = (at + length).min(log.len());
            match edit {
                0 => log.insert(at, byte),
                1 => drop(log.drain(at..end)),
                2 => log.splice(at..at, [b'\n']).for_each(drop),
                _ => {
                    log.extend_from_within(at..end);
                }
            }
        }
        log
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    #[test]
    fn mutated_logs_in_any_chunks(log in mutated(), sizes in prop::collection::vec(1..300_usize, 1..8)) {
        same_in_chunks(&log, &sizes);
    }

    #[test]
    fn any_bytes_in_any_chunks(
        log in prop::collection::vec(prop_oneof![any::<u8>(), prop::sample::select(b"\n\n {}[]\"\\=:.|I".to_vec())], 0..600),
        sizes in prop::collection::vec(1..50_usize, 1..8),
    ) {
        same_in_chunks(&log, &sizes);
    }
}
