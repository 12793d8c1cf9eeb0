//! Counts the bytes read, keeps to the rate that was asked for, and carries the caller's wish to stop. *No files.*

use std::num::NonZeroU64;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::Progress;
use crate::read_error::ReadError;

/// Long waits are cut into slices, so that an interruption is heard soon.
const LONGEST_SLICE: Duration = Duration::from_millis(100);

/// Bytes that may be read in search of the owner of strange pages. A disk full of garbage must not make the inspection
/// read everything a thousand times.
const SEARCH_BYTES_MAX: u64 = 1 << 30;

/// Errors that are kept of a device that fails now and then.
const FAILURES_KEPT: usize = 100;

/// Shared by all files of one inspection.
pub struct Meter {
    bytes: AtomicU64,
    searched: AtomicU64,
    started: Instant,
    limit: Option<NonZeroU64>,
    progress: Arc<dyn Progress>,
    /// Device errors that a second read did not give.
    gone: Mutex<Vec<ReadError>>,
}

impl std::fmt::Debug for Meter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Meter").field("bytes", &self.bytes()).field("limit", &self.limit).finish_non_exhaustive()
    }
}

impl Meter {
    /// Reads at most `bytes_per_second`, counted from now over all threads.
    #[must_use]
    pub fn new(bytes_per_second: Option<NonZeroU64>, progress: Arc<dyn Progress>) -> Self {
        Self {
            bytes: AtomicU64::new(0),
            searched: AtomicU64::new(0),
            started: Instant::now(),
            limit: bytes_per_second,
            progress,
            gone: Mutex::default(),
        }
    }

    /// How many bytes have been read.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Keeps a device error that a second read did not give: proven means twice, and a device whose answers change is sick.
    pub(crate) fn note_failure_that_went(&self, error: ReadError) {
        let mut gone = self.gone.lock().unwrap_or_else(PoisonError::into_inner);
        if gone.len() < FAILURES_KEPT {
            gone.push(error);
        }
    }

    /// The device errors that a second read did not give, the first of them.
    #[must_use]
    pub fn failures_that_went(&self) -> Vec<ReadError> {
        self.gone.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether so many more bytes may be read in search of a page's owner.
    pub(crate) fn may_search(&self, bytes: u64) -> bool {
        self.searched.fetch_add(bytes, Ordering::Relaxed) < SEARCH_BYTES_MAX && !self.interrupted()
    }

    /// Whether the caller wants an end.
    #[must_use]
    pub fn interrupted(&self) -> bool {
        self.progress.interrupted()
    }

    /// Tells the caller that this much is to be read.
    pub fn expect(&self, bytes: u64) {
        self.progress.expect(bytes);
    }

    /// Counts bytes that were just read, and waits while they came too fast.
    pub fn count(&self, bytes: u64) {
        let total = self.bytes.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes);
        self.progress.done(bytes);
        let Some(limit) = self.limit else { return };
        let due = Duration::from_millis(total.saturating_mul(1000) / limit);
        loop {
            let early = due.saturating_sub(self.started.elapsed());
            if early.is_zero() || self.interrupted() {
                return;
            }
            std::thread::sleep(early.min(LONGEST_SLICE));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Silent;

    #[test]
    fn a_rate_is_kept() {
        let meter = Meter::new(NonZeroU64::new(1_000_000), Arc::new(Silent));
        let start = Instant::now();
        meter.count(50_000);
        meter.count(50_000);
        assert!(start.elapsed() >= Duration::from_millis(95), "{:?}", start.elapsed());
        assert_eq!(meter.bytes(), 100_000);
    }
}
