//! Crashes of other languages: Rust's panics (wasmvm), Python's and Node's tracebacks (tools beside the node). *No IO.*

use memchr::memmem;

use super::text::{self, TEXT_LIMIT};
use crate::{Emitter, Level, Record};

/// Lines of a Rust panic's message.
const MESSAGE_LINES: u32 = 16;

/// What is being read.
#[derive(Debug)]
pub(super) enum Foreign {
    /// The message below `thread 'main' panicked at src/main.rs:1:2:`.
    RustMessage(u32),
    /// A backtrace: counted, not kept.
    RustTrace,
    /// Between `Traceback (most recent call last):` and its last line.
    Python,
    /// After that line.
    Ended,
}

impl Foreign {
    /// Begins with a line, if it starts such a crash; `record` is empty.
    pub(super) fn begin(line: &[u8], record: &mut Record) -> Option<Self> {
        if line.starts_with(b"Traceback (most recent call last)") {
            (record.emitter, record.level) = (Emitter::Error, Level::Error);
            return Some(Self::Python);
        }
        if line.starts_with(b"thread '") && memmem::find(line, b"panicked at").is_some() {
            (record.emitter, record.level) = (Emitter::Panic, Level::Fatal);
            add(line, record);
            return Some(if line.ends_with(b":") { Self::RustMessage(0) } else { Self::RustTrace });
        }
        None
    }

    /// Takes a line; `false` when it does not belong to the crash.
    pub(super) fn take(&mut self, line: &[u8], record: &mut Record) -> bool {
        let trimmed = text::trim(line);
        match self {
            Self::RustMessage(lines) if is_trace(trimmed) => {
                let _ = lines;
                *self = Self::RustTrace;
                true
            }
            Self::RustMessage(lines) if *lines < MESSAGE_LINES && !trimmed.starts_with(b"thread '") => {
                *lines += 1;
                add(trimmed, record);
                true
            }
            Self::RustMessage(_) | Self::Ended => false,
            Self::RustTrace => is_trace(trimmed),
            Self::Python if line.first().is_some_and(u8::is_ascii_whitespace) => true,
            Self::Python => {
                add(trimmed, record);
                *self = Self::Ended;
                true
            }
        }
    }
}

/// `note: run with …`, `stack backtrace:`, `   0: rust_begin_unwind`, `at /rustc/…`.
fn is_trace(line: &[u8]) -> bool {
    let number = text::digits(line);
    line.starts_with(b"note: ")
        || line.starts_with(b"stack backtrace:")
        || line.starts_with(b"at ")
        || (number > 0 && line.get(number..).is_some_and(|rest| rest.starts_with(b": ")))
}

fn add(line: &[u8], record: &mut Record) {
    if !record.message.is_empty() {
        text::push_str(&mut record.message, "\n", TEXT_LIMIT);
    }
    record.cut |= !text::push(&mut record.message, line, TEXT_LIMIT);
}
