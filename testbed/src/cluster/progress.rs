//! Lines that tell what is done, each with the time since the beginning.

use std::time::{Duration, Instant};

/// The clock of one command.
pub(crate) struct Progress {
    begun: Instant,
}

impl Progress {
    pub(crate) fn begin() -> Self {
        Self { begun: Instant::now() }
    }

    pub(crate) fn say(&self, what: &str) {
        println!("{:7.1} s  {what}", self.elapsed().as_secs_f64());
    }

    pub(crate) fn elapsed(&self) -> Duration {
        self.begun.elapsed()
    }
}
