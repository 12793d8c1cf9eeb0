//! The promises P1–P14: told in the design's words, kept by tests where they are built, and no number beyond.

use super::{
    Finding, Tree,
    rust::{line_of, words},
    tree::{File, extension},
};

const PAGE: &str = "docs/promises.md";
/// The design's words, a promise a line. They change only together with the design.
const WORDS: &str = include_str!("promises.txt");
/// The states that a promise can be in; the first two need tests.
const KEPT: [&str; 2] = ["kept", "kept in part"];
const NOT_BUILT: &str = "not built yet";

/// Number and words of each promise.
fn promises() -> impl Iterator<Item = (&'static str, &'static str)> {
    WORDS.lines().filter_map(|line| line.split_once(' '))
}

/// One section of the page.
struct Section<'p> {
    number: &'p str,
    line: usize,
    quoted: String,
    status: &'p str,
    /// The files that it names as its tests.
    tests: Vec<&'p str>,
}

/// The page has a section for each promise, in order, in the design's words.
pub(crate) fn page(tree: &Tree) -> Vec<Finding> {
    let Some(page) = page_of(tree) else { return vec![Finding::new(PAGE, 0, "the page is missing")] };
    let sections = sections(&page.text);
    let mut found = Vec::new();
    let numbers: Vec<&str> = sections.iter().map(|section| section.number).collect();
    if !numbers.iter().copied().eq(promises().map(|(number, _)| number)) {
        found.push(Finding::new(
            PAGE,
            0,
            format!("the sections are not P1 to P14, each once, in order: {}", numbers.join(" ")),
        ));
    }
    for section in &sections {
        if promises().any(|(number, words)| number == section.number && words != section.quoted) {
            found.push(Finding::new(
                PAGE,
                section.line,
                format!("{} is not told in the design's words", section.number),
            ));
        }
        if !KEPT.contains(&section.status) && section.status != NOT_BUILT {
            let what = format!("{} has no status (`kept`, `kept in part` or `not built yet`)", section.number);
            found.push(Finding::new(PAGE, section.line, what));
        }
    }
    found
}

/// A promise that is said to be kept names its tests, and these name it.
pub(crate) fn tests(tree: &Tree) -> Vec<Finding> {
    let Some(page) = page_of(tree) else { return Vec::new() };
    let mut found = Vec::new();
    for section in sections(&page.text).iter().filter(|section| KEPT.contains(&section.status)) {
        if section.tests.is_empty() {
            found.push(Finding::new(
                PAGE,
                section.line,
                format!("{} is said to be kept, but by no test", section.number),
            ));
        }
        for path in &section.tests {
            let proves = |(file, text): (&File, &str)| file.path == *path && names(text, section.number);
            if !tree.test_texts().any(proves) {
                found.push(Finding::new(PAGE, section.line, format!("no test in {path} names {}", section.number)));
            }
        }
    }
    found
}

/// Whether a test names a promise: in its text, or in lower case at the start of its own name.
fn names(text: &str, number: &str) -> bool {
    words(text, number).next().is_some() || text.contains(&format!("fn {}_", number.to_lowercase()))
}

/// No promise is named that the design does not have.
pub(crate) fn numbers(tree: &Tree) -> Vec<Finding> {
    let known: Vec<&str> = promises().map(|(number, _)| number).collect();
    let mut found = Vec::new();
    for file in &tree.files {
        let text = match &file.rust {
            Some(rust) => rust.remarks.as_str(),
            None if extension(&file.path) == "md" => file.text.as_str(),
            None => continue,
        };
        let invented = (0..100).map(|number| format!("P{number}")).filter(|number| !known.contains(&number.as_str()));
        for number in invented {
            for at in words(text, &number) {
                found.push(Finding::new(
                    &file.path,
                    line_of(text, at),
                    format!("{number} is no promise of the design"),
                ));
            }
        }
    }
    found
}

fn page_of(tree: &Tree) -> Option<&File> {
    tree.files.iter().find(|file| file.path == PAGE)
}

fn sections(text: &str) -> Vec<Section<'_>> {
    let mut sections = Vec::new();
    for (line, content) in text.lines().enumerate() {
        if let Some(title) = content.strip_prefix("## P") {
            let number = title.split_whitespace().next().unwrap_or_default();
            let number = content.get(3..4 + number.len()).unwrap_or_default();
            sections.push(Section { number, line: line + 1, quoted: String::new(), status: "", tests: Vec::new() });
        } else if let Some(section) = sections.last_mut() {
            section.read(content);
        }
    }
    sections
}

impl<'p> Section<'p> {
    fn read(&mut self, content: &'p str) {
        if let Some(words) = content.strip_prefix("> ") {
            self.quoted += if self.quoted.is_empty() { "" } else { " " };
            self.quoted += words.trim();
        } else if let Some(status) = content.strip_prefix("- Status: ") {
            self.status = status.split(['.', ':', ';']).next().unwrap_or_default().trim();
        } else if let Some(tests) = content.strip_prefix("- Tests: ") {
            self.tests = tests.split('`').skip(1).step_by(2).collect();
        }
    }
}
