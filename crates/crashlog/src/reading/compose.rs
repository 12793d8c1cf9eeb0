//! From a head to a record in canonical form. *No IO.*

use super::fields::{self, Fields, Kind, Raw};
use super::head::{Body, Head};
use super::json::{self, Value};
use super::text::{self, TEXT_LIMIT};
use super::{frames, level, origin, pairs};
use crate::{Level, Record};

/// Buffers for one record, used again for the next.
#[derive(Debug, Default)]
pub(super) struct Composer {
    fields: Fields,
    stack: String,
    peer: bool,
    keep_fields: bool,
    /// The last quoted value has no end: it goes on in the next line.
    pub(super) open: bool,
}

/// Messages below a warning whose fields are evidence: the three heights.
const FIELDS_OF_INFO: [&str; 3] = ["ABCI Handshake App Info", "ABCI Replay Blocks", "Completed ABCI Handshake"];

impl Composer {
    /// Fills `record`, which is empty, from `head`.
    pub(super) fn compose(&mut self, head: &Head<'_>, record: &mut Record) {
        self.fields.clear();
        self.stack.clear();
        self.peer = false;
        self.open = false;
        self.keep_fields = false;
        record.level = head.level;
        text::push(&mut record.module, head.module, 256);
        match head.body {
            Body::Text(body) => self.text(Raw { bytes: body, quoted: false }, record),
            Body::Pairs(body) => self.pairs(body, record),
            Body::Json(body) => self.json(body, record),
            Body::Tail(message, tail) => {
                self.text(Raw { bytes: message, quoted: false }, record);
                for (key, value) in json::members(tail) {
                    self.field(key, raw(value), record);
                }
            }
        }
        let room = TEXT_LIMIT.saturating_sub(record.message.len());
        record.cut |= !self.fields.write(&mut record.errors, &mut record.fields, room);
        if !self.stack.is_empty() {
            frames::keep_all(&self.stack, &mut record.frames);
        }
        record.emitter = origin::of(&record.module, &record.message, self.peer);
    }

    /// Message, then pairs. In JSON a message may hold pairs as well: they are fields there too, as in the other formats.
    fn text(&mut self, body: Raw<'_>, record: &mut Record) {
        let (message, rest) = pairs::split(body.bytes);
        record.cut |= !Raw { bytes: message, quoted: body.quoted }.push_to(&mut record.message, TEXT_LIMIT);
        self.keep_fields = keeps_fields(record);
        rest.visit(|pair| {
            self.open |= pair.open;
            self.field(pair.key, Raw { bytes: pair.value, quoted: pair.quoted || body.quoted }, record);
        });
    }

    /// `level=error msg="…" key=value`.
    fn pairs(&mut self, body: &[u8], record: &mut Record) {
        let all = pairs::split(body).1;
        if let Some(pair) = all.find(fields::is_level) {
            record.level = level::of_word(pair.value).unwrap_or(Level::None);
        }
        if let Some(message) = all.find(fields::is_message) {
            self.open |= message.open;
            self.text(Raw { bytes: message.value, quoted: message.quoted }, record);
        }
        all.visit(|pair| {
            self.open |= pair.open;
            if !fields::is_message(pair.key) {
                self.field(pair.key, Raw { bytes: pair.value, quoted: pair.quoted }, record);
            }
        });
    }

    /// One object. `message` wins over `msg` (`"msg":{},"message":"service start"`), which then is a field.
    fn json(&mut self, body: &[u8], record: &mut Record) {
        let (mut message, mut key_of_message): (Option<Raw<'_>>, &[u8]) = (None, &[]);
        for (key, value) in json::members(body) {
            match fields::kind(key) {
                Kind::Level => record.level = level::of_word(raw(value).bytes).unwrap_or(Level::None),
                Kind::Message if message.is_none() || key == b"message" => {
                    (message, key_of_message) = (Some(raw(value)), key);
                }
                Kind::Message | Kind::Other | Kind::Dropped => {}
                Kind::Module | Kind::Error | Kind::Stack | Kind::Peer => self.field(key, raw(value), record),
            }
        }
        self.text(message.unwrap_or(Raw { bytes: &[], quoted: false }), record);
        // A quote that JSON closed is closed, whatever its message looks like.
        self.open = false;
        if self.keep_fields {
            // Only now level and message tell that they are wanted.
            let wanted = |kind| matches!(kind, Kind::Message | Kind::Other | Kind::Peer);
            for (key, value) in
                json::members(body).filter(|(key, _)| wanted(fields::kind(key)) && *key != key_of_message)
            {
                self.fields.add(key, raw(value), false);
            }
        }
    }

    fn field(&mut self, key: &[u8], value: Raw<'_>, record: &mut Record) {
        match fields::kind(key) {
            Kind::Module => {
                record.module.clear();
                value.push_to(&mut record.module, 256);
                // `tendermint:consensus`
                if let Some(colon) = memchr::memrchr(b':', record.module.as_bytes()) {
                    record.module.drain(..=colon);
                }
            }
            Kind::Error => record.cut |= !self.fields.add(key, value, true),
            Kind::Stack => {
                self.stack.clear();
                value.push_to(&mut self.stack, 2 * TEXT_LIMIT);
            }
            Kind::Peer => {
                self.peer = true;
                self.other(key, value);
            }
            Kind::Message | Kind::Other => self.other(key, value),
            Kind::Level | Kind::Dropped => {}
        }
    }

    fn other(&mut self, key: &[u8], value: Raw<'_>) {
        if self.keep_fields {
            self.fields.add(key, value, false);
        }
    }
}

fn raw(value: Value<'_>) -> Raw<'_> {
    match value {
        Value::Text(bytes) => Raw { bytes, quoted: true },
        Value::Raw(bytes) => Raw { bytes, quoted: false },
    }
}

fn keeps_fields(record: &Record) -> bool {
    record.level >= Level::Warn
        || record.message.starts_with(['A', 'C'])
            && FIELDS_OF_INFO.iter().any(|message| record.message.starts_with(message))
}
