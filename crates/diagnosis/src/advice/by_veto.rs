//! What to do about each veto. *No client.*

use super::Advice;
use crate::Veto;

// tidy: long function, because it is one arm a veto, in the design's order.
pub(super) fn advice(veto: &Veto) -> Advice {
    match veto {
        Veto::NobodyAdvancing => Advice::to_run(
            "Wait: no replica that answered advances, so the chain may be halted. Look at the chain's status page and \
             its operators' channel; a restore would not help.",
            super::by_cause::SIBLING_STATUS,
        ),
        Veto::UpgradeDue(plan) => Advice::to_run(
            format!("See to the upgrade first ({plan}): run the binary that the plan names for this height."),
            super::by_cause::UPGRADE_PLAN,
        ),
        Veto::ImageChanged(what) => Advice::to_run(
            format!(
                "Judge the change first ({what}): compare with a replica that still runs, or take the change back."
            ),
            "kubectl get controllerrevisions,configmaps -n NAMESPACE --sort-by=.metadata.creationTimestamp",
        ),
        Veto::RollOutInProgress(what) => Advice::to_run(
            format!("Let the rollout end, or stop it, before judging this replica ({what})."),
            "kubectl get pods -n NAMESPACE --show-labels",
        ),
        Veto::OtherVictims(others) => Advice::to_run(
            format!(
                "Look for what they have in common, image, height, machine or storage, and restore none of them \
                 ({others})."
            ),
            "kubectl get pods -n NAMESPACE -o wide",
        ),
        Veto::DiskFull(what) => Advice::to_run(
            format!(
                "Make room first ({what}): enlarge the claim in its owner's template (for a CosmosFullNode \
                 spec.volumeClaimTemplate) and see the resize through; then read the databases, for a full disk also \
                 tears files."
            ),
            super::by_cause::RESIZE_STATUS,
        ),
        Veto::Oom => Advice::to_run(
            "Raise the memory limit first: the process was killed for memory, and a restored node would be killed too.",
            super::by_cause::MEMORY_LIMITS,
        ),
        Veto::LockHeld(who) => Advice::to_run(
            format!("End the other process that has the database open ({who}); leave the LOCK file where it is."),
            "kubectl describe pvc CLAIM -n NAMESPACE",
        ),
        Veto::NodeSick(what) => Advice::to_run(
            format!("Look at the machine and its storage first ({what}): new data would be damaged there as well."),
            super::by_cause::MACHINE,
        ),
        Veto::ReadsDiffer => Advice::to_run(
            "Suspect the machine's memory, cable or disk: the same block read differently twice. Move the pod to another \
             machine and read the databases again there.",
            super::by_cause::MACHINE,
        ),
        Veto::MaySign(why) => Advice::to_run(
            format!(
                "Do not swap this volume without its newest signing state ({why}). Never reset, delete or copy back \
                 priv_validator_state.json, and never let two nodes run with one key: both end in double signing. \
                 Whether it signs: look for its own key on every page of the validator set, until a page past the last \
                 one is refused. Its key is what `kubectl exec POD -n NAMESPACE -c CONTAINER -- BINARY comet \
                 show-validator` prints (older binaries: `tendermint show-validator`); where the container does not \
                 stay up, take the address alone out of its key file, never the key: `grep -o '\"address\": *\"[0-9A-F]*\"' \
                 HOME/config/priv_validator_key.json`."
            ),
            super::EVERY_VALIDATOR,
        ),
        Veto::CameBack => Advice::to_run(
            "Do not restore again: the same damage came back. Try another machine, then an older snapshot or one of a \
             healthy sibling.",
            "kubectl get volumesnapshots -n NAMESPACE --sort-by=.metadata.creationTimestamp",
        ),
        Veto::Limit(which) => Advice::to_run(
            format!("A limit of your own policy is in force ({which}): wait for it to end, or change it knowingly."),
            "kubectl get recoverypolicies.loopbreaker.dev -n NAMESPACE -o yaml",
        ),
        Veto::StaleEvidence => Advice::to_run(
            "Collect again: the node has been restarted since, and a start can change or heal what was seen.",
            "kubectl logs POD -n NAMESPACE -c CONTAINER --previous",
        ),
    }
}
