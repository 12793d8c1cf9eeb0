//! One command at a time, with what must still be so when it is done. *No client, no clock.* (P5)

use super::{Note, Reserved, Stage};
use crate::Uid;

/// What is done next. Each command names the UIDs that it is about; whoever does it reads live once more and leaves it where
/// they are others by then.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Command {
    /// Write something down.
    Write(Note),
    /// Restore a snapshot into the temporary claim.
    Restore {
        /// Which snapshot.
        snapshot: Uid,
    },
    /// Make the temporary claim so that it takes a volume that is reserved for it.
    Adopt {
        /// Which volume.
        volume: Uid,
    },
    /// Send the inspector to the replacement.
    SendProver,
    /// Send the Job that copies identity and signing state from the volume that leaves to the one that comes.
    SendCarrier,
    /// Take our Jobs away.
    RemoveJobs,
    /// Look at everything and judge once more.
    LookAgain,
    /// Set a volume's reclaim policy to `Retain`.
    Keep {
        /// Which volume.
        volume: Uid,
    },
    /// Hold the pod away.
    Hold,
    /// Let the pod come, now that this claim is bound to this volume.
    Release {
        /// The claim that must still be bound.
        claim: Uid,
        /// To this volume.
        volume: Uid,
    },
    /// Let the pod come whatever the claim is bound to: only by a human's word.
    ReleaseByForce,
    /// Delete the pod.
    DeletePod {
        /// Which one.
        uid: Uid,
    },
    /// Delete the temporary claim.
    DeleteTemporary {
        /// Which one.
        uid: Uid,
    },
    /// Reserve a volume for a name, without UID.
    Reserve {
        /// Which volume.
        volume: Uid,
        /// What its `claimRef` must still say.
        seen: Reserved,
        /// What it says afterwards: [`Reserved::ForTheName`] or [`Reserved::ForTheTemporary`].
        then: Reserved,
    },
    /// Reserve a volume for a claim that cannot be, so that nobody gets it.
    Withdraw {
        /// Which volume.
        volume: Uid,
        /// What its `claimRef` must still say.
        seen: Reserved,
    },
    /// Delete the replica's claim: from here on the volume that leaves is off.
    DeleteClaim {
        /// Which one.
        uid: Uid,
    },
    /// Destroy a volume that nobody uses, with its data.
    Drop {
        /// Which one.
        volume: Uid,
    },
    /// Set the reclaim policy of the volume in use to what it was.
    GiveBackReclaim {
        /// Which volume.
        volume: Uid,
    },
    /// Wait: for the cluster, for the node, or for a human.
    Wait,
    /// Nothing more, ever.
    Rest,
}

impl Command {
    pub(super) fn enter(stage: Stage) -> Self {
        Self::Write(Note::Enter(stage))
    }
}
