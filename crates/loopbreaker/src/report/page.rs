//! A page of text for people: headings, paragraphs, quoted lines with a mark under what mattered. *No client.*

use std::{fmt::Write as _, ops::Range};

use anstyle::{AnsiColor, Style};
use unicode_width::UnicodeWidthStr;

use crate::words::{COLUMNS, clean, end_of, wrap};

pub(crate) const BOLD: Style = Style::new().bold();
pub(crate) const FAINT: Style = Style::new().dimmed();
pub(crate) const ALARM: Style = AnsiColor::Red.on_default().bold();
pub(crate) const COMMAND: Style = AnsiColor::Cyan.on_default();
const PLAIN: Style = Style::new();

/// Text being put together.
#[derive(Default)]
pub(crate) struct Page {
    text: String,
}

impl Page {
    pub(crate) fn finish(self) -> String {
        self.text
    }

    fn line(&mut self, style: Style, line: &str) {
        if style == PLAIN {
            self.text.push_str(line);
        } else {
            let _ = write!(self.text, "{style}{line}{style:#}");
        }
        self.text.push('\n');
    }

    /// A new section; there is an empty line before all but the first.
    pub(crate) fn heading(&mut self, heading: &str) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.line(BOLD, heading);
    }

    /// A paragraph, indented by two.
    pub(crate) fn paragraph(&mut self, text: &str) {
        self.styled(PLAIN, "  ", "  ", text);
    }

    /// A paragraph whose first line begins with `first` and every other one with `rest`.
    pub(crate) fn styled(&mut self, style: Style, first: &str, rest: &str, text: &str) {
        let width = COLUMNS.saturating_sub(first.width().max(rest.width()));
        for (at, line) in wrap(&clean(text), width).iter().enumerate() {
            self.line(style, &format!("{}{line}", if at == 0 { first } else { rest }));
        }
    }

    /// A line as it stands.
    pub(crate) fn as_it_stands(&mut self, style: Style, line: &str) {
        self.line(style, line);
    }

    /// Foreign text word for word, cut where the page ends, with carets under what mattered; at most `rows_max` rows, those
    /// around the mark first.
    pub(crate) fn quote(&mut self, text: &str, mark: &Range<usize>, rows_max: usize) {
        const INDENT: &str = "    ";
        let rows = rows(text, COLUMNS - INDENT.len());
        let marked = rows.iter().position(|row| row.end > mark.start).filter(|_| !mark.is_empty()).unwrap_or(0);
        let from = if marked < rows_max { 0 } else { marked };
        if from > 0 {
            self.line(FAINT, &format!("{INDENT}…"));
        }
        for row in rows.iter().skip(from).take(rows_max) {
            let Some(shown) = text.get(row.clone()) else { continue };
            self.line(PLAIN, &format!("{INDENT}{}", clean(shown.trim_end())));
            let carets = mark.start.max(row.start)..mark.end.min(row.end);
            if carets.is_empty() {
                continue;
            }
            let before = text.get(row.start..carets.start).map_or(0, |text| clean(text).width());
            let under = text.get(carets).map_or(1, |text| clean(text).width().max(1));
            self.line(ALARM, &format!("{INDENT}{}{}", " ".repeat(before), "^".repeat(under)));
        }
        if rows.len() > from + rows_max {
            self.line(FAINT, &format!("{INDENT}…"));
        }
    }
}

/// The byte ranges of the rows that a text fills; broken at the last space of a row where there is one.
fn rows(text: &str, width: usize) -> Vec<Range<usize>> {
    let mut rows = Vec::new();
    let mut from = 0;
    while let Some(rest) = text.get(from..).filter(|rest| !rest.is_empty()) {
        let full = end_of(rest, width);
        let end = if full == rest.len() {
            full
        } else {
            rest.get(..full).and_then(|row| row.rfind(' ')).filter(|at| *at > full / 2).map_or(full, |at| at + 1)
        };
        // A character wider than the page still takes a row.
        let end = end.max(rest.chars().next().map_or(1, char::len_utf8));
        rows.push(from..from + end);
        from += end;
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn carets_stand_under_what_mattered_also_over_a_row_end() {
        let mut page = Page::default();
        let text = format!("{} checksum mismatch at the end", "x".repeat(66));
        let mark = text.find("checksum").expect("there")..text.find(" at the").expect("there");
        page.quote(&text, &mark, 3);
        let plain = anstream::adapter::strip_str(&page.finish()).to_string();
        let expected = format!(
            "    {} checksum\n    {}^^^^^^^^^\n    mismatch at the end\n    ^^^^^^^^\n",
            "x".repeat(66),
            " ".repeat(67)
        );
        assert_eq!(plain, expected);
    }

    #[test]
    fn rows_cover_the_text() {
        for text in ["", "a", "世界世界世界", &"ab ".repeat(99)] {
            let joined: String = rows(text, 7).into_iter().filter_map(|row| text.get(row)).collect();
            assert_eq!(joined, text);
        }
    }
}
