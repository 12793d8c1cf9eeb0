//! Names, first lines, exceptions from lints, and code that only looks as if it did something.

use super::{
    Finding, Tree,
    rust::{closing, line_of, words},
    tree::extension,
};

/// Names that say nothing about what is inside.
const EMPTY_NAMES: [&str; 4] = ["utils", "helpers", "common", "manager"];

/// Written in two parts, so that a plain search for them does not stop here.
const UNFINISHED_WORDS: [&str; 3] = [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("X", "XX")];
const UNFINISHED_CODE: [&str; 3] = [concat!("to", "do!"), concat!("unimplemented", "!"), concat!("#[", "ignore")];

/// No module has an empty name.
pub(crate) fn module_names(tree: &Tree) -> Vec<Finding> {
    let mut found = Vec::new();
    for (file, rust) in tree.rust() {
        for name in EMPTY_NAMES {
            let in_path = file.path.trim_end_matches(".rs").split('/').any(|part| part == name);
            let inside = words(&rust.code, name).find(|at| {
                rust.code.get(..*at).is_some_and(|before| before.trim_end().ends_with("mod") && before.ends_with(' '))
            });
            if in_path || inside.is_some() {
                let line = inside.map_or(0, |at| line_of(&rust.code, at));
                found.push(Finding::new(&file.path, line, format!("a module named `{name}`: name what it does")));
            }
        }
    }
    found
}

/// Every product file says in its first line what it is.
pub(crate) fn first_lines(tree: &Tree) -> Vec<Finding> {
    let silent = tree.product().filter(|(file, _)| !file.text.starts_with("//! "));
    silent
        .map(|(file, _)| Finding::new(&file.path, 1, "the first line is no `//!` sentence on what the file is"))
        .collect()
}

/// `#[expect(…, reason = …)]` becomes a warning when it is no longer needed; the other attribute stays for ever.
pub(crate) fn lint_exceptions(tree: &Tree) -> Vec<Finding> {
    let mut found = Vec::new();
    for (file, rust) in tree.rust() {
        for at in words(&rust.code, "allow") {
            let before = rust.code.get(..at).unwrap_or_default().trim_end();
            let after = rust.code.get(at + "allow".len()..).unwrap_or_default();
            if after.trim_start().starts_with('(') && before.ends_with(['[', ',']) {
                found.push(Finding::new(
                    &file.path,
                    line_of(&rust.code, at),
                    "`allow`: use `#[expect(…, reason = …)]`",
                ));
            }
        }
    }
    found
}

/// A `matches!` whose answer nobody takes is a test that cannot fail.
pub(crate) fn idle_matches(tree: &Tree) -> Vec<Finding> {
    let mut found = Vec::new();
    for (file, rust) in tree.rust() {
        for at in words(&rust.code, "matches") {
            let before = rust.code.get(..at).unwrap_or_default().trim_end_matches(['!', ' ', '\n', '\t']);
            let after = rust.code.get(at + "matches".len()..).unwrap_or_default();
            let Some(open) = after.starts_with('!').then(|| after.find(['(', '[', '{'])).flatten() else { continue };
            let end = closing(&rust.code, at + "matches".len() + open);
            let next = end.and_then(|end| rust.code.get(end + 1..)).unwrap_or_default().trim_start();
            if next.starts_with(';') && (before.is_empty() || before.ends_with(['{', '}', ';'])) {
                found.push(Finding::new(
                    &file.path,
                    line_of(&rust.code, at),
                    "`matches!` as a statement asserts nothing",
                ));
            }
        }
    }
    found
}

/// A macro around `unwrap` would slip past the lint.
pub(crate) fn unwrapping_macros(tree: &Tree) -> Vec<Finding> {
    let mut found = Vec::new();
    for (file, rust) in tree.product() {
        for (at, word) in rust.product.match_indices("macro_rules!") {
            let open = rust.product.get(at..).and_then(|rest| rest.find(['{', '(', '[']));
            let end = open.and_then(|open| closing(&rust.product, at + open)).unwrap_or(rust.product.len());
            let body = rust.product.get(at + word.len()..end).unwrap_or_default();
            if ["unwrap", "expect", "unwrap_unchecked", "unwrap_err"]
                .iter()
                .any(|name| body.contains(&format!(".{name}(")))
            {
                found.push(Finding::new(&file.path, line_of(&rust.product, at), "a macro around `unwrap`"));
            }
        }
    }
    found
}

/// What is tracked is finished.
pub(crate) fn unfinished_work(tree: &Tree) -> Vec<Finding> {
    let mut found = Vec::new();
    for file in &tree.files {
        let (remarks, code) = match &file.rust {
            Some(rust) => (rust.remarks.as_str(), rust.code.as_str()),
            None if extension(&file.path) == "lock" => continue,
            None => (file.text.as_str(), ""),
        };
        let in_remarks = UNFINISHED_WORDS.iter().flat_map(|word| words(remarks, word).map(move |at| (at, *word)));
        let in_code = UNFINISHED_CODE.iter().flat_map(|mark| code.match_indices(mark));
        for (at, word) in in_remarks.chain(in_code) {
            found.push(Finding::new(&file.path, line_of(&file.text, at), format!("unfinished: `{word}`")));
        }
    }
    found
}
