//! Which one more fact would settle the case, where it is, and the command that fetches it. *No client.* Keeps P13.
//!
//! The rows follow the table "What the log alone can and cannot decide" of the project's deciding facts, in its order;
//! then comes every part of the evidence that nobody looked at. Commands only read. Words in capitals are for the caller
//! to replace: `NAMESPACE`, `POD`, `CONTAINER`, `CLAIM`, `BINARY`, `HOME`, and `SIBLING`, another replica's pod.

// tidy: long file, because it is one table: every question stands beside its place and its command.

use crate::{
    AppHashQuestion, Circumstances, CrashLoopReading, DiskReading, Evidence, EvidenceAge, ImageFreshness,
    InspectionScope, Lock, LogReading, Memory, NodeHealth, Recurrence, RollOut, Siblings, SigningRisk, Space, Symptom,
    UpgradePlan, Victims,
};

/// A fact that was not seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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

/// Every fact that would make the verdict surer, the most deciding first, each once.
#[must_use]
pub fn missing_facts(evidence: &Evidence) -> Vec<MissingFact> {
    let mut missing = Vec::new();
    if let LogReading::Read(opinion) = &evidence.log {
        let asked = opinion.symptoms.iter().flat_map(|symptom| deciding_facts(*symptom));
        missing.extend(asked.filter(|fact| !is_answered(fact, evidence)));
    }
    missing.extend(absent_parts(evidence));
    missing.extend(absent_circumstances(&evidence.circumstances));
    let mut seen = Vec::new();
    missing.retain(|fact| {
        let new = !seen.contains(&fact.question);
        seen.push(fact.question);
        new
    });
    missing
}

const SAME_IMAGE: MissingFact = fact(
    "do siblings on the identical image digest pass this height?",
    "the siblings' /status and image digests",
    "kubectl get pods -n NAMESPACE -o custom-columns=NAME:.metadata.name,'IMAGE:.status.containerStatuses[*].imageID'",
);
const BUILD: MissingFact = fact(
    "which versions of the binary and of iavl run here, and do they have a known bug?",
    "the build info, in the log or from the binary",
    "kubectl exec -n NAMESPACE SIBLING -c CONTAINER -- BINARY version --long",
);
const IMAGE_CHANGED: MissingFact = fact(
    "did image, arguments or configuration change since the node was last healthy?",
    "revision labels, ConfigMap versions, the workload's history",
    "kubectl get pod POD -n NAMESPACE -o yaml --show-managed-fields",
);
const PLAN: MissingFact = fact(
    "is an upgrade planned at this height, and was a store added in this binary?",
    "data/upgrade-info.json, the chain's upgrade plan, the versions of each store",
    "kubectl exec -n NAMESPACE SIBLING -c CONTAINER -- BINARY query upgrade plan --home HOME",
);
const STORE_VERSIONS: MissingFact = fact(
    "which versions do each store and s/latest have?",
    "application.db, read offline",
    "loopbreaker inspect HOME/data",
);
const UNCLEAN_EXIT: MissingFact = fact(
    "was the last exit unclean (137 is a kill or a lack of memory, 139 a fault)?",
    "exit codes and reasons in the pod's status; the machine's events",
    "kubectl get pod POD -n NAMESPACE -o jsonpath='{..lastState}'",
);
const SAME_KEY: MissingFact = fact(
    "does the same key fail after a restart, and which pruning settings apply?",
    "the logs of two crashes; config/app.toml",
    "kubectl logs POD -n NAMESPACE -c CONTAINER --previous | grep -iE 'iavl|version|pruning'",
);
const HEIGHTS: MissingFact = fact(
    "which heights do state.db, blockstore.db and application.db stand at?",
    "the three databases, read offline",
    "loopbreaker inspect HOME/data",
);
const STATE_SYNC: MissingFact = fact(
    "was a state sync or a rollback run?",
    "the process's arguments and its log",
    "kubectl logs POD -n NAMESPACE -c CONTAINER --previous | grep -iE 'state ?sync|roll(ed)? ?back|snapshot'",
);
const STABLE: MissingFact = fact(
    "does the block read the same twice, the second time past the page cache?",
    "the data directory, read offline, twice",
    "loopbreaker inspect HOME/data",
);
const WHICH_DATABASE: MissingFact = fact(
    "which database is the damaged file in? (tx_index and evidence can be rebuilt)",
    "the file name in the log, looked up in the data directory",
    "kubectl logs POD -n NAMESPACE -c CONTAINER --previous | grep -oE '[0-9]{6}[.](ldb|sst|log)|MANIFEST-[0-9]+'",
);
const WAL_ASIDE: MissingFact = fact(
    "does cs.wal decode, and would the node start with it moved aside?",
    "data/cs.wal, read offline; then a start on a copy of the volume",
    "loopbreaker inspect HOME/data",
);
const WASM_FOLDER: MissingFact = fact(
    "is the wasm folder there, on the same volume, with the right checksums? (each file is named after its own)",
    "the data or home directory; the code ids in application.db",
    "find HOME -path '*/state/wasm/*' -type f -exec sha256sum {} +",
);
const MOUNT: MissingFact = fact(
    "was the directory removed or unmounted while the node ran?",
    "mount state, creation times, Events",
    "kubectl get events -n NAMESPACE --field-selector involvedObject.name=POD",
);
const WHOLE_STACK: MissingFact = fact(
    "what does the whole stack say, and which exit code came with it?",
    "the full previous log; the pod's status",
    "kubectl logs POD -n NAMESPACE -c CONTAINER --previous > previous.log",
);
// The kubelet's own count: a container that crash-loops cannot be entered to ask `df`.
const FREE_SPACE: MissingFact = fact(
    "how many bytes and inodes are free now, and do the checksums still fit? (a full disk also tears files)",
    "the kubelet's statistics of the volume; an inspection",
    "node=$(kubectl get pod POD -n NAMESPACE -o jsonpath={.spec.nodeName}); \
     kubectl get --raw /api/v1/nodes/$node/proxy/stats/summary | \
     jq --arg pod POD '.pods[] | select(.podRef.name == $pod) | .volume'",
);
const RESTORED: MissingFact = fact(
    "how old is the claim, what was it restored from, and are the heights 0 or far behind?",
    "the claim, its snapshot, the heights",
    "kubectl get pvc CLAIM -n NAMESPACE -o yaml",
);

fn deciding_facts(symptom: Symptom) -> Vec<MissingFact> {
    match symptom {
        Symptom::AppHashMismatch => vec![SAME_IMAGE, BUILD, IMAGE_CHANGED],
        Symptom::StoreVersionGotZero => vec![PLAN],
        Symptom::StoreVersionClose => vec![STORE_VERSIONS, UNCLEAN_EXIT],
        Symptom::IavlMissing => vec![SAME_KEY, BUILD, UNCLEAN_EXIT],
        Symptom::ValidatorsMissing | Symptom::HeightsDisagree => vec![HEIGHTS, STATE_SYNC],
        Symptom::ChecksumMismatch => vec![STABLE, WHICH_DATABASE],
        Symptom::ConsensusWal => vec![WAL_ASIDE],
        Symptom::WasmFile => vec![WASM_FOLDER],
        Symptom::DatabaseFileGone => vec![MOUNT],
        Symptom::NilPointerOrEof => vec![WHOLE_STACK],
        Symptom::NoSpace => vec![FREE_SPACE],
        Symptom::AfterRestore => vec![RESTORED, HEIGHTS],
    }
}

const LOG: MissingFact = fact(
    "what did the node print before it died?",
    "the previous log",
    "kubectl logs POD -n NAMESPACE -c CONTAINER --previous",
);
const POD: MissingFact = fact(
    "is this a crash loop, and with which exit codes?",
    "the pod object",
    "kubectl get pod POD -n NAMESPACE -o yaml",
);
const DISK: MissingFact = fact(
    "do the databases' own checksums and heights fit?",
    "the data directory, read offline: of the stopped node, or of a volume restored from its snapshot",
    "loopbreaker inspect HOME/data",
);
const PEERS: MissingFact = fact(
    "do other replicas of this chain advance?",
    "a sibling's /status, twice, some seconds apart",
    "kubectl get --raw /api/v1/namespaces/NAMESPACE/pods/SIBLING:26657/proxy/status",
);

/// The parts of the evidence that are absent, in the order in which they decide.
fn absent_parts(evidence: &Evidence) -> Vec<MissingFact> {
    let image = &evidence.siblings;
    [
        (matches!(evidence.log, LogReading::NotRead | LogReading::Abstained(_)), LOG),
        (matches!(evidence.crash_loop, CrashLoopReading::NotRead | CrashLoopReading::Unclear(_)), POD),
        (!is_judged(&evidence.disk), DISK),
        (matches!(image, Siblings::Unknown), PEERS),
        (
            matches!(
                evidence.siblings,
                Siblings::Unknown | Siblings::Advancing { app_hash: AppHashQuestion::Unknown, .. }
            ),
            SAME_IMAGE,
        ),
    ]
    .into_iter()
    .filter_map(|(absent, fact)| absent.then_some(fact))
    .collect()
}

/// Whether the disk was read to the end, twice where it was bad. A quick look answers nothing that the table asks.
fn is_judged(disk: &DiskReading) -> bool {
    match disk {
        DiskReading::NotRead
        | DiskReading::CouldNotTell(_)
        | DiskReading::ReadsDiffer(_)
        | DiskReading::Intact { scope: InspectionScope::Quick } => false,
        DiskReading::Damaged(_)
        | DiskReading::Inconsistent(_)
        | DiskReading::Intact { scope: InspectionScope::AllChecks | InspectionScope::AllChecksAndIavlHashes } => true,
    }
}

const VICTIMS: MissingFact = fact(
    "is it this replica only, or do others fail alike?",
    "the siblings' pods",
    "kubectl get pods -n NAMESPACE -o wide",
);
const SIGNS: MissingFact = fact(
    "may this node sign blocks?",
    "priv_validator_laddr; every page of the validator set, for the key of `comet (or tendermint) show-validator`",
    crate::advice::EVERY_VALIDATOR,
);
const ROLL_OUT: MissingFact = fact(
    "are all replicas of one revision, or is a rollout going on?",
    "the pods' revision labels and images",
    "kubectl get pods -n NAMESPACE --show-labels",
);
const LOCK: MissingFact = fact(
    "does a live process hold the database's lock?",
    "every pod that mounts the claim",
    "kubectl describe pvc CLAIM -n NAMESPACE",
);
const MACHINE: MissingFact = fact(
    "is the machine under the pod ready, without storage events?",
    "the node object and its events",
    "kubectl describe node $(kubectl get pod POD -n NAMESPACE -o jsonpath={.spec.nodeName})",
);
const RECURRENCE: MissingFact = fact(
    "was this replica restored before, and did the same damage come back?",
    "the age and the source of its claim, and the snapshots there are",
    "kubectl get volumesnapshots,pvc -n NAMESPACE",
);
const AGE: MissingFact = fact(
    "has the node restarted since the evidence was taken?",
    "restart count and start time in the pod's status",
    "kubectl get pod POD -n NAMESPACE -o jsonpath='{..restartCount} {..state}'",
);

/// The circumstances nobody looked at.
fn absent_circumstances(around: &Circumstances) -> Vec<MissingFact> {
    // No `..`: a later circumstance must be asked here before it compiles.
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
        limits: _,
        start_failure: _,
        other_crash_loops: _,
        workload: _,
    } = around;
    [
        (*victims == Victims::Unknown, VICTIMS),
        (*image == ImageFreshness::Unknown, IMAGE_CHANGED),
        (*upgrade == UpgradePlan::Unknown, PLAN),
        (*signing == SigningRisk::Unknown, SIGNS),
        (*memory == Memory::Unknown, UNCLEAN_EXIT),
        (*space == Space::Unknown, FREE_SPACE),
        (*node == NodeHealth::Unknown, MACHINE),
        (*roll_out == RollOut::Unknown, ROLL_OUT),
        (*lock == Lock::Unknown, LOCK),
        (*recurrence == Recurrence::Unknown, RECURRENCE),
        (*evidence_age == EvidenceAge::Unknown, AGE),
    ]
    .into_iter()
    .filter_map(|(absent, fact)| absent.then_some(fact))
    .collect()
}

/// A symptom may ask for what was seen after all.
fn is_answered(fact: &MissingFact, evidence: &Evidence) -> bool {
    let around = &evidence.circumstances;
    match *fact {
        SAME_IMAGE => matches!(
            evidence.siblings,
            Siblings::Advancing { app_hash: AppHashQuestion::SameImagePasses | AppHashQuestion::SameImageDoesNot, .. }
        ),
        IMAGE_CHANGED => around.image != ImageFreshness::Unknown,
        HEIGHTS | STORE_VERSIONS => is_judged(&evidence.disk),
        STABLE => is_judged(&evidence.disk) || matches!(evidence.disk, DiskReading::ReadsDiffer(_)),
        WHICH_DATABASE => {
            matches!(&evidence.disk, DiskReading::Damaged(named) | DiskReading::Inconsistent(named) if !named.is_empty())
        }
        FREE_SPACE => around.space != Space::Unknown && is_judged(&evidence.disk),
        _ => false,
    }
}

#[cfg(test)]
mod tests;
