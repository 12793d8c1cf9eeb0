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
    /// What stood before each later line: it may have to be read again.
    prefixes: Vec<Bare<'static>>,
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
            prefixes: Vec::new(),
        }
    }

    /// Takes a line, which by itself would be a record in a log format (`is_record`) or not; `false` when there is no room.
    ///
    /// P13: neither a record nor `panic:` inside a value that closes is the node's own; whether it closes is told by a quote
    /// at the end of a word, in a record by one that has no partner there.
    pub(super) fn take(&mut self, line: &[u8], of: &Line<'_>, is_record: bool) -> bool {
        if self.closed || self.lines >= GLUE_LINES || self.text.len() + line.len() >= GLUE_LIMIT {
            return false;
        }
        self.text.push(b'\n');
        self.text.extend_from_slice(line);
        self.lines += of.count;
        self.cut |= of.cut;
        let Bare { machine, timed, go_log, .. } = of.bare;
        self.prefixes.push(Bare { text: b"", machine, timed, go_log });
        self.closed = pairs::closing_quote(line, 0).is_some() && !(is_record && pairs::quotes(line).is_multiple_of(2));
        self.doubtful |= is_record || crash::start(line) == Some(crash::Start::Header) || origin::is_error(line);
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
        let mut line = self.as_line(self.number.saturating_add(u64::from(self.first)).saturating_add(before), 1, text);
        if let Some(prefix) = self.prefixes.get(place) {
            line.bare = Bare { text, ..*prefix };
        }
        line
    }

    fn as_line<'a>(&self, number: u64, count: u32, text: &'a [u8]) -> Line<'a> {
        Line { number, count, bare: Bare { text, machine: false, timed: false, go_log: false }, cut: self.cut }
    }
}
