//! From the bytes of one file to its documents. *No client.*
//!
//! Whatever the bytes are, memory and stack stay bounded, and one broken document costs only itself: the text is cut at its
//! document markers before anything is parsed. A line that begins with `---` or `...` can only be a marker, also within a
//! block or quoted scalar (YAML 1.2.2, 9.1.2).

use serde_json::Value;
use serde_saphyr::{Options, SnippetMode, budget, options, render_options};

/// More documents than that are no `kubectl` output.
const DOCUMENTS_MAX: usize = 10_000;

/// Kubernetes objects nest about 20 deep. Each level costs the parser more than 20 KiB of stack in a build without
/// optimisation, where 100 levels overflow a thread's 2 MiB.
const DEPTH_MAX: usize = 48;

/// 16 MiB of a pod list have about 600,000 nodes.
const NODES_MAX: usize = 2_000_000;

/// `kubectl` never writes an anchor; a person may write a few. More are a bomb.
const ALIASES_MAX: usize = 100;

/// What all aliases of a document may expand to.
const ALIAS_EVENTS_MAX: usize = 100_000;

/// One document of a file.
#[derive(Debug)]
pub(super) struct Document {
    /// From 1.
    pub(super) number: usize,
    /// The value, or why there is none (with the line).
    pub(super) content: Result<Value, String>,
}

/// Reads JSON or YAML, one document or several. A text that begins like JSON is tried as JSON first.
pub(super) fn read_documents(bytes: &[u8]) -> Vec<Document> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let Ok(text) = std::str::from_utf8(bytes) else {
        return vec![Document { number: 1, content: Err("the file is not UTF-8 text".to_owned()) }];
    };
    if text.trim_start().starts_with(['{', '[']) {
        let documents = read_json(text);
        // `{apiVersion: v1, kind: Pod}` is YAML; but then its very first document is no JSON.
        if documents.first().is_none_or(|first| first.content.is_ok()) {
            return documents;
        }
        let as_yaml = read_yaml(text);
        return if as_yaml.iter().any(|document| document.content.is_ok()) { as_yaml } else { documents };
    }
    read_yaml(text)
}

fn read_json(text: &str) -> Vec<Document> {
    let mut documents = Vec::new();
    for (index, value) in serde_json::Deserializer::from_str(text).into_iter::<Value>().take(DOCUMENTS_MAX).enumerate()
    {
        let ended = value.is_err();
        documents.push(Document { number: index + 1, content: value.map_err(|error| error.to_string()) });
        if ended {
            break;
        }
    }
    documents
}

fn read_yaml(text: &str) -> Vec<Document> {
    cut(text)
        .into_iter()
        .enumerate()
        .map(|(index, part)| Document { number: index + 1, content: parse(&part) })
        .collect()
}

/// A document's text and the lines before it in the file.
struct Part {
    text: String,
    lines_before: u64,
}

impl Part {
    fn says_something(&self) -> bool {
        self.text.lines().any(|line| {
            let line = line.trim();
            !line.is_empty() && !line.starts_with('#') && !line.starts_with('%')
        })
    }
}

fn cut(text: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut current = Part { text: String::new(), lines_before: 0 };
    for (lines, line) in (0_u64..).zip(text.split_inclusive('\n')) {
        let marker = ["---", "..."].into_iter().find_map(|marker| {
            line.strip_prefix(marker).filter(|rest| rest.is_empty() || rest.starts_with(char::is_whitespace))
        });
        if let Some(rest) = marker {
            let next = Part { text: rest.to_owned(), lines_before: lines };
            parts.push(std::mem::replace(&mut current, next));
        } else {
            current.text.push_str(line);
        }
    }
    parts.push(current);
    parts.retain(Part::says_something);
    parts.truncate(DOCUMENTS_MAX);
    parts
}

fn parse(part: &Part) -> Result<Value, String> {
    serde_saphyr::from_str_with_options::<Value>(&part.text, limits()).map_err(|error| {
        error.render_with_options(render_options! { snippets: SnippetMode::Off, line_offset: part.lines_before })
    })
}

fn limits() -> Options {
    let mut options = options! {
        budget: budget! {
            max_depth: DEPTH_MAX,
            flow_nesting_limit: DEPTH_MAX,
            max_nodes: NODES_MAX,
            max_events: 2 * NODES_MAX,
            max_aliases: ALIASES_MAX,
            max_anchors: ALIASES_MAX,
        },
        with_snippet: false,
        // `yes` and `on` are words, as for the API server's own YAML 1.2 readers.
        strict_booleans: true,
    };
    options.alias_limits.max_total_replayed_events = ALIAS_EVENTS_MAX;
    options
}
