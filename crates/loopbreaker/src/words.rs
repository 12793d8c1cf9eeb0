//! Text for people: cleaned of what could repaint a terminal, wrapped to 80 columns. *No client.*

use std::fmt::Write as _;

use diagnosis::Probability;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Columns of a page.
pub(crate) const COLUMNS: usize = 80;

/// Foreign text without characters that a terminal obeys: controls, and marks that turn or hide text.
pub(crate) fn clean(text: &str) -> String {
    text.chars().map(|c| if is_harmless(c) { c } else { '\u{fffd}' }).collect()
}

/// JSON text with the same characters escaped. They can only stand within its strings, for all else in it is ASCII; the
/// ASCII controls are escaped already, and a line break here lays the object out.
pub(crate) fn escaped_json(json: &str) -> String {
    let mut escaped = String::with_capacity(json.len());
    for c in json.chars() {
        if is_harmless(c) || matches!(c, '\n') {
            escaped.push(c);
        } else {
            let _ = write!(escaped, "\\u{:04x}", u32::from(c));
        }
    }
    escaped
}

fn is_harmless(c: char) -> bool {
    !c.is_control()
        && !matches!(c, '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

/// Breaks text at spaces so that no line is wider than `width`; a longer word is cut.
pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        let room = width.saturating_sub(lines.last().map_or(0, |line| line.width()));
        match lines.last_mut() {
            Some(line) if line.is_empty() => line.push_str(word),
            Some(line) if word.width() < room => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
        while let Some(rest) = lines.last_mut().and_then(|line| cut(line, width)) {
            lines.push(rest);
        }
    }
    lines
}

/// Leaves `width` columns in the line and gives the rest, if any.
fn cut(line: &mut String, width: usize) -> Option<String> {
    let at = end_of(line, width);
    (at > 0 && at < line.len()).then(|| line.split_off(at))
}

/// The byte at which a line of `width` columns ends.
pub(crate) fn end_of(text: &str, width: usize) -> usize {
    let mut columns = 0;
    for (at, c) in text.char_indices() {
        columns += c.width().unwrap_or(0);
        if columns > width {
            return at;
        }
    }
    text.len()
}

/// A probability to hundredths, rounded; what is not certain never reads as if it were.
pub(crate) fn rounded(probability: Probability) -> String {
    let hundredths = match probability.thousandths() {
        0 => 0,
        1000 => 100,
        between => ((between + 5) / 10).clamp(1, 99),
    };
    format!("{}.{:02}", hundredths / 100, hundredths % 100)
}

/// A duration as people say it: `3 m 47 s`, `5 m`, `2 h 5 m`.
pub(crate) fn duration(seconds: u64) -> String {
    let (days, hours, minutes, rest) = (seconds / 86_400, seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    let parts: Vec<String> = [(days, "d"), (hours, "h"), (minutes, "m"), (rest, "s")]
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .take(2)
        .map(|(count, unit)| format!("{count} {unit}"))
        .collect();
    if parts.is_empty() { "0 s".to_owned() } else { parts.join(" ") }
}

/// A number of bytes as people say it: `512 B`, `1.4 MiB`.
pub(crate) fn bytes(count: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    let mut tenths = u128::from(count) * 10;
    let mut unit = "B";
    for next in UNITS {
        if tenths < 10_240 {
            break;
        }
        tenths /= 1024;
        unit = next;
    }
    if unit == "B" { format!("{count} B") } else { format!("{}.{} {unit}", tenths / 10, tenths % 10) }
}

/// `1 table`, `7 tables`: a number and its noun, which takes an s.
pub(crate) fn counted(count: u64, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations() {
        for (seconds, text) in [
            (0, "0 s"),
            (47, "47 s"),
            (227, "3 m 47 s"),
            (300, "5 m"),
            (3600, "1 h"),
            (7500, "2 h 5 m"),
            (90_061, "1 d 1 h"),
        ] {
            assert_eq!(duration(seconds), text);
        }
    }

    #[test]
    fn quantities() {
        for (count, text) in [
            (0, "0 B"),
            (1023, "1023 B"),
            (1024, "1.0 KiB"),
            (1_500_000, "1.4 MiB"),
            (3 << 30, "3.0 GiB"),
            (u64::MAX, "16777215.9 TiB"),
        ] {
            assert_eq!(bytes(count), text);
        }
        assert_eq!([counted(1, "table"), counted(0, "table")], ["1 table", "0 tables"]);
    }

    #[test]
    fn probabilities_are_rounded_and_never_to_certainty() {
        for (thousandths, text) in
            [(838, "0.84"), (834, "0.83"), (950, "0.95"), (996, "0.99"), (1000, "1.00"), (1, "0.01"), (0, "0.00")]
        {
            assert_eq!(rounded(Probability::from_thousandths(thousandths)), text);
        }
    }

    #[test]
    fn what_a_terminal_would_obey_is_replaced() {
        assert_eq!(
            clean("a\u{1b}[2Jb\r\n\u{202e}c\u{9b}d\u{200b}"),
            "a\u{fffd}[2Jb\u{fffd}\u{fffd}\u{fffd}c\u{fffd}d\u{fffd}"
        );
        assert_eq!(clean("über „alles“ 世界"), "über „alles“ 世界");
    }

    #[test]
    fn json_hides_nothing_and_stays_the_same_value() {
        let text = "a\u{202e}b\u{200b}\u{feff}\u{9b}\u{7f}\u{2066}\u{61c} \u{1b} 世界 é \" \\";
        for json in [serde_json::to_string(text), serde_json::to_string_pretty(&[text])] {
            let json = json.expect("JSON");
            let escaped = escaped_json(&json);
            assert!(escaped.chars().all(|c| is_harmless(c) || c == '\n'), "{escaped:?}");
            assert!(escaped.contains("\\u202e") && escaped.contains("世界"), "{escaped}");
            let value = |json: &str| serde_json::from_str::<serde_json::Value>(json).expect("JSON");
            assert_eq!(value(&escaped), value(&json));
        }
    }

    #[test]
    fn no_line_is_wider_and_no_word_is_lost() {
        for (text, width, lines) in [
            ("", 10, vec![""]),
            ("one two three", 7, vec!["one two", "three"]),
            ("one two three", 8, vec!["one two", "three"]),
            ("abcdefghij k", 4, vec!["abcd", "efgh", "ij k"]),
            ("世界世界", 5, vec!["世界", "世界"]),
            ("世", 1, vec!["世"]),
        ] {
            assert_eq!(wrap(text, width), lines, "{text:?} in {width}");
        }
    }
}
