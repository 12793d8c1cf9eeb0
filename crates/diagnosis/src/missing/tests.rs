//! The table of the deciding facts, row by row in its order: what the log shows, the question, the command.

use super::missing_facts;
use crate::{
    AppHashQuestion, Cause, DatabaseName, DiskReading, Evidence, Height, ImageFreshness, LogOpinion, LogReading,
    Probability, Siblings, Space, Symptom, Testimony,
};

fn showing(symptoms: &[Symptom]) -> Evidence {
    let opinion = LogOpinion {
        cause: Cause::Unknown,
        probability: Probability::ZERO,
        testimony: Testimony::Opinion,
        counter_evidence: None,
        symptoms: symptoms.to_vec(),
        databases: Vec::new(),
    };
    Evidence { log: LogReading::Read(opinion), ..Evidence::default() }
}

/// The row's facts come first, in the row's order, before any part that is merely absent.
#[track_caller]
fn row(symptom: Symptom, facts: &[(&str, &str)]) {
    let missing = missing_facts(&showing(&[symptom]));
    let first: Vec<_> = missing.iter().map(|fact| (fact.question, fact.command)).take(facts.len()).collect();
    assert_eq!(first, facts, "{symptom:?}");
    assert!(missing.iter().all(|fact| !fact.place.is_empty()));
}

const BUILD: (&str, &str) = (
    "which versions of the binary and of iavl run here, and do they have a known bug?",
    "kubectl exec -n NAMESPACE SIBLING -c CONTAINER -- BINARY version --long",
);
const UNCLEAN: (&str, &str) = (
    "was the last exit unclean (137 is a kill or a lack of memory, 139 a fault)?",
    "kubectl get pod POD -n NAMESPACE -o jsonpath='{..lastState}'",
);
const HEIGHTS: (&str, &str) =
    ("which heights do state.db, blockstore.db and application.db stand at?", "loopbreaker inspect HOME/data");
const STATE_SYNC: (&str, &str) = (
    "was a state sync or a rollback run?",
    "kubectl logs POD -n NAMESPACE -c CONTAINER --previous | grep -iE 'state ?sync|roll(ed)? ?back|snapshot'",
);
const SAME_IMAGE: (&str, &str) = (
    "do siblings on the identical image digest pass this height?",
    "kubectl get pods -n NAMESPACE -o custom-columns=NAME:.metadata.name,'IMAGE:.status.containerStatuses[*].imageID'",
);
const CHANGED: (&str, &str) = (
    "did image, arguments or configuration change since the node was last healthy?",
    "kubectl get pod POD -n NAMESPACE -o yaml --show-managed-fields",
);

#[test]
fn app_hash_mismatch() {
    row(Symptom::AppHashMismatch, &[SAME_IMAGE, BUILD, CHANGED]);
}

#[test]
fn store_versions() {
    row(
        Symptom::StoreVersionGotZero,
        &[(
            "is an upgrade planned at this height, and was a store added in this binary?",
            "kubectl exec -n NAMESPACE SIBLING -c CONTAINER -- BINARY query upgrade plan --home HOME",
        )],
    );
    row(
        Symptom::StoreVersionClose,
        &[("which versions do each store and s/latest have?", "loopbreaker inspect HOME/data"), UNCLEAN],
    );
}

#[test]
fn iavl_value_missing() {
    let same_key = (
        "does the same key fail after a restart, and which pruning settings apply?",
        "kubectl logs POD -n NAMESPACE -c CONTAINER --previous | grep -iE 'iavl|version|pruning'",
    );
    row(Symptom::IavlMissing, &[same_key, BUILD, UNCLEAN]);
}

#[test]
fn validators_missing_and_heights_that_disagree() {
    row(Symptom::ValidatorsMissing, &[HEIGHTS, STATE_SYNC]);
    row(Symptom::HeightsDisagree, &[HEIGHTS, STATE_SYNC]);
}

#[test]
fn checksum_mismatch() {
    row(
        Symptom::ChecksumMismatch,
        &[
            (
                "does the block read the same twice, the second time past the page cache?",
                "loopbreaker inspect HOME/data",
            ),
            (
                "which database is the damaged file in? (tx_index and evidence can be rebuilt)",
                "kubectl logs POD -n NAMESPACE -c CONTAINER --previous | \
                 grep -oE '[0-9]{6}[.](ldb|sst|log)|MANIFEST-[0-9]+'",
            ),
        ],
    );
}

#[test]
fn wal_errors() {
    row(
        Symptom::ConsensusWal,
        &[("does cs.wal decode, and would the node start with it moved aside?", "loopbreaker inspect HOME/data")],
    );
}

#[test]
fn missing_wasm_file() {
    row(
        Symptom::WasmFile,
        &[(
            "is the wasm folder there, on the same volume, with the right checksums? (each file is named after its own)",
            "find HOME -path '*/state/wasm/*' -type f -exec sha256sum {} +",
        )],
    );
}

#[test]
fn a_file_of_an_open_database_is_gone() {
    row(
        Symptom::DatabaseFileGone,
        &[(
            "was the directory removed or unmounted while the node ran?",
            "kubectl get events -n NAMESPACE --field-selector involvedObject.name=POD",
        )],
    );
}

#[test]
fn nil_pointer_or_abci_eof() {
    row(
        Symptom::NilPointerOrEof,
        &[(
            "what does the whole stack say, and which exit code came with it?",
            "kubectl logs POD -n NAMESPACE -c CONTAINER --previous > previous.log",
        )],
    );
}

#[test]
fn disk_full() {
    row(
        Symptom::NoSpace,
        &[(
            "how many bytes and inodes are free now, and do the checksums still fit? (a full disk also tears files)",
            "node=$(kubectl get pod POD -n NAMESPACE -o jsonpath={.spec.nodeName}); \
             kubectl get --raw /api/v1/nodes/$node/proxy/stats/summary | \
             jq --arg pod POD '.pods[] | select(.podRef.name == $pod) | .volume'",
        )],
    );
}

#[test]
fn panic_after_restore() {
    row(
        Symptom::AfterRestore,
        &[
            (
                "how old is the claim, what was it restored from, and are the heights 0 or far behind?",
                "kubectl get pvc CLAIM -n NAMESPACE -o yaml",
            ),
            HEIGHTS,
        ],
    );
}

/// The table's last row, "anything": changes, exit 137, every replica.
#[test]
fn anything() {
    let missing = missing_facts(&showing(&[]));
    let asked: Vec<_> = missing.iter().map(|fact| (fact.question, fact.command)).collect();
    let every_replica = ("is it this replica only, or do others fail alike?", "kubectl get pods -n NAMESPACE -o wide");
    for fact in [CHANGED, UNCLEAN, every_replica] {
        assert!(asked.contains(&fact), "{fact:?}");
    }
}

/// Two symptoms ask in the order in which the log shows them, and a question that both ask once.
#[test]
fn two_symptoms_ask_once() {
    let missing = missing_facts(&showing(&[Symptom::IavlMissing, Symptom::AppHashMismatch]));
    let questions: Vec<_> = missing.iter().map(|fact| fact.question).collect();
    assert_eq!(questions[3], SAME_IMAGE.0);
    assert_eq!(questions.iter().filter(|question| **question == BUILD.0).count(), 1);
}

#[track_caller]
fn answered(symptom: Symptom, question: &str, change: impl FnOnce(&mut Evidence)) {
    let mut evidence = showing(&[symptom]);
    assert!(missing_facts(&evidence).iter().any(|fact| fact.question == question), "{question}");
    change(&mut evidence);
    assert!(missing_facts(&evidence).iter().all(|fact| fact.question != question), "{question}");
}

#[test]
fn what_was_seen_is_not_asked_for() {
    let damaged = || DiskReading::Damaged(vec![DatabaseName::new("state")]);
    answered(Symptom::AppHashMismatch, SAME_IMAGE.0, |e| {
        e.siblings = Siblings::Advancing { count: 1, height: Height(9), app_hash: AppHashQuestion::SameImageDoesNot };
    });
    answered(Symptom::AppHashMismatch, CHANGED.0, |e| e.circumstances.image = ImageFreshness::Unchanged);
    answered(Symptom::HeightsDisagree, HEIGHTS.0, |e| e.disk = damaged());
    answered(
        Symptom::ChecksumMismatch,
        "does the block read the same twice, the second time past the page cache?",
        |e| e.disk = DiskReading::ReadsDiffer(Vec::new()),
    );
    answered(
        Symptom::ChecksumMismatch,
        "which database is the damaged file in? (tx_index and evidence can be rebuilt)",
        |e| e.disk = damaged(),
    );
    answered(
        Symptom::NoSpace,
        "how many bytes and inodes are free now, and do the checksums still fit? (a full disk also tears files)",
        |e| {
            e.circumstances.space = Space::Free;
            e.disk = damaged();
        },
    );
}
