//! Members of one JSON object on one line, read without building it; a line that was cut gives what stands before the cut.
//! *No IO.*

use memchr::memchr2;

/// A member's value, still as it stands in the line.
#[derive(Debug, Clone, Copy)]
pub(super) enum Value<'a> {
    /// What stands between the quotes, escapes not yet decoded.
    Text(&'a [u8]),
    /// A number, a word, an object or an array.
    Raw(&'a [u8]),
}

/// The members, in the order of the line.
#[derive(Debug, Clone)]
pub(super) struct Members<'a>(&'a [u8]);

/// The members of the object that `line` starts with.
pub(super) fn members(line: &[u8]) -> Members<'_> {
    Members(line.strip_prefix(b"{").unwrap_or_default())
}

impl<'a> Iterator for Members<'a> {
    type Item = (&'a [u8], Value<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        let rest = self.0.trim_ascii_start();
        let rest = rest.strip_prefix(b",").unwrap_or(rest).trim_ascii_start();
        let (key, rest) = string(rest.strip_prefix(b"\"")?);
        let rest = rest.trim_ascii_start().strip_prefix(b":")?.trim_ascii_start();
        let (value, rest) = match rest.first()? {
            b'"' => {
                let (text, rest) = string(rest.get(1..)?);
                (Value::Text(text), rest)
            }
            b'{' | b'[' => {
                let (raw, rest) = rest.split_at_checked(nested(rest))?;
                (Value::Raw(raw), rest)
            }
            _ => {
                let end = memchr2(b',', b'}', rest).unwrap_or(rest.len());
                let (raw, rest) = rest.split_at_checked(end)?;
                (Value::Raw(raw.trim_ascii_end()), rest)
            }
        };
        self.0 = rest;
        Some((key, value))
    }
}

/// A string after its opening quote: its inside, then what follows its closing one (nothing, where the line was cut).
pub(super) fn string(text: &[u8]) -> (&[u8], &[u8]) {
    let mut at = 0;
    while let Some(place) = text.get(at..).and_then(|rest| memchr2(b'"', b'\\', rest)).map(|step| at + step) {
        if text.get(place) == Some(&b'"') {
            let inside = text.get(..place).unwrap_or_default();
            return (inside, text.get(place + 1..).unwrap_or_default());
        }
        at = place + 2;
    }
    (text, &[])
}

/// Length of the object or array at the start.
fn nested(text: &[u8]) -> usize {
    let (mut depth, mut at) = (0_usize, 0);
    while let Some(byte) = text.get(at) {
        at += 1;
        match byte {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            b'"' => {
                let (inside, _) = string(text.get(at..).unwrap_or_default());
                at = (at + inside.len() + 1).min(text.len());
            }
            _ => {}
        }
        if depth == 0 {
            break;
        }
    }
    at
}
