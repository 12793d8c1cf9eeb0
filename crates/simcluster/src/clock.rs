//! Virtual time: what tokio's paused clock says, as the time of the cluster. *No client.*

use jiff::{SignedDuration, Timestamp};
use tokio::time::Instant;

/// The cluster's clock. It stands still while anything runs, and jumps to the next timer when all wait.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clock {
    start: Timestamp,
    epoch: Instant,
}

impl Clock {
    /// A clock that shows `start` now.
    pub(crate) fn starting_at(start: Timestamp) -> Self {
        Self { start, epoch: Instant::now() }
    }

    /// The time, in whole milliseconds as tokio's timers have it.
    pub(crate) fn now(&self) -> Timestamp {
        let passed = i64::try_from(self.epoch.elapsed().as_millis()).unwrap_or(i64::MAX);
        self.start.checked_add(SignedDuration::from_millis(passed)).unwrap_or(Timestamp::MAX)
    }

    /// When a time comes, for a timer; at once if it is past.
    pub(crate) fn instant(&self, time: Timestamp) -> Instant {
        let wait = time.duration_since(self.start).unsigned_abs();
        if time <= self.start { self.epoch } else { self.epoch.checked_add(wait).unwrap_or(self.epoch) }
    }
}
