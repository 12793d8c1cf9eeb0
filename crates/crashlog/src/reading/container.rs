//! Lines as a container runtime stores them: the kubelet's CRI files and Docker's JSON files. *No IO.*

use memchr::memchr;

use super::json;

/// One stored line.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stored<'a> {
    /// Standard error rather than standard output: a partial line goes on only in its own stream.
    pub(super) stderr: bool,
    /// The line goes on in the next stored line.
    pub(super) partial: bool,
    pub(super) body: StoredBody<'a>,
}

/// What the process wrote.
#[derive(Debug, Clone, Copy)]
pub(super) enum StoredBody<'a> {
    Plain(&'a [u8]),
    /// The inside of a JSON string.
    Escaped(&'a [u8]),
}

/// Takes a stored line apart; `None` when it is none.
pub(super) fn stored(line: &[u8]) -> Option<Stored<'_>> {
    match line.first()? {
        b'{' => docker(line),
        b'1'..=b'9' => cri(line),
        _ => None,
    }
}

/// `2026-11-30T20:59:28.1Z stdout F text` (`P`: the runtime split a line of more than 16 KiB).
fn cri(line: &[u8]) -> Option<Stored<'_>> {
    // Most lines of a node start with a clock: rule them out by one byte.
    if line.get(10) != Some(&b'T') {
        return None;
    }
    let (_, rest) = super::stamp::rfc3339(line)?;
    let stream = rest.get(..8)?;
    let stderr = match stream {
        b" stdout " => false,
        b" stderr " => true,
        _ => return None,
    };
    let rest = rest.get(8..)?;
    let end = memchr(b' ', rest.get(..32).unwrap_or(rest)).unwrap_or(rest.len());
    let tag = rest.get(..end)?;
    let partial = match tag.split(|byte| *byte == b':').next()? {
        b"F" => false,
        b"P" => true,
        _ => return None,
    };
    Some(Stored { stderr, partial, body: StoredBody::Plain(rest.get(end + 1..).unwrap_or_default()) })
}

/// `{"log":"text\n","stream":"stderr","time":"…"}`; without the `\n` the line goes on.
fn docker(line: &[u8]) -> Option<Stored<'_>> {
    let (text, rest) = json::string(line.strip_prefix(b"{\"log\":\"")?);
    let stderr = memchr::memmem::find(rest, b"\"stream\":\"stderr\"").is_some();
    let whole = text.strip_suffix(b"\\n");
    // A backslash before the `\n` makes it a backslash and the letter n.
    let ends = whole.is_some_and(|text| text.iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 0);
    let text = whole.filter(|_| ends).unwrap_or(text);
    Some(Stored { stderr, partial: !ends && !rest.is_empty(), body: StoredBody::Escaped(text) })
}
