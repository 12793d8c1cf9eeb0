//! How fast the reader goes over a healthy node's log of 2 MB in each format: `cargo bench -p crashlog --bench reading`.

use std::fmt::Write as _;
use std::hint::black_box;

use crashlog::LogReader;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

const LOG_BYTES: usize = 2 * 1024 * 1024;
const HASH: &str = "D0A36CA430638A88BBFC411D9B861A012CE53B4DD5EF4AB249573C03A4CBB044";

/// One line of a healthy node at a height, in each format.
type Line = fn(&mut String, u64);

fn plain(out: &mut String, height: u64) {
    let _ = match height % 3 {
        0 => writeln!(
            out,
            "I[2026-11-30|20:59:28.346] {:<44} module=state height={height} num_valid_txs=3 num_invalid_txs=0",
            "executed block"
        ),
        1 => writeln!(
            out,
            "I[2026-11-30|20:59:28.559] {:<44} module=consensus height={height} hash={HASH}",
            "received complete proposal block"
        ),
        _ => writeln!(
            out,
            "I[2026-11-30|20:59:28.731] {:<44} module=consensus dur=998.568ms height={height} round=0 step=RoundStepNewHeight",
            "Timed out"
        ),
    };
}

fn console(out: &mut String, height: u64) {
    let _ = match height % 3 {
        0 => writeln!(out, "8:59PM INF executed block height={height} module=state num_invalid_txs=0 num_valid_txs=3"),
        1 => writeln!(out, "8:59PM INF received complete proposal block hash={HASH} height={height} module=consensus"),
        _ => writeln!(
            out,
            "8:59PM INF Timed out dur=998.568ms height={height} module=consensus round=0 step=RoundStepNewHeight"
        ),
    };
}

fn coloured(out: &mut String, height: u64) {
    let (grey, green, bold, cyan, end) = ("\x1b[90m", "\x1b[32m", "\x1b[1m", "\x1b[36m", "\x1b[0m");
    let head = format!("{grey}8:59PM{end} {green}INF{end} {bold}");
    let _ = match height % 3 {
        0 => writeln!(
            out,
            "{head}executed block{end} {cyan}height={end}{height} {cyan}module={end}state {cyan}num_valid_txs={end}3"
        ),
        1 => writeln!(
            out,
            "{head}received complete proposal block{end} {cyan}hash={end}{HASH} {cyan}height={end}{height} {cyan}module={end}consensus"
        ),
        _ => writeln!(
            out,
            "{head}Timed out{end} {cyan}dur={end}998.568ms {cyan}height={end}{height} {cyan}module={end}consensus {cyan}round={end}0"
        ),
    };
}

fn json(out: &mut String, height: u64) {
    let _ = match height % 3 {
        0 => writeln!(
            out,
            r#"{{"level":"info","module":"state","height":{height},"num_valid_txs":3,"num_invalid_txs":0,"time":"2026-11-30T20:59:28Z","message":"executed block"}}"#
        ),
        1 => writeln!(
            out,
            r#"{{"level":"info","module":"consensus","height":{height},"hash":"{HASH}","time":"2026-11-30T20:59:28Z","message":"received complete proposal block"}}"#
        ),
        _ => writeln!(
            out,
            r#"{{"level":"info","module":"consensus","dur":"998.568ms","height":{height},"round":0,"step":"RoundStepNewHeight","time":"2026-11-30T20:59:28Z","message":"Timed out"}}"#
        ),
    };
}

fn journald(out: &mut String, height: u64) {
    out.push_str("Nov 30 20:59:28 host-1 gaiad[4679]: ");
    console(out, height);
}

fn reading(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("reading");
    let formats: [(&str, Line); 5] =
        [("plain", plain), ("console", console), ("coloured", coloured), ("json", json), ("journald", journald)];
    for (name, line) in formats {
        let mut log = String::with_capacity(LOG_BYTES + 512);
        let mut height = 1_000_000;
        while log.len() < LOG_BYTES {
            line(&mut log, height);
            height += 1;
        }
        group.throughput(Throughput::Bytes(log.len().try_into().unwrap_or(u64::MAX)));
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                let mut records = 0_u64;
                let mut sink = |record: &crashlog::Record| {
                    black_box(record);
                    records += 1;
                };
                let mut reader = LogReader::new();
                reader.feed(black_box(log.as_bytes()), &mut sink);
                black_box(reader.finish(&mut sink));
                records
            });
        });
    }
    group.finish();
}

criterion_group!(benches, reading);
criterion_main!(benches);
