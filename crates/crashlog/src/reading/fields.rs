//! Fields of a record in canonical form: the same for one event, whatever format it was written in. *No IO.*

use super::text::{self, TEXT_LIMIT};

/// Bytes of `Record::fields`.
const FIELDS_LIMIT: usize = 2 * 1024;
/// Fields of one record that are looked at.
const FIELD_COUNT: usize = 128;

/// What a key says about its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Module,
    Level,
    Message,
    Error,
    Stack,
    /// Names a remote party; kept as a field.
    Peer,
    /// Time, caller: no part of the event.
    Dropped,
    Other,
}

/// What `key` says about its value.
pub(super) fn kind(key: &[u8]) -> Kind {
    match key {
        b"module" | b"logger" => Kind::Module,
        b"message" | b"msg" | b"_msg" | b"@message" => Kind::Message,
        b"level" | b"lvl" | b"severity" | b"@level" | b"L" => Kind::Level,
        b"err" | b"error" | b"errs" | b"errors" | b"reason" | b"panic" | b"cause" => Kind::Error,
        b"stack" | b"stacktrace" | b"stack_trace" | b"stackTrace" => Kind::Stack,
        b"time" | b"ts" | b"t" | b"timestamp" | b"@timestamp" | b"caller" | b"source" | b"func" => Kind::Dropped,
        b"peer" | b"Peer" | b"peerID" | b"peerId" | b"peer_id" | b"src" | b"remote" | b"remote_addr"
        | b"remoteAddr" => Kind::Peer,
        _ => Kind::Other,
    }
}

/// Whether `key` carries the level.
pub(super) fn is_level(key: &[u8]) -> bool {
    kind(key) == Kind::Level
}

/// Whether `key` carries the message.
pub(super) fn is_message(key: &[u8]) -> bool {
    kind(key) == Kind::Message
}

/// A value as it stands in the line.
#[derive(Debug, Clone, Copy)]
pub(super) struct Raw<'a> {
    pub(super) bytes: &'a [u8],
    /// Whether it has escapes to decode.
    pub(super) quoted: bool,
}

impl Raw<'_> {
    /// Appends it decoded. `false` when something was dropped.
    pub(super) fn push_to(self, out: &mut String, limit: usize) -> bool {
        if self.quoted { text::push_unescaped(out, self.bytes, limit) } else { text::push(out, self.bytes, limit) }
    }
}

/// Fields of one record, decoded, in one buffer that is used again for the next record.
#[derive(Debug, Default)]
pub(super) struct Fields {
    text: String,
    spans: Vec<Span>,
}

#[derive(Debug, Clone, Copy)]
struct Span {
    start: usize,
    equals: usize,
    end: usize,
    error: bool,
}

impl Fields {
    pub(super) fn clear(&mut self) {
        self.text.clear();
        self.spans.clear();
    }

    /// Takes one field. `false` when bytes of it were dropped.
    pub(super) fn add(&mut self, key: &[u8], value: Raw<'_>, error: bool) -> bool {
        if self.spans.len() >= FIELD_COUNT {
            return false;
        }
        let start = self.text.len();
        let limit = if error { TEXT_LIMIT } else { FIELDS_LIMIT };
        text::push(&mut self.text, key, start + FIELDS_LIMIT);
        let equals = self.text.len();
        self.text.push('=');
        let whole = value.push_to(&mut self.text, equals + limit);
        self.spans.push(Span { start, equals, end: self.text.len(), error });
        whole
    }

    /// Writes the errors, each once, and the other fields, both sorted by key. `false` when bytes of an error were dropped.
    pub(super) fn write(&mut self, errors: &mut String, fields: &mut String, errors_limit: usize) -> bool {
        if self.spans.is_empty() {
            return true;
        }
        let text = &self.text;
        self.spans.sort_by(|one, other| text.get(one.start..one.equals).cmp(&text.get(other.start..other.equals)));
        let mut whole = true;
        for (place, span) in self.spans.iter().enumerate() {
            let value = self.text.get(span.equals + 1..span.end).unwrap_or_default();
            if span.error {
                let seen = |earlier: &Span| {
                    earlier.error && self.text.get(earlier.equals + 1..earlier.end).unwrap_or_default() == value
                };
                if value.is_empty() || self.spans.iter().take(place).any(seen) {
                    continue;
                }
                whole &= errors.is_empty() || text::push_str(errors, "\n", errors_limit);
                whole &= text::push_str(errors, value, errors_limit);
            } else if let Some(field) = self.text.get(span.start..span.end)
                && fields.len() + field.len() < FIELDS_LIMIT
            {
                if !fields.is_empty() {
                    fields.push(' ');
                }
                fields.push_str(field);
            }
        }
        whole
    }
}
