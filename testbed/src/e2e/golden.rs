//! A record as it must come out, with what differs from run to run masked.

use std::{fs, path::PathBuf};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::place;

/// Numbers that must come out the same.
const EXACT: [&str; 4] = ["exitCode", "advancing", "asked", "observedGeneration"];
/// Lists that depend on how often the node crashed before it was looked at.
const COUNTED: [&str; 2] = ["podUids", "decisive"];

/// Words with a digit in them that are the same in every run.
const PLAIN: [&str; 3] = ["v1", "v1alpha1", "k8s"];

/// Compares with the file of this name, or writes it where `UPDATE_GOLDEN` is set.
pub(crate) fn compare(name: &str, value: &Value) -> Result<()> {
    let mut masked = value.clone();
    mask(&mut masked, "");
    let text = serde_saphyr::to_string(&masked).context("write YAML")?;
    let file = folder().join(format!("{name}.yaml"));
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        fs::create_dir_all(folder())?;
        return fs::write(&file, text).with_context(|| format!("write {}", file.display()));
    }
    let expected = fs::read_to_string(&file).with_context(|| {
        format!("read {} (UPDATE_GOLDEN=1 writes it; look at it before it is kept)", file.display())
    })?;
    match first_difference(&expected, &text) {
        None => Ok(()),
        Some(difference) => bail!("{} differs: {difference} (UPDATE_GOLDEN=1 writes it anew)", file.display()),
    }
}

fn folder() -> PathBuf {
    place::repository().join("testbed/golden")
}

fn first_difference(expected: &str, found: &str) -> Option<String> {
    let (mut expected, mut found) = (expected.lines(), found.lines());
    for number in 1.. {
        match (expected.next(), found.next()) {
            (None, None) => return None,
            (one, other) if one == other => {}
            (one, other) => {
                let said = |line: Option<&str>| line.unwrap_or("nothing").trim().to_owned();
                return Some(format!("line {number} is to be {:?} and is {:?}", said(one), said(other)));
            }
        }
    }
    None
}

fn mask(value: &mut Value, key: &str) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields.iter_mut() {
                mask(value, key);
            }
        }
        Value::Array(list) => {
            if COUNTED.contains(&key) {
                list.truncate(1);
            }
            for value in list.iter_mut() {
                mask(value, key);
            }
            // The same said of several places is one line.
            list.dedup();
        }
        Value::Number(_) if !EXACT.contains(&key) => *value = "#".into(),
        Value::String(text) => *text = masked(text),
        Value::Number(_) | Value::Bool(_) | Value::Null => {}
    }
}

/// UIDs, times, hashes and numbers give way to a word each; the ordinals of our pods stay.
fn masked(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let word_end = rest.find(|each: char| !each.is_ascii_alphanumeric()).unwrap_or(rest.len());
        if let Some(after) = uid(rest) {
            out.push_str("UID");
            rest = after;
        } else if let Some(after) = time(rest) {
            out.push_str("TIME");
            rest = after;
        } else if word_end == 0 {
            out.push(first);
            rest = rest.get(first.len_utf8()..).unwrap_or_default();
        } else {
            let (word, after) = rest.split_at(word_end);
            out.push_str(&masked_word(word, &out));
            rest = after;
        }
    }
    out
}

fn masked_word(word: &str, before: &str) -> String {
    let has_digit = word.chars().any(|each| each.is_ascii_digit());
    if !has_digit || (before.ends_with("chain-") && word.len() == 1) || PLAIN.contains(&word) {
        return word.to_owned();
    }
    if word.len() >= 8
        && word.chars().all(|each| each.is_ascii_hexdigit())
        && !word.chars().all(|each| each.is_ascii_digit())
    {
        return "HEX".to_owned();
    }
    let mut out = String::new();
    for each in word.chars() {
        match each {
            '0'..='9' if out.ends_with('#') => {}
            '0'..='9' => out.push('#'),
            other => out.push(other),
        }
    }
    out
}

/// What follows a UID at the beginning.
fn uid(text: &str) -> Option<&str> {
    let candidate = text.get(..36)?;
    let fits = candidate.char_indices().all(|(at, each)| match at {
        8 | 13 | 18 | 23 => each == '-',
        _ => each.is_ascii_hexdigit(),
    });
    if fits { text.get(36..) } else { None }
}

/// What follows a time at the beginning.
fn time(text: &str) -> Option<&str> {
    let candidate = text.get(..19)?;
    let fits = candidate.char_indices().all(|(at, each)| match at {
        4 | 7 => each == '-',
        10 => each == 'T' || each == ' ',
        13 | 16 => each == ':',
        _ => each.is_ascii_digit(),
    });
    let after = text.get(19..).filter(|_| fits)?;
    Some(after.trim_start_matches(|each: char| each == '.' || each.is_ascii_digit()).trim_start_matches('Z'))
}

#[cfg(test)]
mod tests {
    use super::masked;

    #[test]
    fn what_differs_is_masked_and_what_counts_stays() {
        let given = "chain-1: pvc-0f9a1c52-1d2e-4b7a-9c1d-001122334455 at 2026-12-01T14:53:14.03Z height 312, 000072.ldb, \
                     hash 0A1B2C3D4E";
        assert_eq!(masked(given), "chain-1: pvc-UID at TIME height #, #.ldb, hash HEX");
        assert_eq!(masked("snapshot.storage.k8s.io/v1"), "snapshot.storage.k8s.io/v1");
    }

    #[test]
    fn words_without_numbers_are_not_touched() {
        assert_eq!(masked("deadbeef wrong Block.Header.AppHash"), "deadbeef wrong Block.Header.AppHash");
    }
}
