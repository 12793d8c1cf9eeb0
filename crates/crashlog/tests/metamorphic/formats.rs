//! One record in each log format.

use std::{fmt::Write as _, sync::LazyLock};

use regex::Regex;
use serde_json::{Map, Value};

/// A line whose parts are beyond doubt.
struct Line {
    level: char,
    message: String,
    fields: Vec<(String, String)>,
}

/// Rewrites each line in a format that is known; `None` where there is none.
fn rewrite(log: &str, write: fn(&Line) -> String) -> Option<String> {
    let mut any = false;
    let mut rewritten = String::new();
    for text in log.lines() {
        match parse(text) {
            Some(line) => {
                any = true;
                rewritten += &write(&line);
            }
            None => rewritten += text,
        }
        rewritten.push('\n');
    }
    any.then_some(rewritten)
}

fn parse(text: &str) -> Option<Line> {
    static HEAD: LazyLock<Regex> = LazyLock::new(|| {
        let head = r"^(?:[0-9]{1,2}:[0-9]{2}[AP]M )?(?<word>INF|ERR|WRN|DBG) (?<body>.*)$|^(?<letter>[IEWD])\[[0-9T:.|-]+\] (?<plain>.*)$";
        Regex::new(head).expect("a constant")
    });
    static PAIR: LazyLock<Regex> = LazyLock::new(|| {
        let pair = r#"^ +(?<key>[A-Za-z_][A-Za-z0-9_.-]*)=(?:"(?<quoted>(?:[^"\\]|\\["\\nt])*)"|(?<bare>[^\s"=]+))"#;
        Regex::new(pair).expect("a constant")
    });
    let head = HEAD.captures(text)?;
    let level = head.name("word").or(head.name("letter"))?.as_str().chars().next()?;
    let body = head.name("body").or(head.name("plain"))?.as_str();
    let start = PAIR.find_iter(body).next().map_or(body.len(), |_| 0);
    let first = (start..=body.len()).find(|at| body.is_char_boundary(*at) && PAIR.is_match(&body[*at..]));
    let (message, mut rest) = body.split_at(first.unwrap_or(body.len()));
    let mut fields = Vec::new();
    while !rest.is_empty() {
        let pair = PAIR.captures(rest)?;
        let value = match (pair.name("quoted"), pair.name("bare")) {
            (Some(quoted), _) => serde_json::from_str(&format!("\"{}\"", quoted.as_str())).ok()?,
            (_, bare) => bare?.as_str().to_owned(),
        };
        fields.push((pair["key"].to_owned(), value));
        rest = &rest[pair[0].len()..];
    }
    let reserved = ["level", "message", "msg", "time", "_msg"];
    let lawful = fields.iter().enumerate().all(|(place, (key, _))| {
        !reserved.contains(&key.as_str()) && fields.iter().take(place).all(|(other, _)| other != key)
    });
    // A message that begins like a caller or holds an equals sign reads differently in each format.
    let message = message.trim().to_owned();
    (lawful && !message.contains('=') && !message.is_empty()).then_some(Line { level, message, fields })
}

fn pairs(line: &Line, between: &str) -> String {
    let mut text = String::new();
    for (key, value) in &line.fields {
        let plain =
            !value.is_empty() && value.bytes().all(|byte| byte > b' ' && byte != b'"' && byte != b'=' && byte < 127);
        let value = if plain { value.clone() } else { Value::String(value.clone()).to_string() };
        let _ = write!(text, " {key}={between}{value}");
    }
    text
}

pub(crate) fn plain(log: &str) -> Option<String> {
    rewrite(log, plain_line)
}

fn plain_line(line: &Line) -> String {
    format!("{}[2026-11-30|20:59:28.346] {:<44}{}", line.level, line.message, pairs(line, ""))
}

fn word(line: &Line) -> &'static str {
    match line.level {
        'I' => "INF",
        'E' => "ERR",
        'W' => "WRN",
        _ => "DBG",
    }
}

pub(crate) fn console(log: &str) -> Option<String> {
    rewrite(log, console_line)
}

fn console_line(line: &Line) -> String {
    format!("8:59PM {} {}{}", word(line), line.message, pairs(line, ""))
}

pub(crate) fn coloured(log: &str) -> Option<String> {
    rewrite(log, coloured_line)
}

fn coloured_line(line: &Line) -> String {
    let mut text =
        format!("\u{1b}[90m8:59PM\u{1b}[0m \u{1b}[31m{}\u{1b}[0m \u{1b}[1m{}\u{1b}[0m", word(line), line.message);
    for (key, value) in &line.fields {
        let one = Line { level: line.level, message: String::new(), fields: vec![(key.clone(), value.clone())] };
        let pair = pairs(&one, "");
        let (key, value) = pair.split_once('=').expect("a pair");
        let _ = write!(text, " \u{1b}[36m{}=\u{1b}[0m{value}", key.trim());
    }
    text
}

pub(crate) fn json(log: &str) -> Option<String> {
    rewrite(log, json_line)
}

fn json_line(line: &Line) -> String {
    let level = match line.level {
        'I' => "info",
        'E' => "error",
        'W' => "warn",
        _ => "debug",
    };
    let mut object = Map::new();
    object.insert("level".to_owned(), level.into());
    for (key, value) in &line.fields {
        object.insert(key.clone(), value.parse::<u64>().map_or_else(|_| value.clone().into(), Value::from));
    }
    object.insert("message".to_owned(), line.message.clone().into());
    Value::Object(object).to_string()
}

/// A record that carries a text as its message and one that carries it as its error.
fn carriers(text: &str) -> [Line; 2] {
    let field = |key: &str, value: &str| (key.to_owned(), value.to_owned());
    // In plain and console a message ends where a pair begins, so no message with a pair is the same event in JSON.
    // A date before it would be the record's own in some loggers.
    let text_only = text.trim_start_matches(|c: char| c.is_ascii_digit() || " -:.,/TZ".contains(c));
    let message: String = text_only.lines().next().unwrap_or_default().split('=').next().unwrap_or_default().to_owned();
    let fields = vec![field("err", text), field("height", "9121841"), field("module", "state")];
    let as_error = Line { level: 'E', message: "failed to process committed block".to_owned(), fields };
    let fields = vec![field("err", "EOF"), field("module", "server")];
    [as_error, Line { level: 'E', message: message.trim().to_owned(), fields }]
}

/// The same record as plain, console, coloured console and JSON, for each carrier.
pub(crate) fn carried(text: &str) -> [[String; 4]; 2] {
    carriers(text).map(|line| [plain_line(&line), console_line(&line), coloured_line(&line), json_line(&line)])
}
