//! Arbitrary evidence, leaning towards sound incidents so that every row and every guard is reached.

use diagnosis::{
    AppHashQuestion, Cause, Circumstances, CrashLoopReading, DatabaseName, DiskReading, Evidence, EvidenceAge, Height,
    ImageFreshness, InspectionScope, Lock, LogAbstention, LogOpinion, LogReading, Memory, NodeHealth, OtherVictims,
    Probability, Recurrence, RollOut, Siblings, SigningRisk, Space, StartFailure, Symptom, Testimony, UpgradePlan,
    Victims,
};
use proptest::{
    collection::vec,
    option,
    prelude::{BoxedStrategy, Just, Strategy, any, prop_oneof},
    sample::select,
};

/// Every cause, the one that is no label included.
fn cause() -> impl Strategy<Value = Cause> {
    let all: Vec<Cause> = Cause::LABELS.into_iter().chain([Cause::Unknown]).collect();
    prop_oneof![2 => Just(Cause::PhysicalCorruption), 3 => select(all)]
}

pub(crate) fn probability() -> impl Strategy<Value = Probability> {
    prop_oneof![Just(699), Just(700), 0..=1000_u16].prop_map(Probability::from_thousandths)
}

fn database() -> impl Strategy<Value = DatabaseName> {
    select(vec![
        "application.db",
        "state",
        "blockstore.db",
        "tx_index.db",
        "evidence",
        "cs.wal",
        "snapshots",
        "wasm",
        "",
    ])
    .prop_map(DatabaseName::new)
}

fn symptom() -> impl Strategy<Value = Symptom> {
    select(vec![
        Symptom::AppHashMismatch,
        Symptom::StoreVersionGotZero,
        Symptom::StoreVersionClose,
        Symptom::IavlMissing,
        Symptom::ValidatorsMissing,
        Symptom::ChecksumMismatch,
        Symptom::ConsensusWal,
        Symptom::WasmFile,
        Symptom::DatabaseFileGone,
        Symptom::NilPointerOrEof,
        Symptom::NoSpace,
        Symptom::HeightsDisagree,
        Symptom::AfterRestore,
    ])
}

pub(crate) fn log() -> impl Strategy<Value = LogReading> {
    let opinion = (
        cause(),
        probability(),
        select(vec![Testimony::Witness, Testimony::Opinion]),
        option::weighted(0.1, cause()),
        prop_oneof![Just(vec![Symptom::AppHashMismatch]), vec(symptom(), 0..3)],
        vec(database(), 0..3),
    )
        .prop_map(|(cause, probability, testimony, counter_evidence, symptoms, databases)| {
            LogReading::Read(LogOpinion { cause, probability, testimony, counter_evidence, symptoms, databases })
        });
    let abstained = select(vec![LogAbstention::Empty, LogAbstention::HeadMissing, LogAbstention::Unfamiliar]);
    prop_oneof![8 => opinion, 1 => abstained.prop_map(LogReading::Abstained), 1 => Just(LogReading::NotRead)]
}

pub(crate) fn disk() -> impl Strategy<Value = DiskReading> {
    let scope = select(vec![
        InspectionScope::Quick,
        InspectionScope::AllChecks,
        InspectionScope::AllChecksAndIavlHashes,
        InspectionScope::AllChecksAndIavlHashes,
    ]);
    prop_oneof![
        4 => vec(database(), 0..3).prop_map(DiskReading::Damaged),
        2 => vec(database(), 0..3).prop_map(DiskReading::Inconsistent),
        3 => scope.prop_map(|scope| DiskReading::Intact { scope }),
        1 => Just(DiskReading::CouldNotTell("said".to_owned())),
        1 => vec(database(), 0..2).prop_map(DiskReading::ReadsDiffer),
        1 => Just(DiskReading::NotRead),
    ]
}

pub(crate) fn siblings() -> impl Strategy<Value = Siblings> {
    let answer = select(vec![
        AppHashQuestion::SameImagePasses,
        AppHashQuestion::SameImagePasses,
        AppHashQuestion::SameImageDoesNot,
        AppHashQuestion::Unknown,
    ]);
    let advancing = (0..4_u32, any::<u64>(), answer).prop_map(|(count, height, app_hash)| Siblings::Advancing {
        count,
        height: Height(height),
        app_hash,
    });
    prop_oneof![
        8 => advancing,
        1 => Just(Siblings::Unknown),
        1 => any::<u64>().prop_map(|height| Siblings::Halted { height: Height(height) }),
    ]
}

/// Mostly well, else bad or not looked at.
fn mostly<T: Clone + std::fmt::Debug + 'static>(well: T, bad: T, unknown: T) -> BoxedStrategy<T> {
    prop_oneof![40 => Just(well), 1 => Just(bad), 1 => Just(unknown)].boxed()
}

pub(crate) fn circumstances() -> impl Strategy<Value = Circumstances> {
    let said = || "said".to_owned();
    let first = (
        mostly(UpgradePlan::NotDue, UpgradePlan::Due(said()), UpgradePlan::Unknown),
        mostly(ImageFreshness::Unchanged, ImageFreshness::Changed(said()), ImageFreshness::Unknown),
        mostly(RollOut::Settled, RollOut::InProgress(said()), RollOut::Unknown),
        mostly(
            Victims::Alone,
            Victims::Others(OtherVictims { same_exit_code: vec![said()], ..OtherVictims::default() }),
            Victims::Unknown,
        ),
        mostly(Space::Free, Space::Exhausted(said()), Space::Unknown),
        mostly(Memory::NotKilled, Memory::OomKilled, Memory::Unknown),
    );
    let second = (
        mostly(Lock::Free, Lock::HeldByLiveProcess(said()), Lock::Unknown),
        mostly(NodeHealth::Healthy, NodeHealth::Sick(said()), NodeHealth::Unknown),
        mostly(SigningRisk::NeverSigns, SigningRisk::MaySign(said()), SigningRisk::Unknown),
        mostly(Recurrence::First, Recurrence::CameBack, Recurrence::Unknown),
        mostly(EvidenceAge::Current, EvidenceAge::OlderThanARestart, EvidenceAge::Unknown),
        mostly(vec![], vec![said()], vec![said(), said()]),
        option::weighted(0.2, cause()),
    );
    (first, second).prop_map(
        |(
            (upgrade, image, roll_out, victims, space, memory),
            (lock, node, signing, recurrence, evidence_age, limits, start_failure),
        )| {
            let start_failure = start_failure.map(|cause| StartFailure { reason: "said".to_owned(), cause });
            Circumstances {
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
                start_failure,
                other_crash_loops: Vec::new(),
                workload: None,
            }
        },
    )
}

pub(crate) fn evidence() -> impl Strategy<Value = Evidence> {
    let crash_loop = select(vec![CrashLoopReading::NotRead, CrashLoopReading::NotLooping]);
    (crash_loop, log(), disk(), siblings(), circumstances()).prop_map(
        |(crash_loop, log, disk, siblings, circumstances)| Evidence { crash_loop, log, disk, siblings, circumstances },
    )
}
