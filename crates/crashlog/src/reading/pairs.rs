//! `key=value` pairs after a message, values quoted as Go quotes them (logfmt, zerolog's console, log15). *No IO.*

use memchr::{memchr, memchr2};

/// Longest key: bounds the way back from each `=`.
const KEY_LIMIT: usize = 64;

/// One pair.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pair<'a> {
    pub(super) key: &'a [u8],
    /// Without the quotes, escapes not yet decoded.
    pub(super) value: &'a [u8],
    pub(super) quoted: bool,
    /// The closing quote is missing: the value may go on in the next line.
    pub(super) open: bool,
}

/// The pairs of one line.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pairs<'a> {
    text: &'a [u8],
    /// Start of the first key and place of its `=`; the text's length where there is none.
    first: (usize, usize),
}

/// Message, then pairs.
pub(super) fn split(text: &[u8]) -> (&[u8], Pairs<'_>) {
    let first = find_key(text, 0);
    (text.get(..first.0).unwrap_or_default().trim_ascii(), Pairs { text, first })
}

impl<'a> Pairs<'a> {
    /// Visits the pairs in the order of the line. No iterator: handing out a pair by value costs more than finding it.
    #[inline]
    pub(super) fn visit(self, mut visitor: impl FnMut(Pair<'a>)) {
        let text = self.text;
        let (mut start, mut equals) = self.first;
        while let Some(key) = text.get(start..equals).filter(|key| !key.is_empty()) {
            let from = equals + 1;
            let close = if text.get(from) == Some(&b'"') { closing_quote(text, from + 1) } else { None };
            let quoted = text.get(from) == Some(&b'"');
            let open = quoted && close.is_none();
            (start, equals) = match close {
                Some(close) => find_key(text, close + 1),
                None if open => (text.len(), text.len()),
                None => find_key(text, from),
            };
            let value = if open {
                text.get(from + 1..)
            } else if let Some(close) = close {
                text.get(from + 1..quoted_end(text, close, start))
            } else {
                text.get(from..start).map(<[u8]>::trim_ascii_end)
            };
            visitor(Pair { key, value: value.unwrap_or_default(), quoted, open });
        }
    }

    /// The value of the first pair with such a key.
    pub(super) fn find(self, mut wanted: impl FnMut(&[u8]) -> bool) -> Option<Pair<'a>> {
        let mut found = None;
        self.visit(|pair| {
            if found.is_none() && wanted(pair.key) {
                found = Some(pair);
            }
        });
        found
    }
}

/// End of a quoted value. An unescaped quote inside it looks like its end: words up to the next key still belong to it.
fn quoted_end(text: &[u8], close: usize, next_key: usize) -> usize {
    let tail = text.get(close + 1..next_key).unwrap_or_default().trim_ascii_end();
    match tail.last() {
        None => close,
        Some(b'"') => close + tail.len(),
        Some(_) => close + 1 + tail.len(),
    }
}

/// The next `key=` at or after `from`, a word of key characters after a blank: its start and the place of its `=`; the
/// text's length for both where there is none.
#[inline]
fn find_key(text: &[u8], from: usize) -> (usize, usize) {
    let mut at = from;
    while let Some(step) = text.get(at..).and_then(|rest| memchr(b'=', rest)) {
        let equals = at + step;
        let mut start = equals;
        let lowest = from.max(equals.saturating_sub(KEY_LIMIT));
        let before = text.get(lowest..equals).unwrap_or_default();
        let stop = before.iter().rev().find(|byte| {
            let key = is_key(**byte);
            start -= usize::from(key);
            !key
        });
        let blank_before = match stop {
            Some(byte) => byte.is_ascii_whitespace(),
            None => start == 0 || text.get(start - 1).is_some_and(u8::is_ascii_whitespace),
        };
        if blank_before && start < equals && text.get(start).is_some_and(|byte| opens_key(*byte)) {
            return (start, equals);
        }
        at = equals + 1;
    }
    (text.len(), text.len())
}

fn opens_key(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || matches!(byte, b'#' | b'_')
}

/// Bytes of a key, as a table: this is asked for every byte before an `=`.
#[expect(clippy::indexing_slicing, reason = "evaluated by the compiler, which refuses a place outside")]
const KEY_BYTES: [bool; 256] = {
    let mut table = [false; 256];
    let bytes = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./#$@";
    let mut place = 0;
    while place < bytes.len() {
        table[bytes[place] as usize] = true;
        place += 1;
    }
    table
};

fn is_key(byte: u8) -> bool {
    KEY_BYTES.get(usize::from(byte)).copied().unwrap_or(false)
}

/// The quote that ends a value: not escaped, and at the end of the line or before a blank.
pub(super) fn closing_quote(text: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    loop {
        let place = at + memchr2(b'"', b'\\', text.get(at..)?)?;
        if text.get(place) == Some(&b'\\') {
            at = place + 2;
        } else if text.get(place + 1).is_none_or(u8::is_ascii_whitespace) {
            return Some(place);
        } else {
            at = place + 1;
        }
    }
}

/// How many quotes of a line are not escaped.
pub(super) fn quotes(text: &[u8]) -> usize {
    let (mut count, mut at) = (0, 0);
    while let Some(place) = text.get(at..).and_then(|rest| memchr2(b'"', b'\\', rest)).map(|step| at + step) {
        let quote = text.get(place) == Some(&b'"');
        count += usize::from(quote);
        at = place + if quote { 1 } else { 2 };
    }
    count
}
