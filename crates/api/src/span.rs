//! A length of time as people write it in a manifest: `90s`, `10m`, `1h30m`, `168h`. *No client.*
//!
//! The form of Go's `time.ParseDuration`, which every Kubernetes API uses, without signs and without fractions: no setting
//! of ours means anything below a second.

use std::{borrow::Cow, fmt, str::FromStr, time::Duration};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// What the schema accepts; the parser accepts the same.
const PATTERN: &str = "^([0-9]+[hms])+$";

/// Longer text is no length of time that a person wrote.
const LENGTH_MAX: usize = 24;

/// A length of time in whole seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Span {
    seconds: u64,
}

impl Span {
    /// So many seconds.
    #[must_use]
    pub const fn seconds(seconds: u64) -> Self {
        Self { seconds }
    }

    /// So many minutes, as far as they can be counted.
    #[must_use]
    pub const fn minutes(minutes: u64) -> Self {
        Self { seconds: minutes.saturating_mul(60) }
    }

    /// So many hours, as far as they can be counted.
    #[must_use]
    pub const fn hours(hours: u64) -> Self {
        Self::minutes(hours.saturating_mul(60))
    }

    /// In seconds.
    #[must_use]
    pub const fn as_seconds(self) -> u64 {
        self.seconds
    }

    /// As the standard library counts time.
    #[must_use]
    pub const fn as_duration(self) -> Duration {
        Duration::from_secs(self.seconds)
    }
}

/// Text that is no length of time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpanError {
    text: String,
}

impl fmt::Display for SpanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is no length of time (write 90s, 10m, 1h30m or 168h)", self.text)
    }
}

impl std::error::Error for SpanError {}

impl FromStr for Span {
    type Err = SpanError;

    fn from_str(text: &str) -> Result<Self, SpanError> {
        let wrong = || SpanError { text: text.chars().take(LENGTH_MAX).collect() };
        if text.is_empty() || text.len() > LENGTH_MAX {
            return Err(wrong());
        }
        let mut seconds = 0_u64;
        let mut rest = text;
        while !rest.is_empty() {
            let unit_at = rest.find(|c: char| !c.is_ascii_digit()).ok_or_else(wrong)?;
            let (number, from_unit) = rest.split_at_checked(unit_at).ok_or_else(wrong)?;
            let (unit, after) = from_unit.split_at_checked(1).ok_or_else(wrong)?;
            let factor = match unit {
                "h" => 3600,
                "m" => 60,
                "s" => 1,
                _ => return Err(wrong()),
            };
            let part = number.parse::<u64>().ok().and_then(|number| number.checked_mul(factor)).ok_or_else(wrong)?;
            seconds = seconds.checked_add(part).ok_or_else(wrong)?;
            rest = after;
        }
        Ok(Self { seconds })
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (hours, minutes, seconds) = (self.seconds / 3600, self.seconds / 60 % 60, self.seconds % 60);
        let mut text = String::new();
        for (count, unit) in [(hours, 'h'), (minutes, 'm'), (seconds, 's')] {
            if count > 0 {
                text.push_str(&count.to_string());
                text.push(unit);
            }
        }
        f.pad(if text.is_empty() { "0s" } else { &text })
    }
}

impl Serialize for Span {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Span {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

impl JsonSchema for Span {
    fn schema_name() -> Cow<'static, str> {
        "Span".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "pattern": PATTERN, "maxLength": LENGTH_MAX })
    }
}

#[cfg(test)]
mod tests {
    use super::Span;

    #[test]
    fn what_people_write() {
        for (text, seconds, canonical) in [
            ("0s", 0, "0s"),
            ("90s", 90, "1m30s"),
            ("10m", 600, "10m"),
            ("1h30m", 5400, "1h30m"),
            ("168h", 604_800, "168h"),
            ("1m1h", 3660, "1h1m"),
        ] {
            let span: Span = text.parse().expect(text);
            assert_eq!((span.as_seconds(), span.to_string().as_str()), (seconds, canonical), "{text}");
        }
    }

    #[test]
    fn what_is_no_length_of_time() {
        for text in ["", "5", "h", "-5m", "1.5h", "5d", "5 m", "5м", "99999999999999999999s", "5124095576030432h"] {
            let error = text.parse::<Span>().expect_err(text);
            assert!(error.to_string().contains("write 90s"), "{error}");
        }
    }
}
