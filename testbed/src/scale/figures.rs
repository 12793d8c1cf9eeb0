//! Times and sizes, as they are told.

use std::time::Duration;

/// Times that were taken.
#[derive(Debug, Clone, Default)]
pub(super) struct Times {
    sorted: Vec<Duration>,
}

impl FromIterator<Duration> for Times {
    fn from_iter<T: IntoIterator<Item = Duration>>(times: T) -> Self {
        let mut sorted: Vec<Duration> = times.into_iter().collect();
        sorted.sort_unstable();
        Self { sorted }
    }
}

impl Times {
    pub(super) fn len(&self) -> usize {
        self.sorted.len()
    }

    /// The smallest that at least so many of a hundred do not exceed.
    pub(super) fn percentile(&self, percent: usize) -> Option<Duration> {
        let at = (self.sorted.len() * percent).div_ceil(100).max(1) - 1;
        self.sorted.get(at).copied()
    }

    pub(super) fn max(&self) -> Option<Duration> {
        self.sorted.last().copied()
    }

    /// A row's cells: number, median, 95th and 99th of a hundred, the longest.
    pub(super) fn cells(&self) -> String {
        let told = |time: Option<Duration>| time.map_or_else(|| "none".to_owned(), seconds);
        format!(
            "{} | {} | {} | {} | {}",
            self.len(),
            told(self.percentile(50)),
            told(self.percentile(95)),
            told(self.percentile(99)),
            told(self.max())
        )
    }
}

pub(super) fn seconds(time: Duration) -> String {
    format!("{:.2} s", time.as_secs_f64())
}

#[expect(clippy::cast_precision_loss, reason = "nobody has so much memory")]
pub(super) fn mebibytes(bytes: u64) -> String {
    format!("{:.1} MiB", bytes as f64 / 1_048_576.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_is_a_time_that_was_taken() {
        let times: Times = (1..=200).rev().map(Duration::from_millis).collect();
        assert_eq!(times.percentile(50), Some(Duration::from_millis(100)));
        assert_eq!(times.percentile(99), Some(Duration::from_millis(198)));
        assert_eq!(times.max(), Some(Duration::from_millis(200)));
        let one: Times = [Duration::from_secs(3)].into_iter().collect();
        assert_eq!(one.cells(), "1 | 3.00 s | 3.00 s | 3.00 s | 3.00 s");
        assert_eq!(Times::default().percentile(99), None);
    }
}
