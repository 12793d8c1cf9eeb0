//! Takes from a stored line what containers, terminals and collectors put around it; joins partial lines. *No IO.*

use super::assembly::{Assembly, Line};
use super::container::{self, StoredBody};
use super::{LINE_LIMIT, Sink, colour, prefix};

/// Buffers, used again for each line.
#[derive(Debug, Default)]
pub(super) struct Transport {
    partial: Partial,
    decoded: Vec<u8>,
    plain: Vec<u8>,
    uncoloured: Vec<u8>,
}

/// The partial lines of one stream so far.
#[derive(Debug, Default)]
struct Partial {
    text: Vec<u8>,
    /// Number of the first; 0: there is none.
    number: u64,
    count: u32,
    stderr: bool,
    cut: bool,
}

impl Transport {
    /// Takes line `number` of the input, gives what the process wrote to `assembly`.
    pub(super) fn line(&mut self, raw: &[u8], number: u64, cut: bool, assembly: &mut Assembly, sink: Sink<'_>) {
        let raw = raw.strip_suffix(b"\r").unwrap_or(raw);
        let raw = if number == 1 { raw.strip_prefix(b"\xef\xbb\xbf").unwrap_or(raw) } else { raw };
        let Some(stored) = container::stored(raw) else {
            return self.inner(raw, number, 1, cut, assembly, sink);
        };
        let mut decoded = std::mem::take(&mut self.decoded);
        let body = match stored.body {
            StoredBody::Plain(body) => body,
            StoredBody::Escaped(body) => {
                decode(body, &mut decoded);
                decoded.as_slice()
            }
        };
        if self.partial.number > 0 && self.partial.stderr != stored.stderr {
            // What is missing comes later, as a line that nobody can tell to belong here.
            self.partial.cut = true;
            self.end_partial(assembly, sink);
        }
        if stored.partial || self.partial.number > 0 {
            self.partial.add(body, number, stored.stderr, cut);
            if !stored.partial {
                self.end_partial(assembly, sink);
            }
        } else {
            self.inner(body.strip_suffix(b"\r").unwrap_or(body), number, 1, cut, assembly, sink);
        }
        self.decoded = decoded;
    }

    /// The end of the input: a partial line has no further part.
    pub(super) fn finish(&mut self, assembly: &mut Assembly, sink: Sink<'_>) {
        if self.partial.number > 0 {
            self.end_partial(assembly, sink);
        }
    }

    fn end_partial(&mut self, assembly: &mut Assembly, sink: Sink<'_>) {
        let mut partial = std::mem::take(&mut self.partial);
        let text = partial.text.strip_suffix(b"\r").unwrap_or(&partial.text);
        self.inner(text, partial.number, partial.count, partial.cut, assembly, sink);
        partial.text.clear();
        self.partial = Partial { text: partial.text, ..Partial::default() };
    }

    /// Colours and prefixes.
    fn inner(&mut self, raw: &[u8], number: u64, count: u32, cut: bool, assembly: &mut Assembly, sink: Sink<'_>) {
        let text = if colour::strip(raw, &mut self.plain) { self.plain.as_slice() } else { raw };
        let mut bare = prefix::strip(text);
        if colour::strip_bare(bare.text, &mut self.uncoloured) {
            bare = prefix::Bare { text: &self.uncoloured, ..bare };
        } else if bare.text.first().is_some_and(u8::is_ascii_whitespace) {
            // A quoted excerpt is indented as a whole; a line of a stack has no prefix behind its tab.
            let inner = prefix::strip(bare.text.trim_ascii_start());
            if inner.timed || inner.machine {
                bare = inner;
            }
        }
        assembly.line(&Line { number, count, bare, cut }, sink);
    }
}

impl Partial {
    fn add(&mut self, body: &[u8], number: u64, stderr: bool, cut: bool) {
        if self.number == 0 {
            (self.number, self.stderr) = (number, stderr);
        }
        self.count = self.count.saturating_add(1);
        let room = LINE_LIMIT.saturating_sub(self.text.len());
        self.cut |= cut || body.len() > room;
        self.text.extend_from_slice(body.get(..room).unwrap_or(body));
    }
}

/// Decodes the inside of a JSON string; only what Docker escapes (it replaces foreign bytes by U+FFFD itself).
fn decode(body: &[u8], out: &mut Vec<u8>) {
    let mut text = String::from_utf8(std::mem::take(out)).unwrap_or_default();
    text.clear();
    super::text::push_unescaped(&mut text, body, LINE_LIMIT);
    *out = text.into_bytes();
}
