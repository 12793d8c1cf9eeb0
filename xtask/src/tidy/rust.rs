//! Just enough of Rust's grammar to tell code from comments and quoted text.

/// One Rust file, cut up. Every text has the length of the original: what does not belong to it is blank.
#[derive(Debug, Default)]
pub(crate) struct Rust {
    /// Without comments and quoted text.
    pub(crate) code: String,
    /// Without quoted text.
    pub(crate) remarks: String,
    /// `code` without what stands under `#[cfg(test)]`.
    pub(crate) product: String,
    /// The original text of what stands under `#[cfg(test)]`.
    pub(crate) tests: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Code,
    Comment,
    Quoted,
}

impl Rust {
    /// Cuts up a file; never fails, also on text that is no Rust.
    pub(crate) fn read(text: &str) -> Self {
        let kinds = kinds(text.as_bytes());
        let keep = |wanted: &[Kind]| blank(text, kinds.iter().map(|kind| wanted.contains(kind)));
        let code = keep(&[Kind::Code]);
        let in_test = under_cfg_test(&code);
        Self {
            remarks: keep(&[Kind::Code, Kind::Comment]),
            product: blank(&code, in_test.iter().map(|test| !test)),
            tests: blank(text, in_test.iter().copied()),
            code,
        }
    }
}

fn blank(text: &str, keep: impl Iterator<Item = bool>) -> String {
    let bytes = text.bytes().zip(keep).map(|(byte, keep)| if keep || byte == b'\n' { byte } else { b' ' });
    String::from_utf8_lossy(&bytes.collect::<Vec<u8>>()).into_owned()
}

fn kinds(bytes: &[u8]) -> Vec<Kind> {
    let mut kinds = Vec::with_capacity(bytes.len());
    let mut after_word = false;
    while let Some(rest @ [first, ..]) = bytes.get(kinds.len()..) {
        let (length, kind) = token(rest, after_word);
        after_word = kind == Kind::Code && is_word_byte(*first);
        kinds.resize(kinds.len() + length.clamp(1, rest.len()), kind);
    }
    kinds
}

/// The length and kind of what comes next.
fn token(rest: &[u8], after_word: bool) -> (usize, Kind) {
    if !after_word && let Some(length) = ["r", "br", "cr"].iter().find_map(|prefix| raw_string(rest, prefix)) {
        return (length, Kind::Quoted);
    }
    match rest {
        [b'/', b'/', ..] => (rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len()), Kind::Comment),
        [b'/', b'*', ..] => (block_comment(rest), Kind::Comment),
        [b'"', inside @ ..] => (1 + until_unescaped(inside, b'"'), Kind::Quoted),
        [b'\'', b'\\', inside @ ..] => {
            (3 + inside.get(1..).map_or(0, |rest| until_unescaped(rest, b'\'')), Kind::Quoted)
        }
        [b'\'', first, inside @ ..] => {
            // A character ends with a quote, a lifetime does not.
            let others = inside.iter().take_while(|byte| **byte & 0xC0 == 0x80).count();
            let closed = *first != b'\'' && inside.get(others) == Some(&b'\'');
            if closed { (3 + others, Kind::Quoted) } else { (1, Kind::Code) }
        }
        _ => (1, Kind::Code),
    }
}

/// The length of `r"…"` or `r#"…"#`, by its prefix.
fn raw_string(rest: &[u8], prefix: &str) -> Option<usize> {
    let rest = rest.strip_prefix(prefix.as_bytes())?;
    let hashes = rest.iter().take_while(|byte| **byte == b'#').count();
    let inside = rest.get(hashes..)?.strip_prefix(b"\"")?;
    let end: Vec<u8> = std::iter::once(b'"').chain(std::iter::repeat_n(b'#', hashes)).collect();
    let length = inside.windows(end.len()).position(|window| window == end).unwrap_or(inside.len());
    Some(prefix.len() + hashes + 1 + length + end.len())
}

fn until_unescaped(inside: &[u8], end: u8) -> usize {
    let mut escaped = false;
    for (at, byte) in inside.iter().enumerate() {
        match *byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            byte if byte == end => return at + 1,
            _ => {}
        }
    }
    inside.len()
}

/// Block comments nest.
fn block_comment(rest: &[u8]) -> usize {
    let mut depth = 0_usize;
    let mut at = 0;
    while let Some(pair) = rest.get(at..at + 2) {
        match pair {
            b"/*" => depth += 1,
            b"*/" => depth = depth.saturating_sub(1),
            _ => {
                at += 1;
                continue;
            }
        }
        at += 2;
        if depth == 0 {
            return at;
        }
    }
    rest.len()
}

/// For every byte, whether it stands in an item under `#[cfg(test)]`.
fn under_cfg_test(code: &str) -> Vec<bool> {
    let mut marks = vec![false; code.len()];
    for (begin, attribute) in code.match_indices("#[cfg(test)]") {
        let item = begin + attribute.len();
        let rest = code.get(item..).unwrap_or_default();
        let end = match rest.find(['{', ';']) {
            Some(at) if rest.get(at..).is_some_and(|rest| rest.starts_with('{')) => closing(code, item + at),
            Some(at) => Some(item + at),
            None => None,
        };
        let last = end.unwrap_or(code.len());
        marks.iter_mut().take(last + 1).skip(begin).for_each(|mark| *mark = true);
    }
    marks
}

/// Where the bracket that opens at `open` is closed, in code without comments and quoted text.
pub(crate) fn closing(code: &str, open: usize) -> Option<usize> {
    let rest = code.get(open..)?;
    let begin = rest.bytes().next()?;
    let end = match begin {
        b'(' => b')',
        b'[' => b']',
        _ => b'}',
    };
    let mut depth = 0_usize;
    for (at, byte) in rest.bytes().enumerate() {
        if byte == begin {
            depth += 1;
        } else if byte == end {
            depth = depth.saturating_sub(1);
            if depth == 0 {
                return Some(open + at);
            }
        }
    }
    None
}

/// Where a whole word stands.
pub(crate) fn words<'t>(text: &'t str, word: &'t str) -> impl Iterator<Item = usize> + 't {
    text.match_indices(word).map(|(at, _)| at).filter(move |at| {
        let before = text.get(..*at).and_then(|text| text.bytes().next_back());
        let after = text.get(at + word.len()..).and_then(|text| text.bytes().next());
        !before.is_some_and(is_word_byte) && !after.is_some_and(is_word_byte)
    })
}

/// The line of an offset, from 1.
pub(crate) fn line_of(text: &str, at: usize) -> usize {
    1 + text.bytes().take(at).filter(|byte| *byte == b'\n').count()
}

fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

#[cfg(test)]
mod tests {
    use super::{Rust, closing, words};

    #[test]
    fn quoted_text_and_comments_are_no_code() {
        let text = r##"let a = "x\"{"; // {
let b: &'static str = r#"{"#; /* { /* { */ { */ let c = '{'; let d = b'\''; f(c)"##;
        let rust = Rust::read(text);
        assert_eq!(rust.code.len(), text.len());
        assert!(!rust.code.contains('{'), "{}", rust.code);
        assert!(rust.code.contains("&'static str") && rust.code.ends_with("f(c)"));
        assert!(rust.remarks.contains("// {") && !rust.remarks.contains("x\\"));
    }

    #[test]
    fn a_raw_identifier_is_code_and_characters_may_be_long() {
        let rust = Rust::read("let r#type = 'ü'; let br = \"ü\"; end");
        assert!(rust.code.contains("r#type") && rust.code.ends_with("end"));
        assert!(!rust.code.contains('ü'));
    }

    #[test]
    fn what_stands_under_cfg_test_is_no_product() {
        let rust = Rust::read(
            "fn a() {}\n#[cfg(test)]\nmod tests { fn b() { \"P2\" } }\nfn c() {}\n#[cfg(test)]\nmod more;\nfn d() {}",
        );
        assert!(["fn a", "fn c", "fn d"].iter().all(|name| rust.product.contains(name)));
        assert!(!rust.product.contains("fn b") && !rust.product.contains("more"));
        assert!(rust.tests.contains("\"P2\"") && !rust.tests.contains("fn c"));
    }

    #[test]
    fn brackets_are_matched_and_words_are_whole() {
        assert_eq!(closing("f(a(b)c)d", 1), Some(7));
        assert_eq!(closing("f(a", 1), None);
        assert_eq!(words("P1 P12 xP1 P1", "P1").collect::<Vec<_>>(), [0, 11]);
    }
}
