//! The table of design 4, row by row in its order: one sound incident, one change, the expectation written out.

use crate::{
    AppHashQuestion, Cause, CrashLoopReading, DatabaseName, Decision, DiskReading, Evidence, EvidenceAge, Height,
    ImageFreshness, InspectionScope, Lock, LogAbstention, LogOpinion, LogReading, Memory, NodeHealth, OtherVictims,
    Policy, Probability, Recurrence, RollOut, Row, Siblings, SigningRisk, Space, StartFailure, Symptom, Testimony,
    UpgradePlan, Verdict, Veto, Victims, Witness, judge,
};

/// Log and disk agree, two siblings advance with the same image, and everything around was looked at and is well.
fn sound() -> Evidence {
    let mut evidence = Evidence {
        crash_loop: CrashLoopReading::NotRead,
        log: log(Cause::PhysicalCorruption, 980, Testimony::Witness),
        disk: damaged(&["application.db"]),
        siblings: advancing(2, AppHashQuestion::SameImagePasses),
        ..Evidence::default()
    };
    let around = &mut evidence.circumstances;
    around.upgrade = UpgradePlan::NotDue;
    around.image = ImageFreshness::Unchanged;
    around.roll_out = RollOut::Settled;
    around.victims = Victims::Alone;
    around.space = Space::Free;
    around.memory = Memory::NotKilled;
    around.lock = Lock::Free;
    around.node = NodeHealth::Healthy;
    around.signing = SigningRisk::NeverSigns;
    around.recurrence = Recurrence::First;
    around.evidence_age = EvidenceAge::Current;
    evidence
}

fn log(cause: Cause, thousandths: u16, testimony: Testimony) -> LogReading {
    LogReading::Read(LogOpinion {
        cause,
        probability: Probability::from_thousandths(thousandths),
        testimony,
        counter_evidence: None,
        symptoms: Vec::new(),
        databases: Vec::new(),
    })
}

fn app_hash_mismatch(cause: Cause, thousandths: u16) -> LogReading {
    let mut reading = log(cause, thousandths, Testimony::Opinion);
    if let LogReading::Read(opinion) = &mut reading {
        opinion.symptoms.push(Symptom::AppHashMismatch);
    }
    reading
}

fn log_names(database: &str) -> LogReading {
    let mut reading = log(Cause::PhysicalCorruption, 980, Testimony::Witness);
    if let LogReading::Read(opinion) = &mut reading {
        opinion.databases.push(DatabaseName::new(database));
    }
    reading
}

fn names(of: &[&str]) -> Vec<DatabaseName> {
    of.iter().map(|name| DatabaseName::new(name)).collect()
}

fn damaged(of: &[&str]) -> DiskReading {
    DiskReading::Damaged(names(of))
}

fn inconsistent(of: &[&str]) -> DiskReading {
    DiskReading::Inconsistent(names(of))
}

fn intact(scope: InspectionScope) -> DiskReading {
    DiskReading::Intact { scope }
}

fn advancing(count: u32, app_hash: AppHashQuestion) -> Siblings {
    Siblings::Advancing { count, height: Height(900), app_hash }
}

fn verdict(change: impl FnOnce(&mut Evidence)) -> Verdict {
    let mut evidence = sound();
    change(&mut evidence);
    judge(&evidence, &Policy::default())
}

#[track_caller]
fn row(changed: &str, change: impl FnOnce(&mut Evidence), row: Row, decision: Decision) {
    let verdict = verdict(change);
    assert_eq!((verdict.row, verdict.decision), (row, decision), "{changed}");
    assert_eq!(verdict.vetoes, [], "{changed}: a row is tested without vetoes");
}

/// The veto alone on the sound incident: the row stays, the decision does not.
#[track_caller]
fn veto(changed: &str, change: impl FnOnce(&mut Evidence), vetoes: &[Veto]) {
    let verdict = verdict(change);
    assert_eq!((verdict.row, verdict.decision), (Row::LogAndDisk, Decision::Hold), "{changed}");
    assert_eq!(verdict.vetoes, vetoes, "{changed}");
}

#[test]
fn row_1_log_and_disk_and_siblings_restore() {
    let restore = |changed, change: fn(&mut Evidence)| row(changed, change, Row::LogAndDisk, Decision::Restore);
    restore("nothing changed", |_| {});
    restore("state", |e| e.disk = damaged(&["state.db"]));
    restore("blockstore", |e| e.disk = damaged(&["blockstore.db"]));
    restore("inconsistent", |e| e.disk = inconsistent(&["application.db", "state.db"]));
    restore("one needed among rebuildable", |e| e.disk = damaged(&["tx_index.db", "state.db"]));
    restore("same image not compared", |e| e.siblings = advancing(1, AppHashQuestion::Unknown));
    restore("log: logical", |e| e.log = log(Cause::LogicalInconsistency, 800, Testimony::Witness));
    restore("log names a database of its own", |e| {
        e.disk = damaged(&["wasm"]);
        e.log = log_names("wasm");
    });
}

/// P2: damage that nothing ties to the crash is no witness.
#[test]
fn p2_damage_beside_the_crash_holds() {
    let hold = |changed, change: fn(&mut Evidence)| row(changed, change, Row::AnythingElse, Decision::Hold);
    hold("a database nobody named", |e| e.disk = damaged(&["wasm"]));
    hold("log names another", |e| {
        e.disk = damaged(&["wasm"]);
        e.log = log_names("application");
    });
    hold("damage without a database", |e| e.disk = damaged(&[]));
    hold("rebuildable beside unknown", |e| e.disk = damaged(&["tx_index", "wasm"]));
}

#[test]
fn row_2_disk_alone_restores() {
    let restore = |changed, change: fn(&mut Evidence)| row(changed, change, Row::DiskAlone, Decision::Restore);
    restore("log missing", |e| e.log = LogReading::NotRead);
    restore("log abstained", |e| e.log = LogReading::Abstained(LogAbstention::Unfamiliar));
    restore("log: damage, but no witness", |e| e.log = log(Cause::PhysicalCorruption, 900, Testimony::Opinion));
    restore("log: unknown", |e| e.log = log(Cause::Unknown, 990, Testimony::Opinion));
    restore("log: another cause with 0.699", |e| e.log = log(Cause::ConfigError, 699, Testimony::Opinion));
    restore("log: another cause called a witness", |e| e.log = log(Cause::ConfigError, 600, Testimony::Witness));
}

#[test]
fn row_3_siblings_unknown_propose() {
    let propose = |changed, change: fn(&mut Evidence)| row(changed, change, Row::SiblingsUnknown, Decision::Propose);
    propose("siblings unknown", |e| e.siblings = Siblings::Unknown);
    propose("siblings on another image", |e| e.siblings = advancing(2, AppHashQuestion::SameImageDoesNot));
    row("and a silent log", two(|e| e.siblings = Siblings::Unknown, silent), Row::AnythingElse, Decision::Hold);
    let other_image = |e: &mut Evidence| e.siblings = advancing(2, AppHashQuestion::SameImageDoesNot);
    row("another image, and a silent log", two(other_image, silent), Row::AnythingElse, Decision::Hold);
}

fn silent(evidence: &mut Evidence) {
    evidence.log = LogReading::NotRead;
}

fn two(first: fn(&mut Evidence), second: fn(&mut Evidence)) -> impl FnOnce(&mut Evidence) {
    move |evidence| {
        first(evidence);
        second(evidence);
    }
}

#[test]
fn row_4_disk_could_not_tell_proposes() {
    let unreadable = |e: &mut Evidence| e.disk = DiskReading::CouldNotTell("badger is not supported".to_owned());
    row("could not tell", unreadable, Row::DiskCouldNotTell, Decision::Propose);
    row("and a silent log", two(unreadable, silent), Row::AnythingElse, Decision::Hold);
    row("and siblings unknown", two(unreadable, |e| e.siblings = Siblings::Unknown), Row::AnythingElse, Decision::Hold);
    row("not read at all", |e| e.disk = DiskReading::NotRead, Row::AnythingElse, Decision::Hold);
    row("a quick look", |e| e.disk = intact(InspectionScope::Quick), Row::AnythingElse, Decision::Hold);
}

#[test]
fn row_5_the_log_points_elsewhere_proposes() {
    let elsewhere = |e: &mut Evidence| e.log = log(Cause::ConfigError, 700, Testimony::Opinion);
    row("another cause with 0.7", elsewhere, Row::LogPointsElsewhere, Decision::Propose);
    row(
        "another cause called a witness",
        |e| e.log = log(Cause::WrongBinary, 990, Testimony::Witness),
        Row::LogPointsElsewhere,
        Decision::Propose,
    );
    row("the container cannot start", cannot_start, Row::LogPointsElsewhere, Decision::Propose);
    row("and siblings unknown", two(elsewhere, |e| e.siblings = Siblings::Unknown), Row::AnythingElse, Decision::Hold);
    let verdict = verdict(elsewhere);
    assert_eq!((verdict.cause, verdict.other_cause), (Cause::PhysicalCorruption, Some(Cause::ConfigError)));
}

/// P2: a log with a second decisive failure points there, whatever it says of damage, and is never merely silent.
#[test]
fn p2_counter_evidence_in_the_log_points_elsewhere() {
    let contradicted = |thousandths, testimony, other: Option<Cause>| {
        move |e: &mut Evidence| {
            e.log = log(Cause::PhysicalCorruption, thousandths, testimony);
            if let LogReading::Read(opinion) = &mut e.log {
                opinion.counter_evidence = other;
            }
        }
    };
    for thousandths in [0, 600, 990] {
        for testimony in [Testimony::Opinion, Testimony::Witness] {
            let full = || contradicted(thousandths, testimony, Some(Cause::DiskFull));
            row("a full disk before the damage", full(), Row::LogPointsElsewhere, Decision::Propose);
            let verdict = verdict(full());
            assert_eq!((verdict.cause, verdict.other_cause), (Cause::PhysicalCorruption, Some(Cause::DiskFull)));
        }
    }
    for nothing in [None, Some(Cause::Unknown), Some(Cause::WalCorruption)] {
        let opinion = contradicted(990, Testimony::Opinion, nothing);
        row("no other cause", opinion, Row::DiskAlone, Decision::Restore);
    }
    let unread = verdict(|e| {
        contradicted(900, Testimony::Opinion, Some(Cause::DiskFull))(e);
        e.disk = DiskReading::NotRead;
    });
    assert_eq!((unread.cause, unread.other_cause), (Cause::PhysicalCorruption, Some(Cause::DiskFull)));
    let rebuildable = verdict(|e| {
        contradicted(900, Testimony::Opinion, Some(Cause::DiskFull))(e);
        e.disk = damaged(&["tx_index"]);
    });
    assert_eq!(rebuildable.probability, Probability::from_thousandths(900), "the likelier one stays the cause");
}

fn cannot_start(evidence: &mut Evidence) {
    evidence.circumstances.start_failure =
        Some(StartFailure { reason: "ErrImagePull".to_owned(), cause: Cause::ImageOrRuntime });
}

#[test]
fn row_6_intact_disk_holds() {
    let hold = |changed, change: fn(&mut Evidence)| row(changed, change, Row::DiskIntact, Decision::Hold);
    hold("all checks", |e| e.disk = intact(InspectionScope::AllChecks));
    hold("all checks and IAVL hashes", |e| e.disk = intact(InspectionScope::AllChecksAndIavlHashes));
    hold("siblings unknown", |e| {
        e.disk = intact(InspectionScope::AllChecks);
        e.siblings = Siblings::Unknown;
    });
}

#[test]
fn row_7_only_rebuildable_holds() {
    let hold = |changed, change: fn(&mut Evidence)| row(changed, change, Row::OnlyRebuildable, Decision::Hold);
    hold("tx_index", |e| e.disk = damaged(&["tx_index.db"]));
    hold("evidence", |e| e.disk = damaged(&["evidence.db"]));
    hold("cs.wal", |e| e.disk = damaged(&["cs.wal"]));
    hold("snapshots", |e| e.disk = damaged(&["snapshots"]));
    hold("addrbook", |e| e.disk = damaged(&["addrbook"]));
    hold("several", |e| e.disk = inconsistent(&["tx_index", "evidence"]));
    hold("named by the log", |e| {
        e.disk = damaged(&["tx_index"]);
        e.log = log_names("tx_index");
    });
    hold("log elsewhere", |e| {
        e.disk = damaged(&["tx_index"]);
        e.log = log(Cause::PortInUse, 900, Testimony::Opinion);
    });
    hold("log missing, siblings unknown", |e| {
        e.disk = damaged(&["tx_index"]);
        e.log = LogReading::NotRead;
        e.siblings = Siblings::Unknown;
    });
}

#[test]
fn row_8_app_hash_mismatch_on_an_intact_disk() {
    let mismatch = |e: &mut Evidence| {
        e.log = app_hash_mismatch(Cause::LogicalInconsistency, 600);
        e.disk = intact(InspectionScope::AllChecksAndIavlHashes);
    };
    row("the same image passes", mismatch, Row::AppHashSameImagePasses, Decision::Propose);
    row(
        "even where the log says wrong binary",
        two(mismatch, |e| e.log = app_hash_mismatch(Cause::WrongBinary, 900)),
        Row::AppHashSameImagePasses,
        Decision::Propose,
    );
    let hold = |changed, change| row(changed, two(mismatch, change), Row::AppHash, Decision::Hold);
    hold("the same image does not", |e| e.siblings = advancing(2, AppHashQuestion::SameImageDoesNot));
    hold("nobody knows the image", |e| e.siblings = advancing(2, AppHashQuestion::Unknown));
    hold("siblings unknown", |e| e.siblings = Siblings::Unknown);
    hold("IAVL hashes not computed", |e| e.disk = intact(InspectionScope::AllChecks));
    let nothing = |changed, change| row(changed, two(mismatch, change), Row::AnythingElse, Decision::Hold);
    nothing("a quick look", |e| e.disk = intact(InspectionScope::Quick));
    nothing("another cause is clear", |e| e.log = app_hash_mismatch(Cause::ConfigError, 900));
    nothing("the container cannot start", cannot_start);
    nothing("a second cause behind the wrong binary", |e| {
        e.log = app_hash_mismatch(Cause::ConfigError, 900);
        e.circumstances.start_failure = Some(StartFailure { reason: "said".to_owned(), cause: Cause::WrongBinary });
    });
    nothing("no such symptom", |e| e.log = log(Cause::OtherBug, 600, Testimony::Opinion));
}

#[test]
fn row_9_anything_else_holds() {
    let verdict = judge(&Evidence::default(), &Policy::default());
    assert_eq!((verdict.row, verdict.decision), (Row::AnythingElse, Decision::Hold));
    assert_eq!((verdict.cause, verdict.probability), (Cause::Unknown, Probability::ZERO));
    assert_eq!(verdict.witnesses, []);
    row(
        "intact, and the log silent",
        |e| {
            e.disk = intact(InspectionScope::AllChecks);
            e.log = LogReading::NotRead;
        },
        Row::AnythingElse,
        Decision::Hold,
    );
}

/// P6, P7, P9, P10, P12: any veto beats every row, one at a time, in the order of design 4.
#[test]
fn p7_every_veto_alone_holds() {
    let said = || "said".to_owned();
    let others = OtherVictims { same_exit_code: vec![said()], ..OtherVictims::default() };
    veto("upgrade due", |e| e.circumstances.upgrade = UpgradePlan::Due(said()), &[Veto::UpgradeDue(said())]);
    veto("image changed", |e| e.circumstances.image = ImageFreshness::Changed(said()), &[Veto::ImageChanged(said())]);
    veto("rollout", |e| e.circumstances.roll_out = RollOut::InProgress(said()), &[Veto::RollOutInProgress(said())]);
    veto(
        "two victims",
        |e| e.circumstances.victims = Victims::Others(others.clone()),
        &[Veto::OtherVictims(others.clone())],
    );
    veto("disk full now", |e| e.circumstances.space = Space::Exhausted(said()), &[Veto::DiskFull(said())]);
    veto("OOM", |e| e.circumstances.memory = Memory::OomKilled, &[Veto::Oom]);
    veto("lock held", |e| e.circumstances.lock = Lock::HeldByLiveProcess(said()), &[Veto::LockHeld(said())]);
    veto("node sick", |e| e.circumstances.node = NodeHealth::Sick(said()), &[Veto::NodeSick(said())]);
    veto("came back", |e| e.circumstances.recurrence = Recurrence::CameBack, &[Veto::CameBack]);
    veto("a limit", |e| e.circumstances.limits = vec![said()], &[Veto::Limit(said())]);
    veto("stale", |e| e.circumstances.evidence_age = EvidenceAge::OlderThanARestart, &[Veto::StaleEvidence]);
}

/// P6, P7: the chain stands.
#[test]
fn p7_nobody_advancing_holds() {
    for siblings in [Siblings::Halted { height: Height(900) }, advancing(0, AppHashQuestion::SameImagePasses)] {
        let verdict = verdict(|e| e.siblings = siblings.clone());
        assert_eq!((verdict.row, verdict.decision), (Row::AnythingElse, Decision::Hold), "{siblings:?}");
        assert_eq!(verdict.vetoes, [Veto::NobodyAdvancing], "{siblings:?}");
        assert_eq!(verdict.witnesses, [Witness::Log, Witness::Disk], "{siblings:?}");
    }
}

/// P7: a block that reads differently the second time is a sick host, not damage.
#[test]
fn p7_reads_that_differ_hold() {
    let verdict = verdict(|e| e.disk = DiskReading::ReadsDiffer(names(&["application"])));
    assert_eq!((verdict.row, verdict.decision), (Row::AnythingElse, Decision::Hold));
    assert_eq!(verdict.vetoes, [Veto::ReadsDiffer]);
    assert_eq!(verdict.witnesses, [Witness::Log, Witness::Peers]);
}

/// P10: may sign, or unknown: refuse.
#[test]
fn p10_who_may_sign_or_is_unknown_holds() {
    let why = "its key is in the validator set".to_owned();
    veto("may sign", |e| e.circumstances.signing = SigningRisk::MaySign(why.clone()), &[Veto::MaySign(why.clone())]);
    let unknown = "nobody has shown that its key is in no validator set".to_owned();
    veto("unknown", |e| e.circumstances.signing = SigningRisk::Unknown, &[Veto::MaySign(unknown)]);
}

/// All of them are collected, not the first.
#[test]
fn vetoes_are_listed_together_in_the_order_of_the_design() {
    let oom_and_lock = |e: &mut Evidence| {
        e.circumstances.lock = Lock::HeldByLiveProcess("pod a".to_owned());
        e.circumstances.memory = Memory::OomKilled;
    };
    veto("both", oom_and_lock, &[Veto::Oom, Veto::LockHeld("pod a".to_owned())]);
}

/// P13: what nobody looked at is not well; it lowers `restore` to `propose`, is named, and vetoes nothing.
#[test]
fn p13_each_unknown_circumstance_leaves_the_word_to_a_human() {
    let unseen = |name: &str, change: fn(&mut Evidence)| {
        let verdict = verdict(change);
        assert_eq!((verdict.row, verdict.decision), (Row::LogAndDisk, Decision::Propose), "{name}");
        assert_eq!(verdict.vetoes, [], "{name}");
        assert_eq!(verdict.unseen, [name]);
    };
    unseen("the upgrade plan", |e| e.circumstances.upgrade = UpgradePlan::Unknown);
    unseen("changes of image, arguments or configuration", |e| e.circumstances.image = ImageFreshness::Unknown);
    unseen("the workload's rollout", |e| e.circumstances.roll_out = RollOut::Unknown);
    unseen("whether other replicas fail alike", |e| e.circumstances.victims = Victims::Unknown);
    unseen("free bytes and inodes", |e| e.circumstances.space = Space::Unknown);
    unseen("memory kills", |e| e.circumstances.memory = Memory::Unknown);
    unseen("the database lock", |e| e.circumstances.lock = Lock::Unknown);
    unseen("the machine's health", |e| e.circumstances.node = NodeHealth::Unknown);
    unseen("earlier restores", |e| e.circumstances.recurrence = Recurrence::Unknown);
    unseen("restarts since the evidence was taken", |e| e.circumstances.evidence_age = EvidenceAge::Unknown);
    assert_eq!(verdict(|_| {}).unseen, [""; 0]);
}

/// A policy can ask for more caution than the design, never for less.
#[test]
fn a_policy_only_tightens() {
    let mut evidence = sound();
    evidence.log = log(Cause::ConfigError, 700, Testimony::Opinion);
    let decision =
        |thousandths| judge(&evidence, &Policy { elsewhere_from: Probability::from_thousandths(thousandths) }).decision;
    assert_eq!(decision(1000), Decision::Propose);
    assert_eq!(decision(701), Decision::Propose);
    evidence.log = log(Cause::ConfigError, 500, Testimony::Opinion);
    let decision =
        |thousandths| judge(&evidence, &Policy { elsewhere_from: Probability::from_thousandths(thousandths) }).decision;
    assert_eq!(decision(700), Decision::Restore);
    assert_eq!(decision(500), Decision::Propose);
}

#[track_caller]
fn cause(changed: &str, change: impl FnOnce(&mut Evidence), cause: Cause, thousandths: u16, other: Option<Cause>) {
    let verdict = verdict(change);
    assert_eq!((verdict.cause, verdict.other_cause), (cause, other), "{changed}");
    assert_eq!(verdict.probability.thousandths(), thousandths, "{changed}");
}

#[test]
fn the_cause_is_what_the_disk_proves_then_what_kubernetes_knows_then_what_the_log_says() {
    let bare = |e: &mut Evidence| e.disk = DiskReading::NotRead;
    let small = |e: &mut Evidence| e.disk = damaged(&["cs.wal"]);
    let port = |e: &mut Evidence| e.log = log(Cause::PortInUse, 800, Testimony::Opinion);
    let oom = |e: &mut Evidence| e.circumstances.memory = Memory::OomKilled;
    cause("disk and log", |_| {}, Cause::PhysicalCorruption, 990, None);
    cause("heights", |e| e.disk = inconsistent(&["state"]), Cause::LogicalInconsistency, 990, None);
    cause("disk and OOM", oom, Cause::PhysicalCorruption, 990, Some(Cause::Oom));
    cause("disk and port", port, Cause::PhysicalCorruption, 990, Some(Cause::PortInUse));
    cause("log alone", bare, Cause::PhysicalCorruption, 980, None);
    cause("cs.wal, log elsewhere", two(small, port), Cause::PortInUse, 800, Some(Cause::WalCorruption));
    cause("cs.wal, log silent", two(small, silent), Cause::WalCorruption, 600, None);
    cause("cs.wal, log: damage", small, Cause::PhysicalCorruption, 980, Some(Cause::WalCorruption));
    cause("OOM over the log", two(bare, oom), Cause::Oom, 950, Some(Cause::PhysicalCorruption));
    cause("no start, log silent", two(two_fn, silent), Cause::ImageOrRuntime, 950, None);
    cause("no start, log speaks", two_fn, Cause::ImageOrRuntime, 950, Some(Cause::PhysicalCorruption));
    cause("nothing", two(bare, silent), Cause::Unknown, 0, None);
}

fn two_fn(evidence: &mut Evidence) {
    evidence.disk = DiskReading::NotRead;
    cannot_start(evidence);
}

#[test]
fn witnesses_are_those_who_testify_to_local_damage() {
    let witnesses = |change: fn(&mut Evidence)| verdict(change).witnesses;
    assert_eq!(witnesses(|_| {}), [Witness::Log, Witness::Disk, Witness::Peers]);
    assert_eq!(witnesses(silent), [Witness::Disk, Witness::Peers]);
    assert_eq!(
        witnesses(|e| e.log = log(Cause::OtherBug, 990, Testimony::Witness)),
        [Witness::Disk, Witness::Peers],
        "a strong opinion about something else"
    );
    assert_eq!(witnesses(|e| e.disk = damaged(&[])), [Witness::Log, Witness::Peers], "damage of nothing");
    assert_eq!(
        witnesses(|e| e.siblings = advancing(2, AppHashQuestion::SameImageDoesNot)),
        [Witness::Log, Witness::Disk],
        "advancing on another image"
    );
}
