//! What people want: the policy, the kill switch, an approval, an undo. *No client, no clock.* (P12)

/// What people want of a recovery.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Orders {
    /// Whether it may go on.
    pub switch: Switch,
    /// Whether somebody's word is needed, and given.
    pub consent: Consent,
    /// Whether the original is to come back.
    pub undo: Undo,
    /// Whether a hold is to be released whatever the claim is bound to.
    pub release: ForcedRelease,
    /// What to do where the node does not advance on the proven volume.
    pub on_failure: OnFailure,
    /// What becomes of the original when its quarantine is over.
    pub on_expiry: OnExpiry,
}

/// Whether a recovery may go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Switch {
    /// It may.
    GoOn,
    /// The kill switch is on, or the policy is gone: nothing is begun, and what was begun is brought to a safe state.
    Stop,
    /// The Recovery is being deleted: it is brought to an end as soon as that is safe.
    Leave,
}

/// A human's word, bound to the verdict that is in force.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Consent {
    /// The policy acts alone on this verdict.
    NotNeeded,
    /// Asked for, not given for this verdict.
    Awaited,
    /// Given for this verdict.
    Given,
    /// Refused.
    Refused,
}

/// Whether an undo was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Undo {
    /// No.
    NotAsked,
    /// Yes.
    Asked,
}

/// Whether a human releases a hold by force.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ForcedRelease {
    /// No.
    NotAsked,
    /// Yes.
    Asked,
}

/// What follows where the node does not advance on the proven volume.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OnFailure {
    /// The original comes back.
    Undo,
    /// A human decides.
    Stop,
}

/// What follows the quarantine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OnExpiry {
    /// The original is destroyed.
    Delete,
    /// It is kept for a human.
    Keep,
}
