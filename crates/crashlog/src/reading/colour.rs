//! Terminal colours. *No IO.*

use memchr::memchr2;

/// Copies `line` without ANSI escape sequences to `out`. `false`, and nothing copied, when it has none.
pub(super) fn strip(line: &[u8], out: &mut Vec<u8>) -> bool {
    let Some(first) = next_sequence(line) else { return false };
    out.clear();
    let (mut rest, mut at) = (line, first);
    while let Some((before, sequence)) = rest.split_at_checked(at) {
        out.extend_from_slice(before);
        rest = after_sequence(sequence);
        let Some(next) = next_sequence(rest) else { break };
        at = next;
    }
    out.extend_from_slice(rest);
    true
}

/// Place of the next escape byte; rsyslog spells it `#033`.
fn next_sequence(line: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        let place = at + memchr2(0x1b, b'#', line.get(at..)?)?;
        let found = line.get(place..)?;
        if found.starts_with(b"\x1b") || found.starts_with(b"#033[") {
            return Some(place);
        }
        at = place + 1;
    }
}

/// What follows an escape sequence: `ESC [ parameters letter`, or `ESC` and one byte.
fn after_sequence(sequence: &[u8]) -> &[u8] {
    let rest = sequence.strip_prefix(b"\x1b").or_else(|| sequence.strip_prefix(b"#033")).unwrap_or(sequence);
    let Some(parameters) = rest.strip_prefix(b"[") else { return rest.get(1..).unwrap_or_default() };
    let length = parameters.iter().take(32).take_while(|byte| (0x20..0x40).contains(*byte)).count();
    parameters.get(length + 1..).unwrap_or_default()
}

/// Copies a line whose escape bytes were lost (`[90m8:59PM[0m [32mINF[0m …`) without what is left of them.
pub(super) fn strip_bare(line: &[u8], out: &mut Vec<u8>) -> bool {
    if sequence_length(line).is_none() {
        return false;
    }
    out.clear();
    let mut rest = line;
    while let Some((byte, after)) = rest.split_first() {
        rest = if let Some(length) = sequence_length(rest) {
            rest.get(length..).unwrap_or_default()
        } else {
            out.push(*byte);
            after
        };
    }
    true
}

/// Length of `[0m`, `[90m`, `[1;31m`.
fn sequence_length(text: &[u8]) -> Option<usize> {
    let inside = text.strip_prefix(b"[")?;
    let numbers = inside.iter().take(8).take_while(|byte| byte.is_ascii_digit() || **byte == b';').count();
    (numbers > 0 && inside.get(numbers) == Some(&b'm')).then_some(numbers + 2)
}
