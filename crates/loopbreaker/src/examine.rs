//! Reads one log through the witness, in bounded memory. *No client.*

use std::{
    io::Read,
    path::{Path, PathBuf},
};

use crashlog::{Examiner, Finding, model::Model};
use diagnosis::{LogAbstention, LogReading};

use crate::{
    bundle::{BundleError, LogStream, open_log, open_log_or_pipe},
    progress::Progress,
    words::clean,
};

/// Bytes given to the witness at once.
const CHUNK: usize = 256 * 1024;

/// A log to be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LogSource {
    /// Where it is; `-` is standard input.
    pub(crate) path: PathBuf,
    /// What it is called in reports.
    pub(crate) label: String,
    /// Named by hand, so that it may be a pipe.
    pub(crate) by_hand: bool,
}

/// A log that has been read.
#[derive(Debug)]
pub(crate) struct ExaminedLog {
    /// What it is called in reports.
    pub(crate) label: String,
    /// What it says.
    pub(crate) finding: Finding,
    /// Why it is not complete, where it is not.
    pub(crate) gap: Option<String>,
    /// In which encoding it is, where that is why it cannot be read.
    pub(crate) encoding: Option<&'static str>,
    /// Whether its last lines are those of a node that was told to stop.
    pub(crate) ends_in_stop: bool,
}

/// What can be told of a log from its bytes alone: a file of zeros has no line, and still is not empty.
#[derive(Default)]
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

impl LogSource {
    /// A log named by hand.
    pub(crate) fn by_hand(path: &Path) -> Self {
        let label = if path == Path::new("-") { "standard input".to_owned() } else { clean(&path.to_string_lossy()) };
        Self { path: path.to_owned(), label, by_hand: true }
    }

    /// Its size on disk, where that can be told beforehand.
    pub(crate) fn bytes(&self) -> Option<u64> {
        std::fs::metadata(&self.path).ok().filter(std::fs::Metadata::is_file).map(|file| file.len())
    }

    fn open(&self, progress: &Progress) -> Result<LogStream, BundleError> {
        let open = if self.by_hand { open_log_or_pipe } else { open_log };
        open(&self.path, progress.counter())
    }
}

/// Reads a log to its end. `tap` sees every byte as well.
pub(crate) fn examine(
    source: &LogSource,
    progress: &Progress,
    tap: &mut dyn FnMut(&[u8]),
) -> Result<ExaminedLog, BundleError> {
    let mut stream = source.open(progress)?;
    let mut examiner = Examiner::new();
    let mut bytes_seen = ByteTally::default();
    let mut chunk = vec![0; CHUNK];
    loop {
        let bytes = match stream.read(&mut chunk) {
            Ok(0) => break,
            Ok(bytes) => chunk.get(..bytes).unwrap_or_default(),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(BundleError::Unreadable { path: source.path.clone(), source: error }),
        };
        examiner.feed(bytes);
        bytes_seen.feed(bytes);
        tap(bytes);
        progress.tick();
    }
    let gap = stream.note().map(str::to_owned);
    let mut finding = examiner.finish(Model::built_in());
    let mut encoding = None;
    if let LogReading::Abstained(why) = &mut finding.reading {
        encoding = bytes_seen.encoding();
        if encoding.is_some() || (*why == LogAbstention::Empty && bytes_seen.has_content) {
            *why = LogAbstention::NotText;
        }
    }
    Ok(ExaminedLog { label: source.label.clone(), finding, gap, encoding, ends_in_stop: bytes_seen.ends_in_stop() })
}
