//! Foreign words, made fit to be repeated. *No client.*

/// Foreign words on one line of sane length, without control characters that could repaint a terminal.
#[must_use]
pub fn one_line(text: &str) -> String {
    const LONGEST: usize = 300;
    let mut line: String = text
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
        .chars()
        .map(|c| if c.is_control() { '\u{fffd}' } else { c })
        .take(LONGEST)
        .collect();
    if text.len() > LONGEST && line.chars().count() == LONGEST {
        line.push('…');
    }
    line
}
