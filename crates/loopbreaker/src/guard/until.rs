//! The deadline, as the checks ask for it. *No client.*

use std::time::{Duration, Instant};

/// The time at which the work has to end.
#[derive(Debug, Clone, Copy)]
pub(super) struct Until(Option<Instant>);

impl Until {
    /// So long from now.
    pub(super) fn after(time: Duration) -> Self {
        Self(Instant::now().checked_add(time))
    }

    /// Whether it is over.
    pub(super) fn is_over(self) -> bool {
        self.0.is_some_and(|end| Instant::now() >= end)
    }

    /// What is left.
    pub(super) fn left(self) -> Duration {
        self.0.map_or(Duration::MAX, |end| end.saturating_duration_since(Instant::now()))
    }
}

impl chainstore::Progress for Until {
    fn interrupted(&self) -> bool {
        self.is_over()
    }
}

/// `10s`, `500ms`, `2m`: a whole number and its unit.
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    let wrong = || "expected a time, as in 10s, 500ms or 2m".to_owned();
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at_checked(digits).ok_or_else(wrong)?;
    let number: u64 = number.parse().map_err(|_| wrong())?;
    let milliseconds = match unit.trim() {
        "ms" => Some(number),
        "s" | "" => number.checked_mul(1000),
        "m" => number.checked_mul(60_000),
        _ => None,
    };
    milliseconds.map(Duration::from_millis).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times() {
        for (text, milliseconds) in [("10s", 10_000), ("500ms", 500), ("2m", 120_000), ("7", 7000), ("0s", 0)] {
            assert_eq!(duration(text), Ok(Duration::from_millis(milliseconds)), "{text}");
        }
        for text in ["", "s", "-1s", "1.5s", "10 apples", "99999999999999999999s", "999999999999999999m"] {
            assert!(duration(text).is_err(), "{text}");
        }
    }
}
