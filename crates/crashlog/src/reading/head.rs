//! Which log format a line has: its level, and where its message and its fields stand. One function a format. *No IO.*
//!
//! Formats and their makers: plain (Tendermint's `tmfmt` logger), console (zerolog), JSON (zerolog, go-kit, zap, slog),
//! logfmt (logrus, slog, go-kit), bracketed (geth, log15), klog, levelled words (Rust's tracing and `env_logger`, zap's console).

use memchr::memmem;

use super::{level, text};
use crate::Level;

/// A line in a log format.
#[derive(Debug, Clone, Copy)]
pub(super) struct Head<'a> {
    /// `None` also where the format keeps it in a field.
    pub(super) level: Level,
    /// Where the format gives it a place of its own.
    pub(super) module: &'a [u8],
    pub(super) body: Body<'a>,
}

/// Where message and fields are.
#[derive(Debug, Clone, Copy)]
pub(super) enum Body<'a> {
    /// Message, then `key=value`.
    Text(&'a [u8]),
    /// Everything in `key=value`, the message too.
    Pairs(&'a [u8]),
    /// Everything in one JSON object.
    Json(&'a [u8]),
    /// Message, then one JSON object of fields.
    Tail(&'a [u8], &'a [u8]),
}

/// The head of a line; `None` for bare text. `timed`: a date and time before it were already removed.
pub(super) fn of(line: &[u8], timed: bool) -> Option<Head<'_>> {
    match *line.first()? {
        b'{' => json(line),
        b'0'..=b'9' => console(line),
        b'?' => letters(line),
        b'[' => dated(line).or_else(|| spanned(line)),
        b't' | b'l' | b'm' => logfmt(line),
        b'A'..=b'Z' => plain(line)
            .or_else(|| letters(line))
            .or_else(|| bracketed(line))
            .or_else(|| klog(line))
            .or_else(|| if timed { levelled(line) } else { None }),
        _ => None,
    }
}

fn text_head(level: Level, body: &[u8]) -> Head<'_> {
    Head { level, module: &[], body: Body::Text(body) }
}

/// `I[2021-01-05|13:34:55.952] message    module=consensus`, also with `[01-05|13:34:55.952]`.
fn plain(line: &[u8]) -> Option<Head<'_>> {
    let (letter, rest) = line.split_first()?;
    let inside = rest.strip_prefix(b"[")?;
    let (stamp, body) = text::cut(inside.get(..40).unwrap_or(inside), b']')?;
    let body = inside.get(stamp.len() + 1..).unwrap_or(body);
    (stamp.first()?.is_ascii_digit() && stamp.contains(&b'|')).then_some(())?;
    Some(text_head(level::of_letter(*letter)?, body))
}

/// `3:04PM INF message key=value`.
fn console(line: &[u8]) -> Option<Head<'_>> {
    let hours = text::digits(line);
    let clock = line.get(hours..)?;
    let half = clock.get(3)?;
    if hours > 2 || !text::shaped(clock, b":99") || !matches!(half, b'A' | b'P') || clock.get(4) != Some(&b'M') {
        return None;
    }
    letters(clock.get(5..)?.trim_ascii_start())
}

/// `INF message`, `ERR file.go:12 > message`: zerolog's console without its time.
fn letters(line: &[u8]) -> Option<Head<'_>> {
    let (letters, rest) = line.split_at_checked(3)?;
    if !rest.first().is_none_or(u8::is_ascii_whitespace) {
        return None;
    }
    let level = level::of_letters(letters)?;
    let body = rest.trim_ascii_start();
    // Nim's chronicles puts date and time after the level.
    let body = super::stamp::rfc3339(body).map_or(body, |(_, rest)| rest.trim_ascii_start());
    Some(text_head(level, without_caller(body)))
}

/// Drops `file.go:12 > ` or `file.go:12 ` before a message.
fn without_caller(body: &[u8]) -> &[u8] {
    let (first, rest) = text::word(body);
    if !first.last().is_some_and(u8::is_ascii_digit) || memmem::find(first, b".go:").is_none() {
        return body;
    }
    rest.strip_prefix(b"> ").unwrap_or(rest)
}

/// `ERROR[01-02|15:04:05.000] message   key=value`, `INFO [01-02|15:04:05] …`.
fn bracketed(line: &[u8]) -> Option<Head<'_>> {
    let name = line.iter().take(5).take_while(|byte| byte.is_ascii_uppercase()).count();
    let level = level::of_word(line.get(..name)?)?;
    let rest = line.get(name..)?;
    let inside = rest.strip_prefix(b" ").unwrap_or(rest).strip_prefix(b"[")?;
    text::shaped(inside, b"99-99|99:99:99").then_some(())?;
    Some(text_head(level, without_caller(text::cut(inside, b']')?.1.trim_ascii_start())))
}

/// `E0105 13:34:55.952123       1 file.go:12] message`.
fn klog(line: &[u8]) -> Option<Head<'_>> {
    let level = level::of_letter(*line.first()?)?;
    text::shaped(line.get(1..)?, b"9999 99:99:99").then_some(())?;
    let end = memmem::find(line.get(..200).unwrap_or(line), b"] ")?;
    Some(text_head(level, line.get(end + 2..)?))
}

/// `time="…" level=error msg="…"`, in any order of the first three.
fn logfmt(line: &[u8]) -> Option<Head<'_>> {
    let starts = [&b"time="[..], b"ts=", b"t=", b"level=", b"lvl=", b"msg=", b"module=", b"timestamp="];
    starts.iter().any(|start| line.starts_with(start)).then_some(())?;
    let has = |key: &[u8]| line.starts_with(key) || memmem::find(line, key).is_some();
    ((has(b"level=") || has(b"lvl=")) && has(b"msg=")).then_some(())?;
    Some(Head { level: Level::None, module: &[], body: Body::Pairs(line) })
}

/// A JSON object that has a level or a message.
fn json(line: &[u8]) -> Option<Head<'_>> {
    if !line.get(1..)?.trim_ascii_start().starts_with(b"\"") {
        return None;
    }
    let known =
        super::json::members(line).any(|(key, _)| super::fields::is_level(key) || super::fields::is_message(key));
    known.then_some(Head { level: Level::None, module: &[], body: Body::Json(line) })
}

/// After a date: Rust's `ERROR target: message key=value`, zap's `ERROR<tab>module<tab>file.go:12<tab>message<tab>{…}`.
fn levelled(line: &[u8]) -> Option<Head<'_>> {
    let (name, rest) = text::word(line);
    let level = level::of_word(name)?;
    if line.get(name.len()) != Some(&b'\t') {
        return Some(targeted(level, rest));
    }
    let (mut module, mut message, mut tail): (&[u8], &[u8], &[u8]) = (&[], &[], &[]);
    for part in rest.split(|byte| *byte == b'\t') {
        if part.starts_with(b"{\"") {
            tail = part;
        } else if memmem::find(part, b".go:").is_none() {
            module = message;
            message = part;
        }
    }
    Some(Head { level, module, body: Body::Tail(message, tail) })
}

/// `target::path: message`.
fn targeted(level: Level, rest: &[u8]) -> Head<'_> {
    let (target, message) = text::word(rest);
    let named = target.strip_suffix(b":").filter(|name| {
        !name.is_empty() && name.iter().all(|byte| byte.is_ascii_alphanumeric() || b"_:-./".contains(byte))
    });
    match named {
        Some(module) => Head { level, module, body: Body::Text(message) },
        None => Head { level, module: &[], body: with_tail(rest) },
    }
}

/// `[11-13|11:08:46.396] ERROR <C Chain> db.go:146 message {"error": "…"}`.
fn dated(line: &[u8]) -> Option<Head<'_>> {
    let inside = line.strip_prefix(b"[")?;
    text::shaped(inside, b"99-99|99:99:99").then_some(())?;
    let (name, rest) = text::word(text::cut(inside, b']')?.1.trim_ascii_start());
    let level = level::of_word(name)?;
    let chain = rest.strip_prefix(b"<").and_then(|inside| text::cut(inside, b'>'));
    let (module, rest) = chain.map_or((&b""[..], rest), |(name, after)| (name, after.trim_ascii_start()));
    Some(Head { level, module, body: with_tail(without_caller(rest)) })
}

/// `[2021-01-05T13:34:55Z ERROR target] message`, `[ERROR target] message` (`env_logger`).
fn spanned(line: &[u8]) -> Option<Head<'_>> {
    let inside = line.strip_prefix(b"[")?;
    let (head, message) = text::cut(inside.get(..160).unwrap_or(inside), b']')?;
    let message = inside.get(head.len() + 1..).unwrap_or(message);
    let head = super::stamp::rfc3339(head).map_or(head, |(_, rest)| rest.trim_ascii_start());
    let (name, module) = text::word(head);
    Some(Head { level: level::of_word(name)?, module, body: Body::Text(message) })
}

/// Message and, where it ends with a JSON object, that object apart.
fn with_tail(body: &[u8]) -> Body<'_> {
    if body.last() != Some(&b'}') {
        return Body::Text(body);
    }
    match memmem::find(body, b" {\"").and_then(|at| body.split_at_checked(at)) {
        Some((message, tail)) => Body::Tail(message, tail.trim_ascii_start()),
        None => Body::Text(body),
    }
}

/// A message that lost its head, as people quote it: told by a `module` field, or as one of the three heights.
pub(super) fn unmarked(line: &[u8]) -> Option<Head<'_>> {
    let heights =
        [&b"ABCI Handshake App Info"[..], b"ABCI Replay Blocks", b"Completed ABCI Handshake", b"CONSENSUS FAILURE!!!"];
    let known = heights.iter().any(|message| line.starts_with(message))
        || (memmem::find(line, b" module=").is_some()
            && super::pairs::split(line)
                .1
                .find(|key| super::fields::kind(key) == super::fields::Kind::Module)
                .is_some());
    known.then_some(text_head(Level::None, line))
}
