//! Any bytes in any chunks: no panic, the bounds hold, and the chunks change nothing.
#![no_main]

use crashlog::{LogReader, ReadingSummary, Record};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    // The first byte tells how many of the next give the sizes of the chunks.
    let Some((count, rest)) = input.split_first() else { return };
    let (sizes, log) = rest.split_at(usize::from(*count % 8).min(rest.len()));
    let (records, summary) = read(log, &[]);
    assert_eq!(read(log, sizes), (records.clone(), summary));
    assert_eq!(summary.bytes, log.len() as u64);
    assert!(summary.text_share <= 1000);
    for record in &records {
        assert!(record.message.len() + record.errors.len() <= 16 * 1024 + 1);
        assert!(record.module.len() <= 256 && record.fields.len() <= 2 * 1024);
        assert!(record.frames.len() <= 64 && record.frames.iter().all(|frame| frame.len() <= 256));
        assert!(record.line > 0 && record.lines > 0);
    }
});

fn read(mut log: &[u8], sizes: &[u8]) -> (Vec<Record>, ReadingSummary) {
    let mut records = Vec::new();
    let mut sink = |record: &Record| records.push(record.clone());
    let mut reader = LogReader::new();
    for size in sizes.iter().cycle() {
        let (chunk, rest) = log.split_at(usize::from(*size).clamp(1, log.len().max(1)).min(log.len()));
        reader.feed(chunk, &mut sink);
        log = rest;
        if log.is_empty() {
            break;
        }
    }
    reader.feed(log, &mut sink);
    let summary = reader.finish(&mut sink);
    (records, summary)
}
