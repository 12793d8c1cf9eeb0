//! The time, real or of a simulated cluster. *No client.* The only place of the operator that asks for it.

use std::fmt;

use jiff::{SignedDuration, Timestamp};
use tokio::time::Instant;

/// Tells the time.
#[derive(Clone)]
pub enum Clock {
    /// The machine's.
    System,
    /// That of a rehearsal: so much after its begin as the runtime's own clock has gone on.
    Virtual {
        /// The time at `since`.
        begin: Timestamp,
        /// The runtime's clock at that time.
        since: Instant,
    },
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::System => "System",
            Self::Virtual { .. } => "Virtual",
        })
    }
}

impl Clock {
    /// A clock that shows `begin` now and goes with the runtime's.
    #[must_use]
    pub fn starting_at(begin: Timestamp) -> Self {
        Self::Virtual { begin, since: Instant::now() }
    }

    /// The time.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        match self {
            Self::System => Timestamp::now(),
            Self::Virtual { begin, since } => {
                let gone = SignedDuration::try_from(since.elapsed()).unwrap_or(SignedDuration::MAX);
                begin.checked_add(gone).unwrap_or(Timestamp::MAX)
            }
        }
    }
}
