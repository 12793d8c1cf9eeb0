//! JSON files of a node, read in a stream: one string, one count, or one small record. *Files, read-only.*
//!
//! A genesis file can have gigabytes, so the wanted string is taken as it comes by and the rest is never read. What is read
//! is bounded, and so is nesting: `serde_json` skips values without recursion.

use std::fmt;
use std::io::{BufReader, Read};

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::data_file::DataFile;

/// A file as a stream, at most so many bytes of it.
struct Stream<'f> {
    file: &'f DataFile,
    at: u64,
    limit: u64,
    /// The system's error, which `serde_json` would hide behind its own words.
    failed: Option<crate::ReadError>,
}

impl Read for &mut Stream<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let left = usize::try_from(self.limit.saturating_sub(self.at)).unwrap_or(usize::MAX);
        let wanted = buffer.len().min(left);
        let Some(buffer) = buffer.get_mut(..wanted) else { return Ok(0) };
        match self.file.read_up_to_at(buffer, self.at) {
            Ok(count) => {
                self.at = self.at.saturating_add(count as u64);
                Ok(count)
            }
            Err(error) => {
                self.failed = Some(error.clone());
                Err(std::io::Error::other(error))
            }
        }
    }
}

/// What a file says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum JsonRead<T> {
    /// It says this.
    Found(T),
    /// It is JSON (as far as it was read) and does not say it.
    Silent,
    /// It goes on beyond the limit.
    BeyondLimit,
    /// It is no such JSON.
    Broken(String),
    /// It could not be read.
    Unreadable(crate::ReadError),
}

/// The string under a key of the outermost object.
pub(crate) fn top_string(file: &DataFile, key: &str, limit: u64) -> JsonRead<String> {
    let mut found = None;
    let result = stream(file, limit, Top { key, found: Want::Text(&mut found) });
    conclude(found, result, file, limit)
}

/// How many items the array under a key of the outermost object has.
pub(crate) fn top_array_length(file: &DataFile, key: &str, limit: u64) -> JsonRead<u64> {
    let mut found = None;
    let result = stream(file, limit, Top { key, found: Want::Length(&mut found) });
    conclude(found, result, file, limit)
}

type Streamed = Result<(), (String, Option<crate::ReadError>)>;

fn stream(file: &DataFile, limit: u64, seed: Top<'_>) -> Streamed {
    let mut stream = Stream { file, at: 0, limit, failed: None };
    let mut json = serde_json::Deserializer::from_reader(BufReader::new(&mut stream));
    let result = seed.deserialize(&mut json).map_err(|error| error.to_string());
    drop(json);
    result.map_err(|error| (error, stream.failed))
}

fn conclude<T>(found: Option<T>, result: Streamed, file: &DataFile, limit: u64) -> JsonRead<T> {
    match (found, result) {
        // Reading stops by an error once the wanted value is there.
        (Some(found), _) => JsonRead::Found(found),
        (None, Ok(())) => JsonRead::Silent,
        (None, Err((_, Some(error)))) => JsonRead::Unreadable(error),
        (None, Err(_)) if file.bytes() > limit => JsonRead::BeyondLimit,
        (None, Err((error, None))) => JsonRead::Broken(error),
    }
}

enum Want<'w> {
    Text(&'w mut Option<String>),
    Length(&'w mut Option<u64>),
}

struct Top<'w> {
    key: &'w str,
    found: Want<'w>,
}

impl<'de> DeserializeSeed<'de> for Top<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Top<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            if key != self.key {
                map.next_value::<IgnoredAny>()?;
                continue;
            }
            match self.found {
                Want::Text(found) => *found = Some(map.next_value()?),
                Want::Length(found) => *found = Some(map.next_value::<Length>()?.0),
            }
            return Err(A::Error::custom("found"));
        }
        Ok(())
    }
}

/// An array, counted and not kept.
struct Length(u64);

impl<'de> Deserialize<'de> for Length {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Count;
        impl<'de> Visitor<'de> for Count {
            type Value = Length;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an array")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Length, A::Error> {
                let mut count = 0_u64;
                while items.next_element::<IgnoredAny>()?.is_some() {
                    count = count.saturating_add(1);
                }
                Ok(Length(count))
            }

            fn visit_unit<E>(self) -> Result<Length, E> {
                Ok(Length(0))
            }
        }
        deserializer.deserialize_any(Count)
    }
}

/// A number, or a string of one: CometBFT writes 64-bit numbers as strings.
pub(crate) fn number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i64, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Number {
        Plain(i64),
        Text(String),
    }
    match Number::deserialize(deserializer)? {
        Number::Plain(value) => Ok(value),
        Number::Text(text) => text.parse().map_err(D::Error::custom),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DataDir, Meter, Silent};
    use std::sync::Arc;

    fn file(text: &str) -> (tempfile::TempDir, DataFile) {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("f"), text).unwrap();
        let data = DataDir::open(dir.path(), Arc::new(Meter::new(None, Arc::new(Silent)))).unwrap();
        (dir, data.file("f").unwrap())
    }

    #[test]
    fn the_string_is_found_before_and_after_other_values_and_nowhere_else() {
        let before = file(r#"{"chain_id": "a-1", "rest": broken"#);
        assert_eq!(top_string(&before.1, "chain_id", 1 << 20), JsonRead::Found("a-1".into()));
        let after = file(r#"{"app_state": {"chain_id": "no", "x": [[{}]]}, "chain_id": "b-2"}"#);
        assert_eq!(top_string(&after.1, "chain_id", 1 << 20), JsonRead::Found("b-2".into()));
        let nowhere = file(r#"{"app_state": {"chain_id": "no"}}"#);
        assert_eq!(top_string(&nowhere.1, "chain_id", 1 << 20), JsonRead::Silent);
        assert_eq!(top_string(&after.1, "chain_id", 20), JsonRead::BeyondLimit);
        assert!(matches!(top_string(&file("").1, "chain_id", 9), JsonRead::Broken(_)));
        assert!(matches!(top_string(&file("{\"chain_id\": 5}").1, "chain_id", 99), JsonRead::Broken(_)));
    }

    #[test]
    fn deep_nesting_is_no_recursion() {
        let deep = file(&format!("{{\"x\": {}", "[".repeat(1 << 20)));
        assert!(matches!(top_string(&deep.1, "chain_id", 1 << 22), JsonRead::Broken(_)));
    }

    #[test]
    fn items_are_counted() {
        let book = file(r#"{"key": "", "addrs": [{"a": 1}, {}, []]}"#);
        assert_eq!(top_array_length(&book.1, "addrs", 1 << 20), JsonRead::Found(3));
        assert_eq!(top_array_length(&file(r#"{"addrs": null}"#).1, "addrs", 99), JsonRead::Found(0));
    }
}
