//! What a recovery has written down about itself: all that is known of it after a crash. *No client, no clock.* (P11)

use super::Reclaim;
use crate::Uid;

/// A recovery as its record tells it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Record {
    /// How far it is.
    pub stage: Stage,
    /// Whether the time that this stage may take is over (P12).
    pub patience: Patience,
    /// Forth to the replacement, or back to the original.
    pub direction: Direction,
    /// The claim that was diagnosed, and after a swap the one that took its place.
    pub claim: Uid,
    /// The volume that was under it when it was diagnosed.
    pub original: Kept,
    /// The snapshot that is being restored.
    pub source: Option<Uid>,
    /// Snapshots that did not stand the proof, or could not be restored (P9).
    pub bad: Vec<Uid>,
    /// The volume that was restored.
    pub replacement: Option<Kept>,
    /// Whether the replacement was inspected and found whole.
    pub proof: Proof,
    /// Whether identity and signing state were copied to the volume that comes, after the pod had gone.
    pub carried: Carried,
}

/// A volume, and what was to become of it before we set it to `Retain`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Kept {
    /// Which one.
    pub volume: Uid,
    /// Its reclaim policy as it was found.
    pub reclaim_before: Reclaim,
}

/// How far a recovery is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Stage {
    /// A snapshot is being restored into a claim of its own.
    Restoring,
    /// The restored volume is being inspected.
    Proving,
    /// A human is asked.
    AwaitingApproval,
    /// Everything is looked at and judged once more.
    Confirming,
    /// The pod is taken off the volume that leaves.
    Detaching,
    /// The claim is being bound to the volume that comes.
    Swapping,
    /// The claim is being bound again to the volume that was to leave.
    Returning(Why),
    /// The node is starting.
    Starting,
    /// The node must show that it advances.
    Soaking,
    /// The node has recovered; the original is kept for a while.
    Quarantine,
    /// Nothing is right but that the pod is held away: waits for a human (P8).
    Blocked,
    /// What was made is taken away before the end.
    TidyingUp(End),
    /// Over.
    Ended(End),
}

/// How a recovery ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum End {
    /// The node advances on the proven volume, and the quarantine is over.
    Recovered,
    /// Nothing was done, for the verdict or a limit forbids it.
    Held(Why),
    /// The world changed, or somebody said stop, and the node has its original volume.
    Abandoned(Why),
    /// The original volume is back after a swap.
    RolledBack,
    /// Only a human can go on.
    NeedsHuman(Why),
}

/// Why it ended so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Why {
    /// The kill switch, or the Recovery is being deleted.
    ToldToStop,
    /// A human said no.
    Rejected,
    /// Nobody said yes in time.
    NotApproved,
    /// No snapshot is left that could be tried.
    NoSource,
    /// The evidence, looked at once more, does not allow it.
    NotConfirmed,
    /// The replica advances again, or is gone.
    ReplicaChanged,
    /// A guard does not hold.
    Guard(super::Guard),
    /// A stage took too long.
    TooLong,
    /// The volume that was to come is gone.
    VolumeGone,
    /// Identity and signing state could not be copied.
    NotCarried,
    /// The node did not start, or did not advance, on the proven volume.
    DidNotAdvance,
    /// A human released the hold by force.
    ReleasedByForce,
}

/// Whether a stage may go on waiting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Patience {
    /// Its deadline is ahead.
    Left,
    /// Its deadline has passed.
    Over,
}

/// Which volume is to end under the claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Direction {
    /// The replacement.
    Forth,
    /// The original: an undo.
    Back,
}

/// Whether the replacement is proven.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Proof {
    /// Not yet.
    Open,
    /// Inspected, and found whole.
    Stands,
}

/// Whether identity and signing state were carried over (P10).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Carried {
    /// Not since the pod has gone.
    NotYet,
    /// After the pod had gone, and while this hold was in force: under another one the pod may have run since.
    Under(Uid),
}

/// One thing that is written into the record, before or after a deed.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Note {
    /// This snapshot is tried.
    Chose(Uid),
    /// This one failed.
    IsBad(Uid),
    /// It was restored into this volume.
    RestoredInto(Kept),
    /// The volume was inspected and found whole.
    Proven,
    /// Identity and signing state are on the volume that comes; this hold is in force.
    Carried(Uid),
    /// The claim of this UID is bound to the right volume: the node may start on it.
    Swapped(Uid),
    /// The swap is to be undone.
    TurnBack,
    /// The next stage.
    Enter(Stage),
}

impl Record {
    /// A recovery that begins: of the claim that was diagnosed, and the volume under it.
    #[must_use]
    pub fn begin(claim: Uid, original: Kept) -> Self {
        Self {
            stage: Stage::Restoring,
            patience: Patience::Left,
            direction: Direction::Forth,
            claim,
            original,
            source: None,
            bad: Vec::new(),
            replacement: None,
            proof: Proof::Open,
            carried: Carried::NotYet,
        }
    }

    /// The record with a note added. A new stage has new patience.
    #[must_use]
    pub fn with(&self, note: &Note) -> Self {
        let mut record = self.clone();
        match note {
            Note::Chose(snapshot) => {
                record.source = Some(snapshot.clone());
                record.patience = Patience::Left;
            }
            Note::IsBad(snapshot) => {
                record.bad.push(snapshot.clone());
                record.source = None;
                record.replacement = None;
                record.proof = Proof::Open;
                record.enter(Stage::Restoring);
            }
            Note::RestoredInto(kept) => record.replacement = Some(kept.clone()),
            Note::Proven => record.proof = Proof::Stands,
            Note::Carried(hold) => record.carried = Carried::Under(hold.clone()),
            Note::Swapped(claim) => {
                record.claim = claim.clone();
                record.carried = Carried::NotYet;
                record.enter(Stage::Starting);
            }
            Note::TurnBack => {
                record.direction = Direction::Back;
                record.carried = Carried::NotYet;
                record.enter(Stage::Detaching);
            }
            Note::Enter(stage) => {
                // A pod that may have run since then may have signed since then.
                if matches!(stage, Stage::Detaching) {
                    record.carried = Carried::NotYet;
                }
                record.enter(*stage);
            }
        }
        record
    }

    fn enter(&mut self, stage: Stage) {
        self.stage = stage;
        self.patience = Patience::Left;
    }

    /// The volumes that it is about, as far as they are known.
    pub(super) fn volumes(&self) -> impl Iterator<Item = &Kept> {
        [Some(&self.original), self.replacement.as_ref()].into_iter().flatten()
    }

    /// The volume that is to end under the claim.
    pub(super) fn coming(&self) -> Option<&Uid> {
        match self.direction {
            Direction::Forth => self.replacement.as_ref().map(|kept| &kept.volume),
            Direction::Back => Some(&self.original.volume),
        }
    }

    /// The volume that is to leave it.
    pub(super) fn leaving(&self) -> Option<&Uid> {
        match self.direction {
            Direction::Forth => Some(&self.original.volume),
            Direction::Back => self.replacement.as_ref().map(|kept| &kept.volume),
        }
    }
}
