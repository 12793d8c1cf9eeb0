//! The guards of design 4, written a second time without the product's own helpers (P2, P6, P7, P9, P10, P13).
//!
//! This file is one of those a human must believe. It says what has to hold before anything is restored or proposed, and
//! lets random evidence look for a hole.

mod arbitrary;

use std::collections::BTreeSet;

use diagnosis::{
    AppHashQuestion, Cause, Decision, DiskReading, Evidence, EvidenceAge, ImageFreshness, InspectionScope, Lock,
    LogOpinion, LogReading, Memory, NodeHealth, Policy, Recurrence, RollOut, Siblings, SigningRisk, Space, Symptom,
    Testimony, UpgradePlan, Victims, judge,
};
use proptest::{
    prelude::{ProptestConfig, Strategy, prop_assert, prop_assert_eq, proptest},
    strategy::ValueTree,
    test_runner::TestRunner,
};

use arbitrary::{circumstances, disk, evidence, log, probability, siblings};

fn policy() -> impl Strategy<Value = Policy> {
    probability().prop_map(|elsewhere_from| Policy { elsewhere_from })
}

const READ_AT_START: [&str; 3] = ["application", "state", "blockstore"];
const REBUILT: [&str; 8] =
    ["tx_index", "evidence", "cs.wal", "snapshots", "metadata", "addrbook", "light", "peerstore"];
const DAMAGE: [Cause; 4] =
    [Cause::PhysicalCorruption, Cause::WalCorruption, Cause::LogicalInconsistency, Cause::BadSnapshot];

fn opinion(evidence: &Evidence) -> Option<&LogOpinion> {
    if let LogReading::Read(opinion) = &evidence.log { Some(opinion) } else { None }
}

fn log_is_a_witness(evidence: &Evidence) -> bool {
    opinion(evidence).is_some_and(|log| log.testimony == Testimony::Witness && DAMAGE.contains(&log.cause))
}

/// What explains the crash better than damage: the log from 0.7 on (earlier where the policy asks), another decisive
/// failure in it whatever its probability, or Kubernetes.
fn other_explanations(evidence: &Evidence, policy: &Policy) -> Vec<Cause> {
    let mut others = Vec::new();
    if let Some(failure) = &evidence.circumstances.start_failure {
        others.push(failure.cause);
    }
    if let Some(log) = opinion(evidence)
        && (log.probability.thousandths() >= 700 || log.probability >= policy.elsewhere_from)
    {
        others.push(log.cause);
    }
    others.extend(opinion(evidence).and_then(|log| log.counter_evidence));
    others.retain(|cause| !DAMAGE.contains(cause) && *cause != Cause::Unknown);
    others
}

fn disk_explains_the_crash(evidence: &Evidence) -> bool {
    let (DiskReading::Damaged(databases) | DiskReading::Inconsistent(databases)) = &evidence.disk else {
        return false;
    };
    databases.iter().any(|database| {
        let named = opinion(evidence).is_some_and(|log| log.databases.contains(database));
        READ_AT_START.contains(&database.as_str()) || (named && !REBUILT.contains(&database.as_str()))
    })
}

fn siblings_advance(evidence: &Evidence) -> bool {
    match evidence.siblings {
        Siblings::Advancing { count, app_hash, .. } => count > 0 && app_hash != AppHashQuestion::SameImageDoesNot,
        _ => false,
    }
}

/// Nothing is known that forbids it. `MaySign` and its unknown forbid alike (P10).
fn nothing_forbids(evidence: &Evidence) -> bool {
    let around = &evidence.circumstances;
    !matches!(evidence.siblings, Siblings::Halted { .. } | Siblings::Advancing { count: 0, .. })
        && !matches!(around.upgrade, UpgradePlan::Due(_))
        && !matches!(around.image, ImageFreshness::Changed(_))
        && !matches!(around.roll_out, RollOut::InProgress(_))
        && !matches!(around.victims, Victims::Others(_))
        && !matches!(around.space, Space::Exhausted(_))
        && around.memory != Memory::OomKilled
        && !matches!(around.lock, Lock::HeldByLiveProcess(_))
        && !matches!(around.node, NodeHealth::Sick(_))
        && !matches!(evidence.disk, DiskReading::ReadsDiffer(_))
        && around.signing == SigningRisk::NeverSigns
        && around.recurrence != Recurrence::CameBack
        && around.evidence_age != EvidenceAge::OlderThanARestart
        && around.limits.is_empty()
}

/// Everything was looked at and is well.
fn all_is_known_to_be_well(evidence: &Evidence) -> bool {
    let around = &evidence.circumstances;
    nothing_forbids(evidence)
        && around.upgrade == UpgradePlan::NotDue
        && around.image == ImageFreshness::Unchanged
        && around.roll_out == RollOut::Settled
        && around.victims == Victims::Alone
        && around.space == Space::Free
        && around.memory == Memory::NotKilled
        && around.lock == Lock::Free
        && around.node == NodeHealth::Healthy
        && around.recurrence == Recurrence::First
        && around.evidence_age == EvidenceAge::Current
}

fn may_restore(evidence: &Evidence, policy: &Policy) -> bool {
    disk_explains_the_crash(evidence)
        && siblings_advance(evidence)
        && other_explanations(evidence, policy).is_empty()
        && all_is_known_to_be_well(evidence)
}

fn may_propose(evidence: &Evidence, policy: &Policy) -> bool {
    let others = other_explanations(evidence, policy);
    let witness = log_is_a_witness(evidence) && others.is_empty();
    let disk_and_siblings = disk_explains_the_crash(evidence) && siblings_advance(evidence);
    let log_and_disk = witness && disk_explains_the_crash(evidence);
    let log_and_siblings =
        witness && siblings_advance(evidence) && matches!(evidence.disk, DiskReading::CouldNotTell(_));
    let app_hash = opinion(evidence).is_some_and(|log| log.symptoms.contains(&Symptom::AppHashMismatch))
        && !witness
        && others.iter().all(|cause| *cause == Cause::WrongBinary)
        && evidence.disk == DiskReading::Intact { scope: InspectionScope::AllChecksAndIavlHashes }
        && matches!(evidence.siblings, Siblings::Advancing { app_hash: AppHashQuestion::SameImagePasses, .. });
    nothing_forbids(evidence) && (disk_and_siblings || log_and_disk || log_and_siblings || app_hash)
}

fn rank(decision: Decision) -> u8 {
    match decision {
        Decision::Hold => 0,
        Decision::Propose => 1,
        Decision::Restore => 2,
    }
}

type Change = fn(&mut Evidence);

/// The vetoes of design 4, each as a change of the evidence.
fn bad_news() -> Vec<(&'static str, Change)> {
    fn said() -> String {
        "said".to_owned()
    }
    vec![
        ("halt", |e| e.siblings = Siblings::Halted { height: diagnosis::Height(1) }),
        ("upgrade", |e| e.circumstances.upgrade = UpgradePlan::Due(said())),
        ("image", |e| e.circumstances.image = ImageFreshness::Changed(said())),
        ("rollout", |e| e.circumstances.roll_out = RollOut::InProgress(said())),
        ("victims", |e| e.circumstances.victims = Victims::Others(diagnosis::OtherVictims::default())),
        ("space", |e| e.circumstances.space = Space::Exhausted(said())),
        ("memory", |e| e.circumstances.memory = Memory::OomKilled),
        ("lock", |e| e.circumstances.lock = Lock::HeldByLiveProcess(said())),
        ("node", |e| e.circumstances.node = NodeHealth::Sick(said())),
        ("reads", |e| e.disk = DiskReading::ReadsDiffer(Vec::new())),
        ("signs", |e| e.circumstances.signing = SigningRisk::MaySign(said())),
        ("signs unknown", |e| e.circumstances.signing = SigningRisk::Unknown),
        ("came back", |e| e.circumstances.recurrence = Recurrence::CameBack),
        ("limit", |e| e.circumstances.limits.push(said())),
        ("stale", |e| e.circumstances.evidence_age = EvidenceAge::OlderThanARestart),
    ]
}

/// A part of the evidence at its best, and the same part not looked at.
type Part = (&'static str, Change, Change);

fn parts() -> Vec<Part> {
    vec![
        ("log", |e| e.log = witness(), |e| e.log = LogReading::NotRead),
        (
            "disk",
            |e| e.disk = DiskReading::Damaged(vec![diagnosis::DatabaseName::new("state")]),
            |e| e.disk = DiskReading::NotRead,
        ),
        (
            "siblings",
            |e| {
                e.siblings = Siblings::Advancing {
                    count: 1,
                    height: diagnosis::Height(9),
                    app_hash: AppHashQuestion::SameImagePasses,
                };
            },
            |e| e.siblings = Siblings::Unknown,
        ),
        (
            "upgrade",
            |e| e.circumstances.upgrade = UpgradePlan::NotDue,
            |e| e.circumstances.upgrade = UpgradePlan::Unknown,
        ),
        (
            "image",
            |e| e.circumstances.image = ImageFreshness::Unchanged,
            |e| e.circumstances.image = ImageFreshness::Unknown,
        ),
        ("rollout", |e| e.circumstances.roll_out = RollOut::Settled, |e| e.circumstances.roll_out = RollOut::Unknown),
        ("victims", |e| e.circumstances.victims = Victims::Alone, |e| e.circumstances.victims = Victims::Unknown),
        ("space", |e| e.circumstances.space = Space::Free, |e| e.circumstances.space = Space::Unknown),
        ("memory", |e| e.circumstances.memory = Memory::NotKilled, |e| e.circumstances.memory = Memory::Unknown),
        ("lock", |e| e.circumstances.lock = Lock::Free, |e| e.circumstances.lock = Lock::Unknown),
        ("node", |e| e.circumstances.node = NodeHealth::Healthy, |e| e.circumstances.node = NodeHealth::Unknown),
        (
            "signing",
            |e| e.circumstances.signing = SigningRisk::NeverSigns,
            |e| e.circumstances.signing = SigningRisk::Unknown,
        ),
        (
            "recurrence",
            |e| e.circumstances.recurrence = Recurrence::First,
            |e| e.circumstances.recurrence = Recurrence::Unknown,
        ),
        (
            "age",
            |e| e.circumstances.evidence_age = EvidenceAge::Current,
            |e| e.circumstances.evidence_age = EvidenceAge::Unknown,
        ),
    ]
}

fn witness() -> LogReading {
    LogReading::Read(LogOpinion {
        cause: Cause::PhysicalCorruption,
        probability: diagnosis::Probability::ONE,
        testimony: Testimony::Witness,
        counter_evidence: None,
        symptoms: Vec::new(),
        databases: Vec::new(),
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 10_000, failure_persistence: None, ..ProptestConfig::default() })]

    /// P2, P6, P7, P9, P10, P13: it restores exactly when every guard holds, proposes exactly when the fewer ones do.
    #[test]
    fn p2_p7_p10_nothing_is_restored_or_proposed_past_a_guard(evidence in evidence(), policy in policy()) {
        let expected = if may_restore(&evidence, &policy) {
            Decision::Restore
        } else if may_propose(&evidence, &policy) {
            Decision::Propose
        } else {
            Decision::Hold
        };
        prop_assert_eq!(judge(&evidence, &policy).decision, expected);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() })]

    /// P2: text never acts, whatever it says and however well all is around.
    #[test]
    fn p2_a_log_alone_holds(log in log(), around in circumstances(), policy in policy()) {
        let evidence = Evidence { log, circumstances: around, ..Evidence::default() };
        prop_assert_eq!(judge(&evidence, &policy).decision, Decision::Hold);
    }

    /// P2, P13: text that a peer can inject, together with siblings that advance, is still no look at the disk.
    #[test]
    fn p13_log_and_siblings_without_a_look_at_the_disk_hold(log in log(), siblings in siblings(), around in circumstances()) {
        let evidence = Evidence { log, siblings, circumstances: around, ..Evidence::default() };
        prop_assert_eq!(judge(&evidence, &Policy::default()).decision, Decision::Hold);
    }

    /// P2: a disk alone proposes nothing either.
    #[test]
    fn p2_a_disk_alone_holds(disk in disk(), around in circumstances()) {
        let evidence = Evidence { disk, circumstances: around, ..Evidence::default() };
        prop_assert_eq!(judge(&evidence, &Policy::default()).decision, Decision::Hold);
    }

    /// P7, P9, P10: whatever the rest says, one veto holds, is named, and takes no other veto away.
    #[test]
    fn p7_a_veto_never_raises_a_decision(evidence in evidence(), policy in policy()) {
        let before = judge(&evidence, &policy);
        for (name, change) in bad_news() {
            let mut worse = evidence.clone();
            change(&mut worse);
            let after = judge(&worse, &policy);
            prop_assert_eq!(after.decision, Decision::Hold, "{}", name);
            prop_assert!(rank(after.decision) <= rank(before.decision), "{}", name);
            prop_assert!(!after.vetoes.is_empty(), "{}", name);
        }
    }

    /// P13: what nobody looked at never counts for more than the best that could have been seen there, and no
    /// circumstance nobody looked at lets it act alone.
    #[test]
    fn p13_unknown_never_counts_as_evidence(evidence in evidence(), policy in policy()) {
        for (name, at_best, unseen) in parts() {
            let (mut known, mut unknown) = (evidence.clone(), evidence.clone());
            at_best(&mut known);
            unseen(&mut unknown);
            let (known, unknown) = (judge(&known, &policy), judge(&unknown, &policy));
            if name != "log" || other_explanations(&evidence, &policy).is_empty() {
                prop_assert!(rank(unknown.decision) <= rank(known.decision), "{}", name);
            }
            prop_assert!(unknown.decision != Decision::Restore || name == "log", "{}", name);
        }
    }

    /// A policy can only tighten: none restores what the default does not.
    #[test]
    fn a_policy_never_raises_a_decision(evidence in evidence(), policy in policy()) {
        let (default, set) = (judge(&evidence, &Policy::default()), judge(&evidence, &policy));
        prop_assert!(rank(set.decision) <= rank(default.decision));
    }

    /// The same evidence gives the same verdict, to the last word.
    #[test]
    fn the_judge_is_deterministic(evidence in evidence(), policy in policy()) {
        prop_assert_eq!(judge(&evidence, &policy), judge(&evidence.clone(), &policy.clone()));
    }
}

/// The properties above are worth something only if the generator reaches every row and every decision.
#[test]
fn the_generator_reaches_every_row_and_decision() {
    let mut runner = TestRunner::deterministic();
    let mut seen = BTreeSet::new();
    for _ in 0..5_000 {
        let evidence = evidence().new_tree(&mut runner).unwrap().current();
        let verdict = judge(&evidence, &Policy::default());
        seen.insert(format!("{:?}", verdict.row));
        seen.insert(verdict.decision.to_string());
    }
    assert_eq!(seen.len(), 10 + 3, "{seen:?}");
}
