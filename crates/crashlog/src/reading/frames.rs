//! Lines of a Go stack: which they are, and a function's name without host, version, arguments and closure numbers.
//! *No IO.*

use super::text;

/// Frames that one record keeps at most.
pub(super) const FRAME_LIMIT: usize = 64;
/// Bytes of one frame's name.
const NAME_LIMIT: usize = 256;

/// `goroutine 1 [running]:`, as the runtime prints it above each stack.
pub(super) fn is_goroutine(line: &[u8]) -> bool {
    line.strip_prefix(b"goroutine ").is_some_and(|rest| {
        let number = text::digits(rest);
        number > 0 && rest.get(number..).is_some_and(|after| after.starts_with(b" [") || after.starts_with(b" gp="))
    })
}

/// The lines of a stack that name no function of it: files, creators, registers, elided frames.
pub(super) fn is_detail(line: &[u8]) -> bool {
    let line = text::trim(line);
    line.starts_with(b"created by ")
        || (line.starts_with(b"...") && line.ends_with(b"..."))
        || is_file(line)
        || is_register(line)
}

/// `/go/pkg/mod/…/store.go:1165 +0xaa`, also without the offset.
fn is_file(line: &[u8]) -> bool {
    let (place, _) = text::word(line);
    [&b".go:"[..], b".s:", b".c:", b".rs:"].iter().any(|mark| {
        memchr::memmem::rfind(place, mark).is_some_and(|at| {
            let number = place.get(at + mark.len()..).unwrap_or_default();
            !number.is_empty() && text::digits(number) == number.len()
        })
    })
}

/// `rax    0x0` in the register dump of a fatal signal.
fn is_register(line: &[u8]) -> bool {
    let (name, value) = text::word(line);
    (2..=7).contains(&name.len()) && value.starts_with(b"0x") && name.iter().all(u8::is_ascii_alphanumeric)
}

/// The function of a frame line (`path/pkg.(*T).Method(0x…)`), whole; `None` when it is no frame line.
pub(super) fn function(line: &[u8]) -> Option<&[u8]> {
    let mut at = 0;
    let name = loop {
        let place = at + memchr::memchr(b'(', line.get(at..)?)?;
        // `.(*T)` belongs to the name, the next parenthesis opens the arguments.
        if line.get(place + 1) != Some(&b'*') {
            break line.get(..place)?;
        }
        at = place + 1;
    };
    let lawful = |byte: &u8| byte.is_ascii_alphanumeric() || byte >= &0x80 || b"_./()*-[]%!,~@+$&;{}".contains(byte);
    let dotted = memchr::memchr(b'.', name).is_some_and(|dot| dot > 0 && dot + 1 < name.len());
    ((dotted || name == b"panic") && name.iter().all(lawful) && name.first()? != &b'.').then_some(name)
}

/// A frame line that can be nothing else: used where no header told that a stack begins.
pub(super) fn is_frame(line: &[u8]) -> bool {
    function(line).is_some_and(|name| {
        let arguments = line.get(name.len()..).unwrap_or_default();
        [&b"(0x"[..], b"({0x", b"({{0x", b"(...)", b"(_, "].iter().any(|start| arguments.starts_with(start))
    })
}

/// Adds the function of a frame line, unless it belongs to the runtime's own machinery or the limit is reached.
pub(super) fn keep(line: &[u8], frames: &mut Vec<String>) {
    let Some(name) = function(line) else { return };
    let machinery = [&b"runtime."[..], b"runtime/", b"testing.", b"internal/runtime/"];
    if name == b"panic" || frames.len() >= FRAME_LIMIT || machinery.iter().any(|start| name.starts_with(start)) {
        return;
    }
    let mut short = String::new();
    text::push(&mut short, local_name(name), NAME_LIMIT);
    frames.push(without_numbers(&short));
}

/// Adds the frames of a whole stack in one value (the `stack` field of `CONSENSUS FAILURE!!!`).
pub(super) fn keep_all(stack: &str, frames: &mut Vec<String>) {
    let mut goroutines = 0;
    for line in stack.lines() {
        let line = line.trim_end().as_bytes();
        if is_goroutine(line) {
            goroutines += 1;
        } else if !line.starts_with(b"\t") && !line.starts_with(b" ") && !is_detail(line) && goroutines < 2 {
            keep(line, frames);
        }
    }
}

/// The last part of the import path; the one before it where that is only a major version (`blockchain/v0.New`).
fn local_name(name: &[u8]) -> &[u8] {
    // Type arguments hold paths of their own.
    let path_end = memchr::memchr2(b'(', b'[', name).unwrap_or(name.len());
    let path = name.get(..path_end).unwrap_or(name);
    let start = memchr::memrchr(b'/', path).map_or(0, |at| at + 1);
    let last = name.get(start..).unwrap_or(name);
    let version = last.strip_prefix(b"v").map_or(0, text::digits);
    if start > 0 && version > 0 && last.get(version + 1) == Some(&b'.') {
        let before = path.get(..start - 1).unwrap_or_default();
        let start = memchr::memrchr(b'/', before).map_or(0, |at| at + 1);
        return name.get(start..).unwrap_or(name);
    }
    last
}

/// `consensus.(*State).receiveRoutine.func2.1` → `….func`; `v0` after a path and `[...]` go as well.
fn without_numbers(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    let name = match name.split_once('/') {
        Some((package, versioned)) => {
            out.push_str(package);
            versioned.find('.').and_then(|dot| versioned.get(dot..)).unwrap_or_default()
        }
        None => name,
    };
    let plain = name.split_once("[...]").map_or(name.to_owned(), |(before, after)| format!("{before}{after}"));
    for (place, part) in plain.split('.').enumerate() {
        let bare = part.trim_end_matches(|character: char| character.is_ascii_digit());
        if place > 0 && bare.is_empty() && !part.is_empty() {
            continue;
        }
        if place > 0 {
            out.push('.');
        }
        out.push_str(if matches!(bare, "func" | "gowrap" | "deferwrap") { bare } else { part });
    }
    out
}
