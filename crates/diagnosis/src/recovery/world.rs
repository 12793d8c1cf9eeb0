//! What is so in the cluster, read live, as far as a recovery asks. *No client, no clock.* (P5)
//!
//! What could not be read is not here: whoever reads it fails and reads again, and nothing is decided meanwhile.

use crate::Uid;

/// The cluster around one replica.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct World {
    /// The replica's claim.
    pub claim: ClaimNow,
    /// The claim of ours that the replacement was restored into, or by which the original is reached for an undo.
    pub temporary: ClaimNow,
    /// The replica's pod.
    pub pod: PodNow,
    /// The original volume.
    pub original: VolumeNow,
    /// The replacement.
    pub replacement: VolumeNow,
    /// Whether another volume than these two is reserved for the claim's name.
    pub reservations: Reservations,
    /// Whether the pod is held away.
    pub hold: HoldNow,
    /// The inspector on the replacement.
    pub prover: JobNow,
    /// The Job that copies identity and signing state.
    pub carrier: JobNow,
    /// Snapshots that may be restored, the best first.
    pub sources: Vec<Uid>,
    /// Whether the replacement is what the claim's owner will ask for.
    pub fit: Fit,
    /// Whether anything else stands in the way of taking the claim away.
    pub way: Way,
    /// What came of the last look at the evidence.
    pub confirmation: Confirmation,
    /// How the replica fares.
    pub node: NodeNow,
}

/// A claim.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ClaimNow {
    /// There is none.
    Absent,
    /// There is one.
    There {
        /// Which one.
        uid: Uid,
        /// To what it is bound.
        binding: Binding,
        /// Whether it is being deleted.
        life: Life,
    },
}

/// What a claim is bound to.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Binding {
    /// Nothing yet.
    Pending,
    /// The volume of this UID.
    To(Uid),
    /// A volume that is not there, or one that is bound elsewhere.
    Broken,
}

/// Whether an object is being deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Life {
    /// It stays.
    Stays,
    /// It has a deletion timestamp.
    Terminating,
}

/// The replica's pod.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum PodNow {
    /// There is none, and its processes have surely ended.
    Ended,
    /// There is none, but nobody has seen its processes end.
    Vanished,
    /// There is one.
    There {
        /// Which one.
        uid: Uid,
        /// Whether it is the diagnosed replica's: of the same owner, on the same claim.
        kin: Kin,
        /// Whether it is being deleted.
        life: Life,
    },
}

/// Whether a pod of the replica's name is the replica's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kin {
    /// Of the recorded owner, and on the recorded claim.
    Ours,
    /// Somebody else's, or on something else.
    Foreign,
}

/// A volume.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum VolumeNow {
    /// There is no such object, or not with the recorded UID.
    Absent,
    /// There is one.
    There {
        /// For whom it is.
        reserved: Reserved,
        /// What becomes of it without a claim.
        reclaim: Reclaim,
        /// Whether the binder takes it for free.
        phase: VolumePhase,
    },
}

/// Whom a volume's `claimRef` names.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Reserved {
    /// Nobody: any claim that fits may take it.
    ForAnybody,
    /// Whoever comes by the name of the replica's claim.
    ForTheName,
    /// Whoever comes by the name of our temporary claim.
    ForTheTemporary,
    /// The claim of this UID, whether it still is or not.
    For(Uid),
    /// A claim that cannot be: nobody gets it.
    ForNobody,
}

/// What becomes of a volume without a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reclaim {
    /// It is kept.
    Retain,
    /// It is destroyed with its data.
    Delete,
}

/// Phases of a volume as far as they matter here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum VolumePhase {
    /// The binder may give it away.
    Available,
    /// A claim has it.
    Bound,
    /// Its claim is gone.
    Released,
}

/// Volumes that are reserved for the claim's name, besides the two that are recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reservations {
    /// None.
    OnlyOurs,
    /// Some: which one the binder would take is chance.
    Others,
}

/// Whether the pod is held away.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum HoldNow {
    /// Nothing here can hold it.
    Impossible,
    /// It is not.
    Off,
    /// It was asked for, and is not in force yet.
    Coming,
    /// It is: the API server, or the owner, has shown that it does not make the pod. Another UID is another hold, and
    /// between the two the pod may have run.
    On(Uid),
}

/// A Job of ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum JobNow {
    /// There is none.
    Absent,
    /// It has not ended.
    Running,
    /// It says yes: proven, or copied.
    Yes,
    /// It says no, or failed.
    No,
    /// It was begun under another hold than the one in force: what it says may be of another time.
    Stale,
}

/// Whether the replacement is what the claim's owner will ask for: size, access modes, volume mode, class, attributes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Fit {
    /// It is.
    Fits,
    /// It is not: the claim would get an empty volume instead.
    DoesNotFit,
}

/// Whether anything else stands in the way: quota, an unready snapshot of the claim, a lower ordinal that is not ready,
/// somebody else's hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Way {
    /// Nothing.
    Free,
    /// Something.
    Barred,
}

/// What came of looking at everything once more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Confirmation {
    /// There was no such look since the proof, or it is too old.
    Stale,
    /// It allows the act.
    Allows,
    /// It forbids it.
    Forbids,
}

/// How the replica fares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum NodeNow {
    /// As it was diagnosed: it crashes, or stands still; or nobody knows.
    Sick,
    /// It advances, from at least the height that was restored.
    Advances,
    /// Its workload, or its place in it, is gone.
    Gone,
}

impl World {
    /// One of the two recorded volumes.
    pub(super) fn volume(&self, record: &super::Record, uid: &Uid) -> &VolumeNow {
        let replacement = record.replacement.as_ref().is_some_and(|kept| kept.volume == *uid);
        if replacement {
            &self.replacement
        } else if record.original.volume == *uid {
            &self.original
        } else {
            &VolumeNow::Absent
        }
    }

    /// The claim's UID, where it stays and is bound to this volume.
    pub(super) fn claim_on(&self, volume: &Uid) -> Option<&Uid> {
        self.claim.on(volume)
    }

    /// Whether a Job of ours is there, at work or ended.
    pub(super) fn jobs_are_left(&self) -> bool {
        self.prover != JobNow::Absent || self.carrier != JobNow::Absent
    }
}

impl ClaimNow {
    /// Its UID, where it stays and is bound to this volume.
    pub(super) fn on(&self, volume: &Uid) -> Option<&Uid> {
        match self {
            Self::There { uid, binding: Binding::To(bound), life: Life::Stays } if bound == volume => Some(uid),
            Self::There { .. } | Self::Absent => None,
        }
    }
}

impl VolumeNow {
    pub(super) fn reserved(&self) -> Option<&Reserved> {
        match self {
            Self::Absent => None,
            Self::There { reserved, .. } => Some(reserved),
        }
    }

    /// Whether the binder would give it to the next claim of the name.
    pub(super) fn waits_for_the_name(&self) -> bool {
        matches!(self, Self::There { reserved: Reserved::ForTheName, phase: VolumePhase::Available, .. })
    }
}
