//! The judge: vetoes first, then the table of design 4, row for row. *No client, no clock, cannot fail.*
//! Keeps P2, P7, P10, P13.

use crate::{
    AppHashQuestion, Cause, DatabaseName, Decision, DiskReading, Evidence, InspectionScope, LogOpinion, LogReading,
    Memory, Policy, Probability, Row, Siblings, StartRole, Symptom, Testimony, Verdict, Veto, Witness, missing_facts,
    unseen_circumstances, vetoes,
};

/// Judges one incident.
///
/// A restore needs the disk *and* advancing siblings, a proposal two of the three witnesses; a log alone never says more
/// than [`Decision::Hold`], any veto beats every row, and what nobody looked at leaves the word to a human.
#[must_use]
pub fn judge(evidence: &Evidence, policy: &Policy) -> Verdict {
    let vetoes = vetoes(evidence);
    let unseen = unseen_circumstances(&evidence.circumstances);
    let (row, by_table) = read_table(evidence, policy);
    let decision = decide(by_table, &vetoes, &unseen);
    let (cause, probability, other_cause) = name_cause(evidence, policy);
    Verdict {
        cause,
        other_cause,
        probability,
        decision,
        row,
        witnesses: witnesses(evidence),
        vetoes,
        unseen,
        missing: missing_facts(evidence),
    }
}

/// Any veto beats every row. P13: a veto that nobody looked for is not an absent veto, so nothing acts alone past one.
fn decide(by_table: Decision, vetoes: &[Veto], unseen: &[&str]) -> Decision {
    match by_table {
        _ if !vetoes.is_empty() => Decision::Hold,
        Decision::Restore if !unseen.is_empty() => Decision::Propose,
        allowed => allowed,
    }
}

/// The first column of the table. The app-hash row asks for a symptom instead, see [`is_app_hash_mismatch`].
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

/// The third column of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Peers {
    /// "advancing", and not only on another image
    Advancing,
    /// "unknown (none, or RPC out of reach)"; also those whose image differs, for they say nothing about this one
    Unknown,
    /// nobody advances: a veto beside the table
    Halted,
}

/// The table of design 4. Lay it beside the code: the rows stand in its order.
fn read_table(evidence: &Evidence, policy: &Policy) -> (Row, Decision) {
    let log = log_column(evidence, policy);
    let disk = disk_column(&evidence.disk, &evidence.log);
    let peers = peers_column(&evidence.siblings);
    let app_hash = is_app_hash_mismatch(evidence, policy);
    let same_image_passes = passes_on_same_image(&evidence.siblings);
    match (log, disk, peers) {
        (Log::Damage, Disk::Damaged, Peers::Advancing) => (Row::LogAndDisk, Decision::Restore),
        (Log::Silent, Disk::Damaged, Peers::Advancing) => (Row::DiskAlone, Decision::Restore),
        (Log::Damage, Disk::Damaged, Peers::Unknown) => (Row::SiblingsUnknown, Decision::Propose),
        (Log::Damage, Disk::CouldNotTell, Peers::Advancing) => (Row::DiskCouldNotTell, Decision::Propose),
        (Log::Elsewhere, Disk::Damaged, Peers::Advancing) => (Row::LogPointsElsewhere, Decision::Propose),
        (Log::Damage, Disk::Intact | Disk::IntactIavlHashesRight, _) => (Row::DiskIntact, Decision::Hold),
        (_, Disk::OnlyRebuildable, _) => (Row::OnlyRebuildable, Decision::Hold),
        (_, Disk::IntactIavlHashesRight, Peers::Advancing) if app_hash && same_image_passes => {
            (Row::AppHashSameImagePasses, Decision::Propose)
        }
        (_, Disk::Intact | Disk::IntactIavlHashesRight, _) if app_hash => (Row::AppHash, Decision::Hold),
        _ => (Row::AnythingElse, Decision::Hold),
    }
}

fn log_column(evidence: &Evidence, policy: &Policy) -> Log {
    if points_elsewhere(evidence, policy).next().is_some() {
        Log::Elsewhere
    } else if opinion(&evidence.log).is_some_and(is_witness_of_damage) {
        Log::Damage
    } else {
        Log::Silent
    }
}

fn opinion(log: &LogReading) -> Option<&LogOpinion> {
    match log {
        LogReading::Read(opinion) => Some(opinion),
        LogReading::Abstained(_) | LogReading::NotRead => None,
    }
}

/// "Damage (log witness)" takes both: a strong opinion about something else is no witness of damage.
fn is_witness_of_damage(opinion: &LogOpinion) -> bool {
    opinion.testimony == Testimony::Witness && opinion.cause.is_local_damage()
}

/// The causes other than damage that explain the crash: by Kubernetes' own word, by the log with p ≥ 0.7, or by another
/// decisive failure in it.
fn points_elsewhere(evidence: &Evidence, policy: &Policy) -> impl Iterator<Item = (Cause, Probability)> {
    clearly_elsewhere(evidence, policy).chain(counter_evidence(evidence))
}

/// The same without the log's own contradiction: what may be named as *the* cause.
fn clearly_elsewhere(evidence: &Evidence, policy: &Policy) -> impl Iterator<Item = (Cause, Probability)> + use<> {
    // A policy can ask for more caution, never for less.
    let from = policy.elsewhere_from.min(Policy::ELSEWHERE_FROM_AT_MOST);
    let by_log = opinion(&evidence.log).map(|it| (it.cause, it.probability)).filter(|(_, p)| *p >= from);
    reported_by_kubernetes(evidence).into_iter().chain(by_log).filter(|(cause, _)| is_elsewhere(*cause))
}

/// P2, "and the log does not point elsewhere": a full disk before a bad checksum does, though damage is the likelier word.
fn counter_evidence(evidence: &Evidence) -> Option<(Cause, Probability)> {
    let opinion = opinion(&evidence.log)?;
    opinion
        .counter_evidence
        .map(|other| (other, opinion.probability.complement()))
        .filter(|(cause, _)| is_elsewhere(*cause))
}

fn is_elsewhere(cause: Cause) -> bool {
    !cause.is_local_damage() && cause != Cause::Unknown
}

/// What keeps the container from starting at all, if anything does.
fn reported_by_kubernetes(evidence: &Evidence) -> Option<(Cause, Probability)> {
    evidence.circumstances.start_failure.as_ref().map(|failure| (failure.cause, REPORTED_BY_KUBERNETES))
}

/// "App-hash mismatch": the log shows one, and no other cause but the wrong binary that the siblings may refute.
fn is_app_hash_mismatch(evidence: &Evidence, policy: &Policy) -> bool {
    opinion(&evidence.log).is_some_and(|it| it.symptoms.contains(&Symptom::AppHashMismatch))
        && points_elsewhere(evidence, policy).all(|(cause, _)| cause == Cause::WrongBinary)
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
            let named_by_log = |name: &DatabaseName| opinion(log).is_some_and(|it| it.databases.contains(name));
            let explains_the_crash = |name: &DatabaseName| match name.start_role() {
                StartRole::ReadAtStart => true,
                StartRole::CanBeRebuilt => false,
                StartRole::Other => named_by_log(name),
            };
            let rebuildable = |name: &DatabaseName| name.start_role() == StartRole::CanBeRebuilt;
            if databases.iter().any(explains_the_crash) {
                Disk::Damaged
            } else if !databases.is_empty() && databases.iter().all(rebuildable) {
                Disk::OnlyRebuildable
            } else {
                Disk::Nothing
            }
        }
    }
}

fn peers_column(siblings: &Siblings) -> Peers {
    match siblings {
        Siblings::Halted { .. } | Siblings::Advancing { count: 0, .. } => Peers::Halted,
        Siblings::Unknown | Siblings::Advancing { app_hash: AppHashQuestion::SameImageDoesNot, .. } => Peers::Unknown,
        Siblings::Advancing { .. } => Peers::Advancing,
    }
}

fn passes_on_same_image(siblings: &Siblings) -> bool {
    matches!(siblings, Siblings::Advancing { app_hash: AppHashQuestion::SameImagePasses, .. })
}

/// Who testified, in the order log, disk, peers.
fn witnesses(evidence: &Evidence) -> Vec<Witness> {
    let log = opinion(&evidence.log).is_some_and(is_witness_of_damage);
    let disk = matches!(disk_column(&evidence.disk, &evidence.log), Disk::Damaged | Disk::OnlyRebuildable);
    let peers = peers_column(&evidence.siblings) == Peers::Advancing;
    [(log, Witness::Log), (disk, Witness::Disk), (peers, Witness::Peers)]
        .into_iter()
        .filter_map(|(testifies, witness)| testifies.then_some(witness))
        .collect()
}

const PROVEN: Probability = Probability::from_thousandths(990);
const REPORTED_BY_KUBERNETES: Probability = Probability::from_thousandths(950);
/// The damage is proven, but most nodes stay up with it: that this one dies of it is not.
const OF_WHAT_CAN_BE_REBUILT: Probability = Probability::from_thousandths(600);

/// What the disk proves, else what Kubernetes knows for certain, else what the log says; then the other one to name.
fn name_cause(evidence: &Evidence, policy: &Policy) -> (Cause, Probability, Option<Cause>) {
    let elsewhere = clearly_elsewhere(evidence, policy).next();
    let counter = counter_evidence(evidence);
    let oom = (evidence.circumstances.memory == Memory::OomKilled).then_some((Cause::Oom, REPORTED_BY_KUBERNETES));
    let log = opinion(&evidence.log).map(|it| (it.cause, it.probability)).filter(|(cause, _)| *cause != Cause::Unknown);
    let on_disk = cause_on_disk(&evidence.disk);
    let damage_by_log = log.filter(|(cause, _)| cause.is_local_damage());
    let by_weight = match disk_column(&evidence.disk, &evidence.log) {
        Disk::Damaged => [Some((on_disk, PROVEN)), elsewhere, counter, oom],
        Disk::OnlyRebuildable => {
            [elsewhere.or(oom).or(damage_by_log), Some((on_disk, OF_WHAT_CAN_BE_REBUILT)), counter, None]
        }
        _ => [oom, reported_by_kubernetes(evidence), log, counter],
    };
    let mut named = by_weight.into_iter().flatten();
    let (cause, probability) = named.next().unwrap_or((Cause::Unknown, Probability::ZERO));
    (cause, probability, named.map(|(other, _)| other).find(|other| *other != cause))
}

fn cause_on_disk(disk: &DiskReading) -> Cause {
    match disk {
        DiskReading::Damaged(databases) if databases.iter().all(|name| name.as_str() == "cs.wal") => {
            Cause::WalCorruption
        }
        DiskReading::Damaged(_) => Cause::PhysicalCorruption,
        DiskReading::Inconsistent(_) => Cause::LogicalInconsistency,
        _ => Cause::Unknown,
    }
}

#[cfg(test)]
mod tests;
