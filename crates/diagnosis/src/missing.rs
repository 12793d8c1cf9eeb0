//! Which one more fact would settle the case, where it is, and the command that fetches it. *No client.*
//!
//! The rows follow the table "What the log alone can and cannot decide" of the project's deciding facts, in its order.

use crate::{
    CrashLoopReading, DiskReading, Evidence, LogReading, Siblings, SigningRisk, Symptom,
    evidence::{ImageFreshness, InspectionScope},
};

/// A fact that was not seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingFact {
    /// What is not known, as a question.
    pub question: &'static str,
    /// Where the answer is.
    pub place: &'static str,
    /// A command that shows it; words in capitals are to be replaced.
    pub command: &'static str,
}

const fn fact(question: &'static str, place: &'static str, command: &'static str) -> MissingFact {
    MissingFact { question, place, command }
}

/// Every fact that would make the verdict surer, the most deciding first.
#[must_use]
pub fn missing_facts(evidence: &Evidence) -> Vec<MissingFact> {
    let mut missing = Vec::new();
    if let LogReading::Read(opinion) = &evidence.log {
        missing.extend(opinion.symptoms.iter().flat_map(|symptom| deciding_facts(*symptom)));
    }
    missing.extend(absent_parts(evidence));
    let mut seen = Vec::new();
    missing.retain(|fact: &MissingFact| {
        let new = !seen.contains(&fact.question);
        seen.push(fact.question);
        new && !answered(fact, evidence)
    });
    missing
}

const SAME_IMAGE: MissingFact = fact(
    "do siblings on the identical image digest pass this height?",
    "the siblings' /status and image digests",
    "kubectl get pods -n NAMESPACE -o custom-columns=POD:.metadata.name,IMAGE:.status.containerStatuses[*].imageID",
);
const IMAGE_CHANGED: MissingFact = fact(
    "did image, arguments or configuration change since the node was last healthy?",
    "revision labels, ConfigMap versions, the workload's history",
    "kubectl get pod POD -n NAMESPACE -o yaml --show-managed-fields",
);
const PLAN: MissingFact = fact(
    "is an upgrade planned at this height, and was a store added in this binary?",
    "data/upgrade-info.json and the chain's upgrade plan",
    "BINARY query upgrade plan --node tcp://SIBLING:26657",
);
const STORE_VERSIONS: MissingFact = fact(
    "which versions do each store and s/latest have, and was the last exit unclean?",
    "application.db; exit code 137 or 139; node events",
    "kubectl get pod POD -n NAMESPACE -o jsonpath='{.status.containerStatuses[*].lastState}'",
);
const SAME_KEY: MissingFact = fact(
    "does the same key fail after a restart, and which pruning settings apply?",
    "the logs of two crashes; app.toml",
    "kubectl logs POD -n NAMESPACE -c node --previous",
);
const HEIGHTS: MissingFact = fact(
    "which heights do state.db, blockstore.db and application.db stand at, and was state sync or a rollback run?",
    "the three databases; the process's arguments",
    "kubectl get pod POD -n NAMESPACE -o jsonpath='{.spec.containers[*].args}'",
);
const STABLE: MissingFact = fact(
    "does the block read the same twice, and which database is it in?",
    "the data directory, read offline",
    "kubectl logs POD -n NAMESPACE -c node --previous | grep -o 'file=[^]]*'",
);
const WAL_ASIDE: MissingFact = fact(
    "does the node start with cs.wal moved aside?",
    "data/cs.wal",
    "mv data/cs.wal data/cs.wal.aside   # on a copy, with the node stopped",
);
const WASM_FOLDER: MissingFact = fact(
    "is the wasm folder there, on the same volume, with the right checksums?",
    "HOME/wasm or data/wasm",
    "find HOME -path '*wasm/state/wasm/*' -newer HOME/config/genesis.json | head",
);
const MOUNT: MissingFact = fact(
    "was the directory removed or unmounted while the node ran?",
    "mount state, creation times, Events",
    "kubectl get events -n NAMESPACE --field-selector involvedObject.name=POD",
);
const WHOLE_STACK: MissingFact = fact(
    "what does the whole stack say, and which exit code came with it?",
    "the full previous log; the pod's status",
    "kubectl logs POD -n NAMESPACE -c node --previous > node.previous.log",
);
const SPACE: MissingFact = fact(
    "how many bytes and inodes are free now, and do the checksums still fit? (a full disk also tears files)",
    "the volume",
    "kubectl exec POD -n NAMESPACE -- sh -c 'df -h DATA; df -i DATA'",
);
const RESTORED: MissingFact = fact(
    "how old is the claim, what was it restored from, and are the heights 0 or far behind?",
    "the claim, its snapshot, the heights",
    "kubectl get pvc CLAIM -n NAMESPACE -o yaml",
);

fn deciding_facts(symptom: Symptom) -> Vec<MissingFact> {
    match symptom {
        Symptom::AppHashMismatch => vec![SAME_IMAGE, IMAGE_CHANGED],
        Symptom::StoreVersionGotZero => vec![PLAN],
        Symptom::StoreVersionClose => vec![STORE_VERSIONS],
        Symptom::IavlMissing => vec![SAME_KEY, STORE_VERSIONS],
        Symptom::ValidatorsMissing | Symptom::HeightsDisagree => vec![HEIGHTS],
        Symptom::ChecksumMismatch => vec![STABLE],
        Symptom::ConsensusWal => vec![WAL_ASIDE],
        Symptom::WasmFile => vec![WASM_FOLDER],
        Symptom::DatabaseFileGone => vec![MOUNT],
        Symptom::NilPointerOrEof => vec![WHOLE_STACK],
        Symptom::NoSpace => vec![SPACE],
        Symptom::AfterRestore => vec![RESTORED],
    }
}

const LOG: MissingFact = fact(
    "what did the node print before it died?",
    "the previous log",
    "kubectl logs POD -n NAMESPACE -c node --previous",
);
const POD: MissingFact = fact(
    "is this a crash loop, and with which exit codes?",
    "the pod object",
    "kubectl get pod POD -n NAMESPACE -o yaml",
);
const PEERS: MissingFact = fact(
    "do other replicas of this chain advance, with which image?",
    "the siblings' /status, twice, some seconds apart",
    "curl -s http://SIBLING:26657/status",
);
const DISK: MissingFact = fact(
    "do the databases' own checksums and heights fit?",
    "the data directory, read offline from a stopped node or a snapshot",
    "kubectl get pvc CLAIM -n NAMESPACE -o jsonpath='{.spec.volumeName}'",
);
const SIGNS: MissingFact = fact(
    "may this node sign blocks?",
    "config.toml (priv_validator_laddr), priv_validator_state.json, the validator set",
    "curl -s http://SIBLING:26657/validators?per_page=100",
);

fn absent_parts(evidence: &Evidence) -> Vec<MissingFact> {
    let mut absent = Vec::new();
    if matches!(evidence.log, LogReading::NotRead | LogReading::Abstained(_)) {
        absent.push(LOG);
    }
    if matches!(evidence.crash_loop, CrashLoopReading::NotRead | CrashLoopReading::Unclear(_)) {
        absent.push(POD);
    }
    let judged = matches!(
        evidence.disk,
        DiskReading::Damaged(_)
            | DiskReading::Inconsistent(_)
            | DiskReading::Intact { scope: InspectionScope::AllChecks | InspectionScope::AllChecksAndIavlHashes }
    );
    if !judged {
        absent.push(DISK);
    }
    if evidence.siblings == Siblings::Unknown {
        absent.push(PEERS);
    }
    if evidence.circumstances.image == ImageFreshness::Unknown {
        absent.push(IMAGE_CHANGED);
    }
    if evidence.circumstances.signing == SigningRisk::Unknown {
        absent.push(SIGNS);
    }
    absent
}

/// A row of the table may ask for what was seen after all.
fn answered(fact: &MissingFact, evidence: &Evidence) -> bool {
    match fact.question {
        question if question == SAME_IMAGE.question => matches!(
            evidence.siblings,
            Siblings::Advancing {
                app_hash: crate::AppHashQuestion::SameImagePasses | crate::AppHashQuestion::SameImageDoesNot,
                ..
            }
        ),
        question if question == IMAGE_CHANGED.question => evidence.circumstances.image != ImageFreshness::Unknown,
        question if question == STABLE.question => matches!(
            evidence.disk,
            DiskReading::Damaged(_)
                | DiskReading::Inconsistent(_)
                | DiskReading::Intact { .. }
                | DiskReading::ReadsDiffer(_)
        ),
        question if question == SPACE.question => evidence.circumstances.space != crate::evidence::Space::Unknown,
        _ => false,
    }
}
