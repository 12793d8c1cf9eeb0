//! The steps of the plan, each with what it needs. *No client, no clock.* (P1)

use jiff::Timestamp;

use super::{Make, Method};

/// Why nothing is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hold {
    /// The verdict says so.
    Verdict,
    /// It would be restored, but the policy only observes (P1).
    Observing,
    /// It would be restored, but this version records and does not act.
    NotBuilt,
    /// The kill switch (P12).
    Suspended,
    /// A storm (P7).
    Storm,
}

/// Why an incident ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    /// The replica makes progress again.
    RecoveredByItself(String),
    /// There is no such replica any more.
    ReplicaGone(String),
    /// Nobody watches it any more.
    NobodyWatches(String),
}

/// One step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Write down that a look begins.
    Begin {
        /// Which one.
        round: u32,
    },
    /// Write down how the disk will be looked at, before anything is made for that.
    Intend(Method),
    /// Make one object of the inspection.
    Make(Make),
    /// Collect everything else and judge.
    Judge,
    /// Take away what is left of an inspection.
    TidyUp,
    /// Write down that nothing is done.
    Hold(Hold),
    /// Write down that it is over.
    End(Ending),
    /// Nothing before that time, unless something changes.
    Wait(Timestamp),
    /// Nothing at all.
    Rest,
}
