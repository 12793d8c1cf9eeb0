//! The three incidents of `examples/`, with what must be told of them.

use super::*;
use crate::{BackOff, ContainerRole, ContainerState, ExitStatus};

fn example(path: &str) -> Observation {
    let file = format!("{}/../../examples/{path}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&file).expect("the example is there");
    observe(&serde_saphyr::from_str::<Pod>(&text).expect("the example is a pod"))
}

fn told(observation: Observation) -> CrashLoop {
    match detect(&InstanceHistory::new(observation)) {
        CrashLoopReading::Looping(found) => *found,
        other => panic!("no loop: {other:?}"),
    }
}

/// The pod of the issue that started the project.
#[test]
fn agoric_mainnet_fullnode_0() {
    let pod = example("agoric-mainnet-fullnode-0/objects/pod.yaml");
    assert_eq!(pod.instance.to_string(), "strangelove/agoric-mainnet-fullnode-0");
    assert_eq!(pod.data_claim.as_ref().map(crate::ClaimName::as_str), Some("pvc-agoric-mainnet-fullnode-0"));
    let owner = pod.owner.as_ref().expect("an owner");
    assert_eq!((owner.kind.as_str(), owner.name.as_str()), ("CosmosFullNode", "agoric-mainnet-fullnode"));
    let healthcheck = pod.container(&crate::ContainerName::new("healthcheck")).expect("a health check");
    assert_eq!((healthcheck.role, healthcheck.ready, healthcheck.restarts), (ContainerRole::SideCar, false, 0));
    assert!(matches!(healthcheck.state, ContainerState::Running { since: Some(_) }), "alive but unready");
    let init: Vec<_> = pod
        .containers
        .iter()
        .filter(|container| container.role == ContainerRole::Init)
        .map(|container| (container.name.as_str(), container.last_run.as_ref().map(|run| run.reason.as_str())))
        .collect();
    let completed = Some("Completed");
    assert_eq!(
        init,
        [
            ("chain-init", completed),
            ("genesis-init", completed),
            ("config-merge", completed),
            ("snapshot-restore", completed)
        ]
    );

    let found = told(pod);
    assert_eq!((found.container.as_str(), found.role), ("node", ContainerRole::Node));
    assert_eq!(found.crashes, 100);
    assert_eq!(found.back_off, Some(BackOff { seconds: 5 * 60 }));
    let run = found.last_run.expect("a last run");
    assert_eq!(run.exit, ExitStatus { code: 2, signal: None });
    assert_eq!(run.seconds(), Some(3 * 60 + 47));
    assert_eq!(found.onset, at("2023-02-16T14:47:51Z"));
    assert_eq!(found.counted_since, at("2023-02-16T01:07:08Z"), "the first of the hundred came after this");
}

#[test]
fn cosmosfullnode_state_db() {
    let found = told(example("cosmosfullnode-state-db/objects/pod-lab-1-crashloop-node.yaml"));
    assert_eq!((found.container.as_str(), found.role, found.crashes), ("node", ContainerRole::Node, 7));
    assert_eq!(found.back_off, Some(BackOff { seconds: 5 }));
    let healthy = example("cosmosfullnode-state-db/objects/pod-lab-0-healthy.yaml");
    assert_eq!(detect(&InstanceHistory::new(healthy)), CrashLoopReading::NotLooping);
}

/// `version-check` panics on the damaged database; the node itself has not run in this pod.
#[test]
fn cosmosfullnode_application_db() {
    let found = told(example("cosmosfullnode-application-db/objects/pod-lab-2-crashloop-versioncheck.yaml"));
    assert_eq!((found.container.as_str(), found.role), ("version-check", ContainerRole::VersionCheck));
    assert_eq!(found.crashes, 3);
    assert_eq!(found.last_run.map(|run| run.exit.code), Some(2));
}
