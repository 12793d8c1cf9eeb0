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

/// The pairs of one line, in its order.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pairs<'a> {
    text: &'a [u8],
    /// Start of the next key and place of its `=`.
    key: Option<(usize, usize)>,
}

/// Message, then pairs.
pub(super) fn split(text: &[u8]) -> (&[u8], Pairs<'_>) {
    let key = find_key(text, 0);
    let end = key.map_or(text.len(), |(start, _)| start);
    (text.get(..end).unwrap_or_default().trim_ascii(), Pairs { text, key })
}

impl<'a> Iterator for Pairs<'a> {
    type Item = Pair<'a>;

    fn next(&mut self) -> Option<Pair<'a>> {
        let (start, equals) = self.key.take()?;
        let key = self.text.get(start..equals)?;
        let from = equals + 1;
        if self.text.get(from) != Some(&b'"') {
            self.key = find_key(self.text, from);
            let end = self.key.map_or(self.text.len(), |(next, _)| next);
            let value = self.text.get(from..end)?.trim_ascii_end();
            return Some(Pair { key, value, quoted: false, open: false });
        }
        let Some(close) = closing_quote(self.text, from + 1) else {
            return Some(Pair { key, value: self.text.get(from + 1..)?, quoted: true, open: true });
        };
        self.key = find_key(self.text, close + 1);
        // An unescaped quote inside the value looks like its end: the words up to the next key still belong to it.
        let end = self.key.map_or(self.text.len(), |(next, _)| next);
        let tail = self.text.get(close + 1..end)?.trim_ascii();
        let value = if tail.is_empty() {
            self.text.get(from + 1..close)?
        } else {
            let whole = self.text.get(from + 1..end)?.trim_ascii_end();
            whole.strip_suffix(b"\"").unwrap_or(whole)
        };
        Some(Pair { key, value, quoted: true, open: false })
    }
}

/// The next `key=` at or after `from`: a word of key characters after a blank.
fn find_key(text: &[u8], from: usize) -> Option<(usize, usize)> {
    let mut at = from;
    loop {
        let equals = at + memchr(b'=', text.get(at..)?)?;
        let before = text.get(from..equals)?;
        let length = before.iter().rev().take(KEY_LIMIT).take_while(|byte| is_key(**byte)).count();
        let start = equals - length;
        let blank_before = start.checked_sub(1).and_then(|place| text.get(place)).is_none_or(u8::is_ascii_whitespace);
        let opens = text.get(start).is_some_and(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'#' | b'_'));
        if blank_before && opens && (1..KEY_LIMIT).contains(&length) {
            return Some((start, equals));
        }
        at = equals + 1;
    }
}

fn is_key(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'/' | b'#' | b'$' | b'@')
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
