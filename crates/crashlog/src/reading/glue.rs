//! A record in a log format whose quoted value goes on over lines (`stack="goroutine 1 [running]:`). *No IO.*

use super::assembly::Line;
use super::prefix::Bare;
use super::{crash, origin, pairs};

/// Bytes of all its lines.
const GLUE_LIMIT: usize = 64 * 1024;
/// Its lines.
const GLUE_LINES: u32 = 256;

/// The lines so far.
#[derive(Debug)]
pub(super) struct Glue {
    text: Vec<u8>,
    number: u64,
    /// Lines of the input that make the first line.
    first: u32,
    lines: u32,
    cut: bool,
    closed: bool,
    /// Some line would start a record of its own: then the quote must really close.
    doubtful: bool,
}

impl Glue {
    pub(super) fn new(text: &[u8], line: &Line<'_>) -> Self {
        let first = line.count;
        Self {
            text: text.to_vec(),
            number: line.number,
            first,
            lines: first,
            cut: line.cut,
            closed: false,
            doubtful: false,
        }
    }

    /// Takes a line; `false` when there is no room.
    pub(super) fn take(&mut self, line: &[u8], of: &Line<'_>) -> bool {
        if self.closed || self.lines >= GLUE_LINES || self.text.len() + line.len() >= GLUE_LIMIT {
            return false;
        }
        self.text.push(b'\n');
        self.text.extend_from_slice(line);
        self.lines += of.count;
        self.cut |= of.cut;
        self.closed = pairs::closing_quote(line, 0).is_some();
        // P13: `panic:` inside a value that closes is the value's, never the runtime's.
        self.doubtful |= crash::start(line) == Some(crash::Start::Header) || origin::is_error(line);
        true
    }

    pub(super) fn closed(&self) -> bool {
        self.closed
    }

    /// All lines, joined by `\n`.
    pub(super) fn text(&self) -> &[u8] {
        &self.text
    }

    /// The first line, and the others where they do not belong to it after all.
    pub(super) fn parts(&self) -> (&[u8], Vec<&[u8]>) {
        let mut lines = self.text.split(|byte| *byte == b'\n');
        let first = lines.next().unwrap_or_default();
        (first, if self.closed || !self.doubtful { Vec::new() } else { lines.collect() })
    }

    pub(super) fn line(&self) -> Line<'_> {
        self.as_line(self.number, self.lines, &self.text)
    }

    pub(super) fn first_line(&self) -> Line<'_> {
        self.as_line(self.number, self.first, &self.text)
    }

    /// The line at `place` after the first.
    pub(super) fn later_line<'a>(&self, place: usize, text: &'a [u8]) -> Line<'a> {
        let before = u64::try_from(place).unwrap_or(u64::MAX);
        self.as_line(self.number.saturating_add(u64::from(self.first)).saturating_add(before), 1, text)
    }

    fn as_line<'a>(&self, number: u64, count: u32, text: &'a [u8]) -> Line<'a> {
        Line { number, count, bare: Bare { text, machine: false, timed: false, go_log: false }, cut: self.cut }
    }
}
