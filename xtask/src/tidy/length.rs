//! Files and functions stay short enough to be read in one go.

use super::{
    Finding, Tree,
    rust::{Rust, closing, line_of, words},
};

const FILE_LINES: usize = 300;
const FUNCTION_LINES: usize = 70;
/// How far down a file the reason for its length may stand.
const REASON_WITHIN: usize = 20;

/// Product files under 300 lines, or `// tidy: long file, because …` near the top.
pub(crate) fn files(tree: &Tree) -> Vec<Finding> {
    let mut found = Vec::new();
    for (file, _) in tree.product() {
        let lines = file.text.lines().count();
        let excused = file.text.lines().take(REASON_WITHIN).any(|line| is_reason(line, "long file"));
        if lines >= FILE_LINES && !excused {
            found.push(Finding::new(
                &file.path,
                0,
                format!("{lines} lines: split it, or say why not (`// tidy: long file, because …`)"),
            ));
        }
    }
    found
}

/// Product functions under 70 lines, or `// tidy: long function, because …` above.
pub(crate) fn functions(tree: &Tree) -> Vec<Finding> {
    let mut found = Vec::new();
    for (file, rust) in tree.product() {
        for (first, lines) in long_functions(rust) {
            let above: Vec<&str> = file.text.lines().take(first - 1).collect();
            let mut remarks =
                above.iter().rev().take_while(|line| !line.trim().is_empty() && !line.trim_end().ends_with('}'));
            if !remarks.any(|line| is_reason(line, "long function")) {
                found.push(Finding::new(
                    &file.path,
                    first,
                    format!(
                        "a function of {lines} lines: split it, or say why not (`// tidy: long function, because …`)"
                    ),
                ));
            }
        }
    }
    found
}

/// First line and length of each long function outside tests.
fn long_functions(rust: &Rust) -> Vec<(usize, usize)> {
    let code = rust.product.as_str();
    let mut long = Vec::new();
    for begin in words(code, "fn") {
        let after = code.get(begin + 2..).unwrap_or_default();
        // The end of the signature; a `;` inside brackets is an array's.
        let mut depth = 0_i32;
        let body = after.bytes().enumerate().find_map(|(at, byte)| {
            match byte {
                b'(' | b'[' => depth += 1,
                b')' | b']' => depth -= 1,
                b'{' | b';' | b',' if depth <= 0 => return Some((at, byte)),
                _ => {}
            }
            None
        });
        let Some((at, b'{')) = body else { continue };
        let Some(end) = closing(code, begin + 2 + at) else { continue };
        let (first, last) = (line_of(code, begin), line_of(code, end));
        if last - first + 1 >= FUNCTION_LINES {
            long.push((first, last - first + 1));
        }
    }
    long
}

fn is_reason(line: &str, which: &str) -> bool {
    let start = format!("// tidy: {which}, because ");
    line.trim().strip_prefix(start.as_str()).is_some_and(|reason| reason.trim().len() > 10)
}
