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
        if begins || in_pem {
            if begins {
                out.push_str(GONE);
                out.push('\n');
            }
            in_pem = !line.contains("-----END ");
            continue;
        }
        out.push_str(&redact_line(line));
    }
    out
}

fn redact_line(line: &str) -> Cow<'_, str> {
    let mut line = Cow::Borrowed(line);
    for step in [after_names, key_objects, bearer, user_info, web_tokens, cloud_keys] {
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
            spans.extend(value_after(line, end, name));
        }
    }
    replaced(line, spans)
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
        let user = rest.get(..authority)?.rfind('@')?;
        // A peer is `id@host`, with no password: its id is public.
        rest.get(..user)?.contains(':').then_some((from, from + user))
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
mod tests {
    use super::*;

    #[test]
    fn secrets_go() {
        for (line, clean) in [
            ("password=hunter2 next", "password=[redacted] next"),
            (
                r#"{"priv_key":{"type":"tendermint/PrivKeyEd25519","value":"AbC="},"height":"5"}"#,
                r#"{"priv_key":{"type":"tendermint/PrivKeyEd25519","value":"[redacted]"},"height":"5"}"#,
            ),
            ("Authorization: Bearer abcdef123456", "Authorization: [redacted]"),
            ("got Bearer abcdef123456 from peer", "got Bearer [redacted] from peer"),
            ("dial https://user:pass@rpc.example/x", "dial https://[redacted]@rpc.example/x"),
            ("mnemonic: abandon ability able about above", "mnemonic: [redacted]"),
            (r#""auth_token":"s3cr3t","height":5"#, r#""auth_token":"[redacted]","height":5"#),
            ("key AKIAIOSFODNN7EXAMPLE used", "key [redacted] used"),
            ("jwt eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P", "jwt [redacted]"),
        ] {
            assert_eq!(redact(line), clean, "{line}");
        }
    }

    #[test]
    fn a_private_key_goes_whole() {
        let pem = "before\n-----BEGIN PRIVATE KEY-----\nMC4CAQ\n-----END PRIVATE KEY-----\nafter\n";
        assert_eq!(redact(pem), "before\n[redacted]\nafter\n");
        let json = r#""priv_key": {"type": "tendermint/PrivKeyEd25519", "value": "c2VjcmV0"}"#;
        assert!(!redact(json).contains("c2VjcmV0"), "{}", redact(json));
    }

    #[test]
    fn what_people_need_stays() {
        for line in [
            "panic: wrong Block.Header.AppHash. Expected 8C2F9A, got 51AA0E, height=1187",
            "dial tcp://f3a1b2@10.0.0.7:26656 failed",
            "store osmo1qypqxpq9qcrsszg2pvxq6rs0zqg3yyc5lzv7xu has 12 tokens",
            "leveldb/table: corruption on data-block (pos=1187): checksum mismatch, want=0x7ae078c2 got=0xac1efc6 [file=000002.ldb]",
            "invalid token 'x' in app.toml",
        ] {
            assert_eq!(redact(line), line);
        }
    }
}
