//! What stands before a process' own line: dates, host and unit (journald, syslog), names (kubectl, compose), the kernel's
//! clock. *No IO.*

use super::{level, origin, stamp, text};

/// Prefixes that may stand before each other.
const DEPTH: usize = 6;

/// A line without its prefixes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bare<'a> {
    pub(super) text: &'a [u8],
    /// The machine says it: systemd, the kernel, the kubelet, a container runtime.
    pub(super) machine: bool,
    /// A full date stood before it.
    pub(super) timed: bool,
    /// The date was that of Go's standard logger: the rest is never a runtime's panic.
    pub(super) go_log: bool,
}

/// Removes all prefixes.
pub(super) fn strip(line: &[u8]) -> Bare<'_> {
    let mut bare = Bare { text: line, machine: false, timed: false, go_log: false };
    for _ in 0..DEPTH {
        let before = bare.text.len();
        step(&mut bare);
        if bare.text.len() == before || bare.machine || bare.go_log {
            break;
        }
    }
    bare
}

/// Removes one prefix.
fn step(bare: &mut Bare<'_>) {
    let line = bare.text;
    match line.first() {
        Some(b'0'..=b'9') => {
            // `3:04PM INF …` is the most frequent line of all: no date has a colon there.
            if line.get(1) == Some(&b':') || line.get(2) == Some(&b':') {
                return;
            }
            if let Some((_, rest)) = stamp::rfc3339(line) {
                bare.timed = true;
                // A container's stored line that was stored once more, or quoted: its parts are no longer joined.
                if let Some(body) =
                    [&b" stdout F "[..], b" stderr F "].iter().find_map(|stream| rest.strip_prefix(*stream))
                {
                    bare.text = body;
                    return;
                }
                bare.text = rest.strip_prefix(b" ").or_else(|| rest.strip_prefix(b"\t")).unwrap_or(rest);
                if !unit(bare, true) && level_follows(bare.text) {
                    bare.text = bare.text.trim_ascii_start();
                    supervisor(bare);
                }
            } else if let Some(rest) = stamp::short_year(line) {
                (bare.text, bare.timed) = (rest, true);
            } else if let Some(rest) = stamp::go_log(line) {
                (bare.text, bare.go_log) = (rest, true);
            } else {
                compose(bare);
            }
        }
        Some(b'A'..=b'Z') if line.get(1) != Some(&b'[') => {
            if let Some(rest) = stamp::syslog(line) {
                bare.text = rest;
                unit(bare, false);
            } else {
                compose(bare);
            }
        }
        Some(b'[') => bracket(bare),
        Some(b'a'..=b'z') => compose(bare),
        Some(b'>') => bare.text = line.strip_prefix(b"> ").unwrap_or(line),
        _ => {}
    }
}

/// tracing writes its levels five wide: `2021-01-05T13:34:55Z  INFO target: …`.
fn level_follows(rest: &[u8]) -> bool {
    level::of_word(text::word(rest.trim_ascii_start()).0).is_some()
}

/// `INFO exited: gaiad (exit status 2; not expected)`: supervisord speaks of what it supervises.
fn supervisor(bare: &mut Bare<'_>) {
    let (_, said) = text::word(bare.text);
    let verbs = [&b"exited: "[..], b"gave up: ", b"spawnerr: ", b"spawned: ", b"success: ", b"stopped: ", b"reaped "];
    if verbs.iter().any(|verb| said.starts_with(verb)) {
        (bare.text, bare.machine) = (said, true);
    }
}

/// `host unit[123]: `, `unit[123]: `, `host kernel: `. After a date that loggers use as well (`strict`) the unit needs its
/// process id or must be a part of the machine.
fn unit(bare: &mut Bare<'_>, strict: bool) -> bool {
    let line = bare.text.strip_prefix(b" ").unwrap_or(bare.text);
    let (first, rest) = text::word(line);
    if let Some(name) = unit_name(first, strict) {
        bare.machine = origin::is_machine(name);
        bare.text = line.get(first.len() + 1..).unwrap_or_default();
        return true;
    }
    let (second, _) = text::word(rest);
    if let Some(name) = unit_name(second, strict).filter(|_| is_name(first)) {
        bare.machine = origin::is_machine(name);
        bare.text = rest.get(second.len() + 1..).unwrap_or_default();
        return true;
    }
    false
}

/// Name of the unit in `unit[123]:`, `unit[123]`, `unit:`.
fn unit_name(word: &[u8], strict: bool) -> Option<&[u8]> {
    let plain = word.strip_suffix(b":");
    let inner = plain.unwrap_or(word);
    if let Some(open) = inner.strip_suffix(b"]") {
        let (name, number) = text::cut(open, b'[')?;
        return (!name.is_empty() && !number.is_empty() && text::digits(number) == number.len()).then_some(name);
    }
    let name = plain.filter(|name| is_name(name))?;
    (!strict || origin::is_machine(name)).then_some(name)
}

/// `[  123.456789] `, `[pod/node-0/node] `, `[node-0] `, `[oline]: `.
fn bracket(bare: &mut Bare<'_>) {
    let Some(inside) = bare.text.strip_prefix(b"[") else { return };
    let Some((name, _)) = text::cut(inside.get(..120).unwrap_or(inside), b']') else { return };
    let after = inside.get(name.len() + 1..).unwrap_or_default();
    let Some(rest) = after.strip_prefix(b" ").or_else(|| after.strip_prefix(b": ")) else { return };
    let seconds = name.trim_ascii_start();
    let whole = text::digits(seconds);
    if whole > 0
        && let Some(fraction) = seconds.get(whole..).and_then(|rest| rest.strip_prefix(b"."))
        && text::digits(fraction) == fraction.len()
    {
        (bare.text, bare.machine) = (rest, true);
    } else if (is_name(name) || name == b"...") && level::of_word(name).is_none() && text::digits(name) < name.len() {
        bare.text = rest;
    }
}

/// `node-0  | `, as compose puts before each line.
fn compose(bare: &mut Bare<'_>) {
    let line = bare.text;
    let name = line.iter().take(64).take_while(|byte| is_name_byte(**byte)).count();
    let Some(rest) = line.get(name..).filter(|rest| name > 0 && rest.first() == Some(&b' ')) else { return };
    if let Some(after) = rest.trim_ascii_start().strip_prefix(b"|") {
        bare.text = after.strip_prefix(b" ").unwrap_or(after);
    }
}

fn is_name(word: &[u8]) -> bool {
    !word.is_empty() && word.iter().all(|byte| is_name_byte(*byte))
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'/' | b'@' | b'(' | b')')
}
