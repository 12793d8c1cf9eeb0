//! First advice per cause, written out; something for every row and every veto; nothing destructive before the keeping.

use super::{Advice, advise};
use crate::{
    Cause, ContainerName, ContainerRole, CrashLoop, CrashLoopReading, DatabaseName, Decision, DiskReading, Evidence,
    ExitStatus, LastRun, LogOpinion, LogReading, MissingFact, OtherVictims, Probability, Row, StartFailure, Symptom,
    Testimony, Verdict, Veto, Workload, missing_facts,
};

const ROWS: [Row; 10] = [
    Row::LogAndDisk,
    Row::DiskAlone,
    Row::SiblingsUnknown,
    Row::DiskCouldNotTell,
    Row::LogPointsElsewhere,
    Row::DiskIntact,
    Row::OnlyRebuildable,
    Row::AppHashSameImagePasses,
    Row::AppHash,
    Row::AnythingElse,
];

/// Words of a command that can lose something.
const DESTRUCTIVE: [&str; 10] =
    ["rm ", "mv ", "delete", "rollback", "reset", "truncate", "dd ", "--force", "scale ", "wipe"];

fn vetoes() -> Vec<Veto> {
    let said = || "said".to_owned();
    vec![
        Veto::NobodyAdvancing,
        Veto::UpgradeDue(said()),
        Veto::ImageChanged(said()),
        Veto::RollOutInProgress(said()),
        Veto::OtherVictims(OtherVictims { same_cause: vec![said()], ..OtherVictims::default() }),
        Veto::DiskFull(said()),
        Veto::Oom,
        Veto::LockHeld(said()),
        Veto::NodeSick(said()),
        Veto::ReadsDiffer,
        Veto::MaySign(said()),
        Veto::CameBack,
        Veto::Limit(said()),
        Veto::StaleEvidence,
    ]
}

fn verdict(cause: Cause, row: Row, decision: Decision) -> Verdict {
    Verdict {
        cause,
        other_cause: None,
        probability: Probability::ONE,
        decision,
        row,
        witnesses: Vec::new(),
        vetoes: Vec::new(),
        unseen: Vec::new(),
        missing: vec![MissingFact { question: "is it so?", place: "the pod", command: "kubectl get pod POD" }],
    }
}

fn rebuildable() -> Evidence {
    let names = ["tx_index", "evidence", "cs.wal", "snapshots", "addrbook", "light"];
    let disk = DiskReading::Damaged(names.into_iter().map(DatabaseName::new).collect());
    Evidence { disk, ..Evidence::default() }
}

/// Every cause with every row and every decision, without vetoes and with each alone.
fn every_verdict() -> Vec<Verdict> {
    let mut all = Vec::new();
    for cause in Cause::LABELS.into_iter().chain([Cause::Unknown]) {
        for row in ROWS {
            for decision in [Decision::Restore, Decision::Propose, Decision::Hold] {
                all.push(verdict(cause, row, decision));
            }
            for veto in vetoes() {
                all.push(Verdict { vetoes: vec![veto], ..verdict(cause, row, Decision::Hold) });
            }
        }
    }
    all
}

#[test]
fn every_cause_row_and_veto_gets_advice_five_at_most() {
    for verdict in every_verdict() {
        for evidence in [Evidence::default(), rebuildable()] {
            let advice = advise(&evidence, &verdict);
            assert!(!advice.is_empty() && advice.len() <= 5, "{verdict:?}: {advice:?}");
            assert!(advice.iter().all(|item| item.text.ends_with(['.', '?'])), "{advice:?}");
        }
    }
}

fn keeps(advice: &Advice) -> bool {
    advice.command.as_ref().is_some_and(|command| command.contains("kind: VolumeSnapshot"))
}

/// P10 too: no command names the signing state at all.
#[test]
fn p10_nothing_destructive_comes_before_the_keeping_step_and_nothing_touches_the_signing_state() {
    let mut destructive = 0;
    for verdict in every_verdict() {
        for evidence in [Evidence::default(), rebuildable()] {
            let mut kept = false;
            for item in advise(&evidence, &verdict) {
                kept |= keeps(&item);
                let command = item.command.unwrap_or_default();
                assert!(!command.contains("priv_validator"), "{command}");
                if DESTRUCTIVE.iter().any(|word| command.contains(word)) {
                    destructive += 1;
                    assert!(kept, "{command} before anything was kept: {verdict:?}");
                }
            }
        }
    }
    assert!(destructive > 0, "the list of destructive words matches nothing");
}

#[test]
fn each_rebuildable_database_has_its_smaller_repair() {
    for (database, command) in [
        ("tx_index", "mv HOME/data/tx_index.db HOME/data/tx_index.db.aside"),
        ("evidence", "mv HOME/data/evidence.db HOME/data/evidence.db.aside"),
        ("cs.wal", "mv HOME/data/cs.wal HOME/data/cs.wal.aside"),
        ("addrbook", "mv HOME/config/addrbook.json HOME/config/addrbook.json.aside"),
        ("snapshots", "mv HOME/data/snapshots HOME/data/snapshots.aside"),
    ] {
        let disk = DiskReading::Damaged(vec![DatabaseName::new(database)]);
        let evidence = Evidence { disk, ..Evidence::default() };
        let verdict = verdict(Cause::PhysicalCorruption, Row::OnlyRebuildable, Decision::Hold);
        let advice = advise(&evidence, &verdict);
        assert!(keeps(&advice[0]), "{database}");
        assert_eq!(advice[1].command.as_deref(), Some(command), "{database}");
    }
}

/// Each veto of a node whose data is in question is answered right after the keeping step; signing before all others.
#[test]
fn p10_a_node_that_may_sign_is_warned_of_first() {
    let mut verdict = verdict(Cause::PhysicalCorruption, Row::LogAndDisk, Decision::Hold);
    verdict.vetoes = vetoes();
    let advice = advise(&Evidence::default(), &verdict);
    assert!(keeps(&advice[0]));
    assert!(advice[1].text.contains("Never reset, delete or copy back priv_validator_state.json"), "{advice:?}");
}

#[test]
fn nobody_is_told_to_approve_what_is_held() {
    for row in ROWS {
        let advice = advise(&Evidence::default(), &verdict(Cause::PhysicalCorruption, row, Decision::Hold));
        assert!(advice.iter().all(|item| !item.text.contains("approve")), "{row:?}");
        let advice = advise(&Evidence::default(), &verdict(Cause::PhysicalCorruption, row, Decision::Propose));
        assert!(advice.iter().any(|item| item.text.contains("approve")), "{row:?}: {advice:?}");
    }
}

#[test]
fn an_unknown_cause_starts_with_the_fact_that_is_missing() {
    let advice = advise(&Evidence::default(), &verdict(Cause::Unknown, Row::AnythingElse, Decision::Hold));
    assert_eq!(advice[0].text, "Find out: is it so? Look at the pod.");
    assert_eq!(advice[0].command.as_deref(), Some("kubectl get pod POD"));
}

#[test]
fn a_container_that_cannot_start_is_read_from_its_events() {
    let mut evidence = Evidence::default();
    evidence.circumstances.start_failure =
        Some(StartFailure { reason: "CreateContainerConfigError".to_owned(), cause: Cause::ConfigError });
    let advice = advise(&evidence, &verdict(Cause::ConfigError, Row::AnythingElse, Decision::Hold));
    assert_eq!(
        advice[0].text,
        "The container cannot even start (CreateContainerConfigError): the pod's events name what is missing."
    );
}

/// The first words of the first advice for each cause that a log alone names.
#[test]
fn first_advice_per_cause() {
    for (cause, first) in [
        (Cause::PhysicalCorruption, "Keep what is there before anything else: take a snapshot of the claim"),
        (Cause::WalCorruption, "Keep what is there before anything else: take a snapshot of the claim"),
        (Cause::LogicalInconsistency, "Keep what is there before anything else: take a snapshot of the claim"),
        (Cause::BadSnapshot, "Keep what is there before anything else: take a snapshot of the claim"),
        (Cause::WrongBinary, "Leave the data alone and check the binary: does this replica run the same image digest"),
        (Cause::UpgradeNeeded, "Leave the data alone and check the upgrade plan: which binary does it name"),
        (Cause::ChainWideBug, "Wait, and look at the chain's status page and its operators' channel"),
        (Cause::ConfigError, "Correct the flag, TOML file, genesis or chain id that the last lines of the log name"),
        (Cause::DiskFull, "Make room: enlarge the claim in its owner's template"),
        (Cause::Oom, "Raise the container's memory limit"),
        (Cause::IoError, "Look at the machine and its storage"),
        (Cause::PermissionOrLock, "See who else mounts the claim, and end that process"),
        (Cause::PortInUse, "Find who listens on the address that the log names"),
        (Cause::KeyOrDoubleSign, "Never reset, delete or copy back priv_validator_state.json"),
        (Cause::RemoteSigner, "Check the remote signer: is it up"),
        (Cause::NetworkOrPeer, "See whether a sibling has peers"),
        (Cause::ImageOrRuntime, "Read the pod's events: image name, pull secret"),
        (Cause::OtherBug, "Save the whole previous log and search the project's issues"),
        (Cause::Unknown, "Find out: is it so?"),
    ] {
        let advice = advise(&Evidence::default(), &verdict(cause, Row::AnythingElse, Decision::Hold));
        assert!(advice[0].text.starts_with(first), "{cause}: {}", advice[0].text);
    }
}

/// The second advice for damage, which is the first that differs: the smaller repair where there is one.
#[test]
fn second_advice_per_kind_of_damage() {
    for (cause, second) in [
        (Cause::PhysicalCorruption, "Stop the replica before its next start destroys evidence"),
        (Cause::WalCorruption, "If it is the consensus log: with the node stopped, move cs.wal aside"),
        (Cause::LogicalInconsistency, "With the node stopped, and on a copy of the volume first: one step back"),
        (Cause::BadSnapshot, "See what the claim was filled from"),
    ] {
        let advice = advise(&rebuildable(), &verdict(cause, Row::AnythingElse, Decision::Hold));
        assert!(advice[1].text.starts_with(second), "{cause}: {}", advice[1].text);
    }
}

/// A port in use or a wrong flag says nothing of the data: nobody is sent to read it, not even as the last step.
#[test]
fn data_that_is_no_concern_is_not_read() {
    for cause in [
        Cause::PortInUse,
        Cause::ConfigError,
        Cause::ImageOrRuntime,
        Cause::NetworkOrPeer,
        Cause::RemoteSigner,
        Cause::KeyOrDoubleSign,
    ] {
        let mut verdict = verdict(cause, Row::AnythingElse, Decision::Hold);
        verdict.missing = missing_facts(&Evidence::default());
        verdict.missing.rotate_left(2);
        assert_eq!(verdict.missing[0].command, "loopbreaker inspect HOME/data");
        let advice = advise(&Evidence::default(), &verdict);
        assert!(
            advice.iter().all(|item| item.command.as_deref() != Some("loopbreaker inspect HOME/data")),
            "{advice:?}"
        );
    }
}

#[test]
fn each_workload_stops_a_replica_its_own_way() {
    let stop = |workload: Option<Workload>| {
        let mut evidence = Evidence::default();
        evidence.circumstances.workload = workload;
        advise(&evidence, &verdict(Cause::PhysicalCorruption, Row::AnythingElse, Decision::Hold))
            .into_iter()
            .find_map(|item| item.text.starts_with("Stop the replica").then_some(item.command))
            .expect("the stop")
    };
    assert_eq!(stop(None), None, "whose pod it is is not known");
    assert_eq!(
        stop(Some(Workload::CosmosFullNode("gaia".to_owned()))).as_deref(),
        Some(
            "kubectl patch cosmosfullnode gaia -n NAMESPACE --type merge -p \
             '{\"spec\":{\"instanceOverrides\":{\"POD\":{\"disable\":\"Pod\"}}}}'"
        )
    );
    assert_eq!(
        stop(Some(Workload::StatefulSet("gaia".to_owned()))).as_deref(),
        Some(
            "kubectl get statefulset gaia -n NAMESPACE -o \
             custom-columns=replicas:.spec.replicas,whenScaled:.spec.persistentVolumeClaimRetentionPolicy.whenScaled"
        )
    );
}

fn ended_with(code: i32, reason: &str) -> Evidence {
    let exit = ExitStatus { code, signal: None };
    let last_run = LastRun { exit, reason: reason.to_owned(), message: None, started: None, finished: None };
    let crash_loop = CrashLoop {
        container: ContainerName::new("node"),
        role: ContainerRole::Node,
        crashes: 9,
        last_run: Some(last_run),
        back_off: None,
        rate: None,
        onset: None,
        counted_since: None,
    };
    Evidence { crash_loop: CrashLoopReading::Looping(Box::new(crash_loop)), ..Evidence::default() }
}

#[test]
fn an_exit_code_is_explained_where_no_log_is() {
    let said = |evidence: &Evidence| {
        let unknown = verdict(Cause::Unknown, Row::AnythingElse, Decision::Hold);
        let events = "kubectl get events -n NAMESPACE --field-selector involvedObject.name=POD";
        advise(evidence, &unknown)
            .into_iter()
            .find(|item| item.command.as_deref() == Some(events))
            .map(|item| item.text)
    };
    for (code, first) in [
        (0, "It ended by itself with exit code 0"),
        (126, "Exit code 126: the image"),
        (127, "Exit code 127: the image"),
        (132, "Exit code 132, an illegal instruction"),
        (137, "Exit code 137 without OOMKilled: it was killed from outside"),
        (139, "Exit code 139, a segmentation fault"),
        (143, "Exit code 143: it was asked to stop"),
    ] {
        let text = said(&ended_with(code, "Error")).unwrap_or_default();
        assert!(text.starts_with(first), "{code}: {text}");
    }
    assert_eq!(said(&ended_with(2, "Error")), None);
    assert_eq!(said(&ended_with(137, "OOMKilled")), None, "that is a cause of its own");
    let log = LogReading::Read(LogOpinion {
        cause: Cause::OtherBug,
        probability: Probability::ONE,
        testimony: Testimony::Opinion,
        counter_evidence: None,
        symptoms: Vec::new(),
        databases: Vec::new(),
    });
    assert_eq!(said(&Evidence { log, ..ended_with(139, "Error") }), None, "the log tells more");
}

#[test]
fn a_sibling_that_loops_otherwise_is_told() {
    let mut evidence = Evidence::default();
    evidence.circumstances.other_crash_loops = vec!["cosmos/gaia-1 (container node, exit 1)".to_owned()];
    let advice = advise(&evidence, &verdict(Cause::PhysicalCorruption, Row::LogAndDisk, Decision::Restore));
    assert!(advice.iter().any(|item| item.text.ends_with("cosmos/gaia-1 (container node, exit 1).")), "{advice:?}");
}

const EVERY_SYMPTOM: [Symptom; 13] = [
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
];

/// Parts in quotes, and what stands in `$(…)`.
fn quoted_and_substituted(command: &str) -> (Vec<&str>, Vec<&str>) {
    let (mut quoted, mut open) = (Vec::new(), None::<(usize, char)>);
    for (at, c) in command.char_indices() {
        match open {
            Some((from, quote)) if c == quote => {
                quoted.extend(command.get(from + 1..at));
                open = None;
            }
            None if matches!(c, '\'' | '"') => open = Some((at, c)),
            _ => {}
        }
    }
    assert_eq!(open, None, "{command}");
    let substituted = command.split("$(").skip(1).filter_map(|rest| rest.split(')').next()).collect();
    (quoted, substituted)
}

/// A page may break a command between any two words: no quoted part is long, and no substitution stands within quotes or
/// has quotes within.
#[test]
fn every_command_may_be_broken_between_words() {
    let mut commands = Vec::new();
    let workloads =
        [None, Some(Workload::CosmosFullNode("gaia".to_owned())), Some(Workload::StatefulSet("gaia".to_owned()))];
    for workload in workloads {
        let mut evidence = rebuildable();
        evidence.circumstances.workload = workload;
        let unread = Evidence { disk: DiskReading::NotRead, ..evidence.clone() };
        for verdict in every_verdict() {
            let advice = [advise(&evidence, &verdict), advise(&unread, &verdict)].concat();
            commands.extend(advice.into_iter().filter_map(|item| item.command));
        }
        for cause in Cause::LABELS {
            commands.extend(super::by_cause::advice(cause, &unread).into_iter().filter_map(|item| item.command));
        }
    }
    for symptoms in EVERY_SYMPTOM {
        let opinion = LogOpinion {
            cause: Cause::Unknown,
            probability: Probability::ZERO,
            testimony: Testimony::Opinion,
            counter_evidence: None,
            symptoms: vec![symptoms],
            databases: Vec::new(),
        };
        let evidence = Evidence { log: LogReading::Read(opinion), ..Evidence::default() };
        commands.extend(missing_facts(&evidence).iter().map(|fact| fact.command.to_owned()));
    }
    commands.extend(missing_facts(&Evidence::default()).iter().map(|fact| fact.command.to_owned()));
    commands.sort();
    commands.dedup();
    assert!(commands.len() > 40, "{}", commands.len());
    for command in commands {
        let (quoted, substituted) = quoted_and_substituted(&command);
        assert!(quoted.iter().all(|part| part.len() <= 60 && !part.contains("$(")), "{command}");
        assert!(substituted.iter().all(|part| !part.contains(['\'', '"'])), "{command}");
        let glob = |c: char| matches!(c, '[' | '?' | '*');
        let bare = quoted.iter().fold(command.clone(), |bare, part| bare.replace(part, ""));
        assert!(!bare.contains(glob), "a glob outside quotes: {command}");
    }
}
