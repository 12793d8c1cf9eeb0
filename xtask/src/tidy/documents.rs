//! Documents whose links lead somewhere, no paths of one machine, and no example that no test looks at.

use super::{Finding, Tree, rust::line_of, tree::extension};

/// Folders that exist on one machine only; written in two parts, so that a plain search for them does not stop here.
const MACHINE_PATHS: [&str; 2] = [concat!("/wo", "rk/"), concat!("/ro", "ot/")];

/// Relative links in Markdown lead to tracked files or folders.
pub(crate) fn links(tree: &Tree) -> Vec<Finding> {
    let mut found = Vec::new();
    for file in tree.files.iter().filter(|file| extension(&file.path) == "md") {
        let text = without_code(&file.text);
        for (at, mark) in text.match_indices("](") {
            let rest = text.get(at + mark.len()..).unwrap_or_default();
            let target = rest.split([')', ' ', '#']).next().unwrap_or_default();
            if target.contains(':') || target.is_empty() {
                continue;
            }
            let folder = file.path.rsplit_once('/').map_or("", |(folder, _)| folder);
            if !resolve(folder, target).is_some_and(|path| tree.has(&path)) {
                found.push(Finding::new(
                    &file.path,
                    line_of(&text, at),
                    format!("a link to {target}, which does not exist"),
                ));
            }
        }
    }
    found
}

/// Follows a relative path from a folder; `None` if it leaves the repository.
fn resolve(folder: &str, target: &str) -> Option<String> {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            name => parts.push(name),
        }
    }
    Some(parts.join("/"))
}

/// Blanks fenced blocks and quoted code, line by line.
fn without_code(text: &str) -> String {
    let mut fenced = false;
    let mut kept = String::with_capacity(text.len());
    for line in text.lines() {
        let fence = line.trim_start().starts_with("```");
        fenced ^= fence;
        if !fenced && !fence {
            kept.extend(line.split('`').step_by(2));
        }
        kept.push('\n');
    }
    kept
}

/// Nothing tracked depends on where one of us works.
pub(crate) fn machine_paths(tree: &Tree) -> Vec<Finding> {
    let mut found = Vec::new();
    for file in &tree.files {
        let text = match &file.rust {
            Some(_) if !file.is_product() && !file.path.starts_with("fuzz/") => continue, // what a test reads, others wrote
            _ => file.text.as_str(),
        };
        for (at, path) in MACHINE_PATHS.iter().flat_map(|path| text.match_indices(path)) {
            let begins = text.get(..at).and_then(|before| before.chars().next_back());
            let in_tests =
                file.rust.as_ref().is_some_and(|rust| rust.tests.get(at..).is_some_and(|rest| rest.starts_with(path)));
            if !begins.is_some_and(|before| before.is_alphanumeric() || "._-~$}".contains(before)) && !in_tests {
                found.push(Finding::new(&file.path, line_of(text, at), format!("a path of one machine: {path}…")));
            }
        }
    }
    found
}

/// Every folder of `examples/` is named in a test.
pub(crate) fn examples(tree: &Tree) -> Vec<Finding> {
    let inside = tree.files.iter().filter_map(|file| file.path.strip_prefix("examples/")?.split_once('/'));
    let mut names: Vec<&str> = inside.map(|(name, _)| name).collect();
    names.dedup();
    let untested = names.iter().filter(|name| !tree.test_texts().any(|(_, text)| text.contains(**name)));
    untested.map(|name| Finding::new(&format!("examples/{name}"), 0, "no test names this example")).collect()
}
