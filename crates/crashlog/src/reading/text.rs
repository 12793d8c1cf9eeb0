//! Foreign bytes into bounded text. *No IO.*

/// Bytes of text that one record keeps at most, over its message and its errors.
pub(super) const TEXT_LIMIT: usize = 16 * 1024;

/// Appends `bytes` as UTF-8, damaged parts as U+FFFD, until `out` holds `limit` bytes. `false` when something was dropped.
pub(super) fn push(out: &mut String, bytes: &[u8], limit: usize) -> bool {
    match std::str::from_utf8(bytes) {
        Ok(text) => push_str(out, text, limit),
        Err(_) => bytes.utf8_chunks().all(|chunk| {
            push_str(out, chunk.valid(), limit) && (chunk.invalid().is_empty() || push_str(out, "\u{fffd}", limit))
        }),
    }
}

/// Appends `text` until `out` holds `limit` bytes, never half a character. `false` when something was dropped.
pub(super) fn push_str(out: &mut String, text: &str, limit: usize) -> bool {
    let room = limit.saturating_sub(out.len());
    if text.len() <= room {
        out.push_str(text);
        return true;
    }
    if let Some((kept, _)) = text.split_at_checked(text.floor_char_boundary(room)) {
        out.push_str(kept);
    }
    false
}

/// Appends the value of a quoted string: the escapes of Go's `%q` and of JSON decoded, whatever is no escape kept as it is.
pub(super) fn push_unescaped(out: &mut String, mut raw: &[u8], limit: usize) -> bool {
    while let Some(at) = memchr::memchr(b'\\', raw) {
        let Some((before, escape)) = raw.split_at_checked(at) else { break };
        let (decoded, after) = unescape(escape);
        if !push(out, before, limit) || !push_str(out, decoded.encode_utf8(&mut [0; 4]), limit) {
            return false;
        }
        raw = after;
    }
    push(out, raw, limit)
}

/// Decodes the escape at the start of `escape` (a backslash); the character, then what follows it.
fn unescape(escape: &[u8]) -> (char, &[u8]) {
    let Some((&kind, after)) = escape.get(1..).and_then(<[u8]>::split_first) else { return ('\\', &[]) };
    match kind {
        b'n' => ('\n', after),
        b't' => ('\t', after),
        b'r' => ('\r', after),
        b'a' | b'b' | b'f' | b'v' => (' ', after),
        b'"' | b'\\' | b'/' | b'\'' => (char::from(kind), after),
        b'x' => number(after, 2, after),
        b'u' => utf16(after),
        b'U' => number(after, 8, after),
        _ => ('\\', escape.get(1..).unwrap_or_default()),
    }
}

/// A `\u` escape, with its second half where the first is a high surrogate.
fn utf16(after: &[u8]) -> (char, &[u8]) {
    let Some(high) = hex(after, 4) else { return ('\u{fffd}', after) };
    let rest = after.get(4..).unwrap_or_default();
    if (0xd800..0xdc00).contains(&high)
        && let Some(low) = rest.strip_prefix(b"\\u").and_then(|digits| hex(digits, 4))
        && (0xdc00..0xe000).contains(&low)
    {
        let both = 0x1_0000 + ((high - 0xd800) << 10) + (low - 0xdc00);
        return (char::from_u32(both).unwrap_or('\u{fffd}'), rest.get(6..).unwrap_or_default());
    }
    (char::from_u32(high).unwrap_or('\u{fffd}'), rest)
}

/// An escape of `digits` hexadecimal digits. A byte of Go's `\xff` form is no character of its own.
fn number<'a>(after: &'a [u8], digits: usize, broken: &'a [u8]) -> (char, &'a [u8]) {
    let Some(value) = hex(after, digits) else { return ('\u{fffd}', broken) };
    let character = if digits == 2 && value >= 0x80 { None } else { char::from_u32(value) };
    (character.unwrap_or('\u{fffd}'), after.get(digits..).unwrap_or_default())
}

fn hex(text: &[u8], digits: usize) -> Option<u32> {
    text.get(..digits)?.iter().try_fold(0, |value, &digit| Some(value * 16 + char::from(digit).to_digit(16)?))
}

/// Whether a line is text: no NUL, and at most a tenth of its bytes are control characters or no UTF-8.
pub(super) fn is_text(line: &[u8]) -> bool {
    if line.is_ascii() && line.iter().all(|&byte| byte >= b' ' || byte == b'\t') {
        return true;
    }
    let odd = |byte: &&u8| **byte < b' ' && **byte != b'\t';
    let broken: usize = line
        .utf8_chunks()
        .map(|chunk| chunk.invalid().len() + chunk.valid().as_bytes().iter().filter(odd).count())
        .sum();
    memchr::memchr(0, line).is_none() && broken * 10 <= line.len()
}

/// Without blanks at both ends.
pub(super) fn trim(line: &[u8]) -> &[u8] {
    line.trim_ascii()
}

/// Splits at the first `byte`: before it, after it.
pub(super) fn cut(line: &[u8], byte: u8) -> Option<(&[u8], &[u8])> {
    let (before, rest) = line.split_at_checked(memchr::memchr(byte, line)?)?;
    Some((before, rest.get(1..)?))
}

/// Splits at the first blank or tab; the rest without leading blanks.
pub(super) fn word(line: &[u8]) -> (&[u8], &[u8]) {
    let at = memchr::memchr2(b' ', b'\t', line).unwrap_or(line.len());
    let (before, rest) = line.split_at_checked(at).unwrap_or((line, &[]));
    (before, rest.trim_ascii_start())
}

/// How many bytes at the start are decimal digits.
pub(super) fn digits(line: &[u8]) -> usize {
    line.iter().take_while(|byte| byte.is_ascii_digit()).count()
}

/// Whether `line` starts like `shape`, where `9` stands for a digit.
pub(super) fn shaped(line: &[u8], shape: &[u8]) -> bool {
    line.len() >= shape.len()
        && line.iter().zip(shape).all(|(byte, form)| if *form == b'9' { byte.is_ascii_digit() } else { byte == form })
}
