//! One log, read through the witness in bounded memory, with what its bytes tell besides. *No IO.*

use std::sync::Arc;

use diagnosis::{LogAbstention, LogReading};

use crate::{Examiner, Finding, model::Model};

/// A log that has been read.
#[derive(Debug, Clone)]
pub struct ExaminedLog {
    /// What it is called in reports.
    pub label: String,
    /// What it says.
    pub finding: Arc<Finding>,
    /// Why it is not complete, where it is not.
    pub gap: Option<String>,
    /// In which encoding it is, where that is why it cannot be read.
    pub encoding: Option<&'static str>,
    /// Whether its last lines are those of a node that was told to stop.
    pub ends_in_stop: bool,
}

/// Takes the bytes of one log in pieces of any size.
#[derive(Debug, Default)]
pub struct LogExamination {
    examiner: Examiner,
    bytes_seen: ByteTally,
}

impl LogExamination {
    /// Nothing read yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The next bytes.
    pub fn feed(&mut self, bytes: &[u8]) {
        self.examiner.feed(bytes);
        self.bytes_seen.feed(bytes);
    }

    /// What the log says. `gap` is why it is not complete, where it is not.
    #[must_use]
    pub fn finish(self, label: String, gap: Option<String>) -> ExaminedLog {
        let mut finding = self.examiner.finish(Model::built_in());
        let mut encoding = None;
        if let LogReading::Abstained(why) = &mut finding.reading {
            encoding = self.bytes_seen.encoding();
            if encoding.is_some() || (*why == LogAbstention::Empty && self.bytes_seen.has_content) {
                *why = LogAbstention::NotText;
            }
        }
        ExaminedLog { label, finding: Arc::new(finding), gap, encoding, ends_in_stop: self.bytes_seen.ends_in_stop() }
    }
}

/// What can be told of a log from its bytes alone: a file of zeros has no line, and still is not empty.
#[derive(Debug, Default)]
struct ByteTally {
    /// The first bytes, where a byte-order mark stands.
    head: Vec<u8>,
    /// Whether there is anything but white space.
    has_content: bool,
    /// The last bytes, where a log says how it ended.
    tail: Vec<u8>,
}

/// What a node prints that is told to stop: the SDK's line on a signal, and what an engine or a channel says to a reader
/// that comes after it was closed.
const STOPS: [&str; 7] = [
    "caught signal",
    "signal=terminated",
    "captured terminated",
    "panic: leveldb: closed",
    "panic: pebble: closed",
    "panic: database closed",
    "panic: database is closed",
];

impl ByteTally {
    fn feed(&mut self, bytes: &[u8]) {
        const MARK: usize = 2;
        const TAIL: usize = 16 * 1024;
        let missing = MARK.saturating_sub(self.head.len());
        self.head.extend(bytes.iter().take(missing));
        self.tail.extend_from_slice(bytes.get(bytes.len().saturating_sub(TAIL)..).unwrap_or_default());
        self.tail.drain(..self.tail.len().saturating_sub(TAIL));
        self.has_content = self.has_content || bytes.iter().any(|byte| !byte.is_ascii_whitespace());
    }

    fn ends_in_stop(&self) -> bool {
        let tail = String::from_utf8_lossy(&self.tail);
        STOPS.iter().any(|stop| tail.contains(stop))
    }

    fn encoding(&self) -> Option<&'static str> {
        matches!(self.head.as_slice(), [0xff, 0xfe] | [0xfe, 0xff])
            .then_some("the log is UTF-16, as a PowerShell redirect writes it; save it as UTF-8")
    }
}
