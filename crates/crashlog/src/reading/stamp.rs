//! Dates and times before a line. *No IO.*

use super::text;

/// Removes `2021-01-05T13:34:55.952Z`, also with a blank for the `T` and with an offset: the stamp, then what follows it.
pub(super) fn rfc3339(line: &[u8]) -> Option<(&[u8], &[u8])> {
    if !text::shaped(line, b"9999-99-99") || !matches!(line.get(10), Some(b'T' | b' ')) {
        return None;
    }
    let clock = line.get(11..)?;
    text::shaped(clock, b"99:99:99").then_some(())?;
    let mut end = 19;
    if matches!(line.get(end), Some(b'.' | b',')) {
        end += 1 + text::digits(line.get(end + 1..)?);
    }
    let zone = line.get(end..)?;
    end += match zone.first() {
        Some(b'Z') => 1,
        Some(b'+' | b'-') if text::shaped(zone.get(1..)?, b"99:99") => 6,
        Some(b'+' | b'-') if text::shaped(zone.get(1..)?, b"9999") => 5,
        _ => 0,
    };
    let after = line.get(end..)?;
    after.first().is_none_or(u8::is_ascii_whitespace).then(|| line.split_at_checked(end)).flatten()
}

/// Removes `2021/01/05 13:34:55`, as Go's standard logger writes it, with fractions where it has them.
pub(super) fn go_log(line: &[u8]) -> Option<&[u8]> {
    text::shaped(line, b"9999/99/99 99:99:99").then_some(())?;
    let rest = line.get(19..)?;
    let rest = rest.strip_prefix(b".").map_or(rest, |fraction| fraction.get(text::digits(fraction)..).unwrap_or(rest));
    rest.strip_prefix(b" ")
}

/// Removes `Dec 03 21:49:24`, the date of syslog and of `journalctl`.
pub(super) fn syslog(line: &[u8]) -> Option<&[u8]> {
    let months = [&b"Jan"[..], b"Feb", b"Mar", b"Apr", b"May", b"Jun", b"Jul", b"Aug", b"Sep", b"Oct", b"Nov", b"Dec"];
    let (month, rest) = line.split_at_checked(3)?;
    months.contains(&month).then_some(())?;
    let rest = rest.trim_ascii_start();
    let day = text::digits(rest);
    let clock = rest.get(day..)?.strip_prefix(b" ")?;
    ((1..=2).contains(&day) && text::shaped(clock, b"99:99:99")).then_some(())?;
    let rest = clock.get(8..)?;
    let rest = rest.strip_prefix(b".").map_or(rest, |fraction| fraction.get(text::digits(fraction)..).unwrap_or(rest));
    rest.strip_prefix(b" ")
}
