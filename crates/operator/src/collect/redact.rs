//! Takes secrets out of text that leaves the node. *No client, no IO.*
//!
//! A log line is quoted in a record that many may read, and a bundle is handed on. What looks like a secret is replaced by
//! `[redacted]`; hashes, addresses and heights, by which a human finds his way, stay.

use std::borrow::Cow;

const GONE: &str = "[redacted]";

/// Words after which a secret comes, as `word=…`, `word: …` or `"word":"…"`.
const NAMES: [&str; 16] = [
    "password",
    "passwd",
    "passphrase",
    "secret",
    "token",
    "api_key",
    "apikey",
    "api-key",
    "access_key",
    "private_key",
    "priv_key",
    "privkey",
    "mnemonic",
    "authorization",
    "credential",
    "x-amz-signature",
];

/// Takes secrets out, line by line.
#[must_use]
pub fn redact(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut in_pem = false;
    for line in text.split_inclusive('\n') {
        let begins = line.contains("-----BEGIN ") && line.contains("PRIVATE KEY");
        if begins {
            out.push_str(GONE);
            out.push('\n');
        }
        if begins || in_pem && is_of_a_key(line) {
            in_pem = !line.contains("-----END ");
            continue;
        }
        // A key that was cut hides nothing of what comes after it.
        in_pem = false;
        out.push_str(&redact_line(line));
    }
    out
}

/// Whether a value of this name is likely a secret: the name of a variable, of a flag, of a field.
pub(crate) fn names_a_secret(name: &str) -> bool {
    /// Too short to be looked for within words.
    const WORDS: [&str; 9] = ["pass", "pwd", "pw", "key", "keys", "auth", "cred", "creds", "phrase"];
    let lower = name.to_ascii_lowercase().replace('-', "_");
    let mut words = lower.split(|c: char| !c.is_ascii_alphanumeric());
    NAMES.iter().any(|secret| lower.contains(&secret.replace('-', "_"))) || words.any(|word| WORDS.contains(&word))
}

/// A line of base64, a header of an encrypted key, its end.
fn is_of_a_key(line: &str) -> bool {
    let line = line.trim();
    let is_header = line.starts_with("Proc-Type:") || line.starts_with("DEK-Info:");
    line.contains("-----END ") || is_header || line.len() <= 76 && line.chars().all(is_token)
}

fn redact_line(line: &str) -> Cow<'_, str> {
    let mut line = Cow::Borrowed(line);
    for step in [after_names, key_objects, bearer, user_info, web_tokens, cloud_keys, mnemonics] {
        if let Some(cleaner) = step(&line) {
            line = Cow::Owned(cleaner);
        }
    }
    line
}

/// What follows a telling name, up to the end of its value.
fn after_names(line: &str) -> Option<String> {
    let lower = line.to_ascii_lowercase();
    let mut spans: Vec<(usize, usize)> = Vec::new();
    for name in NAMES {
        for (at, _) in lower.match_indices(name) {
            let end = at + name.len();
            let before = lower.get(..at).and_then(|before| before.chars().next_back());
            // `tokens=12` and `upgradeToken` name no secret; `auth_token` and `authToken` do.
            if before.is_some_and(|c| c.is_ascii_digit()) {
                continue;
            }
            spans.extend(value_after(line, end, name).or_else(|| flag_value(line, at, end)));
        }
    }
    replaced(line, spans)
}

/// `--password hunter2`: the next word.
fn flag_value(line: &str, at: usize, end: usize) -> Option<(usize, usize)> {
    let word = line.get(..at)?.rsplit(char::is_whitespace).next()?;
    let rest = line.get(end..)?.strip_prefix(' ').filter(|_| word.starts_with("--"))?;
    let length = rest.find(char::is_whitespace).unwrap_or(rest.len());
    (length > 0 && !rest.starts_with('-')).then_some((end + 1, end + 1 + length))
}

/// The span of a value after `=`, `:` or quotes; of a mnemonic the whole rest of the line or quote.
fn value_after(line: &str, end: usize, name: &str) -> Option<(usize, usize)> {
    let rest = line.get(end..)?;
    let (mut at, mut separated) = (0, false);
    for c in rest.chars() {
        match c {
            '=' | ':' => separated = true,
            '"' | '\'' | '\\' | ' ' => {}
            _ => break,
        }
        at += c.len_utf8();
    }
    let value = rest.get(at..)?;
    // An object has its own rule.
    if !separated || value.starts_with('{') {
        return None;
    }
    let quoted = rest.get(..at).is_some_and(|lead| lead.ends_with(['"', '\'']));
    let many_words = matches!(name, "mnemonic" | "authorization" | "passphrase");
    let length = value
        .find(|c: char| match c {
            '"' | '\'' | '\n' => true,
            ' ' | ',' | ';' | '}' | ')' => !quoted && !many_words,
            _ => false,
        })
        .unwrap_or(value.len());
    let starts = end + at;
    (length > 0).then_some((starts, starts + length))
}

/// `"priv_key": {"type": …, "value": "…"}`, as CometBFT writes keys.
fn key_objects(line: &str) -> Option<String> {
    let lower = line.to_ascii_lowercase();
    let from = ["priv_key", "privkey", "private_key"].iter().filter_map(|name| lower.find(name)).min()?;
    let spans = lower.match_indices("value").filter(|(at, _)| *at > from);
    replaced(line, spans.filter_map(|(at, found)| value_after(line, at + found.len(), "value")).collect())
}

/// `Bearer …`, `Basic …`.
fn bearer(line: &str) -> Option<String> {
    let spans = ["Bearer ", "bearer ", "Basic "].iter().flat_map(|word| {
        line.match_indices(word).filter_map(|(at, found)| {
            let from = at + found.len();
            let value = line.get(from..)?;
            let length = value.find(|c: char| !is_token(c)).unwrap_or(value.len());
            (length >= 8).then_some((from, from + length))
        })
    });
    replaced(line, spans.collect())
}

/// `scheme://user:pass@host`.
fn user_info(line: &str) -> Option<String> {
    let spans = line.match_indices("://").filter_map(|(at, found)| {
        let from = at + found.len();
        let rest = line.get(from..)?;
        let authority =
            rest.find(|c: char| c.is_whitespace() || matches!(c, '/' | '?' | '"' | '\'' | ',')).unwrap_or(rest.len());
        let user = rest.get(..authority)?;
        let end = user.rfind('@')?;
        let user = user.get(..end)?;
        let is_plain_tcp = line.get(..at)?.ends_with("tcp");
        // A peer is `id@host`, with no password: its id is public.
        let is_peer =
            !user.contains(':') && (is_plain_tcp || user.len() == 40 && user.chars().all(|c| c.is_ascii_hexdigit()));
        (end > 0 && !is_peer).then_some((from, from + end))
    });
    replaced(line, spans.collect())
}

/// Three parts of base64 with dots between, the first a JSON object.
fn web_tokens(line: &str) -> Option<String> {
    let spans = line.match_indices("eyJ").filter_map(|(at, _)| {
        let value = line.get(at..)?;
        let length = value.find(|c: char| !is_token(c)).unwrap_or(value.len());
        let token = value.get(..length)?;
        (token.len() > 40 && token.matches('.').count() == 2).then_some((at, at + length))
    });
    replaced(line, spans.collect())
}

/// Identifiers of cloud keys, which stand beside their secrets.
fn cloud_keys(line: &str) -> Option<String> {
    let spans = ["AKIA", "ASIA"].iter().flat_map(|prefix| {
        line.match_indices(prefix).filter_map(|(at, _)| {
            let value = line.get(at..)?;
            let length = value.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(value.len());
            (length == 20).then_some((at, at + length))
        })
    });
    replaced(line, spans.collect())
}

/// Twelve or more words of a wallet: behind the word `mnemonic`, or alone on their line, as the SDK's `keys add` prints them.
fn mnemonics(line: &str) -> Option<String> {
    const COUNTS: [usize; 5] = [12, 15, 18, 21, 24];
    let begin = match line.to_ascii_lowercase().find("mnemonic") {
        Some(at) => at + "mnemonic".len(),
        None if COUNTS.contains(&line.split_whitespace().count()) && line.split_whitespace().all(may_be_alone) => 0,
        None => return None,
    };
    let mut run: Option<(usize, usize, usize)> = None;
    let mut at = begin;
    for word in line.get(begin..)?.split_inclusive(char::is_whitespace) {
        let (from, plain) = (at, word.trim_end().trim_end_matches([',', '.', ';', '"']));
        at += word.len();
        if plain.is_empty() {
            continue;
        }
        run = match run {
            Some((from, _, words)) if is_wallet_word(plain) => Some((from, from_end(at, word, plain), words + 1)),
            None if is_wallet_word(plain) => Some((from, from_end(at, word, plain), 1)),
            Some((_, _, 12..)) => break,
            _ => None,
        };
    }
    let (from, to, _) = run.filter(|(_, _, words)| *words >= 12)?;
    replaced(line, vec![(from, to)])
}

/// Where a word ends whose white space ends at `at`.
fn from_end(at: usize, word: &str, plain: &str) -> usize {
    at - word.len() + plain.len()
}

/// Words of English that are in no wallet's list: with one of them a line is a sentence.
fn may_be_alone(word: &str) -> bool {
    const PROSE: [&str; 10] = ["the", "for", "and", "are", "was", "has", "not", "but", "its", "you"];
    is_wallet_word(word) && !PROSE.contains(&word)
}

fn is_wallet_word(word: &str) -> bool {
    (3..=8).contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_lowercase())
}

fn is_token(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '+' | '/' | '=')
}

fn replaced(line: &str, mut spans: Vec<(usize, usize)>) -> Option<String> {
    if spans.is_empty() {
        return None;
    }
    spans.sort_unstable();
    let mut out = String::with_capacity(line.len());
    let mut at = 0;
    for (from, to) in spans {
        if from < at {
            continue;
        }
        out.push_str(line.get(at..from).unwrap_or_default());
        out.push_str(GONE);
        at = to;
    }
    out.push_str(line.get(at..).unwrap_or_default());
    Some(out)
}

#[cfg(test)]
mod tests;
