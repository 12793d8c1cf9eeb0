//! How far an incident is. *No client.* (design 5; P12)

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How far an incident is, in the order of a recovery; the last six are ends, but for `Blocked`, which waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
pub enum Phase {
    /// Evidence is being collected
    Collecting,
    /// The judge has spoken
    Judged,
    /// A snapshot is being restored into a claim of its own
    Restoring,
    /// The restored volume is being inspected
    Proving,
    /// A human is asked
    AwaitingApproval,
    /// Pod and claim are being taken off the original volume
    Detaching,
    /// The claim is being bound to the proven volume
    Swapping,
    /// The node is starting
    Starting,
    /// The node runs and must show that it advances
    Soaking,
    /// The node advances on the proven volume
    Recovered,
    /// Nothing was done; the verdict says why
    Held,
    /// The original volume is back
    RolledBack,
    /// The world changed and nothing had been detached
    Abandoned,
    /// Only a human can go on
    NeedsHuman,
    /// Waits, holding the replica, until a human undoes or releases
    Blocked,
}

impl Phase {
    /// Every phase, in order.
    pub const ALL: [Self; 15] = [
        Self::Collecting,
        Self::Judged,
        Self::Restoring,
        Self::Proving,
        Self::AwaitingApproval,
        Self::Detaching,
        Self::Swapping,
        Self::Starting,
        Self::Soaking,
        Self::Recovered,
        Self::Held,
        Self::RolledBack,
        Self::Abandoned,
        Self::NeedsHuman,
        Self::Blocked,
    ];

    /// Whether nothing more happens by itself.
    #[must_use]
    pub fn is_end(self) -> bool {
        match self {
            Self::Recovered | Self::Held | Self::RolledBack | Self::Abandoned | Self::NeedsHuman => true,
            Self::Collecting
            | Self::Judged
            | Self::Restoring
            | Self::Proving
            | Self::AwaitingApproval
            | Self::Detaching
            | Self::Swapping
            | Self::Starting
            | Self::Soaking
            | Self::Blocked => false,
        }
    }
}
