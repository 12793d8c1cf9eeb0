//! From lines to records: a line either belongs to the record that is held, or ends it and starts its own. *No IO.*

use super::compose::Composer;
use super::crash::{self, Crash, Start};
use super::foreign::Foreign;
use super::glue::Glue;
use super::head::{self, Head};
use super::prefix::Bare;
use super::slot::{append, empty, reset};
use super::summary::Tally;
use super::text::{self, TEXT_LIMIT};
use super::{Sink, origin, other, ours};
use crate::{Emitter, Level, Record};

/// Lines of help text after one `Usage:`.
const USAGE_LINES: u32 = 200;
/// Indented lines that continue one bare line.
const CONTINUATIONS: u32 = 16;

/// One line, its prefixes removed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Line<'a> {
    pub(super) number: u64,
    /// Lines of the input that make it (a partial line of the kubelet's, joined).
    pub(super) count: u32,
    pub(super) bare: Bare<'a>,
    pub(super) cut: bool,
}

/// The record that further lines may belong to.
#[derive(Debug, Default)]
enum Held {
    #[default]
    Nothing,
    /// Bare text and how many lines continued it.
    Text(u32),
    Usage(u32),
    Crash(Crash),
    Foreign(Foreign),
    /// A record in a log format whose last quoted value is still open.
    Glue(Glue),
}

/// Builds records from lines.
#[derive(Debug)]
pub(super) struct Assembly {
    held: Held,
    /// The held record, unless it is glue.
    record: Record,
    /// A record that is complete with its line, while another may be held.
    now: Record,
    composer: Composer,
    /// Lines of a value that never ended are read again: they must not be glued again.
    again: bool,
    pub(super) tally: Tally,
}

impl Default for Assembly {
    fn default() -> Self {
        Self {
            held: Held::Nothing,
            record: empty(),
            now: empty(),
            composer: Composer::default(),
            again: false,
            tally: Tally::default(),
        }
    }
}

impl Assembly {
    /// Takes the next line.
    pub(super) fn line(&mut self, line: &Line<'_>, sink: Sink<'_>) {
        let whole = line.bare.text.trim_ascii_end();
        let text = whole.trim_ascii_start();
        if text.is_empty() {
            return self.blank(line, sink);
        }
        if ours::is(text) {
            self.tally.text_lines += u64::from(line.count);
            return self.interrupt(sink);
        }
        let head = if line.bare.go_log { None } else { head::of(text, line.bare.timed) };
        let other = other::is(text, &line.bare);
        if let Held::Glue(glue) = &mut self.held {
            if glue.take(whole, line, head.is_some() || line.bare.machine || other) {
                self.tally.text_lines += u64::from(line.count);
                return self.after_glued(sink);
            }
            // Its lines are read again: one of them may be what this line belongs to.
            self.flush(sink);
            return self.line(line, sink);
        }
        if line.bare.machine || other {
            return self.not_the_process(text, line, other, sink);
        }
        if let Some(head) = head {
            self.tally.text_lines += u64::from(line.count);
            self.interrupt(sink);
            return self.in_log_format(&head, text, line, sink);
        }
        if !self.belongs(whole, text, line) {
            self.flush(sink);
            self.start(whole, text, line, sink);
        }
    }

    /// A line of the machine's, or of another program.
    fn not_the_process(&mut self, text: &[u8], line: &Line<'_>, other: bool, sink: Sink<'_>) {
        self.interrupt(sink);
        reset(&mut self.now, line);
        self.now.emitter = if other { Emitter::Peer } else { Emitter::Os };
        self.now.cut |= !text::push(&mut self.now.message, text, TEXT_LIMIT);
        self.tally.text_lines += u64::from(line.count);
        self.tally.node_lines += u64::from(line.count) * u64::from(!other);
        self.tally.records += 1;
        sink(&self.now);
    }

    /// The end of the input.
    pub(super) fn finish(&mut self, sink: Sink<'_>) {
        self.flush(sink);
        // Glue whose lines were read again leaves the last of them.
        self.flush(sink);
    }

    fn blank(&mut self, line: &Line<'_>, sink: Sink<'_>) {
        self.tally.text_lines += u64::from(line.count);
        match &mut self.held {
            Held::Crash(crash) => crash.blank(&self.record),
            Held::Usage(_) | Held::Foreign(_) => {}
            Held::Text(_) => return self.flush(sink),
            Held::Glue(glue) => {
                glue.take(b"", line, false);
            }
            Held::Nothing => return,
        }
        self.record.lines = self.record.lines.saturating_add(line.count);
    }

    /// A complete record comes: a crash waits for its further lines, anything else that is held has ended.
    fn interrupt(&mut self, sink: Sink<'_>) {
        let waits = if let Held::Crash(crash) = &mut self.held { crash.interrupt() } else { false };
        if !waits {
            self.flush(sink);
        }
    }

    fn in_log_format(&mut self, head: &Head<'_>, text: &[u8], line: &Line<'_>, sink: Sink<'_>) {
        reset(&mut self.now, line);
        self.composer.compose(head, &mut self.now);
        if self.composer.open && !line.cut && !self.again {
            // P13: a crash that waits must not take what stands in this value.
            self.flush(sink);
            self.held = Held::Glue(Glue::new(text, line));
            return;
        }
        self.emit_now(sink);
    }

    /// Whether the line, in no log format, belongs to what is held; if so it is taken.
    fn belongs(&mut self, whole: &[u8], text: &[u8], line: &Line<'_>) -> bool {
        let header = crash::start(text) == Some(Start::Header) && !line.bare.go_log;
        let record = &mut self.record;
        let taken = match &mut self.held {
            Held::Nothing | Held::Glue(_) => false,
            Held::Crash(crash) => {
                let taken = !line.bare.go_log && crash.take(whole, record);
                self.tally.node_lines += u64::from(line.count) * u64::from(taken);
                taken
            }
            Held::Foreign(foreign) => {
                !header && !origin::is_error(whole) && whole != b"Usage:" && foreign.take(whole, record)
            }
            Held::Usage(lines) if header || origin::is_error(whole) || *lines >= USAGE_LINES => false,
            Held::Usage(lines) => {
                *lines += 1;
                self.tally.node_lines += u64::from(line.count);
                append(whole, record);
                true
            }
            Held::Text(lines) => {
                let indented = whole.len() > text.len() && *lines < CONTINUATIONS;
                let taken = indented && !header && record.emitter == Emitter::Error && text::is_text(text);
                if taken {
                    *lines += 1;
                    // A call in Node's traceback.
                    if !text.starts_with(b"at ") {
                        append(text, record);
                    }
                }
                taken
            }
        };
        if taken {
            self.tally.text_lines += u64::from(line.count);
            record.lines = record.lines.saturating_add(line.count);
            record.cut |= line.cut;
        }
        taken
    }

    /// A glued record is complete with the line that closes its quote.
    fn after_glued(&mut self, sink: Sink<'_>) {
        if matches!(&self.held, Held::Glue(glue) if glue.closed()) {
            self.flush(sink);
        }
    }

    /// Starts a record with a line in no log format.
    fn start(&mut self, whole: &[u8], text: &[u8], line: &Line<'_>, sink: Sink<'_>) {
        reset(&mut self.record, line);
        let crash = if line.bare.go_log { None } else { crash::start(text) };
        if let Some(start) = crash {
            (self.record.emitter, self.record.level) = (Emitter::Panic, Level::Fatal);
            self.tally.frames_without_head |= start == Start::Headless;
            self.tally.of_node(line.count);
            self.held = Held::Crash(Crash::begin(text, start, &mut self.record));
        } else if whole == b"Usage:" {
            self.record.emitter = Emitter::Usage;
            self.tally.of_node(line.count);
            append(whole, &mut self.record);
            self.held = Held::Usage(1);
        } else if let Some(foreign) = Foreign::begin(text, &mut self.record) {
            self.tally.text_lines += u64::from(line.count);
            self.held = Held::Foreign(foreign);
        } else if let Some(head) = head::unmarked(text) {
            self.tally.text_lines += u64::from(line.count);
            self.in_log_format(&head, text, line, sink);
        } else {
            self.bare_text(text, line);
        }
    }

    fn bare_text(&mut self, text: &[u8], line: &Line<'_>) {
        let (emitter, level) = origin::of_bare(text);
        if level == Level::None && !text::is_text(text) {
            return;
        }
        self.tally.text_lines += u64::from(line.count);
        if level == Level::Error || emitter == Emitter::Os {
            self.tally.node_lines += u64::from(line.count);
        }
        (self.record.emitter, self.record.level) = (emitter, level);
        append(text, &mut self.record);
        self.held = Held::Text(0);
    }

    /// Gives away what is held.
    fn flush(&mut self, sink: Sink<'_>) {
        match std::mem::take(&mut self.held) {
            Held::Nothing => {}
            Held::Glue(glue) => self.flush_glue(&glue, sink),
            _ => {
                self.tally.records += 1;
                sink(&self.record);
            }
        }
    }

    fn flush_glue(&mut self, glue: &Glue, sink: Sink<'_>) {
        let (first, rest) = glue.parts();
        let text = if rest.is_empty() { glue.text() } else { first };
        let line = if rest.is_empty() { glue.line() } else { glue.first_line() };
        reset(&mut self.now, &line);
        if let Some(head) = head::of(text, true).or_else(|| head::unmarked(text)) {
            self.composer.compose(&head, &mut self.now);
        }
        self.emit_now(sink);
        self.again = true;
        for (place, text) in rest.iter().enumerate() {
            let line = glue.later_line(place, text);
            self.tally.text_lines = self.tally.text_lines.saturating_sub(1);
            self.line(&line, sink);
        }
        self.again = false;
    }

    fn emit_now(&mut self, sink: Sink<'_>) {
        self.tally.records += 1;
        self.tally.node_lines += u64::from(self.now.lines);
        sink(&self.now);
    }
}
