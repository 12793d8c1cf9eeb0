//! The judge: vetoes first, then the table of design 4, row for row. *No client, no clock, cannot fail.* Keeps P2, P7, P10, P13.

use crate::{
    AppHashQuestion, Cause, Decision, DiskReading, Evidence, LogOpinion, LogReading, Policy, Probability, Row,
    Siblings, StartRole, Symptom, Verdict, Witness,
    evidence::{InspectionScope, Memory, Testimony},
    missing_facts, vetoes,
};

/// Judges one incident.
///
/// A restore needs the disk *and* advancing siblings, a proposal two of the three witnesses; a log alone never says more
/// than [`Decision::Hold`], and any veto beats every row.
#[must_use]
pub fn judge(evidence: &Evidence, policy: &Policy) -> Verdict {
    let vetoes = vetoes(evidence, policy);
    let (row, by_table) = read_table(evidence, policy);
    let decision = if vetoes.is_empty() { by_table } else { Decision::Hold };
    let (cause, probability, other_cause) = name_cause(evidence, policy);
    Verdict {
        cause,
        other_cause,
        probability,
        decision,
        row,
        witnesses: witnesses(evidence),
        vetoes,
        missing: missing_facts(evidence),
    }
}

/// The first column of the table. The app-hash row asks for a symptom instead, see [`has_app_hash_mismatch`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Log {
    /// "damage (log witness)"
    Damage,
    /// "another cause with p ≥ 0.7"
    Elsewhere,
    /// "silent, missing, unknown": also an opinion that is no witness
    Silent,
}

/// The second column of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Disk {
    /// "damaged or inconsistent, in a database read at start or named by the log"
    Damaged,
    /// "damage only in what can be rebuilt"
    OnlyRebuildable,
    /// "could not tell"
    CouldNotTell,
    /// "intact, all checks"
    Intact,
    /// "intact, IAVL hashes right"
    IntactIavlHashesRight,
    /// nobody looked, or not at all of it, or damage that nothing ties to the crash
    Nothing,
}

/// The table of design 4. Lay it beside the code: the rows stand in its order.
fn read_table(evidence: &Evidence, policy: &Policy) -> (Row, Decision) {
    use Siblings::{Advancing, Unknown};
    let log = log_column(&evidence.log, policy);
    let disk = disk_column(&evidence.disk, &evidence.log);
    let app_hash = has_app_hash_mismatch(&evidence.log);
    match (log, disk, &evidence.siblings) {
        (Log::Damage, Disk::Damaged, Advancing { .. }) => (Row::LogAndDisk, Decision::Restore),
        (Log::Silent, Disk::Damaged, Advancing { .. }) => (Row::DiskAlone, Decision::Restore),
        (Log::Damage, Disk::Damaged, Unknown) => (Row::SiblingsUnknown, Decision::Propose),
        (Log::Damage, Disk::CouldNotTell, Advancing { .. }) => (Row::DiskCouldNotTell, Decision::Propose),
        (Log::Elsewhere, Disk::Damaged, Advancing { .. }) => (Row::LogPointsElsewhere, Decision::Propose),
        (Log::Damage, Disk::Intact | Disk::IntactIavlHashesRight, _) => (Row::DiskIntact, Decision::Hold),
        (_, Disk::OnlyRebuildable, _) => (Row::OnlyRebuildable, Decision::Hold),
        (_, Disk::IntactIavlHashesRight, Advancing { app_hash: AppHashQuestion::SameImagePasses, .. }) if app_hash => {
            (Row::AppHashSameImagePasses, Decision::Propose)
        }
        (_, Disk::Intact | Disk::IntactIavlHashesRight, _) if app_hash => (Row::AppHash, Decision::Hold),
        _ => (Row::AnythingElse, Decision::Hold),
    }
}

fn log_column(log: &LogReading, policy: &Policy) -> Log {
    match log {
        LogReading::Read(opinion) if opinion.testimony == Testimony::Witness => Log::Damage,
        LogReading::Read(opinion) if points_elsewhere(opinion, policy) => Log::Elsewhere,
        LogReading::Read(_) | LogReading::Abstained(_) | LogReading::NotRead => Log::Silent,
    }
}

fn points_elsewhere(opinion: &LogOpinion, policy: &Policy) -> bool {
    !opinion.cause.is_local_damage() && opinion.cause != Cause::Unknown && opinion.probability >= policy.elsewhere_from
}

fn has_app_hash_mismatch(log: &LogReading) -> bool {
    matches!(log, LogReading::Read(opinion) if opinion.symptoms.contains(&Symptom::AppHashMismatch))
}

fn disk_column(disk: &DiskReading, log: &LogReading) -> Disk {
    match disk {
        DiskReading::NotRead | DiskReading::ReadsDiffer(_) | DiskReading::Intact { scope: InspectionScope::Quick } => {
            Disk::Nothing
        }
        DiskReading::CouldNotTell(_) => Disk::CouldNotTell,
        DiskReading::Intact { scope: InspectionScope::AllChecks } => Disk::Intact,
        DiskReading::Intact { scope: InspectionScope::AllChecksAndIavlHashes } => Disk::IntactIavlHashesRight,
        DiskReading::Damaged(databases) | DiskReading::Inconsistent(databases) => {
            let named_by_log = |name| matches!(log, LogReading::Read(opinion) if opinion.databases.contains(name));
            let rebuildable = |name: &crate::DatabaseName| name.start_role() == StartRole::CanBeRebuilt;
            if databases
                .iter()
                .any(|name| name.start_role() == StartRole::ReadAtStart || (named_by_log(name) && !rebuildable(name)))
            {
                Disk::Damaged
            } else if !databases.is_empty() && databases.iter().all(rebuildable) {
                Disk::OnlyRebuildable
            } else {
                Disk::Nothing
            }
        }
    }
}

/// Who testified, in the order log, disk, peers.
fn witnesses(evidence: &Evidence) -> Vec<Witness> {
    let log = matches!(&evidence.log, LogReading::Read(opinion) if opinion.testimony == Testimony::Witness);
    let disk = matches!(evidence.disk, DiskReading::Damaged(_) | DiskReading::Inconsistent(_));
    let peers = matches!(evidence.siblings, Siblings::Advancing { .. });
    [(log, Witness::Log), (disk, Witness::Disk), (peers, Witness::Peers)]
        .into_iter()
        .filter_map(|(testifies, witness)| testifies.then_some(witness))
        .collect()
}

/// What the disk proves, else what Kubernetes knows for certain, else what the log says.
fn name_cause(evidence: &Evidence, policy: &Policy) -> (Cause, Probability, Option<Cause>) {
    const PROVEN: Probability = Probability::from_thousandths(990);
    const REPORTED_BY_KUBERNETES: Probability = Probability::from_thousandths(950);

    let from_log = match &evidence.log {
        LogReading::Read(opinion) => Some((opinion.cause, opinion.probability)),
        LogReading::Abstained(_) | LogReading::NotRead => None,
    };
    let elsewhere = log_column(&evidence.log, policy) == Log::Elsewhere;
    let on_disk = match &evidence.disk {
        DiskReading::Damaged(_) => Cause::PhysicalCorruption,
        DiskReading::Inconsistent(_) => Cause::LogicalInconsistency,
        _ => Cause::Unknown,
    };
    match (disk_column(&evidence.disk, &evidence.log), from_log) {
        (Disk::Damaged, Some((also, _))) if elsewhere => return (on_disk, PROVEN, Some(also)),
        (Disk::Damaged, _) => return (on_disk, PROVEN, None),
        (Disk::OnlyRebuildable, Some((cause, p))) if elsewhere => return (cause, p, Some(on_disk)),
        (Disk::OnlyRebuildable, _) => return (on_disk, PROVEN, None),
        _ => {}
    }
    if evidence.circumstances.memory == Memory::OomKilled {
        let other = from_log.map(|(cause, _)| cause).filter(|cause| !matches!(cause, Cause::Oom | Cause::Unknown));
        return (Cause::Oom, REPORTED_BY_KUBERNETES, other);
    }
    match (from_log, &evidence.circumstances.start_failure) {
        (None | Some((Cause::Unknown, _)), Some(failure)) => (failure.cause, REPORTED_BY_KUBERNETES, None),
        (Some((cause, probability)), _) => (cause, probability, None),
        (None, None) => (Cause::Unknown, Probability::ZERO, None),
    }
}
