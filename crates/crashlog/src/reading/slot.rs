//! The buffer of a record, used again for the next. *No IO.*

use super::assembly::Line;
use super::text::{self, TEXT_LIMIT};
use crate::{Emitter, Level, Record};

/// A new buffer.
pub(super) fn empty() -> Record {
    Record {
        line: 0,
        lines: 0,
        level: Level::None,
        emitter: Emitter::Error,
        module: String::new(),
        message: String::new(),
        errors: String::new(),
        fields: String::new(),
        frames: Vec::new(),
        cut: false,
    }
}

/// Empties a record for a line.
pub(super) fn reset(record: &mut Record, line: &Line<'_>) {
    (record.line, record.lines, record.cut) = (line.number, line.count, line.cut);
    (record.level, record.emitter) = (Level::None, Emitter::Error);
    for text in [&mut record.module, &mut record.message, &mut record.errors, &mut record.fields] {
        text.clear();
    }
    record.frames.clear();
}

/// Adds a line to the message.
pub(super) fn append(line: &[u8], record: &mut Record) {
    if !record.message.is_empty() {
        record.cut |= !text::push_str(&mut record.message, "\n", TEXT_LIMIT);
    }
    record.cut |= !text::push(&mut record.message, line, TEXT_LIMIT);
}
