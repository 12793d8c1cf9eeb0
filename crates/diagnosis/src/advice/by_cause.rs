//! What to do about each cause. *No client.*

use super::{Advice, by_row::consensus_wal_aside, inspect};
use crate::{Cause, Evidence, Workload};

// The API server's proxy reaches a pod's RPC port without a shell or a tool in its image.
pub(super) const SIBLING_STATUS: &str =
    "kubectl get --raw /api/v1/namespaces/NAMESPACE/pods/SIBLING:26657/proxy/status";
pub(super) const UPGRADE_PLAN: &str =
    "kubectl exec -n NAMESPACE SIBLING -c CONTAINER -- BINARY query upgrade plan --home HOME";
pub(super) const IMAGES: &str =
    "kubectl get pods -n NAMESPACE -o custom-columns=NAME:.metadata.name,'IMAGE:.status.containerStatuses[*].imageID'";
pub(super) const MEMORY_LIMITS: &str = "kubectl get pod POD -n NAMESPACE -o jsonpath='{..resources} {..lastState}'";
pub(super) const MACHINE: &str =
    "kubectl describe node $(kubectl get pod POD -n NAMESPACE -o jsonpath={.spec.nodeName})";
pub(super) const RESIZE_STATUS: &str = "kubectl describe pvc CLAIM -n NAMESPACE";
const PREVIOUS_LOG: &str = "kubectl logs POD -n NAMESPACE -c CONTAINER --previous > previous.log";
const POD_EVENTS: &str = "kubectl describe pod POD -n NAMESPACE";

/// The advice for a cause, most useful first. For damage the caller has already said what to keep.
pub(super) fn advice(cause: Cause, evidence: &Evidence) -> Vec<Advice> {
    let cannot_start = evidence.circumstances.start_failure.as_ref().filter(|failure| failure.cause == cause);
    if let Some(failure) = cannot_start {
        return vec![Advice::to_run(
            format!("The container cannot even start ({}): the pod's events name what is missing.", failure.reason),
            POD_EVENTS,
        )];
    }
    match cause {
        Cause::PhysicalCorruption | Cause::WalCorruption | Cause::LogicalInconsistency | Cause::BadSnapshot => {
            about_data(cause, evidence)
        }
        Cause::WrongBinary | Cause::UpgradeNeeded | Cause::ChainWideBug | Cause::OtherBug => about_the_program(cause),
        Cause::ConfigError | Cause::PortInUse | Cause::ImageOrRuntime | Cause::NetworkOrPeer => about_the_pod(cause),
        Cause::DiskFull | Cause::Oom | Cause::IoError | Cause::PermissionOrLock => about_the_machine(cause, evidence),
        Cause::KeyOrDoubleSign | Cause::RemoteSigner => about_signing(cause),
        Cause::Unknown => {
            vec![Advice::to_run("Save the whole previous log before the next restart replaces it.", PREVIOUS_LOG)]
        }
    }
}

fn about_data(cause: Cause, evidence: &Evidence) -> Vec<Advice> {
    let first = match cause {
        Cause::WalCorruption => consensus_wal_aside(),
        Cause::LogicalInconsistency => Advice::to_run(
            "With the node stopped, and on a copy of the volume first: one step back may join the heights again. It needs \
             the previous version of the application to be unpruned. Never with --hard, which drops the block.",
            "BINARY rollback --home HOME",
        ),
        Cause::BadSnapshot => Advice::to_run(
            "See what the claim was filled from and how old that is. An init container that finds any database skips its \
             download, so a half-filled volume stays half-filled: fill a new claim from another snapshot instead.",
            "kubectl get pvc CLAIM -n NAMESPACE -o yaml",
        ),
        _ => stop_the_replica(evidence.circumstances.workload.as_ref()),
    };
    // `reset-state` leaves the signing state alone; `unsafe-reset-all`, its neighbour, does not (P10).
    let again = (cause == Cause::BadSnapshot).then(|| {
        Advice::to_run(
            "If a state sync broke off: with the node stopped, move application.db aside, let CometBFT drop its own \
             databases, and sync again. Not with unsafe-reset-all, which resets priv_validator_state.json too.",
            "mv HOME/data/application.db HOME/data/application.db.aside && BINARY comet reset-state --home HOME",
        )
    });
    [first].into_iter().chain(again).chain(inspect(evidence)).collect()
}

/// Each workload has its own way; where the owner is not known, a wrong command would be worse than none.
fn stop_the_replica(workload: Option<&Workload>) -> Advice {
    const STOP: &str = "Stop the replica before its next start destroys evidence";
    match workload {
        Some(Workload::CosmosFullNode(name)) => Advice::to_run(
            format!("{STOP}: its CosmosFullNode then makes no pod for it, and keeps the claim."),
            format!(
                "kubectl patch cosmosfullnode {name} -n NAMESPACE --type merge -p \
                 '{{\"spec\":{{\"instanceOverrides\":{{\"POD\":{{\"disable\":\"Pod\"}}}}}}}}'"
            ),
        ),
        Some(Workload::StatefulSet(name)) => Advice::to_run(
            format!(
                "{STOP}: its StatefulSet can only be scaled down, which stops the highest ordinal first. Do so only \
                 where that is this replica and whenScaled is not Delete, which would take the claim along."
            ),
            format!(
                "kubectl get statefulset {name} -n NAMESPACE -o \
                 custom-columns=replicas:.spec.replicas,whenScaled:.spec.persistentVolumeClaimRetentionPolicy.whenScaled"
            ),
        ),
        None => Advice::to_know(format!("{STOP}, by the means of whatever makes its pod; its claim must stay.")),
    }
}

fn about_the_program(cause: Cause) -> Vec<Advice> {
    let version = Advice::to_run(
        "Compare with the version that a sibling runs.",
        "kubectl exec -n NAMESPACE SIBLING -c CONTAINER -- BINARY version --long",
    );
    match cause {
        Cause::WrongBinary => vec![
            Advice::to_run(
                "Leave the data alone and check the binary: does this replica run the same image digest as those that \
                 advance?",
                IMAGES,
            ),
            version,
            Advice::to_run("Compare the version with the chain's upgrade plan for this height.", UPGRADE_PLAN),
        ],
        Cause::UpgradeNeeded => vec![
            Advice::to_run(
                "Leave the data alone and check the upgrade plan: which binary does it name, from which height on?",
                UPGRADE_PLAN,
            ),
            Advice::to_run(
                "Give the replica that binary: the image in the workload's template, or for a CosmosFullNode an entry of \
                 spec.chain.versions with the upgrade's height.",
                IMAGES,
            ),
            version,
        ],
        Cause::ChainWideBug => vec![
            Advice::to_run(
                "Wait, and look at the chain's status page and its operators' channel: the log reads like a failure that \
                 every node meets. See whether any sibling advances.",
                SIBLING_STATUS,
            ),
            Advice::to_know(
                "Do not restore, roll back or reset until the chain's developers say which binary or height to use.",
            ),
            version,
        ],
        _ => vec![
            Advice::to_run(
                "Save the whole previous log and search the project's issues for the first failure in it, not the last.",
                PREVIOUS_LOG,
            ),
            version,
        ],
    }
}

fn about_the_pod(cause: Cause) -> Vec<Advice> {
    match cause {
        Cause::ConfigError => vec![
            Advice::to_run(
                "Correct the flag, TOML file, genesis or chain id that the last lines of the log name.",
                "kubectl logs POD -n NAMESPACE -c CONTAINER --previous --tail=50",
            ),
            Advice::to_run(
                "Compare with the configuration of a sibling that runs.",
                "kubectl exec -n NAMESPACE SIBLING -c CONTAINER -- cat HOME/config/config.toml HOME/config/app.toml",
            ),
        ],
        Cause::PortInUse => vec![
            Advice::to_run(
                "Find who listens on the address that the log names: a second process in the pod, or with hostNetwork or \
                 a hostPort another pod on the machine.",
                "kubectl get pod POD -n NAMESPACE -o yaml | grep -nE 'hostNetwork|hostPort|containerPort|nodeName'",
            ),
            Advice::to_know(
                "An old process may still be stopping: if so, the next start works. The data is no concern here.",
            ),
        ],
        Cause::ImageOrRuntime => vec![
            Advice::to_run(
                "Read the pod's events: image name, pull secret, platform, command and probes are named there.",
                POD_EVENTS,
            ),
            Advice::to_run("Compare with the image that the siblings run.", IMAGES),
        ],
        _ => vec![
            Advice::to_run(
                "See whether a sibling has peers; then check seeds, persistent peers, DNS and network policies of this \
                 replica.",
                "kubectl get --raw /api/v1/namespaces/NAMESPACE/pods/SIBLING:26657/proxy/net_info",
            ),
            Advice::to_know(
                "A stale address book can be moved aside (HOME/config/addrbook.json, keep the old one); the node finds its \
                 peers again.",
            ),
        ],
    }
}

fn about_the_machine(cause: Cause, evidence: &Evidence) -> Vec<Advice> {
    let read_after = inspect(evidence);
    let first = match cause {
        Cause::DiskFull => vec![Advice::to_run(
            "Make room: enlarge the claim in its owner's template (for a CosmosFullNode spec.volumeClaimTemplate) and see \
             the resize through. Then tighten pruning in HOME/config/app.toml.",
            RESIZE_STATUS,
        )],
        Cause::Oom => vec![
            Advice::to_run(
                "Raise the container's memory limit, or lower iavl-cache-size in HOME/config/app.toml.",
                MEMORY_LIMITS,
            ),
            Advice::to_know(
                "If it dies just after an upgrade, a migration of the store may need more memory for that one start.",
            ),
        ],
        Cause::IoError => vec![
            Advice::to_run("Look at the machine and its storage: conditions, events, the driver's log.", MACHINE),
            super::keep(),
        ],
        _ => vec![
            Advice::to_run(
                "See who else mounts the claim, and end that process; leave the LOCK file where it is, the lock is not in \
                 it.",
                "kubectl describe pvc CLAIM -n NAMESPACE",
            ),
            Advice::to_run(
                "Compare the user and fsGroup of the pod with the owner of the files; a restore run as root leaves files \
                 of root.",
                "kubectl get pod POD -n NAMESPACE -o jsonpath='{..securityContext}'",
            ),
        ],
    };
    let torn = matches!(cause, Cause::DiskFull | Cause::IoError);
    first.into_iter().chain(read_after.filter(|_| torn)).collect()
}

fn about_signing(cause: Cause) -> Vec<Advice> {
    let never_reset = Advice::to_know(
        "Never reset, delete or copy back priv_validator_state.json to make the node start: that is how a validator signs \
         twice and is slashed for good.",
    );
    match cause {
        Cause::KeyOrDoubleSign => vec![
            never_reset,
            Advice::to_run(
                "Make sure that no other node runs with this key: compare the validator address of each replica.",
                SIBLING_STATUS,
            ),
        ],
        _ => vec![
            Advice::to_run(
                "Check the remote signer: is it up, does it reach this replica, does priv_validator_laddr match?",
                "kubectl get pods -n NAMESPACE -o wide",
            ),
            Advice::to_know(
                "Do not start the node with a key of its own instead: the signer may come back and both would sign.",
            ),
            never_reset,
        ],
    }
}
