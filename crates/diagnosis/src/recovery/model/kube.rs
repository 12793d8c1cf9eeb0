//! A Kubernetes of one replica, two volumes and a blank one: what the plan is tried against. It shares no code with the plan.

use super::super::{
    Binding, ClaimNow, Confirmation, Fit, HoldNow, JobNow, Kin, Life, NodeNow, PodNow, Reclaim, Record, Reservations,
    Reserved, VolumeNow, VolumePhase, Way, World,
};
use crate::Uid;

/// What lies on a volume.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Data {
    /// The damaged original.
    Original,
    /// A restored, whole database.
    Whole,
    /// A restored database that is damaged as well.
    Damaged,
    /// Nothing: a node on it begins at genesis.
    Blank,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Volume {
    pub(super) reserved: For,
    pub(super) reclaim: Reclaim,
    pub(super) phase: VolumePhase,
    pub(super) data: Data,
    /// The height that its signing state names.
    pub(super) signed: u8,
}

/// A `claimRef`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum For {
    Name,
    Temporary,
    Claim(u8),
    Nobody,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Claim {
    pub(super) uid: u8,
    pub(super) volume: Option<Which>,
    pub(super) terminating: bool,
}

/// The volumes there can be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Which {
    Original,
    Restored,
    Blank,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Pod {
    pub(super) uid: u8,
    pub(super) claim: u8,
    pub(super) ours: bool,
    pub(super) terminating: bool,
    /// Whether its node has started, and so has signed on its volume.
    pub(super) runs: bool,
}

/// The cluster.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of the modelled cluster that is so or not")]
pub(super) struct Kube {
    pub(super) claim: Option<Claim>,
    pub(super) temporary: Option<Claim>,
    pub(super) pod: Option<Pod>,
    pub(super) original: Option<Volume>,
    pub(super) restored: Option<Volume>,
    pub(super) blank: Option<Volume>,
    /// The hold's number, and whether it is in force.
    pub(super) hold: Option<(u8, bool)>,
    /// Whether the API server also refuses any other volume for the claim while the hold is in force.
    pub(super) claim_rule: bool,
    pub(super) prover: JobNow,
    pub(super) carrier: JobNow,
    /// The hold under which it was sent.
    pub(super) carrier_under: u8,
    /// Snapshots that are there: the newest (damaged), the older one (whole).
    pub(super) snapshots: [bool; 2],
    pub(super) restores: Option<usize>,
    pub(super) fits: bool,
    pub(super) way_is_free: bool,
    pub(super) third_reservation: bool,
    pub(super) confirmation: Confirmation,
    pub(super) advances: bool,
    /// Of the last pod: were its processes seen to end?
    pub(super) seen_to_end: bool,
    /// The highest block that any process of this node has signed.
    pub(super) signed: u8,
    pub(super) next_uid: u8,
    /// Somebody did what no operator can undo: such as deleting the claim while nothing holds the pod.
    pub(super) excuse: bool,
    /// Claims of the replica that we have deleted.
    pub(super) deleted: u8,
}

pub(super) const ORIGINAL: &str = "pv-original";
pub(super) const RESTORED: &str = "pv-restored";
pub(super) const BLANK: &str = "pv-blank";

pub(super) fn uid(kind: &str, number: u8) -> Uid {
    Uid::new(format!("{kind}-{number}"))
}

impl Kube {
    /// A replica that crash-loops on its original.
    pub(super) fn sick(claim_rule: bool) -> Self {
        Self {
            claim: Some(Claim { uid: 1, volume: Some(Which::Original), terminating: false }),
            temporary: None,
            pod: Some(Pod { uid: 1, claim: 1, ours: true, terminating: false, runs: true }),
            original: Some(Volume {
                reserved: For::Claim(1),
                reclaim: Reclaim::Delete,
                phase: VolumePhase::Bound,
                data: Data::Original,
                signed: 2,
            }),
            restored: None,
            blank: None,
            hold: None,
            claim_rule,
            prover: JobNow::Absent,
            carrier: JobNow::Absent,
            carrier_under: 0,
            snapshots: [true, true],
            restores: None,
            fits: true,
            way_is_free: true,
            third_reservation: false,
            confirmation: Confirmation::Stale,
            advances: false,
            seen_to_end: true,
            signed: 2,
            next_uid: 2,
            excuse: false,
            deleted: 0,
        }
    }

    pub(super) fn take_uid(&mut self) -> u8 {
        let uid = self.next_uid;
        self.next_uid += 1;
        uid
    }

    pub(super) fn volume(&self, which: Which) -> Option<&Volume> {
        match which {
            Which::Original => self.original.as_ref(),
            Which::Restored => self.restored.as_ref(),
            Which::Blank => self.blank.as_ref(),
        }
    }

    pub(super) fn volume_mut(&mut self, which: Which) -> &mut Option<Volume> {
        match which {
            Which::Original => &mut self.original,
            Which::Restored => &mut self.restored,
            Which::Blank => &mut self.blank,
        }
    }

    /// The volume under the pod.
    pub(super) fn under_pod(&self) -> Option<&Volume> {
        let pod = self.pod?;
        let claim = self.claim.filter(|claim| claim.uid == pod.claim)?;
        self.volume(claim.volume?).filter(|volume| volume.reserved == For::Claim(claim.uid))
    }

    pub(super) fn is_held(&self) -> bool {
        matches!(self.hold, Some((_, true)))
    }

    /// As the operator reads it.
    pub(super) fn world(&self, record: &Record) -> World {
        let claim_now = |claim: &Option<Claim>| match claim {
            None => ClaimNow::Absent,
            Some(claim) => ClaimNow::There {
                uid: uid("claim", claim.uid),
                binding: match claim.volume {
                    None => Binding::Pending,
                    Some(which) => Binding::To(Uid::new(name(which))),
                },
                life: if claim.terminating { Life::Terminating } else { Life::Stays },
            },
        };
        let sources = self.snapshots.iter().enumerate().filter(|(_, there)| **there);
        World {
            claim: claim_now(&self.claim),
            temporary: claim_now(&self.temporary),
            pod: match &self.pod {
                None if self.seen_to_end => PodNow::Ended,
                None => PodNow::Vanished,
                Some(pod) => PodNow::There {
                    uid: uid("pod", pod.uid),
                    kin: if pod.ours { Kin::Ours } else { Kin::Foreign },
                    life: if pod.terminating { Life::Terminating } else { Life::Stays },
                },
            },
            original: volume_now(self.original.as_ref()),
            replacement: volume_now(self.restored.as_ref()),
            reservations: if self.third_reservation { Reservations::Others } else { Reservations::OnlyOurs },
            hold: match self.hold {
                None => HoldNow::Off,
                Some((_, false)) => HoldNow::Coming,
                Some((number, true)) => HoldNow::On(uid("hold", number)),
            },
            prover: self.prover,
            carrier: match (self.carrier, self.hold) {
                (JobNow::Absent, _) => JobNow::Absent,
                (job, Some((hold, _))) if hold == self.carrier_under => job,
                (_, _) => JobNow::Stale,
            },
            sources: sources.map(|(number, _)| uid("snapshot", u8::try_from(number).unwrap_or_default())).collect(),
            fit: if self.fits || record.direction == super::super::Direction::Back {
                Fit::Fits
            } else {
                Fit::DoesNotFit
            },
            way: if self.way_is_free { Way::Free } else { Way::Barred },
            confirmation: self.confirmation,
            node: if self.advances { NodeNow::Advances } else { NodeNow::Sick },
        }
    }
}

fn volume_now(volume: Option<&Volume>) -> VolumeNow {
    volume.map_or(VolumeNow::Absent, |volume| VolumeNow::There {
        reserved: match volume.reserved {
            For::Name => Reserved::ForTheName,
            For::Temporary => Reserved::ForTheTemporary,
            For::Claim(number) => Reserved::For(uid("claim", number)),
            For::Nobody => Reserved::ForNobody,
        },
        reclaim: volume.reclaim,
        phase: volume.phase,
    })
}

pub(super) fn name(which: Which) -> &'static str {
    match which {
        Which::Original => ORIGINAL,
        Which::Restored => RESTORED,
        Which::Blank => BLANK,
    }
}
