//! What forbids a restore whatever the witnesses say (design 4, "Vetoes"; P6, P7, P9, P10). *No client.*

use std::fmt;

use crate::{
    Circumstances, DiskReading, Evidence, EvidenceAge, ImageFreshness, Lock, Memory, NodeHealth, OtherVictims,
    Recurrence, RollOut, Siblings, SigningRisk, Space, UpgradePlan, Victims,
};

/// One reason to hold. Vetoes are collected, all of them, before the table is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Veto {
    /// The chain stands: nobody advances (P6, P7).
    NobodyAdvancing,
    /// A chain upgrade is due (P7).
    UpgradeDue(String),
    /// Image, arguments or configuration changed since the node was last healthy (P7).
    ImageChanged(String),
    /// A rollout is in progress (P7).
    RollOutInProgress(String),
    /// Others fail the same way (P7).
    OtherVictims(OtherVictims),
    /// The disk or its inodes are exhausted now.
    DiskFull(String),
    /// The process was killed for memory.
    Oom,
    /// A live process holds the lock.
    LockHeld(String),
    /// The machine is not ready or reports storage events (P7).
    NodeSick(String),
    /// A block read differently the second time (P7).
    ReadsDiffer,
    /// The node may sign, or nobody knows (P10).
    MaySign(String),
    /// The same damage came back after a restore (P9).
    CameBack,
    /// A budget, cool-down, window or suspension (P9, P12).
    Limit(String),
    /// A restart since the collection may have changed the data.
    StaleEvidence,
}

impl Veto {
    /// Its stable word, for scripts and metrics.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Self::NobodyAdvancing => "nobody_advancing",
            Self::UpgradeDue(_) => "upgrade_due",
            Self::ImageChanged(_) => "image_changed",
            Self::RollOutInProgress(_) => "rollout_in_progress",
            Self::OtherVictims(_) => "other_victims",
            Self::DiskFull(_) => "disk_full",
            Self::Oom => "oom",
            Self::LockHeld(_) => "lock_held",
            Self::NodeSick(_) => "node_sick",
            Self::ReadsDiffer => "reads_differ",
            Self::MaySign(_) => "may_sign",
            Self::CameBack => "came_back",
            Self::Limit(_) => "limit",
            Self::StaleEvidence => "stale_evidence",
        }
    }
}

impl fmt::Display for Veto {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NobodyAdvancing => f.write_str("nobody advances: the chain itself may be halted"),
            Self::UpgradeDue(plan) => write!(f, "a chain upgrade is due: {plan}"),
            Self::ImageChanged(what) => write!(f, "image, arguments or configuration changed: {what}"),
            Self::RollOutInProgress(what) => write!(f, "a rollout is in progress: {what}"),
            Self::OtherVictims(others) => write!(f, "not alone, {others}"),
            Self::DiskFull(what) => write!(f, "the disk is full now: {what}"),
            Self::Oom => f.write_str("the process was killed for memory (OOMKilled)"),
            Self::LockHeld(who) => write!(f, "a live process holds the database lock: {who}"),
            Self::NodeSick(what) => write!(f, "the machine is sick: {what}"),
            Self::ReadsDiffer => {
                f.write_str("the same block read differently twice: the host's memory or disk is sick")
            }
            Self::MaySign(why) => write!(f, "the node may sign blocks: {why}"),
            Self::CameBack => f.write_str("the same damage came back after a restore: sick host or bad source"),
            Self::Limit(which) => write!(f, "limit in force: {which}"),
            Self::StaleEvidence => f.write_str("the evidence is older than a restart that could have changed it"),
        }
    }
}

/// Collects every veto, in the order of the design.
#[must_use]
pub fn vetoes(evidence: &Evidence) -> Vec<Veto> {
    // No `..`: a circumstance that is added later must be asked here before it compiles.
    let Circumstances {
        upgrade,
        image,
        roll_out,
        victims,
        space,
        memory,
        lock,
        node,
        signing,
        recurrence,
        evidence_age,
        limits,
        other_crash_loops: _, // another failure than this one
        workload: _,          // who makes the pod forbids nothing
        start_failure: _,     // a cause, not a veto: the table's first column asks for it
    } = &evidence.circumstances;
    let mut found = Vec::new();
    if matches!(evidence.siblings, Siblings::Halted { .. } | Siblings::Advancing { count: 0, .. }) {
        found.push(Veto::NobodyAdvancing);
    }
    if let UpgradePlan::Due(plan) = upgrade {
        found.push(Veto::UpgradeDue(plan.clone()));
    }
    if let ImageFreshness::Changed(what) = image {
        found.push(Veto::ImageChanged(what.clone()));
    }
    if let RollOut::InProgress(what) = roll_out {
        found.push(Veto::RollOutInProgress(what.clone()));
    }
    if let Victims::Others(others) = victims {
        found.push(Veto::OtherVictims(others.clone()));
    }
    if let Space::Exhausted(what) = space {
        found.push(Veto::DiskFull(what.clone()));
    }
    if *memory == Memory::OomKilled {
        found.push(Veto::Oom);
    }
    if let Lock::HeldByLiveProcess(who) = lock {
        found.push(Veto::LockHeld(who.clone()));
    }
    if let NodeHealth::Sick(what) = node {
        found.push(Veto::NodeSick(what.clone()));
    }
    if matches!(evidence.disk, DiskReading::ReadsDiffer(_)) {
        found.push(Veto::ReadsDiffer);
    }
    match signing {
        SigningRisk::NeverSigns => {}
        SigningRisk::MaySign(why) => found.push(Veto::MaySign(why.clone())),
        // P10: unknown refuses like "may sign"; a second signer with an older state can cost a validator its stake.
        SigningRisk::Unknown => {
            found.push(Veto::MaySign("nobody has shown that its key is in no validator set".to_owned()));
        }
    }
    if *recurrence == Recurrence::CameBack {
        found.push(Veto::CameBack);
    }
    found.extend(limits.iter().cloned().map(Veto::Limit));
    if *evidence_age == EvidenceAge::OlderThanARestart {
        found.push(Veto::StaleEvidence);
    }
    found
}

/// The circumstances that could hold a veto and that nobody looked at, in words and in the order of the design.
///
/// They forbid nothing, but nothing acts alone past one (P13). Signing is not among them: there unknown is a veto (P10).
#[must_use]
pub fn unseen_circumstances(around: &Circumstances) -> Vec<&'static str> {
    let Circumstances {
        upgrade,
        image,
        roll_out,
        victims,
        space,
        memory,
        lock,
        node,
        signing: _,
        recurrence,
        evidence_age,
        limits: _,
        other_crash_loops: _,
        workload: _,
        start_failure: _,
    } = around;
    [
        (*upgrade == UpgradePlan::Unknown, "the upgrade plan"),
        (*image == ImageFreshness::Unknown, "changes of image, arguments or configuration"),
        (*roll_out == RollOut::Unknown, "the workload's rollout"),
        (*victims == Victims::Unknown, "whether other replicas fail alike"),
        (*space == Space::Unknown, "free bytes and inodes"),
        (*memory == Memory::Unknown, "memory kills"),
        (*lock == Lock::Unknown, "the database lock"),
        (*node == NodeHealth::Unknown, "the machine's health"),
        (*recurrence == Recurrence::Unknown, "earlier restores"),
        (*evidence_age == EvidenceAge::Unknown, "restarts since the evidence was taken"),
    ]
    .into_iter()
    .filter_map(|(unknown, name)| unknown.then_some(name))
    .collect()
}
