//! The crash of a Go program: header, cause chain and the first goroutine's frames make one record. *No IO.*

use super::text::{self, TEXT_LIMIT};
use super::{frames, origin};
use crate::Record;

/// Lines of a panic's value: a longer one is cut, so that a log without a stack is not swallowed.
const HEADER_LINES: u32 = 64;
/// Records of other goroutines that may stand between two lines of a crash.
const INTERRUPTIONS: u32 = 8;

/// How far a crash was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    /// Header and cause chain.
    Header,
    /// The stack of the runtime itself, above the first goroutine.
    RuntimeStack,
    /// Frames of the first goroutine.
    Frames,
    /// Further goroutines and registers: counted, not kept.
    Folded,
}

/// A crash that is being read.
#[derive(Debug)]
pub(super) struct Crash {
    part: Part,
    header_lines: u32,
    interruptions: u32,
}

/// What a line starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Start {
    /// A header.
    Header,
    /// A goroutine or a frame whose header the log does not have.
    Headless,
}

/// Whether `line` starts a crash.
pub(super) fn start(line: &[u8]) -> Option<Start> {
    if is_header(line) {
        return Some(Start::Header);
    }
    (frames::is_goroutine(line) || frames::is_frame(line)).then_some(Start::Headless)
}

fn is_header(line: &[u8]) -> bool {
    match line.first() {
        Some(b'p') => line.starts_with(b"panic: ") || line == b"panic:" || line.starts_with(b"panic during panic"),
        Some(b'f') => line.starts_with(b"fatal error: "),
        Some(b'r') => {
            line == b"runtime stack:"
                || line.strip_prefix(b"runtime: ").is_some_and(|rest| !rest.starts_with(b"goroutine running on other"))
        }
        Some(b'u') => line.starts_with(b"unexpected fault address "),
        Some(b'[') => line.starts_with(b"[signal "),
        Some(b'S') => {
            line.starts_with(b"SIG")
                && line.iter().position(|byte| *byte == b':').is_some_and(|colon| (6..=9).contains(&colon))
                && line.iter().take(6).all(u8::is_ascii_uppercase)
        }
        _ => false,
    }
}

impl Crash {
    /// Begins with the line that `start` found; `record` is empty.
    pub(super) fn begin(line: &[u8], start: Start, record: &mut Record) -> Self {
        let mut crash = Self { part: Part::Header, header_lines: 0, interruptions: 0 };
        match start {
            Start::Header => crash.header(line, record),
            Start::Headless => {
                crash.part = Part::Frames;
                frames::keep(line, &mut record.frames);
            }
        }
        crash
    }

    /// Takes a line; `false` when it does not belong to the crash.
    pub(super) fn take(&mut self, line: &[u8], record: &mut Record) -> bool {
        let trimmed = text::trim(line);
        if frames::is_goroutine(trimmed) {
            // The first goroutine with a frame of its own counts: goroutine 0 of a signal has none.
            self.part = if record.frames.is_empty() { Part::Frames } else { Part::Folded };
            return true;
        }
        let taken = match self.part {
            Part::Header => self.take_header(line, trimmed, record),
            Part::RuntimeStack | Part::Frames | Part::Folded => self.take_stack(line, trimmed, record),
        };
        if taken {
            self.interruptions = 0;
        }
        taken
    }

    fn take_header(&mut self, line: &[u8], trimmed: &[u8], record: &mut Record) -> bool {
        if trimmed == b"runtime stack:" {
            self.part = Part::RuntimeStack;
            return true;
        }
        if frames::is_frame(trimmed) {
            self.part = Part::Frames;
            frames::keep(trimmed, &mut record.frames);
            return true;
        }
        let nested = line.len() > trimmed.len() || recovered(record);
        if line.starts_with(b"panic: ") && !nested || origin::is_error(line) || line.starts_with(b"Usage:") {
            return false;
        }
        // After a record of another goroutine only what can be nothing else still belongs here.
        if self.header_lines >= HEADER_LINES || self.interruptions > 0 && !is_header(trimmed) {
            return false;
        }
        self.header(trimmed, record);
        true
    }

    fn take_stack(&mut self, line: &[u8], trimmed: &[u8], record: &mut Record) -> bool {
        if frames::is_detail(trimmed) || line == b"runtime stack:" {
            return true;
        }
        // A second fault while the first is printed belongs to the cause chain; a new panic is a new crash.
        if is_header(trimmed)
            && (!line.starts_with(b"panic: ") || record.message.is_empty() && record.frames.is_empty())
        {
            self.header(trimmed, record);
            return true;
        }
        if trimmed == b"stack trace unavailable" || trimmed.starts_with(b"goroutine running on other thread") {
            return true;
        }
        let function = frames::function(trimmed);
        if self.part == Part::Frames && function.is_some() {
            frames::keep(trimmed, &mut record.frames);
        }
        function.is_some()
    }

    /// A blank line: it ends the first goroutine.
    pub(super) fn blank(&mut self, record: &Record) {
        if self.part == Part::Frames && !record.frames.is_empty() {
            self.part = Part::Folded;
        }
    }

    /// A record of another goroutine came in between; `false` when there were too many of them.
    pub(super) fn interrupt(&mut self) -> bool {
        self.interruptions += 1;
        self.interruptions <= INTERRUPTIONS
    }

    fn header(&mut self, line: &[u8], record: &mut Record) {
        self.header_lines += 1;
        if !record.message.is_empty() {
            record.cut |= !text::push_str(&mut record.message, "\n", TEXT_LIMIT);
        }
        record.cut |= !text::push(&mut record.message, text::trim(line), TEXT_LIMIT);
    }
}

/// The header says that the panic was raised again: the next `panic:` is its second half.
fn recovered(record: &Record) -> bool {
    record.message.ends_with("[recovered]") || record.message.ends_with("[recovered, repanicked]")
}
