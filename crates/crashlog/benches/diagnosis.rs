//! How fast a whole log of 2 MB is diagnosed, beside what masking its lines with regular expressions takes:
//! `cargo bench -p crashlog --bench diagnosis`.

use std::{borrow::Cow, fmt::Write as _, hint::black_box};

use crashlog::{Examiner, LogReader, Record, mask, model::Model};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use regex::Regex;

const LOG_BYTES: usize = 2 * 1024 * 1024;
const HASH: &str = "D0A36CA430638A88BBFC411D9B861A012CE53B4DD5EF4AB249573C03A4CBB044";
const PANIC: &str = "panic: leveldb/table: corruption on data-block (pos=1953816): checksum mismatch, want=0xc53a8ebc got=0x28a226ee [file=787011.ldb]\n\n\
goroutine 1 [running]:\n\
github.com/cosmos/iavl.(*nodeDB).GetNode(0xc000f2c000, {0xc001b3e0c0, 0x20, 0x20})\n\
\t/go/pkg/mod/github.com/cosmos/iavl@v0.19.5/nodedb.go:110 +0x51f\n\
main.main()\n\
\t/src/cmd/gaiad/main.go:21 +0x2c\n";

/// Lines of one kind, for a number, until the log is long enough.
fn log_of(line: impl Fn(&mut String, u64)) -> String {
    let mut log = String::with_capacity(LOG_BYTES + 1024);
    let mut number = 1_000_000;
    while log.len() < LOG_BYTES {
        line(&mut log, number);
        number += 1;
    }
    log
}

/// A healthy node's lines with the noise of its peers; it ends in a panic.
fn node(out: &mut String, number: u64) {
    let _ = match number % 16 {
        3 => writeln!(
            out,
            "8:59PM ERR Stopping peer for error err=\"read tcp 10.0.0.7:26656->10.{}.4.1:41234: i/o timeout\" module=p2p peer=Peer{{{HASH}}}",
            number % 251
        ),
        7 => writeln!(
            out,
            "8:59PM ERR dialing failed (attempts: 3): auth failure: secret conn failed: EOF addr={HASH} module=pex"
        ),
        n if n % 3 == 0 => {
            writeln!(out, "8:59PM INF executed block height={number} module=state num_invalid_txs=0 num_valid_txs=3")
        }
        n if n % 3 == 1 => {
            writeln!(out, "8:59PM INF received complete proposal block hash={HASH} height={number} module=consensus")
        }
        _ => writeln!(
            out,
            "8:59PM INF Timed out dur=998.568ms height={number} module=consensus round=0 step=RoundStepNewHeight"
        ),
    };
}

/// Error records, each with words of its own: none is a repeat.
fn errors(out: &mut String, number: u64) {
    let letters: String = number.to_string().bytes().map(|digit| char::from(digit - b'0' + b'a')).collect();
    let _ = writeln!(out, "8:59PM ERR could not serve {letters} to x{letters} err=\"no such {letters}\" module=state");
}

/// Bare text, as a program without a logger prints it.
fn bare(out: &mut String, number: u64) {
    let letters: String = number.to_string().bytes().map(|digit| char::from(digit - b'0' + b'a')).collect();
    let _ = writeln!(out, "starting worker {number} of pool {letters} with the usual settings now");
}

fn examine(log: &str) -> f64 {
    let mut examiner = Examiner::new();
    examiner.feed(black_box(log.as_bytes()));
    examiner.finish(Model::built_in()).damage_score
}

fn read(log: &str) -> u64 {
    let mut records = 0_u64;
    let mut sink = |record: &Record| {
        black_box(record);
        records += 1;
    };
    let mut reader = LogReader::new();
    reader.feed(black_box(log.as_bytes()), &mut sink);
    black_box(reader.finish(&mut sink));
    records
}

fn words(log: &str) -> u64 {
    let mut sum = 0_u64;
    mask::words(black_box(log), &mut |word| sum = sum.wrapping_add(word.hash()));
    sum
}

/// The masks that Drain3's README configures, without its look-arounds, which this crate's linear-time engine lacks: `\b`
/// stands for them.
fn masks() -> Vec<(Regex, &'static str)> {
    [
        (r"(?-u:\b)(([0-9a-f]{2,}:){3,}([0-9a-f]{2,}))(?-u:\b)", "<:ID:>"),
        (r"(?-u:\b)([0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3})(?-u:\b)", "<:IP:>"),
        (r"(?-u:\b)([0-9a-f]{6,} ?){3,}(?-u:\b)", "<:SEQ:>"),
        (r"(?-u:\b)([0-9A-F]{4} ?){4,}(?-u:\b)", "<:SEQ:>"),
        (r"(?-u:\b)(0x[a-f0-9A-F]+)(?-u:\b)", "<:HEX:>"),
        (r"[-+]?(?-u:\b)[0-9]+(?-u:\b)", "<:NUM:>"),
    ]
    .into_iter()
    .filter_map(|(pattern, placeholder)| Some((Regex::new(pattern).ok()?, placeholder)))
    .collect()
}

fn masked_by_regex(log: &str, masks: &[(Regex, &str)]) -> usize {
    let mut bytes = 0;
    for line in black_box(log).lines() {
        let mut line = Cow::Borrowed(line);
        for (pattern, placeholder) in masks {
            if let Cow::Owned(masked) = pattern.replace_all(&line, *placeholder) {
                line = Cow::Owned(masked);
            }
        }
        bytes += line.len();
    }
    bytes
}

fn diagnosis(criterion: &mut Criterion) {
    let mut node = log_of(node);
    node.push_str(PANIC);
    let logs = [("node", node), ("errors", log_of(errors)), ("bare", log_of(bare))];
    let masks = masks();
    let mut group = criterion.benchmark_group("diagnosis");
    for (name, log) in &logs {
        group.throughput(Throughput::Bytes(log.len().try_into().unwrap_or(u64::MAX)));
        group.bench_function(format!("examiner/{name}"), |bencher| bencher.iter(|| examine(log)));
        group.bench_function(format!("reader/{name}"), |bencher| bencher.iter(|| read(log)));
        group.bench_function(format!("words/{name}"), |bencher| bencher.iter(|| words(log)));
    }
    let [(_, node), ..] = &logs;
    group.throughput(Throughput::Bytes(node.len().try_into().unwrap_or(u64::MAX)));
    group.sample_size(20);
    group.bench_function("regex masks/node", |bencher| bencher.iter(|| masked_by_regex(node, &masks)));
    group.finish();
}

criterion_group!(benches, diagnosis);
criterion_main!(benches);
