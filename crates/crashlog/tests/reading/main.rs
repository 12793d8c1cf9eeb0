//! The reader, from outside: formats, transports, crashes, bounds.

mod bounds;
mod crashes;
mod formats;
mod transports;

use crashlog::{LogReader, ReadingSummary, Record};

/// All records of a log.
fn read(log: impl AsRef<[u8]>) -> Vec<Record> {
    read_all(log).0
}

/// All records of a log, and its summary.
fn read_all(log: impl AsRef<[u8]>) -> (Vec<Record>, ReadingSummary) {
    read_chunks([log.as_ref()])
}

fn read_chunks<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> (Vec<Record>, ReadingSummary) {
    let mut records = Vec::new();
    let mut sink = |record: &Record| records.push(record.clone());
    let mut reader = LogReader::new();
    for chunk in chunks {
        reader.feed(chunk, &mut sink);
    }
    let summary = reader.finish(&mut sink);
    (records, summary)
}

/// The one record of a log.
fn one(log: impl AsRef<[u8]>) -> Record {
    let mut records = read(log);
    assert_eq!(records.len(), 1, "{records:#?}");
    records.remove(0)
}

const STATE_DB: &[u8] = include_bytes!("../data/state-db-node.log");
const APPLICATION_DB: &[u8] = include_bytes!("../data/application-db-node.log");
const VERSION_CHECK: &[u8] = include_bytes!("../data/application-db-version-check.log");
