//! Splits a log into records, one pass, whatever the bytes are. *No IO.*
//!
//! No input panics, and none takes more memory than a few lines: a line is kept up to 64 KiB, a record up to 16 KiB of text
//! and 64 frames; what is longer is dropped and said so by `cut`. How the input is cut into chunks changes nothing.
//!
//! ```text
//! bytes ─ lines ─ transport (CRI, Docker, colours, prefixes) ─ head (log formats) ─┬─ compose ─ record
//!                                                       └─ assembly (crash, usage, bare text) ─┘
//! ```

mod assembly;
mod colour;
mod compose;
mod container;
mod crash;
mod fields;
mod foreign;
mod frames;
mod glue;
mod head;
mod json;
mod level;
mod origin;
mod other;
mod ours;
mod pairs;
mod prefix;
mod slot;
mod stamp;
mod summary;
mod text;
mod transport;

pub use summary::ReadingSummary;

use crate::Record;
use assembly::Assembly;
use transport::Transport;

/// Bytes of a line that are kept.
const LINE_LIMIT: usize = 64 * 1024;

/// Where records go.
type Sink<'a> = &'a mut dyn FnMut(&Record);

/// Reads a log, chunk by chunk.
#[derive(Debug, Default)]
pub struct LogReader {
    /// The start of a line whose end is not yet here.
    begun: Vec<u8>,
    /// Bytes of it were dropped.
    cut: bool,
    transport: Transport,
    assembly: Assembly,
}

impl LogReader {
    /// A reader at the start of a log.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next bytes of the log. Each record goes to `sink` when it is complete; it is overwritten after that.
    /// Records come in the order of their ends: what other goroutines log inside a crash comes before it.
    pub fn feed(&mut self, bytes: &[u8], sink: &mut dyn FnMut(&Record)) {
        self.assembly.tally.bytes += u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        let mut from = 0;
        for end in memchr::memchr_iter(b'\n', bytes) {
            let line = bytes.get(from..end).unwrap_or_default();
            from = end + 1;
            if self.begun.is_empty() {
                self.line(line, false, sink);
            } else {
                self.keep(line);
                self.end_begun(sink);
            }
        }
        self.keep(bytes.get(from..).unwrap_or_default());
    }

    /// The end of the log: gives away what is held, and tells what the log was like.
    #[must_use]
    pub fn finish(mut self, sink: &mut dyn FnMut(&Record)) -> ReadingSummary {
        if !self.begun.is_empty() {
            self.end_begun(sink);
        }
        self.transport.finish(&mut self.assembly, sink);
        self.assembly.finish(sink);
        self.assembly.tally.summary()
    }

    /// Keeps a part of a line.
    fn keep(&mut self, part: &[u8]) {
        let room = LINE_LIMIT.saturating_sub(self.begun.len());
        self.cut |= part.len() > room;
        self.begun.extend_from_slice(part.get(..room).unwrap_or(part));
    }

    fn end_begun(&mut self, sink: Sink<'_>) {
        let mut begun = std::mem::take(&mut self.begun);
        let cut = std::mem::take(&mut self.cut);
        self.line(&begun, cut, sink);
        begun.clear();
        self.begun = begun;
    }

    fn line(&mut self, line: &[u8], cut: bool, sink: Sink<'_>) {
        let cut = cut || line.len() > LINE_LIMIT;
        let line = line.get(..LINE_LIMIT).unwrap_or(line);
        let tally = &mut self.assembly.tally;
        tally.lines += 1;
        tally.cut_lines += u64::from(cut);
        let number = tally.lines;
        self.transport.line(line, number, cut, &mut self.assembly, sink);
    }
}
